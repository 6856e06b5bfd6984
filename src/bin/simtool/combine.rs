//! `simtool combine`: writes the results of a run whose input was read in shards.

use crate::args::CombineArgs;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use crate::{corpus, passages};
use simtool::options::Options;
use simtool::run::{self, Combined};
use std::io;

/// Combines the stored parts, and prints the counts of the run.
pub(crate) fn run(args: &CombineArgs) -> anyhow::Result<ExitStatus> {
    let mut options = Options::new();
    args.common.set(&mut options);
    args.memory.set(&mut options);
    options.set_flag("force", args.force);
    let terminal = Terminal::new(&args.common.running);
    match run::combine(&args.output, &options, &mut io::stdout(), &terminal)? {
        Combined::NearDuplicates(outcome) => {
            corpus::show(&outcome, &args.output, &args.common.running, &terminal)
        }
        Combined::Passages(found) => Ok(passages::show(&found, &args.common.running, &terminal)),
    }
}
