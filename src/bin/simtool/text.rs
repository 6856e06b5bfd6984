//! `simtool text`: writes the text of each document as the other commands compare it.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::run::{self, TextRequest};
use simtool::stages::page_text::PageText;
use simtool::stages::quantity::{counted, grouped};
use std::io;

/// Runs `simtool text`: writes the text of each document as it is compared, and prints counts.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = TextRequest::parse(call.paths("paths"), call.options())?;
    let terminal = Terminal::new(call);
    let written = run::text(&request, &mut io::stdout(), &terminal)?;
    // The progress bar must be gone before notes are printed to the same terminal.
    terminal.end(&written.faults);
    let pages = PageText::ALL.into_iter().map(|part| (written.pages.of(part), part.name()));
    // Most collections have only a few kinds of pages, so the other kinds are left out.
    let pages = pages.filter(|(count, _)| *count > 0);
    let pages = pages.map(|(count, name)| format!("{} {name}", grouped(count)));
    let pages = pages.collect::<Vec<_>>().join(", ");
    let pages = if pages.is_empty() { pages } else { format!("; pages: {pages}") };
    let documents = counted(written.documents, "document");
    let bad = counted(written.bad_records, "bad record");
    terminal.note(&format!("{documents}, {bad}{pages}"));
    if call.has("stats") {
        console::stats(&console::stage_times(written.timings.stages(), written.timings.counts()));
    }
    Ok(ExitStatus::after(written.has_losses))
}
