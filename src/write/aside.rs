//! What is written beside the place that it is for, under a name of its own, until it is complete.
//!
//! Whoever writes holds a lock meanwhile, which ends with the process, however it ends. So what
//! killed runs left is told from what others are writing, and the next run removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempDir};

/// How all names of unfinished things begin.
const PREFIX: &str = ".simtool-";
/// How the names of unfinished files end.
const SUFFIX: &str = ".tmp";
/// The locked file in a folder.
const LOCK: &str = ".lock";
/// What becomes the output.
const CONTENT: &str = "content";
/// What stood under the output's name, while neither has it. It is never removed.
const REPLACED: &str = "replaced";

/// The folder that a path stands in.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// A folder that goes away with the value, with a folder in it that can be moved out.
#[derive(Debug)]
pub(super) struct AsideFolder {
    folder: TempDir,
    /// Holds the lock.
    _lock: File,
}

impl AsideFolder {
    /// Makes one in `parent`.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        loop {
            let folder = Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let path = folder.path().join(LOCK);
            let lock = match File::create_new(&path) {
                // Another run took the empty folder for one that was left.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            if is_ours(&lock, &path) {
                let aside = Self { folder, _lock: lock };
                fs::create_dir(aside.content())?;
                return Ok(aside);
            }
        }
    }

    /// All of it, with what is not moved out.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What becomes the output.
    pub(super) fn content(&self) -> PathBuf {
        self.folder.path().join(CONTENT)
    }

    /// Where what stood under the output's name is while neither has it.
    pub(super) fn replaced(&self) -> PathBuf {
        self.folder.path().join(REPLACED)
    }

    /// Leaves it where it is.
    pub(super) fn keep(self) {
        drop(self.folder.keep());
    }
}

/// Makes a file in `folder` that goes away with the value.
pub(super) fn file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut aside = Builder::new();
    aside.prefix(PREFIX).suffix(SUFFIX);
    // The permissions of any new file, which the umask then narrows.
    #[cfg(unix)]
    aside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = aside.tempfile_in(folder)?;
        if is_ours(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Locks a file that was made; `false` if another run, which found it without a lock, removes it.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => path.exists(),
        Err(TryLockError::WouldBlock) => false,
        // Where the file system has no locks nothing is ever removed.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Removes what runs left in `folder` that have ended; what cannot be removed stays.
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
            if let Some(lock) = lock_of_nobody(&path.join(LOCK)) {
                // The lock last, so that a removal that fails can be tried again.
                drop(fs::remove_dir_all(path.join(CONTENT)));
                drop(fs::remove_dir_all(&path));
                drop(lock);
            } else {
                // An empty one, of a run that ended before it had a lock.
                drop(fs::remove_dir(&path));
            }
        } else if kind.is_file()
            && name.ends_with(SUFFIX.as_bytes())
            && let Some(lock) = lock_of_nobody(&path)
        {
            drop(fs::remove_file(&path));
            drop(lock);
        }
    }
}

/// Locks a file that nobody has locked.
fn lock_of_nobody(path: &Path) -> Option<File> {
    // Opening a pipe would wait for whoever writes into it.
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| File::open(path))?.ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_has_locked_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let living = (AsideFolder::new(root.path()).unwrap(), file(root.path()).unwrap());
        let dead = AsideFolder::new(root.path()).unwrap();
        fs::write(dead.content().join("half"), "x").unwrap();
        let replaced = AsideFolder::new(root.path()).unwrap();
        fs::create_dir(replaced.replaced()).unwrap();
        let paths = [dead.path().to_owned(), replaced.path().to_owned()];
        // Their locks end as if the process had.
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
        assert_eq!(count(), 10);
        remove_abandoned(root.path());
        assert!(!paths[0].exists() && paths[1].exists() && !path.exists());
        assert_eq!(count(), 7);
        drop(living);
        assert_eq!(count(), 5);
    }
}
