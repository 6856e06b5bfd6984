//! `simtool join` and `simtool search`: finds pairs of near fingerprints in files of fingerprints.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::run::{self, JoinRequest, Joined};
use simtool::stages::sides::Sides;
use std::io;

/// Finds the pairs of near fingerprints within a file, or between a file and queries. Prints counts and times if the
/// arguments request them.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let mut options = call.options();
    let file = call.path("file");
    let files = match options.take_path("queries") {
        Some(queries) => Sides::Two(queries, file),
        None => Sides::One(file),
    };
    let request = JoinRequest::parse(files, options)?;
    let terminal = Terminal::new(call);
    let Joined { timings } = run::join(&request, &mut io::stdout(), &terminal)?;
    // If a file of fingerprints cannot be read, the run fails, so there are no faults to show here.
    terminal.end(&[]);
    if call.has("verbose") {
        for counted in timings.counts() {
            console::note(&format!("{} {}", counted.count, counted.what));
        }
    }
    if call.has("stats") {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(ExitStatus::Done)
}
