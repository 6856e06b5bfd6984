//! `simtool combine`: writes the results of a run whose input was read in shards.

use crate::args::{CombineArgs, Command, CorpusArgs, Job};
use crate::{ExitStatus, corpus, passages, shell, usage};
use anyhow::bail;
use simtool::run::recorded_command;

/// Reads back the command line of the shards, and runs it with their stored parts.
pub(crate) fn run(args: &CombineArgs) -> anyhow::Result<ExitStatus> {
    let command_line = recorded_command(&args.output)?;
    // The output may have moved together with its parts, so the given path counts.
    match usage::understood(shell::words(&command_line)) {
        Some(Command::Dedup(mut dedup)) => {
            take_over(args, &mut dedup.corpus);
            combine_corpus(dedup.job(), command_line)
        }
        Some(Command::Corpus(mut form)) => {
            take_over(args, &mut form.corpus);
            combine_corpus(form.job(), command_line)
        }
        Some(Command::Passages(mut found)) => {
            (found.common, found.memory) = (args.common.clone(), args.memory.clone());
            found.rows.output.clone_from(&args.output);
            found.rows.force = args.force;
            let mut request = passages::request(&found, command_line)?;
            request.combine();
            passages::write_results(&found, &request)
        }
        _ => bail!("cannot understand the command of the shards: {command_line}"),
    }
}

/// Puts the options of `simtool combine` in the place of those of the shards, whose machines may have had other memory
/// and threads.
fn take_over(args: &CombineArgs, corpus: &mut CorpusArgs) {
    (corpus.common, corpus.memory) = (args.common.clone(), args.memory.clone());
    corpus.output.clone_from(&args.output);
    corpus.force = args.force;
}

fn combine_corpus(job: Job<'_>, command_line: String) -> anyhow::Result<ExitStatus> {
    let mut request = job.request(command_line)?;
    request.combine();
    corpus::write_results(job, &request)
}
