//! The steps by which files and folders get their names only when their bytes are on the disk.
//!
//! A name that is there before the bytes are is an empty file after a power cut. So the order is
//! always the same: write under another name, sync the file, rename it, sync the folder that it is
//! in, and tell of success only then. A sync that failed is not tried again: the system may have
//! dropped the bytes together with the error.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Files of a tree that are synced one by one; of more, the whole file system is, where it can be.
const FEW_FILES: usize = 256;
/// Most syncs at the same time.
const SYNCS: usize = 16;

/// Whether outputs are brought to the disk before they get their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// They are, and a power cut leaves what stood there before or what was written.
    Synced,
    /// They are not, which saves the milliseconds that a disk takes; a power cut within the next
    /// half minute may leave an empty file.
    Fast,
}

/// One step, which can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bring a file to the disk.
    SyncFile,
    /// Bring the names in a folder to the disk.
    SyncFolder,
    /// Give a file or folder its name.
    Rename,
    /// Let two folders change names.
    Exchange,
}

/// What is asked before each step, with the path that the step is about.
type Ask = dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync;

/// Takes the steps.
#[derive(Clone)]
pub struct Disk {
    durability: Durability,
    ask: Option<Arc<Ask>>,
}

impl Disk {
    /// The disk as it is.
    #[must_use]
    pub fn new(durability: Durability) -> Self {
        Self { durability, ask: None }
    }

    /// A disk of which `ask` is told each step beforehand, to note it or to let it fail.
    #[must_use]
    pub fn asking(ask: impl Fn(Step, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { durability: Durability::Synced, ask: Some(Arc::new(ask)) }
    }

    /// Whether syncs are done.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Brings a file to the disk, which is called `path` now.
    ///
    /// # Errors
    ///
    /// Bytes may be lost: the file must not be used.
    pub fn sync_file(&self, file: &File, path: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFile, path)?;
        where_possible(file.sync_all())
    }

    /// Brings the names in a folder to the disk.
    ///
    /// # Errors
    ///
    /// The last rename in it may not last.
    pub fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        self.ask(Step::SyncFolder, folder)?;
        sync_names(folder)
    }

    /// Brings all files and folders within `folder` to the disk, and itself.
    ///
    /// # Errors
    ///
    /// Bytes may be lost: the folder must not be used.
    pub fn sync_tree(&self, folder: &Path) -> io::Result<()> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
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
        folders.iter().rev().try_for_each(|folder| self.ask(Step::SyncFolder, folder))?;
        sync_all(&files, &folders)
    }

    /// Gives a file its name, in place of what stands under it.
    ///
    /// # Errors
    ///
    /// What stood there still does.
    pub fn rename_file(&self, file: tempfile::NamedTempFile, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        file.persist(to).map(drop).map_err(|failed| failed.error)
    }

    /// Gives what stands under one name another, in place of a file that has it.
    ///
    /// # Errors
    ///
    /// Both stand where they stood.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Step::Rename, to)?;
        fs::rename(from, to)
    }

    /// Gives a folder its name, in place of an empty folder at most.
    ///
    /// # Errors
    ///
    /// Something else stands there: see [`is_taken`]. Or the folder cannot be renamed.
    pub fn rename_folder(&self, from: &Path, to: &Path) -> io::Result<()> {
        // The system replaces empty folders alone, and looks and renames in one.
        self.rename(from, to)
    }

    /// Lets two folders change names, so that there is always one of each name.
    ///
    /// # Errors
    ///
    /// Both have the names that they had; the system may not know how.
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

/// Whether a folder was not renamed because something stands under the name.
#[must_use]
pub fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Brings a file to the disk.
fn sync_bytes(file: &Path) -> io::Result<()> {
    // Some systems sync only what is open for writing.
    where_possible(File::options().append(true).open(file)?.sync_all())
}

/// Brings the names in a folder to the disk.
fn sync_names(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        // Elsewhere a folder is no file that can be synced; names are the journal's.
        return Ok(());
    }
    match File::open(folder) {
        Ok(folder) => where_possible(folder.sync_all()),
        // One may write into a folder that one may not list.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs all of these in any order, many at the same time: a disk waits as long for one as for all.
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
        // Where there are no more threads, the others do it.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..count.min(SYNCS)).filter_map(start).collect();
        let lost = |_| Err(io::Error::other("a sync was not finished"));
        others.into_iter().fold(work(), |done, other| done.and(other.join().unwrap_or_else(lost)))
    })
}

/// The result of a sync, unless the file system has none, as some of networks and in memory.
fn where_possible(synced: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, Unsupported};
    match synced {
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Brings a whole file system to the disk; `false` where the system does not tell whether it could.
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

/// Bytes that may still be written in the file system of a folder, as far as the system tells.
#[cfg(unix)]
#[must_use]
pub fn free_bytes(folder: &Path) -> u64 {
    let told = rustix::fs::statvfs(folder);
    told.map_or(u64::MAX, |told| told.f_bavail.saturating_mul(told.f_frsize))
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
