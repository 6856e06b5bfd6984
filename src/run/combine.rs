//! `combine`: writes the results of a run whose input was read in shards, from the stored request and parts.

use super::dedup::{Outcome, dedup};
use super::dedup_request::{Paths, Request};
use super::face::Face;
use super::finish_mark::is_marked_as_finished;
use super::parts_folder::parts_path;
use super::passages::{PassagesFound, PassagesRequest, passages};
use super::recorded_request::RecordedRequest;
use super::standard_streams::STANDARD_INPUT;
use crate::setting::find_command;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_read::walk::is_output_folder;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Returns whether `name` is a setting of the command `combine` itself, such as `threads`. Such a setting may differ
/// from the runs that read the shards on other machines. All other settings are those of these runs.
fn is_own(name: &str) -> bool {
    find_command("combine").is_some_and(|command| command.setting(name).is_some())
}

/// Result of a combined run.
#[derive(Debug)]
pub enum Combined {
    /// Near-duplicates within a collection.
    NearDuplicates(Box<Outcome>),
    /// Repeated passages.
    Passages(Box<PassagesFound>),
}

/// Writes the results of a run whose shards have stored their parts for `output`. A shard is a share of the input that
/// a run with the option `shard` has read. `options` may have `threads`, `max_memory`, `tmp_dir` and `force`. If the
/// results are for standard output, they are written to `out`.
///
/// # Errors
///
/// A shard is missing, the inputs are not in the working folder, there is an output already, or the run fails.
pub fn combine(
    output: &Path,
    options: &Options,
    out: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<Combined> {
    // Another setting would make documents different from those that the shards have read.
    if let Some(other) = options.names().find(|name| !is_own(name)) {
        let value = options.get(other).unwrap_or_default();
        let rule = "is no option of combine: the settings of the shards hold";
        return Err(Error::config("options", format!("{other}={value}"), rule));
    }
    let recorded = recorded_request(output)?;
    // A run that was killed may have completed its output.
    if !is_marked_as_finished(output) {
        refuse_existing(output, options)?;
    }
    check_inputs(&recorded)?;
    let settings = settings(&recorded, output, options);
    let RecordedRequest { command, paths, words, .. } = recorded.clone();
    // The request is parsed again, as it was for each shard.
    match command.as_str() {
        "dedup" => {
            let paths = Paths { corpus: paths, queries: Vec::new() };
            let mut request = Request::parse_with_words(paths, words, settings)?;
            request.job.recorded.take_notes(&recorded);
            request.job.combine();
            dedup(&request, face).map(|outcome| Combined::NearDuplicates(Box::new(outcome)))
        }
        "passages" => {
            let mut request = PassagesRequest::parse(paths, settings)?;
            request.job.recorded.take_notes(&recorded);
            request.job.combine();
            passages(&request, out, face).map(|found| Combined::Passages(Box::new(found)))
        }
        other => {
            let what = format!("{} has parts of {other}", output.display());
            let reason = "only dedup and passages have shards".to_owned();
            Err(ErrorKind::Missing { what, reason }.into())
        }
    }
}

/// Returns the request that the runs of the shards have recorded next to `output`. The number of a shard is not part of
/// this request.
///
/// # Errors
///
/// No run has stored parts of its input for `output`, or the request cannot be read.
fn recorded_request(output: &Path) -> Result<RecordedRequest> {
    let path = parts_path(output);
    if !is_output_folder(&path) {
        let what = format!("{} has no stored parts", path.display());
        let reason = "first run the same command with `shard` for each shard".to_owned();
        return Err(ErrorKind::Missing { what, reason }.into());
    }
    // Parts of another version have no request, and their rows may mean something else.
    RecordedRequest::read(&path)?.ok_or_else(|| {
        let what = format!("{} has no request", path.display());
        let reason = "another version of simtool wrote it: run the shards again".to_owned();
        ErrorKind::Missing { what, reason }.into()
    })
}

/// Returns the recorded settings of the shards. The settings of `combine` itself come from `own` instead. The output is
/// the path `output`, because it may have moved together with its parts.
fn settings(recorded: &RecordedRequest, output: &Path, own: &Options) -> Options {
    let mut settings = Options::new();
    for (name, value) in recorded.options.iter() {
        // A setting that is given twice would be an error, so those of the shards are left out.
        if name != "output" && !is_own(name) {
            settings.set(name, value);
        }
    }
    for (name, value) in own.iter() {
        settings.set(name, value);
    }
    settings.set("output", output);
    settings
}

/// Returns an error if `output` has content that may not be replaced. The error does not advise to name another output,
/// as other commands do, because the stored parts belong to this name.
fn refuse_existing(output: &Path, options: &Options) -> Result<()> {
    let is_taken = match fs::read_dir(output) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => output.exists(),
    };
    if is_taken && !options.has("force") {
        let rule = "is there already: move it away, or replace it with `force` if simtool wrote it";
        return Err(Error::config("OUTPUT", output.display(), rule));
    }
    Ok(())
}

/// Returns an error if none of the input paths of the shards exists. Then `combine` probably runs in another folder
/// than the shards.
fn check_inputs(recorded: &RecordedRequest) -> Result<()> {
    let paths = recorded.all_paths();
    // A shard may have skipped paths that did not exist.
    let are_missing = paths
        .iter()
        .all(|path| path != Path::new(STANDARD_INPUT) && path.is_relative() && !path.exists());
    if let Some(path) = paths.first().filter(|_| are_missing) {
        let what = format!("{} is not in this folder", path.display());
        let reason = "run `simtool combine` in the folder in which the shards ran, where the paths of their command begin";
        return Err(ErrorKind::Missing { what, reason: reason.to_owned() }.into());
    }
    Ok(())
}
