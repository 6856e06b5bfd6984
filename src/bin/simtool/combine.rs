//! `simtool combine`: writes the results of a run whose input was read in shards.

use crate::args::{CombineArgs, Command, CorpusArgs, InputArgs, Job};
use crate::exit_status::ExitStatus;
use crate::{corpus, passages, shell, usage};
use anyhow::bail;
use simtool::Error;
use simtool::run::{STANDARD_INPUT, is_marked_as_finished, recorded_command};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads back the command line of the shards, and runs it with their stored parts.
pub(crate) fn run(args: &CombineArgs) -> anyhow::Result<ExitStatus> {
    let command_line = recorded_command(&args.output)?;
    // A run that was killed may have completed its output.
    if !is_marked_as_finished(&args.output) {
        refuse_existing(args)?;
    }
    // The output may have moved together with its parts, so the given path counts.
    match usage::understood(shell::words(&command_line)) {
        Some(Command::Dedup(mut dedup)) => {
            check_inputs(&dedup.paths, &dedup.corpus.input)?;
            take_over(args, &mut dedup.corpus);
            combine_corpus(dedup.job(), command_line)
        }
        Some(Command::Corpus(mut form)) => {
            check_inputs(&form.paths, &form.corpus.input)?;
            take_over(args, &mut form.corpus);
            combine_corpus(form.job(), command_line)
        }
        Some(Command::Passages(mut found)) => {
            check_inputs(&found.paths, &found.input)?;
            (found.common, found.memory) = (args.common.clone(), args.memory.clone());
            found.rows.replace("output", Some(&args.output));
            found.rows.replace("force", args.force.then_some("true"));
            let mut request = passages::request(&found, command_line)?;
            request.combine();
            passages::write_results(&found, &request)
        }
        _ => bail!("cannot understand the command of the shards: {command_line}"),
    }
}

/// Returns an error if there is an output. Other commands advise to name another one, but the parts belong to this name.
fn refuse_existing(args: &CombineArgs) -> anyhow::Result<()> {
    let is_taken = match fs::read_dir(&args.output) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => args.output.exists(),
    };
    if is_taken && !args.force {
        let rule = "is there already: move it away, or replace it with --force if simtool wrote it";
        return Err(Error::config("OUTPUT", args.output.display(), rule).into());
    }
    Ok(())
}

/// Returns an error if the files of the shards cannot be found. `paths` and `input` are of their command line.
fn check_inputs(paths: &[PathBuf], input: &InputArgs) -> anyhow::Result<()> {
    // Older versions of simtool allowed shards of such a list, but nothing says which files it named.
    if input.path("files_from") == Some(Path::new(STANDARD_INPUT)) {
        bail!(
            "the shards read the list of their files from standard input, which cannot be read again: write the list \
             to a file, and run the shards again with --files-from and its name"
        );
    }
    let named = || paths.iter().map(PathBuf::as_path).chain(input.path("files_from"));
    // A shard may have skipped paths that did not exist.
    let are_missing = named().all(|path| path.is_relative() && !path.exists());
    if let Some(path) = named().next().filter(|_| are_missing) {
        bail!(
            "{} is not in this folder: run `simtool combine` in the folder in which the shards ran, where the paths of \
             their command begin",
            path.display()
        );
    }
    Ok(())
}

/// Puts the options of `simtool combine` in the place of those of the shards, whose machines may have had other memory
/// and threads.
fn take_over(args: &CombineArgs, corpus: &mut CorpusArgs) {
    (corpus.common, corpus.memory) = (args.common.clone(), args.memory.clone());
    corpus.results.replace("output", Some(&args.output));
    corpus.results.replace("force", args.force.then_some("true"));
}

fn combine_corpus(job: Job<'_>, command_line: String) -> anyhow::Result<ExitStatus> {
    let mut request = job.request(command_line)?;
    request.combine();
    corpus::write_results(job, &request)
}
