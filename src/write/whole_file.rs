//! A file that appears under its final name either complete or not at all.

use super::staging::{self, folder_of};
use super::store_file::StoreFile;
use simtool_base::durable::{Disk, Durability, creation_error};
use simtool_base::error::{Error, Result};
use simtool_read::remote::is_address;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) use super::store_file::object_exists;

/// A file that is written under a temporary name in its final folder. It gets its final name when it is
/// [finished](WholeFile::finish).
///
/// If the value is dropped or the process ends before that, an older file with the final name stays
/// unchanged.
///
/// ```
/// use simtool::stages::durable::Durability;
/// use simtool::write::whole_file::WholeFile;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("result.txt");
/// let mut file = WholeFile::create(&path, Durability::Synced)?;
/// file.write(b"complete")?;
/// file.sync()?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"complete");
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: Target,
    disk: Disk,
}

#[derive(Debug)]
enum Target {
    Temporary(tempfile::NamedTempFile),
    /// A pipe or a device. It is written directly, because a file cannot replace it.
    Direct(File),
    /// An object in a store such as a bucket of S3. It appears in the store only when it is complete.
    Store(StoreFile),
}

impl WholeFile {
    /// Creates a file under a temporary name. It gets the name `path` when it is finished. Also removes
    /// temporary files that earlier runs left in the folder, except with [`Durability::Fast`].
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be written.
    pub fn create(path: &Path, durability: Durability) -> Result<Self> {
        Self::create_on(path, Disk::new(durability))
    }

    /// Creates a file like [`create`](Self::create). `disk` does the file operations, so that tests can make
    /// them fail.
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be written.
    pub(crate) fn create_on(path: &Path, disk: Disk) -> Result<Self> {
        let error = |e| Error::io(path, "write", creation_error(path, e));
        let target = if is_address(path) {
            Target::Store(StoreFile::create(path)?)
        } else if Self::is_direct(path) {
            Target::Direct(File::options().write(true).open(path).map_err(error)?)
        } else {
            // Listing a folder with many files takes time, so it is not done if writing should be fast.
            if disk.durability() == Durability::Synced {
                staging::remove_abandoned(folder_of(path));
            }
            Target::Temporary(staging::file(folder_of(path)).map_err(error)?)
        };
        Ok(Self { path: path.to_owned(), target, disk })
    }

    /// Returns whether `path` is a pipe or a device, which is written directly.
    #[must_use]
    pub(crate) fn is_direct(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    }

    /// Appends `bytes` to the file.
    ///
    /// # Errors
    ///
    /// The disk is full, or writing fails otherwise.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file().write_all(bytes);
        written.map_err(|e| Error::io(&self.path, "write", e))
    }

    /// Returns the temporary path of the file, or `None` for a pipe or a device.
    #[must_use]
    pub(crate) fn staging(&self) -> Option<&Path> {
        match &self.target {
            Target::Temporary(file) => Some(file.path()),
            Target::Direct(_) => None,
            Target::Store(file) => Some(file.path()),
        }
    }

    /// Returns the open file, for code that writes to a [`File`]. If this code has buffers, it must flush
    /// them.
    pub fn file(&mut self) -> &mut File {
        match &mut self.target {
            Target::Temporary(file) => file.as_file_mut(),
            Target::Direct(file) => file,
            Target::Store(file) => file.file(),
        }
    }

    /// Syncs the content to the disk, or sends it to the store. This may take a while.
    ///
    /// # Errors
    ///
    /// The disk is full or broken, or the store does not take the content. Then the value must be dropped.
    pub fn sync(&mut self) -> Result<()> {
        match &mut self.target {
            Target::Temporary(file) => self
                .disk
                .sync_file(file.as_file(), file.path())
                .map_err(|e| Error::io(&self.path, "sync", e)),
            Target::Direct(_) => Ok(()),
            Target::Store(file) => file.send().map_err(|e| Error::io(&self.path, "write", e)),
        }
    }

    /// Gives the file its final name and replaces an older file. [`sync`](Self::sync) must be called first,
    /// because otherwise a power cut may leave an incomplete file.
    ///
    /// # Errors
    ///
    /// The file cannot be renamed. It is also an error if the file was renamed, but the disk did not confirm
    /// that the new name survives a power cut.
    pub fn finish(self) -> Result<()> {
        let file = match self.target {
            Target::Temporary(file) => file,
            Target::Direct(_) => return Ok(()),
            Target::Store(file) => {
                return file.finish().map_err(|e| Error::io(&self.path, "write", e));
            }
        };
        let renamed = self.disk.rename_file(file, &self.path);
        renamed.map_err(|e| Error::io(&self.path, "write", e))?;
        let folder = folder_of(&self.path);
        self.disk.sync_folder(folder).map_err(|e| Error::io(folder, "sync", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::durable::Step;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[test]
    fn an_unfinished_file_leaves_the_old_one_and_nothing_else() {
        for durability in [Durability::Synced, Durability::Fast] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.txt");
            fs::write(&path, "old").unwrap();
            let mut file = WholeFile::create(&path, durability).unwrap();
            file.write(b"half").unwrap();
            drop(file);
            assert_eq!(fs::read(&path).unwrap(), b"old");
            let mut file = WholeFile::create(&path, durability).unwrap();
            file.write(b"new").unwrap();
            file.sync().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            file.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_is_on_the_disk_before_it_has_its_name_and_every_step_may_fail() {
        for failing in [None, Some(Step::SyncFile), Some(Step::Rename), Some(Step::SyncFolder)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.txt");
            fs::write(&path, "old").unwrap();
            let steps = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&steps);
            let disk = Disk::asking(move |step, _| {
                seen.lock().unwrap().push(step);
                if Some(step) == failing { Err(io::Error::other("no")) } else { Ok(()) }
            });
            let mut file = WholeFile::create_on(&path, disk).unwrap();
            file.write(b"new").unwrap();
            let finished = match file.sync() {
                Ok(()) => file.finish(),
                Err(error) => {
                    drop(file);
                    Err(error)
                }
            };
            assert_eq!(finished.is_err(), failing.is_some());
            let all = [Step::SyncFile, Step::Rename, Step::SyncFolder];
            let end = all.iter().position(|step| Some(*step) == failing).map_or(3, |at| at + 1);
            assert_eq!(*steps.lock().unwrap(), all[..end], "{failing:?}");
            let is_new = matches!(failing, None | Some(Step::SyncFolder));
            assert_eq!(fs::read(&path).unwrap(), if is_new { b"new" } else { b"old" });
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{failing:?}");
        }
    }

    #[test]
    fn a_missing_folder_is_named() {
        let path = Path::new("no/such/folder/out.txt");
        let error = WholeFile::create(path, Durability::Synced).unwrap_err();
        assert_eq!(error.to_string(), "cannot write no/such/folder/out.txt");
    }
}
