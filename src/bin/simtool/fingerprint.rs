//! `simtool fingerprint`: a file of fingerprints of documents.

use crate::args::{FingerprintArgs, TermArgs};
use crate::terminal::Terminal;
use crate::{ExitStatus, console};
use simtool::Error;
use simtool::fingerprint_file::FileFormat;
use simtool::method::Method;
use simtool::options::Options;
use simtool::output::write_fingerprints::write_fingerprints;
use simtool::pipeline::timings::Timings;
use simtool::pipeline::{Wordless, fingerprint_collection};
use simtool::quantity::{counted, grouped};
use simtool::read::{Corpus, Strict};
use simtool::run::{Face, Input, Places, has_losses, refuse_existing, write_whole_file};
use simtool::write::output_folder::Existing;
use std::io::{self, BufWriter};
use std::path::Path;

/// SimHash of the terms, of 64 bits where none are given.
pub(crate) fn simhash(terms: &TermArgs, bits: Option<&str>) -> Result<Method, Error> {
    let mut options = Options::new();
    terms.set(&mut options);
    if let Some(bits) = bits {
        options.set("bits", bits);
    }
    Method::parse("simhash", &mut options)
}

/// The method that was asked for, which must know all its settings.
fn method(args: &FingerprintArgs) -> Result<Method, Error> {
    let mut options = Options::new();
    args.terms.set(&mut options);
    args.sketch.set(&mut options);
    let method = Method::parse(&args.method, &mut options)?;
    match options.first() {
        Some((option, value)) => Err(method.refusal(option, &value)),
        None => Ok(method),
    }
}

/// Fingerprints the documents and writes the file.
pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<ExitStatus> {
    let mut timings = Timings::start();
    let method = method(args)?;
    let format = FileFormat::for_output(&args.output)?;
    let existing = Existing::by_force(args.force);
    let settings = args.input.settings()?;
    let resources = args.common.resources(&args.memory)?;
    let terminal = Terminal::new(&args.common.running);
    let paths = settings.with_listed(&args.corpus)?;
    let options = settings.read_options(terminal.access());
    let places = Places { output: &args.output, temporary: &resources.temporary_folder };
    let input = Input::open(&paths, &settings, options, places, &terminal)?;
    let collection = &input.collection;
    let mut names = (0..collection.file_count()).map(|file| collection.file_name(file));
    if let Some(name) = names.find(|name| is_same(name, &args.output)) {
        let rule = format!("is the input {}: choose another file", name.display());
        return Err(Error::config("output", args.output.display(), rule).into());
    }
    // Behind this, so that an input is told to be one.
    if args.output.as_os_str() != "-" {
        refuse_existing("output", &args.output, existing)?;
    }
    timings.end("find files");

    Input::refuse_idle(&[&input], None)?;
    let strict = Strict(collection);
    let corpus = input.corpus(&strict);
    let wordless = if format.marks_missing { Wordless::Allowed } else { Wordless::Refused };
    let mut made =
        fingerprint_collection(corpus, method.recipe(), &resources, wordless, terminal.progress())?;
    timings.end("read and fingerprint");
    let faults = input.complete(&mut made.summary, &terminal)?;
    Input::refuse_missing_ids(&[(&input, &made.summary)])?;

    if args.output.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        write_fingerprints(collection, &made, format, Path::new("standard output"), &mut out)?;
    } else {
        write_whole_file(&args.output, existing, &terminal, |file| {
            let mut out = BufWriter::with_capacity(1 << 20, file.file());
            write_fingerprints(collection, &made, format, &args.output, &mut out)
        })?;
    }
    timings.end("write");

    terminal.end(&faults);
    let rows = counted(made.rows.len() as u64, "document");
    let missing = grouped(made.summary.without_terms);
    let bad = counted(made.summary.quarantined.len() as u64, "bad record");
    terminal.note(&format!("{rows}, {missing} without words; {bad}"));
    if args.common.running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(ExitStatus::after(has_losses(std::iter::once(&made.summary))))
}

/// Whether both are names of one file.
fn is_same(input: &Path, output: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    resolved(input).is_some_and(|input| resolved(output) == Some(input))
}
