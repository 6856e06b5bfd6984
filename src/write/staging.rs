//! Temporary files and folders that are written next to their final location.
//!
//! A run holds a lock on each of them while it writes. The operating system releases the lock when the
//! process ends, even if it is killed. So a later run recognizes the leftovers of ended runs by their free
//! locks and removes them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempDir};

/// Prefix of the names of temporary files and folders.
const PREFIX: &str = ".simtool-";
/// Suffix of the names of temporary files.
const SUFFIX: &str = ".tmp";
/// Name of the lock file in a temporary folder. A run holds a lock on this file while it uses the folder.
const LOCK: &str = ".lock";
/// Name of the subfolder of a temporary folder that becomes the output.
const CONTENT: &str = "content";
/// Name of the subfolder to which the old output is moved while the new output replaces it. A temporary
/// folder with this subfolder is never removed as a leftover, because it can hold the only copy of the user's
/// results.
const REPLACED: &str = "replaced";

/// Returns the folder that contains `path`.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// A temporary folder with a subfolder that becomes the output. Dropping the value removes the temporary
/// folder with everything that is still in it.
#[derive(Debug)]
pub(super) struct StagingFolder {
    path: PathBuf,
    /// Whether the folder stays on the disk when the value is dropped.
    is_kept: bool,
    /// Lock file of the folder. The lock is held until the folder is removed.
    _lock: File,
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            remove_staging(&self.path);
        }
    }
}

/// Removes a temporary folder and everything in it. The lock file is removed last. If the process is killed
/// meanwhile, a later run can still recognize the folder.
pub(super) fn remove_staging(folder: &Path) {
    drop(fs::remove_dir_all(folder.join(CONTENT)));
    // Only the lock file is left now, unless the content could not be removed.
    drop(fs::remove_dir_all(folder));
}

impl StagingFolder {
    /// Creates a temporary folder in `parent`.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        loop {
            let folder: TempDir = Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let lock_path = folder.path().join(LOCK);
            let lock = match File::create_new(&lock_path) {
                // Another run took the folder for a leftover before it had a lock, and removed it. Then
                // another folder is tried.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            if is_ours(&lock, &lock_path) {
                let staging = Self { path: folder.keep(), is_kept: false, _lock: lock };
                fs::create_dir(staging.content())?;
                return Ok(staging);
            }
        }
    }

    /// Returns the path of the temporary folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the subfolder that becomes the output.
    pub(super) fn content(&self) -> PathBuf {
        self.path.join(CONTENT)
    }

    /// Returns the path to which the old output is moved while the new output replaces it.
    pub(super) fn replaced(&self) -> PathBuf {
        self.path.join(REPLACED)
    }

    /// Drops the value without removing the folder from the disk, and releases the lock.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

/// Creates a temporary file in `folder` and locks it. Dropping the value removes the file.
pub(super) fn file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut staging = Builder::new();
    staging.prefix(PREFIX).suffix(SUFFIX);
    // Temporary files are private by default, but this one becomes an output. It gets the usual permissions
    // of new files, which the umask then restricts.
    #[cfg(unix)]
    staging.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = staging.tempfile_in(folder)?;
        if is_ours(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Locks a new temporary file. Returns false if another run has locked or removed the file. Another run does
/// so if it takes the file for a leftover before this function locks it.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        // Another run may have removed the file between its creation and the lock.
        Ok(()) => path.exists(),
        Err(TryLockError::WouldBlock) => false,
        // If the file system has no locks, no run ever removes leftovers.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Removes temporary files and folders that ended runs left in `folder`. Errors are ignored, because the next
/// run tries again.
pub(super) fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let Ok(kind) = entry.file_type() else { continue };
        if !name.starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        if kind.is_dir() && !path.join(REPLACED).exists() {
            let lock = lock_if_free(&path.join(LOCK));
            if lock.is_some() || has_lost_its_lock(&path) {
                remove_staging(&path);
                drop(lock);
            } else {
                // A run that ended before it created its lock left an empty folder. This call does not remove
                // folders with content.
                drop(fs::remove_dir(&path));
            }
        } else if kind.is_file()
            && name.ends_with(SUFFIX.as_bytes())
            && let Some(lock) = lock_if_free(&path)
        {
            drop(fs::remove_file(&path));
            drop(lock);
        }
    }
}

/// Returns whether a temporary folder has content and no lock file. Then an earlier version of simtool was killed
/// while it removed the folder. A run that is working has a lock file before it has content.
fn has_lost_its_lock(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.iter().any(|name| name == CONTENT) && names.len() == 1
}

/// Locks the file at `path` and returns it. Returns `None` if another process holds the lock, or if the file
/// cannot be opened.
fn lock_if_free(path: &Path) -> Option<File> {
    // Opening a pipe would block until another process writes to it.
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| File::open(path))?.ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unlocked_leftovers_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let living = (StagingFolder::new(root.path()).unwrap(), file(root.path()).unwrap());
        let dead = StagingFolder::new(root.path()).unwrap();
        fs::write(dead.content().join("half"), "x").unwrap();
        let replaced = StagingFolder::new(root.path()).unwrap();
        fs::create_dir(replaced.replaced()).unwrap();
        let paths = [dead.path().to_owned(), replaced.path().to_owned()];
        let without_lock = root.path().join(".simtool-z");
        fs::create_dir_all(without_lock.join(CONTENT).join("kept")).unwrap();
        // Keeping the folder releases the lock, as the end of a process would.
        dead.keep();
        replaced.keep();
        let file = file(root.path()).unwrap();
        let path = file.path().to_owned();
        drop(file.keep().unwrap());
        for name in [".simtool-x", ".simtool-y", ".simtool", "other"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join(".simtool-x/file"), "").unwrap();
        fs::write(root.path().join(".simtool-x.txt"), "").unwrap();
        let count = || fs::read_dir(root.path()).unwrap().count();
        assert_eq!(count(), 11);
        remove_abandoned(root.path());
        assert!(!paths[0].exists() && paths[1].exists() && !path.exists());
        assert!(!without_lock.exists());
        assert_eq!(count(), 7);
        drop(living);
        assert_eq!(count(), 5);
    }
}
