//! The mark: a file in the folder of stored parts which says that a run has completed its output. If the run is killed
//! before it removes the parts, the next run recognizes the complete output.

use super::parts_folder::{COPIES, FILES, MARK, PartsRequest, parts_path};
use crate::output::StoredCopies;
use crate::pipeline::parts::remove_parts;
use crate::write::output_inventory::SUMMARY;
use crate::write::whole_file::WholeFile;
use simtool_base::durable::Durability;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::stable_hash::wide_hash;
use simtool_read::Collection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Content of the file that marks the output of a run as complete. It identifies the run by its settings and inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FinishMark {
    /// Folder in which the run has stored the data of the parts of its input.
    folder: PathBuf,
    /// Hash of the settings of the run.
    settings: String,
    /// Hash of the names, sizes and times of the input files.
    inputs: u128,
    /// Whether some records or files could not be read.
    has_losses: bool,
}

impl FinishMark {
    /// Writes the mark that the output is complete. `last` is the file of the output that was written last. It still
    /// has a temporary name.
    ///
    /// # Errors
    ///
    /// The mark cannot be written.
    pub(super) fn write(&self, last: &Path) -> Result<()> {
        let path = self.folder.join(MARK);
        let mut file = WholeFile::create(&path, Durability::Fast)?;
        file.write(self.line(last).as_bytes())?;
        file.finish()
    }

    /// Returns whether the folder of the stored parts has a mark that belongs to this run and to the output at
    /// `output`. If so, sets `has_losses` to the value in that mark.
    fn is_of(&mut self, output: &Path) -> bool {
        let Ok(written) = fs::read_to_string(self.folder.join(MARK)) else { return false };
        let last = if output.is_dir() { output.join(SUMMARY) } else { output.to_owned() };
        // The mark is compared as a whole, so a mark that was written only in part does not match.
        [false, true].into_iter().any(|has_losses| {
            self.has_losses = has_losses;
            last.is_file() && self.line(&last) == written
        })
    }

    /// Returns the line of text that is the mark. It has the size and the time of the file `last`, which stay the same
    /// when that file is renamed.
    fn line(&self, last: &Path) -> String {
        let Self { settings, inputs, has_losses, .. } = self;
        let state = fs::metadata(last).ok();
        let bytes = state.as_ref().map_or(0, fs::Metadata::len);
        let time = state.and_then(|state| state.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        let nanoseconds = time.map_or(0, |time| time.as_nanos());
        format!("{settings} {inputs:032x} {has_losses} {bytes} {nanoseconds}\n")
    }
}

/// Returns whether a run that was killed has marked its output at `output` as complete.
#[must_use]
pub(super) fn is_marked_as_finished(output: &Path) -> bool {
    parts_path(output).join(MARK).is_file()
}

/// Returns the hash of the names, sizes and times of all files of some collections.
fn hash_of_inputs(collections: &[&Collection]) -> u128 {
    let mut bytes = Vec::new();
    for (name, length, time) in collections.iter().flat_map(|files| files.file_states()) {
        bytes.extend_from_slice(name.as_os_str().as_encoded_bytes());
        // No name contains a zero byte, so this byte separates the name from the numbers.
        bytes.push(0);
        bytes.extend(length.to_le_bytes());
        let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        bytes.extend(time.as_nanos().to_le_bytes());
    }
    wide_hash(&bytes)
}

impl PartsRequest {
    /// Returns the mark of a run that reads `inputs` and writes to `output`. `None` if the run stores no parts, because
    /// the mark is in their folder.
    pub(super) fn mark(
        &self,
        output: &Path,
        inputs: &[&Collection],
        has_losses: bool,
    ) -> Option<FinishMark> {
        // A run that stores nothing has no folder for the mark.
        self.setting()?;
        Some(FinishMark {
            folder: parts_path(output),
            settings: self.settings_hash(),
            inputs: hash_of_inputs(inputs),
            has_losses,
        })
    }

    /// Returns an error if an earlier run with the same settings and `inputs` has completed `output`, but was killed
    /// before it removed the stored parts of its input. In this case, also removes these parts.
    ///
    /// # Errors
    ///
    /// The output is complete.
    pub(super) fn refuse_finished(&self, output: &Path, inputs: &[&Collection]) -> Result<()> {
        let Some(mut mark) = self.mark(output, inputs, false) else { return Ok(()) };
        if self.share().is_some() || !mark.is_of(output) {
            return Ok(());
        }
        // The mark is removed last. If this run is killed, too, the next one recognizes the output again.
        let copies = mark.folder.join(COPIES);
        if copies.is_dir() {
            StoredCopies::open(&copies, Vec::new())?.remove();
        }
        remove_parts(&mark.folder, FILES);
        Err(ErrorKind::Finished { output: output.to_owned(), has_losses: mark.has_losses }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Face, HeldInterruptions, OutputState, Paths, Request, Silent, dedup};
    use simtool_base::options::Options;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A face that ends the run as soon as the output has its name, as a signal that kills the program would.
    struct Killed;

    impl Face for Killed {
        fn hold_interruptions(&self) -> Box<dyn HeldInterruptions + '_> {
            Box::new(KilledWhenFinished)
        }
    }

    struct KilledWhenFinished;

    impl HeldInterruptions for KilledWhenFinished {
        fn set(&mut self, state: OutputState) {
            assert!(!matches!(state, OutputState::Finished(_)), "killed");
        }
    }

    #[test]
    fn a_run_that_was_killed_at_its_end_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.jsonl");
        let line = "{\"text\":\"one two three four\"}\n";
        fs::write(&input, format!("{line}{line}no json\n")).unwrap();
        let output = folder.path().join("out");
        let request = |options: &str| {
            let mut options = Options::parse(options).unwrap();
            options.set("output", &output);
            let paths = Paths { corpus: vec![input.clone()], queries: Vec::new() };
            Request::parse(paths, options).unwrap()
        };
        let first = request("resume=true,threads=1");
        assert!(catch_unwind(AssertUnwindSafe(|| dedup(&first, &Killed))).is_err());
        assert!(is_marked_as_finished(&output));
        let summary = fs::read(output.join(SUMMARY)).unwrap();
        // Other settings, and the same settings without the stored parts, do not claim that output.
        for other in ["resume=true,similarity=0.5", "threads=1"] {
            let error = dedup(&request(other), &Silent).unwrap_err().to_string();
            assert!(error.contains("is not empty"), "{error}");
        }
        let error = dedup(&request("resume=true,threads=2"), &Silent).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Finished { has_losses: true, .. }), "{error}");
        assert_eq!(fs::read(output.join(SUMMARY)).unwrap(), summary);
        assert!(!parts_path(&output).exists());
        // A file that has changed needs another run.
        drop(catch_unwind(AssertUnwindSafe(|| dedup(&request("resume=true,force=true"), &Killed))));
        assert!(is_marked_as_finished(&output));
        fs::write(&input, line).unwrap();
        dedup(&request("resume=true,force=true"), &Silent).unwrap();
        assert!(!parts_path(&output).exists());
        assert_ne!(fs::read(output.join(SUMMARY)).unwrap(), summary);
    }
}
