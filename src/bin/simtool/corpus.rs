//! `simtool dedup` and `simtool match`: finds near-duplicates within a collection or between two.

use crate::args::Job;
use crate::compare::shown;
use crate::exit_status::ExitStatus;
use crate::stored_note::stored_note;
use crate::terminal::Terminal;
use crate::{console, shell};
use simtool::run::{self, Face, Notice, Outcome, Previewed, Request};
use simtool::write::preview::{preview_text, write_preview};
use simtool::write::summary::{table, write_summary};

/// Finds the near-duplicates, writes the outputs, and prints the counts.
pub(crate) fn run(job: Job<'_>) -> anyhow::Result<ExitStatus> {
    let request = job.request(shell::command_line())?;
    if job.corpus.planning.has("dry_run") || job.corpus.planning.has("preview") {
        let terminal = Terminal::new(&job.corpus.common.running);
        if job.corpus.planning.has("preview") {
            return preview(job, &request, &terminal);
        }
        return dry_run(&request, &terminal);
    }
    if request.is_shard() {
        let terminal = Terminal::new(&job.corpus.common.running);
        let stored = run::store_shard(&request, &terminal)?;
        terminal.end(&[]);
        terminal.note(&stored_note(&stored, &request.output));
        return Ok(ExitStatus::Done);
    }
    write_results(job, &request)
}

/// Finds the near-duplicates of `request`, writes the outputs, and prints the counts.
pub(crate) fn write_results(job: Job<'_>, request: &Request) -> anyhow::Result<ExitStatus> {
    let running = &job.corpus.common.running;
    let terminal = Terminal::new(&job.corpus.common.running);
    let Outcome { summary, faults, has_losses, notes, counts } = run::dedup(request, &terminal)?;
    // The progress bar must be gone before the table is printed to the same terminal.
    terminal.end(&faults);
    for note in &notes {
        terminal.note(note);
    }
    if running.has("stats") {
        console::stats(&console::stage_times(&summary.stages, &counts));
    }
    let results = format!("the results in {}", request.output.display());
    if job.corpus.results.has("json") {
        // The object is printed all at once, so that a failure does not leave half of it on standard output.
        let mut written = Vec::new();
        write_summary(&mut written, &summary)?;
        console::report(&written, &results)?;
    } else {
        console::report(table(&summary).as_bytes(), &results)?;
    }
    Ok(ExitStatus::after(has_losses))
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
