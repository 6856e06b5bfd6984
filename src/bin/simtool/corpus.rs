//! `simtool dedup` and `simtool match`: finds near-duplicates within a collection or between two.

use crate::args::{Job, RunningArgs};
use crate::compare::shown;
use crate::exit_status::ExitStatus;
use crate::stored_note::stored_note;
use crate::terminal::Terminal;
use crate::{console, shell};
use simtool::run::{self, Face, Notice, Outcome, Previewed, Request};
use simtool::write::preview::{preview_text, write_preview};
use simtool::write::summary::{table, write_summary};
use std::path::Path;

/// Finds the near-duplicates, writes the outputs, and prints the counts.
pub(crate) fn run(job: Job<'_>) -> anyhow::Result<ExitStatus> {
    let mut request = job.request()?;
    shell::describe(&mut request.job.recorded);
    if job.corpus.planning.has("dry_run") || job.corpus.planning.has("preview") {
        let terminal = Terminal::new(&job.corpus.common.running);
        if job.corpus.planning.has("preview") {
            return preview(job, &request, &terminal);
        }
        return dry_run(&request, &terminal);
    }
    if request.job.is_shard() {
        let terminal = Terminal::new(&job.corpus.common.running);
        let stored = run::store_shard(&request, &terminal)?;
        terminal.end(&[]);
        terminal.note(&stored_note(&stored, &request.job.output));
        return Ok(ExitStatus::Done);
    }
    write_results(job, &request)
}

/// Finds the near-duplicates of `request`, writes the outputs, and prints the counts.
fn write_results(job: Job<'_>, request: &Request) -> anyhow::Result<ExitStatus> {
    let running = &job.corpus.common.running;
    let terminal = Terminal::new(running);
    let outcome = run::dedup(request, &terminal)?;
    if !job.corpus.results.has("json") {
        return show(&outcome, &request.job.output, running, &terminal);
    }
    show_notes(&outcome, running, &terminal);
    // The object is printed all at once, so that a failure does not leave half of it on standard output.
    let mut written = Vec::new();
    write_summary(&mut written, &outcome.summary)?;
    console::report(&written, &results(&request.job.output))?;
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Prints what a run found, whose results are in `output`.
pub(crate) fn show(
    outcome: &Outcome,
    output: &Path,
    running: &RunningArgs,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    show_notes(outcome, running, terminal);
    console::report(table(&outcome.summary).as_bytes(), &results(output))?;
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Prints the faults and the notes of a run.
fn show_notes(outcome: &Outcome, running: &RunningArgs, terminal: &Terminal) {
    // The progress bar must be gone before anything is printed to the same terminal.
    terminal.end(&outcome.faults);
    for note in &outcome.notes {
        terminal.note(note);
    }
    if running.has("stats") {
        console::stats(&console::stage_times(&outcome.summary.stages, &outcome.counts));
    }
}

fn results(output: &Path) -> String {
    format!("the results in {}", output.display())
}

/// Prints what the run would remove, without writing anything.
fn preview(job: Job<'_>, request: &Request, terminal: &Terminal) -> anyhow::Result<ExitStatus> {
    let Previewed { summary, preview, faults, has_losses, notes, counts } =
        run::preview(request, terminal)?;
    terminal.end(&faults);
    for note in &notes {
        terminal.note(note);
    }
    if job.corpus.common.running.has("stats") {
        console::stats(&console::stage_times(&summary.stages, &counts));
    }
    if job.corpus.results.has("json") {
        let mut written = Vec::new();
        write_preview(&mut written, &summary, &preview)?;
        console::out(&written)?;
    } else {
        // Texts and names of documents could control the terminal.
        console::out(shown(&preview_text(&summary, &preview)).as_bytes())?;
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
