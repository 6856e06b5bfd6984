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

/// Largest number of files in a folder tree that are synced one by one. For more files, syncing the
/// whole file system is faster, where the system supports it.
const FEW_FILES: usize = 256;
/// Largest number of files and folders that are synced at the same time, each by its own thread.
const SYNCS: usize = 16;

/// Whether outputs are synced to the disk before they get their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Outputs are synced. A power cut leaves either the old or the new output.
    Synced,
    /// Outputs are not synced, which saves some milliseconds. A power cut within about half a
    /// minute may leave an empty file.
    Fast,
}

/// A step of writing to the disk. A disk that [`Disk::asking`] creates passes each step to its
/// callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sync a file.
    SyncFile,
    /// Sync the names in a folder.
    SyncFolder,
    /// Rename a file or folder.
    Rename,
    /// Exchange the names of two folders.
    Exchange,
}

/// Callback that runs before each step, with the path of the file or folder. If the callback
/// returns an error, the step is not carried out and fails with that error.
type Ask = dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync;

/// Access to the disk that syncs and renames files and folders. Tests can watch each step and make
/// it fail.
#[derive(Clone)]
pub struct Disk {
    durability: Durability,
    ask: Option<Arc<Ask>>,
}

impl Disk {
    /// Creates a disk without a callback. Whether it syncs anything depends on `durability`.
    #[must_use]
    pub fn new(durability: Durability) -> Self {
        Self { durability, ask: None }
    }

    /// Creates a disk that calls `ask` before each step. Tests use it to record steps and to make
    /// steps fail.
    #[must_use]
    pub fn asking(ask: impl Fn(Step, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { durability: Durability::Synced, ask: Some(Arc::new(ask)) }
    }

    /// Returns whether outputs are synced, as chosen in [`Self::new`].
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Writes the bytes of `file` to the disk, unless durability is [`Durability::Fast`]. `path`,
    /// the present name of the file, is only passed to the callback.
    ///
    /// # Errors
    ///
    /// Bytes may be lost, so the file must not be used.
    pub fn sync_file(&self, file: &File, path: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFile, path)?;
        where_possible(file.sync_all())
    }

    /// Writes the names in `folder` to the disk, so that a rename in the folder survives a power
    /// cut.
    ///
    /// # Errors
    ///
    /// The last rename in the folder may be undone by a power cut.
    pub fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFolder, folder)?;
        sync_names(folder)
    }

    /// Writes a folder to the disk, with all files and folders in it at any depth.
    ///
    /// # Errors
    ///
    /// Bytes may be lost, so the folder must not be used.
    pub fn sync_tree(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        let mut files = Vec::new();
        // Every folder that is found is appended, and visited later.
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

    /// Gives a temporary file its final name `to`, and replaces a file that already has this name.
    ///
    /// # Errors
    ///
    /// The file was not renamed. A file that had the name is unchanged.
    pub fn rename_file(&self, file: tempfile::NamedTempFile, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        file.persist(to).map(drop).map_err(|failed| failed.error)
    }

    /// Renames a file, and replaces a file that has the name `to`.
    ///
    /// # Errors
    ///
    /// Nothing was renamed.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        fs::rename(from, to)
    }

    /// Renames a folder. Only an empty folder with the name `to` is replaced.
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
    /// The exchange failed, and both folders keep their old names. Some systems cannot exchange
    /// names.
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

/// Returns whether `error`, which comes from renaming a folder, means that the new name is taken.
#[must_use]
pub fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Opens `file` and writes its bytes to the disk.
fn sync_bytes(file: &Path) -> io::Result<()> {
    // Some systems sync only files that are open for writing.
    where_possible(File::options().append(true).open(file)?.sync_all())
}

/// Writes the names in `folder` to the disk.
fn sync_names(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        // Other systems cannot open a folder as a file. Their journals take care of names.
        return Ok(());
    }
    match File::open(folder) {
        Ok(folder) => where_possible(folder.sync_all()),
        // A user may write to a folder without permission to open it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs files and folders in any order, many at the same time. The disk needs about the same time for
/// one sync as for many at once.
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
        // If no more threads can be started, the present ones do all the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..count.min(SYNCS)).filter_map(start).collect();
        let lost = |_| Err(io::Error::other("a sync was not finished"));
        others.into_iter().fold(work(), |done, other| done.and(other.join().unwrap_or_else(lost)))
    })
}

/// Turns the error of a file system that cannot sync, such as some network file systems, into
/// success.
fn where_possible(synced: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, Unsupported};
    match synced {
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Syncs the whole file system that `folder` is on, and returns `true`. On systems without such a
/// call, or whose call does not report errors, does nothing and returns `false`.
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

/// Returns the number of free bytes in the file system that `folder` is on, or `u64::MAX` if it is
/// unknown.
#[cfg(unix)]
#[must_use]
pub fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder)
        .map_or(u64::MAX, |status| status.f_bavail.saturating_mul(status.f_frsize))
}

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
