//! `simtool join` and `simtool search`: pairs of near rows in files of fingerprints.

use crate::args::{JoinArgs, PairsArgs, SearchArgs};
use crate::console;
use crate::terminal::Terminal;
use simtool::Error;
use simtool::options::Options;
use simtool::run::{self, JoinRequest, Joined};
use simtool::sides::Sides;
use std::io;
use std::path::PathBuf;

/// Joins a file of fingerprints with itself.
pub(crate) fn join(args: &JoinArgs) -> anyhow::Result<()> {
    let files = Sides::One(args.rows.path().to_owned());
    run(&request(files, args.index.as_deref(), &args.pairs)?, &args.pairs)
}

/// Searches a file of fingerprints for the fingerprints of another file.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let files = Sides::Two(args.queries.clone(), args.rows.path().to_owned());
    run(&request(files, args.index.as_deref(), &args.pairs)?, &args.pairs)
}

/// Creates the request to the library.
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

/// Writes the pairs, and prints the counts and times that the user wants to see.
fn run(request: &JoinRequest, args: &PairsArgs) -> anyhow::Result<()> {
    let running = &args.common.running;
    let mut terminal = Terminal::new(running);
    if args.explain {
        terminal.explain();
    }
    let Joined { timings } = run::join(request, &mut io::stdout(), &terminal)?;
    // A file of fingerprints that cannot be read is an error, so there are no faults to show.
    terminal.end(&[]);
    if running.verbose {
        for counted in timings.counts() {
            console::note(&format!("{} {}", counted.count, counted.what));
        }
    }
    if running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(())
}
