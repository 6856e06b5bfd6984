//! `simtool contamination`: finds the items of an evaluation set that documents contain.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::run::{self, ContaminationFound, ContaminationRequest};
use simtool::stages::quantity::{counted, grouped, percent};
use std::io;

/// Runs `simtool contamination`: finds the items of an evaluation set in documents, writes the found items, and prints
/// counts.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let (items, documents) = (call.paths("items"), call.paths("in"));
    let mut request = ContaminationRequest::parse(items, documents, call.options())?;
    call.describe(&mut request.job.recorded);
    let terminal = Terminal::new(call);
    let found = run::contamination(&request, &mut io::stdout(), &terminal)?;
    // The progress bar must be gone before notes are printed to the same terminal.
    terminal.end(&found.faults);
    for note in notes(&found, request.words) {
        terminal.note(&note);
    }
    if call.has("stats") {
        console::stats(&console::stage_times(found.timings.stages(), found.timings.counts()));
    }
    Ok(ExitStatus::after(found.has_losses))
}

/// Returns the counts as sentences for the user. `words` is the number of words of a shingle.
fn notes(found: &ContaminationFound, words: usize) -> Vec<String> {
    let mut notes = vec![format!(
        "{} of {} found ({:.1} %), in {} of {}",
        grouped(found.found_items),
        counted(found.items, "item"),
        found.found_items as f64 * 100.0 / found.items.max(1) as f64,
        grouped(found.found_documents),
        counted(found.documents, "document"),
    )];
    // Short items are often in documents by chance, so their number is shown.
    if found.short_items > 0 {
        let count = counted(found.short_items, "item");
        notes.push(format!("{count} with fewer than {words} words: searched as a whole"));
    }
    if found.items_without_words > 0 {
        notes.push(format!(
            "{} without words, in no document",
            counted(found.items_without_words, "item")
        ));
    }
    notes.extend(common_items(found));
    if let Some(freed) = found.freed {
        notes.push(format!(
            "{} left out of the copies, {} cut",
            counted(freed.dropped, "document"),
            grouped(freed.cut)
        ));
        // These copies still have the items, so the user must know their number.
        if freed.uncut > 0 {
            notes.push(format!(
                "{} copied with the items, because the text was extracted or decoded from the record, or the record \
                 cannot have the cut text; the output uncut lists them, and --write-kept drop leaves them out",
                counted(freed.uncut, "document")
            ));
        }
    }
    notes
}

/// Returns sentences about items that are in very many documents. They are probably common phrases, which few of these
/// documents have copied.
fn common_items(found: &ContaminationFound) -> Vec<String> {
    let sources = &found.item_sources;
    let mut notes = Vec::new();
    let items = sources.iter().map(|source| source.common_items).sum();
    if items > 0 {
        let hits: u64 = sources.iter().map(|source| source.hits).sum();
        let common = sources.iter().map(|source| source.common_hits).sum();
        notes.push(format!(
            "{} in at least 1 % of the documents and 10 of them, with {} of all hits",
            counted(items, "common item"),
            percent(common, hits)
        ));
    }
    for source in sources.iter().filter(|source| source.is_suspicious(found.documents)) {
        notes.push(format!(
            "{}: its items are in {} of the documents, {} alone in {}; they are probably a template or a common phrase. \
             Look at this item, and leave it out or use --measure weighted",
            source.file,
            percent(source.found_documents, found.documents),
            source.most_common_id,
            grouped(source.most_common)
        ));
    }
    notes
}
