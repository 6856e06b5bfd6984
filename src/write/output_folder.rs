//! A folder of outputs that appears under its final name either complete or not at all.

use super::disk_folder::{DiskFolder, refuse_content};
use super::output_inventory::files_of;
use super::staging::{StagingFolder, remove_abandoned, remove_staging};
use super::store_folder::StoreFolder;
use simtool_base::durable::{Disk, Durability};
use simtool_base::error::{Error, Result};
use simtool_base::steady_file::SteadyFile;
use simtool_read::remote::is_address;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

pub use super::existing::Existing;

/// An output folder that is being written under a temporary name. It gets its final name when it is
/// finished.
#[derive(Debug)]
pub struct OutputFolder {
    /// Final path of the folder, as the user wrote it.
    path: PathBuf,
    staging: StagingFolder,
    /// Temporary folder to which files are written. It is renamed to the output folder in the end, or its files are
    /// uploaded.
    content: PathBuf,
    destination: Destination,
}

/// Final place of the output folder: on the disk, or in a store such as a bucket of S3.
#[derive(Debug)]
enum Destination {
    Disk(DiskFolder),
    Store(StoreFolder),
}

impl OutputFolder {
    /// Creates an output folder under a temporary name. It gets the name `path` when it is finished. Also
    /// removes temporary folders that earlier runs left next to it. `replaceable` has the names of the files
    /// and folders that an old output may contain.
    ///
    /// # Errors
    ///
    /// `path` has content that may not be replaced, or it cannot be created.
    pub(crate) fn create(path: &Path, existing: Existing, replaceable: &[&str]) -> Result<Self> {
        Self::create_on(path, existing, replaceable, Disk::new(Durability::Synced))
    }

    /// Checks that an output folder may be created at `path`, as [`create`](Self::create) does. Writes nothing.
    ///
    /// # Errors
    ///
    /// `path` has content that may not be replaced.
    pub(crate) fn check(path: &Path, existing: Existing, replaceable: &[&str]) -> Result<()> {
        if is_address(path) {
            return StoreFolder::open(path, existing, replaceable).map(drop);
        }
        refuse_content(path, existing, replaceable).map(drop)
    }

    /// Creates an output folder like [`create`](Self::create). `disk` does the file operations, so that tests
    /// can make them fail.
    ///
    /// # Errors
    ///
    /// `path` has content that may not be replaced, or it cannot be created.
    pub(crate) fn create_on(
        path: &Path,
        existing: Existing,
        replaceable: &[&str],
        disk: Disk,
    ) -> Result<Self> {
        if is_address(path) {
            let store = StoreFolder::open(path, existing, replaceable)?;
            let waiting = store.temporary_folder();
            remove_abandoned(waiting);
            let failed = |e| Error::io(waiting, "create a folder in", e);
            let staging = StagingFolder::new(waiting).map_err(failed)?;
            let (path, content) = (path.to_owned(), staging.content());
            return Ok(Self { path, staging, content, destination: Destination::Store(store) });
        }
        let (folder, staging) = DiskFolder::open(path, existing, replaceable, disk)?;
        let (path, content) = (path.to_owned(), staging.content());
        let destination = Destination::Disk(folder);
        Ok(Self { path, staging, content, destination })
    }

    /// Returns the temporary folder that files are written to.
    #[must_use]
    pub(crate) fn staging(&self) -> &Path {
        &self.content
    }

    /// Returns the temporary folder that contains the folder `staging` of the files. It must be removed if the output
    /// is not finished.
    #[must_use]
    pub(crate) fn unfinished(&self) -> &Path {
        self.staging.path()
    }

    /// Returns the path that the file called `file` will have when the folder is finished.
    #[must_use]
    pub(crate) fn name(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Creates a file in the temporary folder.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub(crate) fn file(&self, name: &str) -> Result<BufWriter<SteadyFile>> {
        let file = File::create_new(self.content.join(name));
        let file = file.map_err(|e| Error::io(self.name(name), "create", e))?;
        Ok(BufWriter::new(SteadyFile::new(file)))
    }

    /// Returns the paths of all files that were written to the folder so far, ascending.
    ///
    /// # Errors
    ///
    /// The folder cannot be listed.
    pub(crate) fn written_files(&self) -> Result<Vec<PathBuf>> {
        files_of(&self.content).map_err(|error| Error::io(&self.path, "list", error))
    }

    /// Syncs all files of the folder to the disk, or sends them to the store. This may take a while.
    ///
    /// # Errors
    ///
    /// The disk is full or broken, or the store does not take the files. Then the value must be dropped, which removes
    /// the files from the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        match &self.destination {
            Destination::Disk(folder) => folder.sync(&self.path, &self.content),
            Destination::Store(store) => {
                store.send(&self.content).map_err(|e| Error::io(&self.path, "write", e))
            }
        }
    }

    /// Gives the folder its final name and replaces the old output. [`sync`](Self::sync) must be called
    /// first, because otherwise a power cut may leave incomplete files.
    ///
    /// # Errors
    ///
    /// - Another process wrote to the path during the run, or the folder cannot be renamed. In both cases,
    ///   the old content of the path is kept.
    /// - The folder was renamed, but the disk did not confirm that the new name survives a power cut.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, staging, content, destination } = self;
        match destination {
            Destination::Disk(folder) => folder.finish(&path, staging, &content),
            Destination::Store(store) => {
                store.finish(&content).map_err(|error| Error::io(&path, "write", error))
            }
        }
    }
}

/// Removes an output that is not finished: a temporary file, or a temporary folder with everything in it. Errors are
/// ignored, because a later run tries again.
pub fn remove_unfinished(path: &Path) {
    if fs::remove_file(path).is_err() {
        remove_staging(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::output_inventory::SUMMARY;
    use simtool_base::durable::Step;
    use std::io;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    /// Names of the files that the tests write.
    const KNOWN: &[&str] = &["data", SUMMARY];

    fn fill(folder: &OutputFolder, text: &str) {
        let mark = format!("{{\n  \"program\": \"simtool 1.0\",\n  \"text\": \"{text}\"\n}}\n");
        for (name, content) in [("data", text), (SUMMARY, &mark)] {
            let mut file = folder.file(name).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            file.flush().unwrap();
        }
    }

    #[test]
    fn a_folder_appears_whole_and_replaces_only_what_we_wrote() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/out");
        drop(OutputFolder::create(&path, Existing::Refuse, KNOWN).unwrap());
        assert!(!path.exists());
        let folder = OutputFolder::create(&path, Existing::Refuse, KNOWN).unwrap();
        fill(&folder, "old");
        assert!(!path.exists());
        folder.sync().unwrap();
        folder.finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("data")).unwrap(), "old");

        let refused = OutputFolder::create(&path, Existing::Refuse, KNOWN).unwrap_err().to_string();
        assert!(refused.contains("`force`"), "{refused}");
        let folder = OutputFolder::create(&path, Existing::Replace, KNOWN).unwrap();
        fill(&folder, "new");
        folder.finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("data")).unwrap(), "new");
        assert_eq!(fs::read_dir(parent.path().join("a")).unwrap().count(), 1);

        let refusal = |path: &Path| {
            OutputFolder::create(path, Existing::Replace, KNOWN).unwrap_err().to_string()
        };
        fs::write(path.join("notes"), "mine").unwrap();
        let refused = refusal(&path);
        assert!(refused.contains("contains notes, which simtool did not write"), "{refused}");
        fs::remove_file(path.join("notes")).unwrap();
        // A file of this name that another program wrote proves nothing.
        fs::write(path.join(SUMMARY), "{\"program\": \"other\"}").unwrap();
        assert!(refusal(&path).contains("was not written by simtool"));
        fs::remove_file(path.join(SUMMARY)).unwrap();
        assert!(refusal(&path).contains("was not written by simtool"));
        assert_eq!(fs::read_to_string(path.join("data")).unwrap(), "new");
        let file = parent.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(OutputFolder::create(&file, Existing::Replace, KNOWN).is_err());
    }

    /// Creates output folders number 0 and 1 for the same path, and finishes number `first` before the other.
    /// `exchanges` says whether the disk can exchange the names of two folders. Returns the content of the
    /// path, and for each folder whether finishing it succeeded.
    fn race(existing: [Existing; 2], first: usize, exchanges: bool) -> (String, [bool; 2]) {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("out");
        if existing.contains(&Existing::Replace) {
            let folder = OutputFolder::create(&path, Existing::Refuse, KNOWN).unwrap();
            fill(&folder, "old");
            folder.finish().unwrap();
        }
        let begin = |number: usize| {
            let disk = Disk::asking(move |step, _| match step {
                Step::Exchange if !exchanges => Err(io::ErrorKind::Unsupported.into()),
                _ => Ok(()),
            });
            let folder = OutputFolder::create_on(&path, existing[number], KNOWN, disk).unwrap();
            fill(&folder, ["zero", "one"][number]);
            folder
        };
        let mut folders = [0, 1].map(|number| Some(begin(number)));
        let mut finished = [false; 2];
        for number in [first, 1 - first] {
            let result = folders[number].take().unwrap().finish();
            finished[number] = result.is_ok();
            if let Err(error) = result {
                assert!(error.to_string().starts_with("cannot write "), "{error}");
                let source = std::error::Error::source(&error).unwrap().to_string();
                assert!(source.contains("this run's results were discarded"), "{source}");
            }
        }
        let names: Vec<_> =
            fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["out"], "nothing else is left");
        (fs::read_to_string(path.join("data")).unwrap(), finished)
    }

    #[test]
    fn of_two_over_one_path_the_first_to_end_stays() {
        for existing in [Existing::Refuse, Existing::Replace] {
            for exchanges in [true, false] {
                let found = race([existing; 2], 0, exchanges);
                assert_eq!(found, ("zero".to_owned(), [true, false]), "{existing:?}");
                let found = race([existing; 2], 1, exchanges);
                assert_eq!(found, ("one".to_owned(), [false, true]), "{existing:?}");
            }
        }
    }

    #[test]
    fn only_what_stood_there_at_the_start_is_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("out");
        let finished = |change: &dyn Fn()| {
            let folder = OutputFolder::create(&path, Existing::Replace, KNOWN).unwrap();
            fill(&folder, "new");
            change();
            folder.finish().is_ok()
        };
        assert!(finished(&|| {}));
        assert!(finished(&|| fs::remove_dir_all(&path).unwrap()));
        assert!(!finished(&|| fs::write(path.join("note"), "the user's").unwrap()));
        fs::remove_file(path.join("note")).unwrap();
        let mark = fs::read(path.join(SUMMARY)).unwrap();
        assert!(!finished(&|| fs::write(path.join(SUMMARY), "longer than before").unwrap()));
        fs::write(path.join(SUMMARY), mark).unwrap();
        assert!(!finished(&|| {
            fs::remove_dir_all(&path).unwrap();
            fs::write(&path, "a file").unwrap();
        }));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(finished(&|| {}), "an empty folder is nothing");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let [link, path] = ["link", "far/out"].map(|name| parent.path().join(name));
        fs::create_dir_all(&path).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for text in ["old", "new"] {
            let folder = OutputFolder::create(&link, Existing::Replace, KNOWN).unwrap();
            fill(&folder, text);
            folder.finish().unwrap();
            assert_eq!(fs::read_to_string(path.join("data")).unwrap(), text);
            assert!(link.is_symlink());
        }
    }

    #[test]
    fn all_is_on_the_disk_before_it_has_its_name_and_every_step_may_fail() {
        use Step::{Exchange, Rename, SyncFile, SyncFolder};
        let all = [SyncFile, SyncFile, SyncFolder, Rename, SyncFolder, SyncFolder];
        for failing in 0..=all.len() {
            let parent = tempfile::tempdir().unwrap();
            let path = parent.path().join("made/out");
            let steps = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&steps);
            let disk = Disk::asking(move |step, _| {
                let mut seen = seen.lock().unwrap();
                seen.push(step);
                if seen.len() == failing + 1 { Err(io::Error::other("no")) } else { Ok(()) }
            });
            let folder = OutputFolder::create_on(&path, Existing::Refuse, KNOWN, disk).unwrap();
            fill(&folder, "new");
            let finished = folder.sync().and_then(|()| folder.finish()).is_ok();
            assert_eq!(finished, failing == all.len());
            assert_eq!(*steps.lock().unwrap(), all[..all.len().min(failing + 1)]);
            assert_eq!(path.exists(), failing > 3, "a failure after the rename is only reported");
            assert_eq!(path.parent().unwrap().exists(), failing > 3);
            assert!(parent.path().exists());
        }
        // The old output keeps its name until the exchange, and gets it back if the exchange and the rename
        // fail.
        for failing in [&[][..], &[Exchange], &[Exchange, Rename]] {
            let parent = tempfile::tempdir().unwrap();
            let path = parent.path().join("out");
            for text in ["old", "new"] {
                let disk = Disk::asking(move |step, at| {
                    let fails = failing.contains(&step) && text == "new" && at.ends_with("out");
                    if fails { Err(io::Error::other("no")) } else { Ok(()) }
                });
                let folder =
                    OutputFolder::create_on(&path, Existing::Replace, KNOWN, disk).unwrap();
                fill(&folder, text);
                assert_eq!(folder.finish().is_ok(), text == "old" || failing.len() < 2);
            }
            let text = if failing.len() < 2 { "new" } else { "old" };
            assert_eq!(fs::read_to_string(path.join("data")).unwrap(), text);
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        }
    }
}
