//! A folder of outputs that appears under its final name either complete or not at all.

use super::output_inventory::{Inventory, files_of};
use super::staging::{StagingFolder, folder_of, remove_abandoned, remove_staging};
use super::standing_output::Standing;
use simtool_base::durable::{Disk, Durability, creation_error, is_taken};
use simtool_base::error::{Error, Result};
use simtool_base::steady_file::SteadyFile;
use simtool_read::walk::is_output_folder;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Choice of what happens if the output folder exists and is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail and leave the folder unchanged.
    Refuse,
    /// Replace the folder if simtool wrote it and everything in it, and nobody changes it during the run.
    /// Fail otherwise.
    Replace,
}

impl Existing {
    /// Returns [`Replace`](Self::Replace) if `force` is true, otherwise [`Refuse`](Self::Refuse).
    #[must_use]
    pub fn by_force(force: bool) -> Self {
        if force { Self::Replace } else { Self::Refuse }
    }
}

/// An output folder that is being written under a temporary name. It gets its final name when it is
/// finished.
#[derive(Debug)]
pub struct OutputFolder {
    /// Final path of the folder, as the user wrote it.
    path: PathBuf,
    /// Final path of the folder, with symbolic links resolved.
    place: PathBuf,
    staging: StagingFolder,
    /// Temporary folder to which files are written. It is renamed to the output folder in the end.
    content: PathBuf,
    /// Identity of the old output and the names in it, if the folder exists already and will be replaced.
    standing: Option<(Standing, Inventory)>,
    above: FoldersAbove,
    disk: Disk,
}

/// Folders that must be synced to the disk at the end. They begin with the folder that contains the
/// output. The last is the nearest folder above it that existed before the run. Dropping the value removes
/// the others, unless the output or other files are in them.
#[derive(Debug)]
struct FoldersAbove(Vec<PathBuf>);

impl Drop for FoldersAbove {
    fn drop(&mut self) {
        if let [made @ .., _] = &self.0[..] {
            // Only empty folders can be removed in this way.
            made.iter().take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
        }
    }
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
        let inventory = refuse_content(path, existing, replaceable)?;
        let error = |e| Error::io(path, "create", creation_error(path, e));
        // If `path` is a symbolic link, the link stays and its target is replaced.
        let place =
            if path.is_symlink() { path.canonicalize().map_err(error)? } else { path.to_owned() };
        let standing = match inventory {
            Some(inventory) => Some((Standing::of(&place).map_err(error)?, inventory)),
            None => None,
        };
        let parent = folder_of(&place);
        // The missing folders are counted before they are created, because their names must be synced at the
        // end.
        let made = parent.ancestors().take_while(|folder| !folder.exists()).count();
        let above = parent.ancestors().take(made + 1);
        let shown = |folder: &Path| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        };
        let above = FoldersAbove(above.map(shown).collect());
        fs::create_dir_all(parent).map_err(error)?;
        remove_abandoned(parent);
        // The temporary folder is created next to the output. So both are on the same file system, and
        // renaming is possible.
        let staging = StagingFolder::new(parent).map_err(error)?;
        let (path, content) = (path.to_owned(), staging.content());
        Ok(Self { path, place, staging, content, standing, above, disk })
    }

    /// Returns the temporary folder that files are written to.
    #[must_use]
    pub(crate) fn staging(&self) -> &Path {
        &self.content
    }

    /// Returns the folder that must be removed if the output is not finished.
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

    /// Waits until all files of the folder are on the disk. This may take a while.
    ///
    /// # Errors
    ///
    /// The disk is full or broken. Then the value must be dropped, which removes the files.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.disk.sync_tree(&self.content);
        synced.map_err(|e| Error::io(&self.path, "bring to the disk", e))
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
        // If the old output disappeared during the run, there is nothing to replace.
        let renamed = match &self.standing {
            Some((standing, inventory)) if self.place.exists() => self.replace(standing, inventory),
            _ => self.disk.rename_folder(&self.content, &self.place),
        };
        if let Err(error) = renamed {
            let error = if is_taken(&error) { refusal() } else { error };
            let error = Error::io(&self.path, "write", error);
            if self.staging.replaced().exists() {
                // If the old output could not be moved back, it must stay in the temporary folder.
                self.staging.keep();
            }
            return Err(error);
        }
        // The new name survives a power cut only if the folders above it are synced.
        let synced = self.above.0.iter().try_for_each(|folder| self.disk.sync_folder(folder));
        synced.map_err(|e| Error::io(&self.path, "bring the name to the disk of", e))
        // Dropping the temporary folder removes the old output. If removing fails, a later run does it.
    }

    /// Replaces the old output by the new output. Fails if another process has changed the old output since
    /// the start of the run, which `standing` shows.
    fn replace(&self, standing: &Standing, inventory: &Inventory) -> io::Result<()> {
        // A file in a folder of the old output does not change the time of the output folder.
        let has_foreign = inventory.first_foreign(&self.place)?.is_some();
        if has_foreign || !Standing::of(&self.place).is_ok_and(|now| now == *standing) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // Exchanging two names is atomic, so the path always leads to a complete output.
        if self.disk.exchange_folders(&self.content, &self.place).is_ok() {
            if standing.is_moved_to(&self.content) {
                return Ok(());
            }
            // Another run replaced the old output between the check and the exchange. Its output gets the
            // path back.
            if let Err(error) = self.disk.exchange_folders(&self.content, &self.place) {
                fs::rename(&self.content, self.staging.replaced())?;
                return Err(error);
            }
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // If the file system cannot exchange names, the old output is moved away first. The path then has no
        // results for a moment. The old output is removed only when the new one has the path.
        let replaced = self.staging.replaced();
        self.disk.rename_folder(&self.place, &replaced)?;
        // Another run may have written to the folder after the check. Then the folder is moved back.
        let renamed = if standing.is_moved_to(&replaced) {
            self.disk.rename_folder(&self.content, &self.place)
        } else {
            Err(io::ErrorKind::AlreadyExists.into())
        };
        drop(fs::rename(&replaced, if renamed.is_ok() { &self.content } else { &self.place }));
        renamed
    }
}

/// Removes an output that is not finished: a temporary file, or a temporary folder with everything in it. Errors are
/// ignored, because a later run tries again.
pub fn remove_unfinished(path: &Path) {
    if fs::remove_file(path).is_err() {
        remove_staging(path);
    }
}

/// Returns the names in the output at `path` that the new one replaces. `None` if there is no output.
///
/// # Errors
///
/// There is something at `path` that may not be replaced.
fn refuse_content(
    path: &Path,
    existing: Existing,
    replaceable: &[&str],
) -> Result<Option<Inventory>> {
    // Only `index add` has a folder that is never replaced.
    let setting = if replaceable.is_empty() { "only_new" } else { "output" };
    let refused = |rule: String| Err(Error::config(setting, path.display(), rule));
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        // A path that cannot be listed may be a file.
        Err(_) if path.exists() && !path.is_dir() => {
            return refused("is a file: name a folder that does not exist or is empty".to_owned());
        }
        Err(error) if path.exists() => return Err(Error::io(path, "list", error)),
        Err(_) => return Ok(None),
    };
    if entries.next().is_none() {
        return Ok(None);
    }
    if replaceable.is_empty() {
        return refused("is not empty: name another folder".to_owned());
    }
    if existing == Existing::Refuse {
        let rule =
            "is not empty: name another folder, or replace an output of simtool with `force`";
        return refused(rule.to_owned());
    }
    if !is_output_folder(path) {
        let rule =
            "was not written by simtool, so `force` does not replace it: name another folder";
        return refused(rule.to_owned());
    }
    let inventory = Inventory::read(path, replaceable);
    let foreign = inventory.first_foreign(path).map_err(|error| Error::io(path, "list", error))?;
    match foreign {
        Some(foreign) => refused(format!(
            "contains {}, which simtool did not write, so `force` does not replace it: move that away, \
             or name another folder",
            foreign.display()
        )),
        None => Ok(Some(inventory)),
    }
}

/// Returns the error for a folder that another process changed during the run.
fn refusal() -> io::Error {
    let reason = "another process wrote to this folder during the run. Its files were kept and this \
                  run's results were discarded; run again with a different folder";
    io::Error::new(io::ErrorKind::AlreadyExists, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::output_inventory::SUMMARY;
    use simtool_base::durable::Step;
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
