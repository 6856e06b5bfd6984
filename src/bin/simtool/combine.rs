//! `simtool combine`: writes the results of a run whose input was read in shards.

use crate::args::{CombineArgs, Command, CorpusArgs, InputArgs, Job};
use crate::{ExitStatus, corpus, passages, shell, usage};
use anyhow::bail;
use simtool::run::{STANDARD_INPUT, recorded_command};
use std::path::Path;

/// Reads back the command line of the shards, and runs it with their stored parts.
pub(crate) fn run(args: &CombineArgs) -> anyhow::Result<ExitStatus> {
    let command_line = recorded_command(&args.output)?;
    // The output may have moved together with its parts, so the given path counts.
    match usage::understood(shell::words(&command_line)) {
        Some(Command::Dedup(mut dedup)) => {
            refuse_listed_by_standard_input(&dedup.corpus.input)?;
            take_over(args, &mut dedup.corpus);
            combine_corpus(dedup.job(), command_line)
        }
        Some(Command::Corpus(mut form)) => {
            refuse_listed_by_standard_input(&form.corpus.input)?;
            take_over(args, &mut form.corpus);
            combine_corpus(form.job(), command_line)
        }
        Some(Command::Passages(mut found)) => {
            refuse_listed_by_standard_input(&found.input)?;
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

/// Returns an error if the shards read the list of their files from standard input, so that nothing says which files
/// they are. Older versions of simtool allowed this.
fn refuse_listed_by_standard_input(input: &InputArgs) -> anyhow::Result<()> {
    if input.files_from.as_deref() == Some(Path::new(STANDARD_INPUT)) {
        bail!(
            "the shards read the list of their files from standard input, which cannot be read again: write the list \
             to a file, and run the shards again with --files-from and its name"
        );
    }
    Ok(())
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
