//! The lock of an index. It allows one writer at a time and names the writer.

use simtool_base::error::{Error, ErrorKind, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Lock that excludes other writers of an index until it is dropped. The system releases the lock when the
/// process ends, even if it is killed.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of the index in `folder`. `holder` describes this process, for messages of other
    /// processes.
    ///
    /// # Errors
    ///
    /// Another process has the lock, or the file cannot be written.
    pub(super) fn take(folder: &Path, holder: &str) -> Result<Self> {
        let path = folder.join("LOCK");
        let failed = |action| {
            let path = path.clone();
            move |error| Error::io(path, action, error)
        };
        let mut options = File::options();
        // Truncating before locking would erase the name of the process that has the lock.
        options.read(true).write(true).create(true).truncate(false);
        let opened = refuse_links(&path).and_then(|()| options.open(&path));
        let mut file = opened.map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut other = String::new();
                // The other process may be writing its name at this moment. Without the name, the message
                // still says that there is one.
                drop(file.read_to_string(&mut other));
                let holder = other.lines().next().unwrap_or("another process").to_owned();
                return Err(ErrorKind::Locked { folder: folder.to_owned(), holder }.into());
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        // The line of the previous process may be longer than the new one, so it is removed first.
        let mut write = || {
            file.rewind()?;
            file.set_len(0)?;
            writeln!(file, "{holder}")
        };
        write().map_err(failed("write"))?;
        Ok(Self { file, path })
    }

    /// Checks that the lock file on the disk is still the file that this process locked.
    ///
    /// # Errors
    ///
    /// Someone removed or replaced the lock file.
    pub(super) fn check(&self) -> Result<()> {
        let failed = |error| Error::io(&self.path, "read", error);
        let (ours, theirs) =
            (self.file.metadata().map_err(failed)?, fs::metadata(&self.path).map_err(failed)?);
        if is_same(&ours, &theirs) {
            return Ok(());
        }
        let reason = "another process replaced the file; start again";
        Err(Error::io(&self.path, "hold", io::Error::other(reason)))
    }
}

/// Returns an error if there is something else than a regular file with the name of the lock. The lock must not
/// be written to the file that a symbolic link leads to.
fn refuse_links(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_writer_and_others_learn_who() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path(), "process 7 (simtool index add)").unwrap();
        lock.check().unwrap();
        let error = Lock::take(folder.path(), "another").unwrap_err().to_string();
        assert!(
            error.contains("is being written by process 7 (simtool index add): wait"),
            "{error}"
        );
        drop(lock);
        let lock = Lock::take(folder.path(), "me").unwrap();
        fs::remove_file(folder.path().join("LOCK")).unwrap();
        assert!(lock.check().is_err());
        let _other = Lock::take(folder.path(), "somebody").unwrap();
        assert!(lock.check().is_err());
    }
}
