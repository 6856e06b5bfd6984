//! The folder next to the output in which a run stores what it has read, so that a later run can go on from there.

use super::face::{Face, Notice};
use super::recorded_request::RecordedRequest;
use super::standard_streams::STANDARD_INPUT;
use crate::output::finished_run::FinishedRun;
use crate::output::{REQUEST, StoredCopies};
use crate::pipeline::parts::{Parts, ShardShare, remove_parts};
use crate::setting::{Effect, find};
use crate::write::summary::{Setting, ShortSummary};
use crate::write::whole_file::WholeFile;
use simtool_base::durable::{Durability, creation_error};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_base::options::Options;
use simtool_base::quantity::{counted, grouped, ranges};
use simtool_base::stable_hash::wide_hash;
use simtool_read::Collection;
use simtool_read::walk::is_output_folder;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Ending of the name of the folder, which begins with the name of the output.
const ENDING: &str = ".parts";
/// File in the folder with the command line and the settings of the run.
const RECORD: &str = "summary.json";
/// All files of the folder that are not stored parts, in the order in which they are removed. [`MARK`] goes last.
pub(super) const FILES: &[&str] = &[RECORD, REQUEST, MARK];
/// File in the folder that marks an output as complete.
pub(super) const MARK: &str = "finished";
/// Name of the folder with copies of input files. It is inside the folder of the parts.
pub(super) const COPIES: &str = "copies";
/// Maximum number of shards of a collection.
const MOST_SHARDS: usize = 100_000;
/// Whether a run stores what it reads, and the settings that decide what is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct PartsRequest {
    mode: PartsMode,
    /// Names and values of the settings, as the user gave them.
    settings: String,
}

/// Way in which a run uses the stored parts of its input, which are the data of single files or of parts of large
/// files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PartsMode {
    /// The run stores nothing.
    #[default]
    Nothing,
    /// The run stores each part that it reads, and does not read parts again that earlier runs have stored.
    Resume,
    /// The run stores one shard, which is a share of the input, and ends without results.
    Store(ShardShare),
    /// The run fails unless earlier runs have stored all parts of the input.
    Combine,
}

/// Collection whose parts, which are files or parts of large files, a run stores, and the settings that decide what is
/// stored.
#[derive(Clone, Debug)]
pub(super) struct PartsPlan<'p> {
    pub(super) collection: &'p Collection,
    /// The method with its options, as text.
    pub(super) method: String,
    /// Whether the stored data of a file also depends on the other files.
    pub(super) depends_on_all: bool,
}

/// Folder in which runs store the parts of their input that they have read.
#[derive(Debug)]
pub(super) struct PartsFolder<'r> {
    request: &'r PartsRequest,
    path: PathBuf,
    /// Request of the run, without the number of its shard.
    recorded: RecordedRequest,
    /// Number of shards that the input is divided into. `None` if it is not divided.
    shards: Option<u64>,
}

/// Result of a run that has only stored a shard, which is a share of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredParts {
    /// Folder in which the pieces are stored.
    pub folder: PathBuf,
    /// Number of pieces of the input. A piece is a file or a part of a large file.
    pub pieces: u64,
    /// Number of pieces that are stored, by this run and by others.
    pub stored: u64,
}

impl StoredParts {
    /// Returns how many pieces are stored and where, for example `3 of 4 pieces of the input are in out.parts`.
    #[must_use]
    pub fn place(&self) -> String {
        let Self { folder, pieces, stored } = self;
        let are = if *stored == 1 { "is" } else { "are" };
        let stored = grouped(*stored);
        format!(
            "{stored} of {} of the input {are} in {}",
            counted(*pieces, "piece"),
            folder.display()
        )
    }
}

/// Returns the folder in which the run that writes to `output` stores the parts of its input.
pub(super) fn parts_path(output: &Path) -> PathBuf {
    // A path that ends with a slash still names the folder in front of it.
    let mut path: OsString = output.components().as_path().into();
    path.push(ENDING);
    path.into()
}

impl PartsRequest {
    /// Takes `resume` and `shard` out of `options`, and remembers all other options.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub(super) fn parse(options: &mut Options) -> Result<Self> {
        let resume = options.take_flag("resume")?;
        let mode = match options.take("shard") {
            Some(share) => PartsMode::Store(parse_share(&share)?),
            None if resume => PartsMode::Resume,
            None => PartsMode::Nothing,
        };
        let mut settings = String::new();
        // An option that is not known to be free decides something, also one that is added later.
        let is_free = |name: &str| find(name).is_some_and(|row| row.effect != Effect::Result);
        for (name, value) in options.iter().filter(|(name, _)| !is_free(name)) {
            // Writing to a string cannot fail.
            let _ = writeln!(settings, "{name}={}", value.display());
        }
        let request = Self { mode, settings };
        if options.get("files_from").is_some_and(|list| list == STANDARD_INPUT) {
            let rule = "needs the list of files in a file, because standard input cannot be read again: write the \
                        list to a file, and name it with `files_from`";
            request.refuse(rule)?;
        }
        Ok(request)
    }

    /// Makes the run fail unless earlier runs have stored all parts of the input.
    pub(super) fn combine(&mut self) {
        self.mode = PartsMode::Combine;
    }

    /// Returns the shard, which is a share of the input, that the run stores. `None` if the run reads all of its input.
    pub(super) fn share(&self) -> Option<ShardShare> {
        match self.mode {
            PartsMode::Store(share) => Some(share),
            _ => None,
        }
    }

    /// Returns the setting that makes the run store what it reads, `resume` or `shard`, and its value. `None` if the
    /// run stores nothing.
    pub(super) fn setting(&self) -> Option<(&'static str, String)> {
        match self.mode {
            PartsMode::Nothing => None,
            PartsMode::Resume | PartsMode::Combine => Some(("resume", "true".to_owned())),
            PartsMode::Store(share) => Some(("shard", written(share))),
        }
    }

    /// Returns an error if the run stores what it reads and one of its inputs is standard input.
    pub(super) fn refuse_standard_input(&self, paths: &[PathBuf]) -> Result<()> {
        if paths.iter().any(|path| path == Path::new(STANDARD_INPUT)) {
            let rule = "needs files, because standard input cannot be read again: write the input to a file";
            return self.refuse(rule);
        }
        Ok(())
    }

    /// Returns an error with the text `rule` if the run stores what it reads.
    pub(super) fn refuse(&self, rule: &str) -> Result<()> {
        match self.setting() {
            Some((name, value)) => Err(Error::config(name, value, rule)),
            None => Ok(()),
        }
    }

    /// Returns an error with the text `rule` if the run stores a shard, which is a share of its input.
    pub(super) fn refuse_share(&self, rule: &str) -> Result<()> {
        if self.share().is_some() { self.refuse(rule) } else { Ok(()) }
    }

    /// Returns the hash of all settings that decide what is stored.
    pub(super) fn settings_hash(&self) -> String {
        format!("{:032x}", wide_hash(self.settings.as_bytes()))
    }

    /// Opens the folder in which the run that writes to `output` stores what it reads. Creates the folder if it does
    /// not exist. If the run stores nothing, returns `None`, and shows a note if an earlier run has left a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, another program wrote it, or it belongs to runs with other settings.
    pub(super) fn open(
        &self,
        output: &Path,
        paths: &[PathBuf],
        recorded: &RecordedRequest,
        face: &dyn Face,
    ) -> Result<Option<PartsFolder<'_>>> {
        let Some((_, value)) = self.setting() else {
            let path = parts_path(output);
            if is_output_folder(&path) {
                let path = path.display();
                let note = format!(
                    "{path} holds what a run that was stopped has read: add `resume` to go on from there, or remove it"
                );
                face.notice(Notice::Note(&face.message(&note)));
            }
            return Ok(None);
        };
        self.refuse_standard_input(paths)?;
        let mut recorded = recorded.clone();
        if self.share().is_some() {
            recorded.command_line = without_share(&recorded.command_line, &value);
            recorded.options.take("shard");
        }
        let shards = self.share().map(|share| share.count as u64);
        let mut folder = PartsFolder { request: self, path: parts_path(output), recorded, shards };
        folder.prepare(output)?;
        Ok(Some(folder))
    }
}

impl PartsFolder<'_> {
    /// Creates the folder and its record, a file with the settings of the run. If there is a record, checks it.
    fn prepare(&mut self, output: &Path) -> Result<()> {
        let path = &self.path;
        let failed = |error| Error::io(path, "create", creation_error(path, error));
        fs::create_dir_all(path).map_err(failed)?;
        // The record marks the folder, so that no run reads it as input and no other folder is used or removed.
        if !is_output_folder(path) {
            if !has_foreign(path)? {
                return self.record(output);
            }
            // Another shard may have written the record meanwhile.
            if !is_output_folder(path) {
                let rule = "was not written by simtool: move it away, or name another output";
                return Err(Error::config("output", path.display(), rule));
            }
        }
        let run = FinishedRun::open(path)?;
        let recorded = run.parameter("settings").unwrap_or_default();
        let shards = run.parameter("shards").and_then(|count| count.parse().ok());
        match self.request.mode {
            PartsMode::Store(share) => {
                // Shards with different settings could never be combined, which is reported before they are read.
                if recorded != self.request.settings_hash() {
                    let rule = format!(
                        "{} has parts of a run with other settings ({}): use its settings, remove the folder, \
                         or name another output",
                        path.display(),
                        run.command()
                    );
                    return Err(Error::config("shard", written(share), rule));
                }
                if let Some(count) = shards.filter(|&count| count != share.count as u64) {
                    let rule = format!("the parts in {} are of {count} shards", path.display());
                    return Err(Error::config("shard", written(share), rule));
                }
                if shards.is_none() { self.record(output) } else { Ok(()) }
            }
            PartsMode::Combine => {
                self.shards = shards;
                Ok(())
            }
            // The record keeps the number of shards, from which it is known which shards are missing.
            _ => {
                self.shards = shards;
                self.record(output)
            }
        }
    }

    /// Writes the request and the settings of the run to the folder.
    fn record(&self, output: &Path) -> Result<()> {
        let parameters = [
            ("settings", Setting::Text(self.request.settings_hash())),
            ("shards", Setting::text(self.shards.map(|count| count.to_string()))),
        ];
        let summary = ShortSummary {
            command: &self.recorded.command_line,
            output,
            // Shards of several machines must write the same record, although they run in different folders.
            working_folder: None,
            parameters: &parameters,
            counts: &[],
            stages: &[],
            written_files: None,
            more: &|_| Ok(()),
        };
        let mut bytes = Vec::new();
        let path = self.path.join(RECORD);
        summary.write(&mut bytes).map_err(|error| Error::io(&path, "write", error))?;
        // The record marks the folder, so it comes last.
        self.write_whole(REQUEST, self.recorded.json().as_bytes())?;
        self.write_whole(RECORD, &bytes)
    }

    /// Writes a file of the folder. Runs for several shards may write it at the same time. They write the same bytes,
    /// and the file appears only when it is complete.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = WholeFile::create(&self.path.join(name), Durability::Synced)?;
        file.write(bytes)?;
        file.sync()?;
        file.finish()
    }

    /// Finds the stored parts of the input, and reports how many there are.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or parts are missing although the run demands all.
    pub(super) fn parts<'c>(
        &self,
        plan: &PartsPlan<'c>,
        memory: &Ledger,
        face: &dyn Face,
    ) -> Result<Parts<'c>> {
        let settings = format!("{} {}", self.request.settings, plan.method);
        let PartsPlan { collection, depends_on_all, .. } = *plan;
        let parts = Parts::open(&self.path, collection, &settings, depends_on_all, memory)?;
        if self.request.mode == PartsMode::Combine {
            self.refuse_missing(&parts)?;
        }
        let (stored, all) = (parts.stored_count(), parts.shard_count());
        let unfit = parts.unfit_count();
        if stored > 0 || unfit > 0 {
            let folder = self.path.clone();
            let mut note = StoredParts { folder, pieces: all, stored }.place();
            if unfit > 0 {
                let unfit = counted(unfit, "other piece");
                // Writing to a string cannot fail.
                let _ = write!(
                    note,
                    "; {unfit} there cannot be used, because a file or a setting has changed"
                );
            }
            face.notice(Notice::Note(&note));
        }
        Ok(parts)
    }

    /// Returns an error if parts of the input are not stored. The error names the shards to which they belong.
    fn refuse_missing(&self, parts: &Parts<'_>) -> Result<()> {
        // A run with `resume` has one shard.
        let count = self.shards.unwrap_or(1).max(1) as usize;
        let mut missing: Vec<usize> = parts.missing().map(|piece| piece % count).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let pieces = counted(missing.len() as u64, "piece");
        let are = if missing.len() == 1 { "is" } else { "are" };
        missing.sort_unstable();
        missing.dedup();
        let numbers: Vec<usize> = missing.iter().map(|index| index + 1).collect();
        let shards = match numbers[..] {
            [number] => format!("--shard {number}/{count}"),
            _ => format!("--shard I/{count} for each I of {}", ranges(&numbers)),
        };
        let what = format!("{pieces} of the input {are} not in {}", self.path.display());
        let reason = format!("run `{}` again with {shards}", self.recorded.command_line);
        Err(ErrorKind::Missing { what, reason }.into())
    }

    /// Opens the store of the copies of input files.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub(super) fn copies(&self, parts: &Parts<'_>) -> Result<StoredCopies> {
        StoredCopies::open(&self.path.join(COPIES), parts.file_keys())
    }

    /// Removes the folder and the stored parts, when the results of the run are complete.
    pub(super) fn remove(&self) {
        remove_parts(&self.path, FILES);
    }

    /// Returns how much of the input is stored, as the result of a run that has stored its shard.
    pub(super) fn stored(&self, parts: &Parts<'_>) -> StoredParts {
        StoredParts {
            folder: self.path.clone(),
            pieces: parts.shard_count(),
            stored: parts.stored_count(),
        }
    }
}

/// Returns whether the folder has a file of another program. A run that is stopped right after its start leaves only
/// the files that are allowed here.
fn has_foreign(folder: &Path) -> Result<bool> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io(folder, "list", error))?;
    // The temporary file of a record is hidden, and the mark of a run goes after its record. The request
    // comes before the record.
    let is_own =
        |name: &OsStr| name == MARK || name == REQUEST || name.as_encoded_bytes().starts_with(b".");
    let is_foreign =
        |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| !is_own(&entry.file_name()));
    Ok(entries.into_iter().any(is_foreign))
}

/// Parses a shard such as `2/4`, the second of four shares of the input.
fn parse_share(text: &str) -> Result<ShardShare> {
    let number = |digits: &str| digits.parse::<usize>().ok();
    let share = text.split_once('/').and_then(|(shard, count)| {
        let (shard, count) = (number(shard)?, number(count)?);
        let is_valid = (1..=MOST_SHARDS).contains(&count) && (1..=count).contains(&shard);
        is_valid.then(|| ShardShare { index: shard - 1, count })
    });
    let rule = "must be the number of a shard and the number of all shards, such as 2/4";
    share.ok_or_else(|| Error::config("shard", text, rule))
}

/// Returns a shard as users write it, such as `2/4`.
fn written(share: ShardShare) -> String {
    format!("{}/{}", share.index + 1, share.count)
}

/// Returns the command line without the option for this shard, such as `--shard 2/4`.
fn without_share(command: &str, share: &str) -> String {
    let options = [" ", "="].map(|between| format!(" --shard{between}{share}"));
    options.iter().fold(command.to_owned(), |command, option| command.replacen(option, "", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parsed_and_left_out_of_commands() {
        let parse = |text: &str| PartsRequest::parse(&mut Options::parse(text).unwrap());
        let request = parse("shard=2/4,words=5,threads=3").unwrap();
        assert_eq!(request.share(), Some(ShardShare { index: 1, count: 4 }));
        assert_eq!(request.settings, parse("resume=true,threads=1,words=5").unwrap().settings);
        assert_ne!(request.settings, parse("words=6").unwrap().settings);
        for wrong in ["0/4", "5/4", "1", "1/0", "a/b", "1/2/3", "-1/2"] {
            let error = parse(&format!("shard={wrong}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("shard {wrong}: must be the number")), "{error}");
        }
        for command in ["simtool dedup a --shard 2/4 -o b", "simtool dedup a --shard=2/4 -o b"] {
            assert_eq!(without_share(command, "2/4"), "simtool dedup a -o b");
        }
    }

    #[test]
    fn the_folder_is_next_to_the_output() {
        for output in ["a/out", "a/out/"] {
            assert_eq!(parts_path(Path::new(output)), Path::new("a/out.parts"));
        }
    }
}
