//! `simtool fingerprint`: a file of fingerprints of documents.

use crate::args::{FingerprintArgs, TermArgs};
use crate::inputs::Access;
use crate::output_file::{existing, refuse_existing};
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, interrupt};
use simtool::Error;
use simtool::fingerprint_file::FileFormat;
use simtool::options::Options;
use simtool::pipeline::method::Method;
use simtool::pipeline::timings::Timings;
use simtool::pipeline::write_fingerprints::write_fingerprints;
use simtool::pipeline::{Wordless, fingerprint_collection};
use simtool::quantity::{counted, grouped};
use simtool::read::walk::Walked;
use simtool::read::{Collection, Strict};
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
pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<Outcome> {
    let mut timings = Timings::start();
    let method = method(args)?;
    let format = FileFormat::for_output(&args.output)?;
    let existing = existing(args.force);
    let read = documents::read_options(&args.input, Access::of(args.common.running.no_mmap))?;
    let resources = args.common.resources(&args.memory);
    let paths = documents::with_listed(&args.corpus, &args.input)?;
    let Walked { files, faults, .. } =
        documents::walk(&paths, &args.input, &args.output, &resources.temporary_folder)?;
    if let Some(input) = files.iter().find(|file| is_same(&file.name, &args.output)) {
        let rule = format!("is the input {}: choose another file", input.name.display());
        return Err(Error::config("output", args.output.display(), rule).into());
    }
    // Behind this, so that an input is told to be one.
    if args.output.as_os_str() != "-" {
        refuse_existing("output", &args.output, existing)?;
    }
    timings.end("find files");

    let (verbose, quiet) = (args.common.running.verbose, args.common.running.quiet);
    let progress = ProgressLine::new(quiet, args.common.running.progress);
    let collection = Collection::open(files, read);
    documents::refuse_idle(&args.input, None, &[&collection])?;
    let strict = Strict(&collection);
    let corpus = documents::watched(&args.input, &strict);
    let wordless = if format.marks_missing { Wordless::Allowed } else { Wordless::Refused };
    let mut made =
        fingerprint_collection(corpus, method.recipe(), &resources, wordless, &progress)?;
    progress.end();
    timings.end("read and fingerprint");
    documents::add_faults(&collection, faults, &mut made.summary);
    let faults = documents::all_faults(&collection, &made.summary);
    documents::refuse_losses(&args.input, &faults)?;
    documents::refuse_nothing(&collection, &made.summary)?;
    documents::refuse_missing_ids(&args.input, &[(&collection, &made.summary)])?;

    if args.output.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        write_fingerprints(&collection, &made, format, Path::new("standard output"), &mut out)?;
    } else {
        interrupt::whole_file(&args.output, existing, |file| {
            let mut out = BufWriter::with_capacity(1 << 20, file.file());
            write_fingerprints(&collection, &made, format, &args.output, &mut out)
        })?;
    }
    timings.end("write");

    documents::show(&faults, documents::Shown { verbose, quiet });
    if !quiet {
        let rows = counted(made.rows.len() as u64, "document");
        let missing = grouped(made.summary.without_terms);
        let bad = counted(made.summary.quarantined.len() as u64, "bad record");
        console::note(&format!("{rows}, {missing} without words; {bad}"));
    }
    if args.common.running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(documents::outcome(std::iter::once(&made.summary)))
}

/// Whether both are names of one file.
fn is_same(input: &Path, output: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    resolved(input).is_some_and(|input| resolved(output) == Some(input))
}
