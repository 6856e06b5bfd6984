//! `simtool fingerprint`: writes the fingerprints of documents to a file.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::run::{self, FingerprintRequest};
use simtool::stages::quantity::{counted, grouped};
use std::io;

/// Runs `simtool fingerprint`: computes the fingerprints of the documents, writes them to the output, and prints
/// counts.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = FingerprintRequest::parse(call.paths("paths"), call.options())?;
    let terminal = Terminal::new(call);
    let made = run::fingerprint(&request, &mut io::stdout(), &terminal)?;
    // The progress bar must be gone before notes are printed to the same terminal.
    terminal.end(&made.faults);
    let documents = counted(made.documents, "document");
    let without_words = grouped(made.without_words);
    let bad = counted(made.bad_records, "bad record");
    terminal.note(&format!("{documents}, {without_words} without words; {bad}"));
    if call.has("stats") {
        console::stats(&console::stage_times(made.timings.stages(), made.timings.counts()));
    }
    Ok(ExitStatus::after(made.has_losses))
}
