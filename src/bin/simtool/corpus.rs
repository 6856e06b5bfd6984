//! `simtool dedup` and `simtool match`: finds near-duplicates within a collection or between two.

use crate::args::Call;
use crate::compare::shown;
use crate::exit_status::ExitStatus;
use crate::stored_note::stored_note;
use crate::terminal::Terminal;
use crate::{console, inputs};
use simtool::Error;
use simtool::run::{self, Face, Notice, Outcome, Paths, Previewed, Request, WordsRequest};
use simtool::write::preview::{preview_text, write_preview};
use simtool::write::summary::{table, write_summary};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Runs `simtool dedup` or `simtool match`: finds the near-duplicates, writes the outputs, and prints the counts.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = request(call)?;
    let terminal = Terminal::new(call);
    if call.has("preview") {
        return preview(call, &request, &terminal);
    }
    if call.has("dry_run") {
        return dry_run(&request, &terminal);
    }
    if request.job.is_shard() {
        let stored = run::store_shard(&request, &terminal)?;
        terminal.end(&[]);
        terminal.note(&stored_note(&stored, &request.job.output));
        return Ok(ExitStatus::Done);
    }
    let outcome = run::dedup(&request, &terminal)?;
    if !call.has("json") {
        return show(&outcome, &request.job.output, call, &terminal);
    }
    show_notes(&outcome, call, &terminal);
    // The object is printed all at once, so that a failure does not leave half of it on standard output.
    let mut written = Vec::new();
    write_summary(&mut written, &outcome.summary)?;
    console::report(&written, &results(&request.job.output))?;
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Creates the request that the library carries out.
fn request(call: &Call) -> Result<Request, Error> {
    let mut options = call.options();
    // Only the form `simtool [N M] --corpus` has N and M, and their files.
    let words = match call.command.setting("directory") {
        Some(_) => inputs::words(call, &mut options),
        None => WordsRequest::default(),
    };
    let corpus = ["paths", "corpus", "against"].map(|name| call.paths(name)).concat();
    let paths = Paths { corpus, queries: call.paths("queries") };
    let mut request = Request::parse_with_words(paths, words, options)?;
    call.describe(&mut request.job.recorded);
    Ok(request)
}

/// Prints the findings of a run, whose results are in the folder `output`. Returns the exit code.
pub(crate) fn show(
    outcome: &Outcome,
    output: &Path,
    call: &Call,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    show_notes(outcome, call, terminal);
    console::report(table(&outcome.summary).as_bytes(), &results(output))?;
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Prints the faults and the notes of a run.
fn show_notes(outcome: &Outcome, call: &Call, terminal: &Terminal) {
    // The progress bar must be gone before anything is printed to the same terminal.
    terminal.end(&outcome.faults);
    for note in &outcome.notes {
        terminal.note(note);
    }
    if call.has("stats") {
        console::stats(&console::stage_times(&outcome.summary.stages, &outcome.counts));
    }
}

fn results(output: &Path) -> String {
    format!("the results in {}", output.display())
}

/// Prints what the run would remove, without writing anything.
fn preview(call: &Call, request: &Request, terminal: &Terminal) -> anyhow::Result<ExitStatus> {
    let Previewed { summary, preview, faults, has_losses, notes, counts } =
        run::preview(request, terminal)?;
    terminal.end(&faults);
    for note in &notes {
        terminal.note(note);
    }
    if call.has("stats") {
        console::stats(&console::stage_times(&summary.stages, &counts));
    }
    if call.has("json") {
        let mut written = Vec::new();
        write_preview(&mut written, &summary, &preview)?;
        console::out(&written)?;
    } else {
        // Texts and names of documents could control the terminal.
        let text = preview_text(&summary, &preview, io::stdout().is_terminal());
        console::out_wrapped(&shown(&text))?;
    }
    Ok(ExitStatus::after(has_losses))
}

/// Prints the plan of the run and its estimated costs, without a run.
fn dry_run(request: &Request, terminal: &Terminal) -> anyhow::Result<ExitStatus> {
    let planned = run::dry_run(request, terminal)?;
    if let Some(warning) = &planned.estimate.warning {
        terminal.notice(Notice::Warning(warning));
    }
    terminal.end(&planned.faults);
    console::out(planned.to_string().as_bytes())?;
    Ok(ExitStatus::Done)
}
