//! `simtool combine`: writes the results of a run whose input was read in shards.

use crate::args::Call;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use crate::{corpus, passages};
use simtool::run::{self, Combined};
use std::io;

/// Combines the stored shards of the input, which other runs have read, and prints the counts of the combined run.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let output = call.path("output");
    let terminal = Terminal::new(call);
    match run::combine(&output, &call.options(), &mut io::stdout(), &terminal)? {
        Combined::NearDuplicates(outcome) => corpus::show(&outcome, &output, call, &terminal),
        Combined::Passages(found) => Ok(passages::show(&found, call, &terminal)),
    }
}
