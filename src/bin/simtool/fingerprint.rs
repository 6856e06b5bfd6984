//! `simtool fingerprint`: writes the fingerprints of documents to a file.

use crate::args::FingerprintArgs;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::options::Options;
use simtool::quantity::{counted, grouped};
use simtool::run::{self, FingerprintRequest};
use std::io;

/// Computes the fingerprints of the documents, writes them to the file, and prints counts.
pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<ExitStatus> {
    let mut options = Options::new();
    args.set(&mut options);
    let request = FingerprintRequest::parse(args.corpus.clone(), options)?;
    let running = &args.common.running;
    let terminal = Terminal::new(running);
    let made = run::fingerprint(&request, &mut io::stdout(), &terminal)?;
    // The progress bar must be gone before notes are printed to the same terminal.
    terminal.end(&made.faults);
    let documents = counted(made.documents, "document");
    let without_words = grouped(made.without_words);
    let bad = counted(made.bad_records, "bad record");
    terminal.note(&format!("{documents}, {without_words} without words; {bad}"));
    if running.has("stats") {
        console::stats(&console::stage_times(made.timings.stages(), made.timings.counts()));
    }
    Ok(ExitStatus::after(made.has_losses))
}
