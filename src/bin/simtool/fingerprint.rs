//! `simtool fingerprint`: a file of fingerprints of documents.

use crate::args::{FingerprintArgs, thread_count};
use crate::inputs::Access;
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, interrupt};
use simtool::Error;
use simtool::kernels::Isa;
use simtool::pipeline::config::FingerprintRecipe;
use simtool::pipeline::fingerprint_collection;
use simtool::pipeline::write_fingerprints::{FingerprintOutput, write_fingerprints};
use simtool::read::Collection;
use simtool::read::walk::Walked;
use std::io::{self, BufWriter};
use std::path::Path;

/// Fingerprints the documents and writes the file.
pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<Outcome> {
    let recipe =
        FingerprintRecipe { shingle: args.shingle.parse()?, bits: args.bits.as_str().parse()? };
    let output = FingerprintOutput::of(&args.output)?;
    let options = documents::read_options(&args.input, Access::of(args.resources.no_mmap))?;
    let temporary = args.resources.temporary_folder();
    let paths = documents::with_listed(&args.corpus, &args.input)?;
    let Walked { files, faults } = documents::walk(&paths, &args.input, &temporary)?;
    if let Some(input) = files.iter().find(|file| is_same(&file.name, &args.output)) {
        let rule = format!("is the input {}: choose another file", input.name.display());
        return Err(Error::config("output", args.output.display(), rule).into());
    }

    let progress = ProgressLine::new(args.quiet, args.input.progress);
    let collection = Collection::open(files, options);
    let threads = thread_count(args.resources.threads);
    let mut made =
        fingerprint_collection(&collection, recipe, threads, Isa::detected(), &progress)?;
    progress.end();
    documents::add_faults(&collection, faults, &mut made.summary);
    documents::refuse_losses(&args.input, &collection, &made.summary)?;
    documents::refuse_missing_ids(&args.input, &[(&collection, &made.summary)])?;

    if args.output.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        write_fingerprints(&collection, &made, output, Path::new("standard output"), &mut out)?;
    } else {
        interrupt::whole_file(&args.output, |file| {
            let mut out = BufWriter::with_capacity(1 << 20, file.file());
            write_fingerprints(&collection, &made, output, &args.output, &mut out)
        })?;
    }

    let (verbose, quiet) = (args.verbose, args.quiet);
    let faults = documents::all_faults(&collection, &made.summary);
    documents::show(&faults, documents::Shown { verbose, quiet });
    if !args.quiet {
        let (rows, missing) = (made.rows.lanes.len(), made.summary.without_terms);
        let lost = made.summary.quarantined.len();
        console::note(&format!("{rows} documents, {missing} without words; {lost} bad records"));
    }
    Ok(documents::outcome(std::slice::from_ref(&made.summary)))
}

/// Whether both are names of one file.
fn is_same(input: &Path, output: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    resolved(input).is_some_and(|input| resolved(output) == Some(input))
}
