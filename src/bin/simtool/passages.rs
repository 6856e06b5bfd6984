//! `simtool passages`: finds the passages of a collection that occur more than once.

use crate::args::Call;
use crate::compare::shown;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::stored_note::stored_note;
use crate::terminal::Terminal;
use simtool::run::{self, PassagesFound, PassagesRequest};
use simtool::stages::quantity::{counted, grouped};
use std::io;

/// Runs `simtool passages`: finds repeated passages, writes them, and prints counts. With `--shard`, only stores the
/// words of a share of the input.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let mut request = PassagesRequest::parse(call.paths("paths"), call.options())?;
    call.describe(&mut request.job.recorded);
    let terminal = Terminal::new(call);
    if request.job.is_shard() {
        let stored = run::store_passage_shard(&request, &terminal)?;
        terminal.end(&[]);
        terminal.note(&stored_note(&stored, &request.job.output));
        return Ok(ExitStatus::Done);
    }
    if call.has("preview") {
        let found = run::passages(&request.into_preview()?, &mut io::sink(), &terminal)?;
        terminal.end(&found.faults);
        show_times(&found, call);
        let end = "nothing was written; a run without the preview finds exactly these passages";
        let mut lines = notes(&found);
        // The texts are a list below the counts, and their wrapped lines are below their first words.
        let counts = lines.len() - found.repetition.text_lines().count();
        lines.iter_mut().skip(counts).for_each(|line| line.insert_str(0, "  "));
        // Texts and names of documents could control the terminal.
        console::out_wrapped(&shown(&format!("{}\n\n{end}\n", lines.join("\n"))))?;
        return Ok(ExitStatus::after(found.has_losses));
    }
    let found = run::passages(&request, &mut io::stdout(), &terminal)?;
    Ok(show(&found, call, &terminal))
}

/// Prints the faults, the notes and the counts of a run.
pub(crate) fn show(found: &PassagesFound, call: &Call, terminal: &Terminal) -> ExitStatus {
    // The progress bar must be gone before notes are printed to the same terminal.
    terminal.end(&found.faults);
    for note in notes(found) {
        terminal.note(&note);
    }
    show_times(found, call);
    ExitStatus::after(found.has_losses)
}

fn show_times(found: &PassagesFound, call: &Call) {
    if call.has("stats") {
        console::stats(&console::stage_times(found.timings.stages(), found.timings.counts()));
    }
}

/// Returns the counts of a run as sentences for the user.
fn notes(found: &PassagesFound) -> Vec<String> {
    let percent = |words: u64| words as f64 * 100.0 / found.words.max(1) as f64;
    let mut notes = vec![
        format!(
            "{} in {}, {} of them whole documents",
            counted(found.passages, "repeated passage"),
            counted(found.documents, "document"),
            grouped(found.whole_documents)
        ),
        format!(
            "{} of {} words are in them ({:.1} %), {} of these in later copies ({:.1} %)",
            grouped(found.repeated_words),
            grouped(found.words),
            percent(found.repeated_words),
            grouped(found.later_words),
            percent(found.later_words)
        ),
    ];
    notes.extend(found.repetition.lines());
    // Without --write-kept, nothing is cut.
    if let Some(cut) = found.cut {
        notes.push(format!(
            "{} cut: {} shortened, {} removed because too little was left",
            counted(cut.words, "word"),
            counted(cut.cut, "document"),
            grouped(cut.removed)
        ));
        if cut.uncut > 0 {
            notes.push(format!(
                "{} copied whole, because the text was extracted or decoded from the record, or the record cannot \
                 have the cut text; the output uncut lists them",
                counted(cut.uncut, "document")
            ));
        }
    }
    notes
}
