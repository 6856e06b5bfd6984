//! Writes files and folders so that they survive a power cut.
//!
//! If a file gets its name before its bytes are on the disk, a power cut can leave an empty file. So
//! the order is always the same:
//!
//! 1. write the file under a temporary name,
//! 2. sync the file,
//! 3. rename it,
//! 4. sync its folder,
//! 5. only then report success.
//!
//! A failed sync is never tried again: the system may have dropped the bytes, and the second sync would
//! report success without them.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Largest number of files in a folder, at any depth, that are synced one by one. For more files, the whole file system
/// is synced, which is faster, if the operating system supports that.
const FEW_FILES: usize = 256;
/// Largest number of files and folders that are synced at the same time, each by its own thread.
const SYNCS: usize = 16;

/// Returns the error for the user if the file or folder `path` cannot be created. `error` is the error of the system.
/// If a parent of `path` is a file and not a folder, the returned error names this file, because `error` does not.
#[must_use]
pub fn creation_error(path: &Path, error: io::Error) -> io::Error {
    let mut folders = path.ancestors().skip(1);
    match folders.find(|folder| fs::symlink_metadata(folder).is_ok()) {
        Some(file) if !file.is_dir() => {
            let reason = format!("{} is a file and not a folder", file.display());
            io::Error::new(io::ErrorKind::NotADirectory, reason)
        }
        _ => error,
    }
}

/// Whether an output file or folder is synced before it gets its final name. A sync makes the system write the output
/// to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Outputs are synced. After a power cut, either the old or the new output exists as a whole.
    Synced,
    /// Outputs are not synced, which saves some milliseconds. A power cut within about half a
    /// minute after the run may leave an empty file.
    Fast,
}

/// A step of a durable write. A disk that was created with [`Disk::asking`] passes each step to its callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sync a file.
    SyncFile,
    /// Sync the names of the files in a folder.
    SyncFolder,
    /// Rename a file or folder.
    Rename,
    /// Exchange the names of two folders.
    Exchange,
}

/// Callback that a [`Disk`] calls before each step, with the step and the path of the file or folder. If the callback
/// returns an error, the step is not carried out and fails with this error.
type Ask = dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync;

/// Syncs and renames files and folders on the disk. Tests can watch each step and make it fail.
#[derive(Clone)]
pub struct Disk {
    durability: Durability,
    ask: Option<Arc<Ask>>,
}

impl Disk {
    /// Creates a disk without a callback. `durability` decides whether files and folders are synced.
    #[must_use]
    pub fn new(durability: Durability) -> Self {
        Self { durability, ask: None }
    }

    /// Creates a disk that syncs outputs and calls `ask` before each step. Tests use this callback
    /// to record steps and to make steps fail.
    #[must_use]
    pub fn asking(ask: impl Fn(Step, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { durability: Durability::Synced, ask: Some(Arc::new(ask)) }
    }

    /// Returns whether this disk syncs files and folders.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Syncs the bytes of `file` to the disk. Does nothing if the durability is [`Durability::Fast`]. `path` is the
    /// present name of the file, which only the callback needs.
    ///
    /// # Errors
    ///
    /// The sync failed. Bytes may be lost, so the file must not be used.
    pub fn sync_file(&self, file: &File, path: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFile, path)?;
        where_possible(file.sync_all())
    }

    /// Syncs the names of the files in `folder` to the disk, so that a rename in the folder survives a power cut. Does
    /// nothing if the durability is [`Durability::Fast`].
    ///
    /// # Errors
    ///
    /// The sync failed. A power cut may undo the last rename in the folder.
    pub fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFolder, folder)?;
        sync_names(folder)
    }

    /// Syncs a folder to the disk, with all files and folders in it at any depth. Does nothing if the durability is
    /// [`Durability::Fast`].
    ///
    /// # Errors
    ///
    /// The sync failed. Bytes may be lost, so the folder must not be used.
    pub fn sync_tree(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        let mut files = Vec::new();
        // Every folder that is found is appended to the list, and visited later in this loop.
        let mut folders = vec![folder.to_owned()];
        let mut next = 0;
        while next < folders.len() {
            for entry in fs::read_dir(&folders[next])? {
                let entry = entry?;
                let found = if entry.file_type()?.is_dir() { &mut folders } else { &mut files };
                found.push(entry.path());
            }
            next += 1;
        }
        if files.len() > FEW_FILES {
            self.ask(Step::SyncFile, folder)?;
            if sync_file_system(folder)? {
                return Ok(());
            }
        }
        files.iter().try_for_each(|file| self.ask(Step::SyncFile, file))?;
        // Inner folders come before the folders that contain them.
        folders.iter().rev().try_for_each(|folder| self.ask(Step::SyncFolder, folder))?;
        sync_all(&files, &folders)
    }

    /// Gives a temporary file its final name `to`. A file that already has this name is replaced.
    ///
    /// # Errors
    ///
    /// The temporary file was not renamed. A file with the name `to` is unchanged.
    pub fn rename_file(&self, file: tempfile::NamedTempFile, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        file.persist(to).map(drop).map_err(|failed| failed.error)
    }

    /// Renames a file to `to`. A file that already has this name is replaced.
    ///
    /// # Errors
    ///
    /// Nothing was renamed.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        fs::rename(from, to)
    }

    /// Renames a folder to `to`. An empty folder that already has this name is replaced. Any other file or folder with
    /// this name causes an error.
    ///
    /// # Errors
    ///
    /// The name is taken (see [`is_taken`]), or the folder cannot be renamed.
    pub fn rename_folder(&self, from: &Path, to: &Path) -> io::Result<()> {
        // The system checks that `to` is empty and renames in one atomic step.
        self.rename(from, to)
    }

    /// Exchanges the names of two folders in one step, so that both names always exist.
    ///
    /// # Errors
    ///
    /// The exchange failed, and both folders keep their names. Some operating systems cannot exchange names.
    pub fn exchange_folders(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.ask(Step::Exchange, other)?;
        exchange(one, other)
    }

    fn ask(&self, step: Step, path: &Path) -> io::Result<()> {
        self.ask.as_ref().map_or(Ok(()), |ask| ask(step, path))
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("durability", &self.durability).finish_non_exhaustive()
    }
}

/// Returns whether `error` means that a folder could not be renamed because its new name is taken.
#[must_use]
pub fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Opens `file` and syncs its bytes to the disk.
fn sync_bytes(file: &Path) -> io::Result<()> {
    // Some systems sync only files that are open for writing.
    where_possible(File::options().append(true).open(file)?.sync_all())
}

/// Syncs the names of the files in `folder` to the disk.
fn sync_names(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        // Other systems cannot open a folder as a file. Their journals take care of names.
        return Ok(());
    }
    match File::open(folder) {
        Ok(folder) => where_possible(folder.sync_all()),
        // A user may have the permission to write to a folder, but not to open it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs files and folders in any order, at most [`SYNCS`] at the same time. Many syncs at once take the disk about as
/// long as one sync.
fn sync_all(files: &[PathBuf], folders: &[PathBuf]) -> io::Result<()> {
    let count = files.len() + folders.len();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match (files.get(at), folders.get(at.wrapping_sub(files.len()))) {
                (Some(file), _) => sync_bytes(file)?,
                (None, Some(folder)) => sync_names(folder)?,
                (None, None) => return Ok(()),
            }
        }
    };
    thread::scope(|scope| {
        // If no more threads can be started, the threads that were started do all the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..count.min(SYNCS)).filter_map(start).collect();
        let lost = |_| Err(io::Error::other("a sync was not finished"));
        others.into_iter().fold(work(), |done, other| done.and(other.join().unwrap_or_else(lost)))
    })
}

/// Returns the result of a sync. If the file system does not support syncing, as some network file systems do, returns
/// `Ok` instead of the error.
fn where_possible(synced: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, Unsupported};
    match synced {
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Syncs the whole file system that contains `folder`, and returns `true`. Some operating systems cannot do that, or do
/// not report errors. On such systems, does nothing and returns `false`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn sync_file_system(folder: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(true)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn sync_file_system(_folder: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Asks the system to write `length` bytes of `file`, from byte `start` on, to the disk. Does not wait. Does nothing on
/// systems without a call for this.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn begin_sync(file: &File, start: u64, length: u64) {
    use rustix::fs::{Advice, fadvise};
    use std::num::NonZeroU64;
    // Bytes that are no longer needed in memory are written first. Those that were just written are
    // not on the disk yet, so they stay in memory, and a reader of the file still finds them there.
    // The advice changes no bytes, so it may fail.
    let _ = fadvise(file, start, NonZeroU64::new(length), Advice::DontNeed);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn begin_sync(_file: &File, _start: u64, _length: u64) {}

/// Returns the number of free bytes in the file system that contains `folder`, or `u64::MAX` if
/// this number is unknown.
#[cfg(unix)]
#[must_use]
pub fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder)
        .map_or(u64::MAX, |status| status.f_bavail.saturating_mul(status.f_frsize))
}

/// Returns `u64::MAX`, because the number of free bytes is unknown.
#[cfg(not(unix))]
#[must_use]
pub fn free_bytes(_folder: &Path) -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_tree_is_synced_from_its_leaves_and_a_failure_ends_it() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("in")).unwrap();
        for name in ["a", "in/b"] {
            fs::write(root.path().join(name), name).unwrap();
        }
        let steps = Arc::new(Mutex::new(Vec::new()));
        let (seen, path) = (Arc::clone(&steps), root.path().to_owned());
        let disk = Disk::asking(move |step, at| {
            let at = at.strip_prefix(&path).unwrap().to_str().unwrap().to_owned();
            seen.lock().unwrap().push((step, at));
            Ok(())
        });
        disk.sync_tree(root.path()).unwrap();
        let steps = steps.lock().unwrap();
        let steps: Vec<_> = steps.iter().map(|(step, at)| (*step, at.as_str())).collect();
        let expected = [
            (Step::SyncFile, "a"),
            (Step::SyncFile, "in/b"),
            (Step::SyncFolder, "in"),
            (Step::SyncFolder, ""),
        ];
        assert_eq!(steps, expected);
        let failing = Disk::asking(|step, _| match step {
            Step::SyncFolder => Err(io::Error::other("disk on fire")),
            _ => Ok(()),
        });
        assert!(failing.sync_tree(root.path()).is_err());
        for n in 0..=FEW_FILES {
            fs::write(root.path().join(n.to_string()), "x").unwrap();
        }
        Disk::new(Durability::Synced).sync_tree(root.path()).unwrap();
    }

    #[test]
    fn a_folder_takes_the_place_of_an_empty_one_alone() {
        let root = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        let disk = Disk::new(Durability::Synced);
        fs::write(&to, "file").unwrap();
        fs::create_dir(&from).unwrap();
        assert!(is_taken(&disk.rename_folder(&from, &to).unwrap_err()));
        fs::remove_file(&to).unwrap();
        fs::create_dir(&to).unwrap();
        disk.rename_folder(&from, &to).unwrap();
        fs::create_dir(&from).unwrap();
        fs::write(to.join("file"), "").unwrap();
        assert!(is_taken(&disk.rename_folder(&from, &to).unwrap_err()));
    }
}
