//! `simtool join` and `simtool search`: finds pairs of near fingerprints in files of fingerprints.

use crate::args::{JoinArgs, PairsArgs, SearchArgs};
use crate::console;
use crate::terminal::Terminal;
use simtool::Error;
use simtool::options::Options;
use simtool::run::{self, JoinRequest, Joined};
use simtool::sides::Sides;
use std::io;
use std::path::PathBuf;

/// Finds the pairs of near fingerprints within one file.
pub(crate) fn join(args: &JoinArgs) -> anyhow::Result<()> {
    let files = Sides::One(args.rows.file.clone());
    run(&request(files, args.index.as_deref(), &args.pairs)?, &args.pairs)
}

/// Finds the fingerprints of one file that are near fingerprints of another file.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let files = Sides::Two(args.queries.clone(), args.rows.file.clone());
    run(&request(files, args.index.as_deref(), &args.pairs)?, &args.pairs)
}

/// Creates the request to join `files`, which the library carries out.
fn request(
    files: Sides<PathBuf>,
    index: Option<&str>,
    args: &PairsArgs,
) -> Result<JoinRequest, Error> {
    let mut options = Options::new();
    args.set(&mut options);
    if let Some(index) = index {
        options.set("index", index);
    }
    JoinRequest::parse(files, options)
}

/// Writes the pairs, and prints counts and times if the arguments request them.
fn run(request: &JoinRequest, args: &PairsArgs) -> anyhow::Result<()> {
    let running = &args.common.running;
    let terminal = Terminal::new(running);
    let Joined { timings } = run::join(request, &mut io::stdout(), &terminal)?;
    // If a file of fingerprints cannot be read, the run fails, so there are no faults to show here.
    terminal.end(&[]);
    if running.has("verbose") {
        for counted in timings.counts() {
            console::note(&format!("{} {}", counted.count, counted.what));
        }
    }
    if running.has("stats") {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(())
}
