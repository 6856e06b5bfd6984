//! Whole copies of files that a run stores until it ends. If the run is stopped, a later run uses them.
//!
//! A copy is written in a temporary folder. When it is whole, it is synced to the disk and gets its name in the store.
//! So a copy in the store is never incomplete, even after a power cut.

use super::staging::{StagingFolder, remove_abandoned};
use super::whole_file::WholeFile;
use simtool_base::durable::{Disk, Durability};
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::wide_hash;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Ending of the name of a stored copy.
const COPY: &str = "copy";
/// Ending of the name of the file with the note of a copy.
const NOTE: &str = "note";
/// Number of bytes before a note: the length of the copy, and a hash of the note.
const NOTE_HEAD: usize = 24;

/// Folder with stored copies. Each copy has a key and a note. The note has data of the run that wrote the copy.
#[derive(Debug)]
pub(crate) struct CopyStore {
    folder: PathBuf,
    staging: StagingFolder,
    disk: Disk,
}

impl CopyStore {
    /// Opens the store, and creates its folder if it does not exist. Removes unfinished copies of runs that were
    /// stopped.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let failed = |error| Error::io(folder, "create", error);
        fs::create_dir_all(folder).map_err(failed)?;
        remove_abandoned(folder);
        let staging = StagingFolder::new(folder).map_err(failed)?;
        Ok(Self { folder: folder.to_owned(), staging, disk: Disk::new(Durability::Synced) })
    }

    /// Returns the path at which the copy with this key is written before [`finish`](Self::finish) stores it.
    pub(crate) fn unfinished(&self, key: u128) -> PathBuf {
        self.staging.content().join(format!("{key:032x}"))
    }

    /// Returns the note of a stored copy, which has data of the run that wrote it. Returns `None` if there is no such
    /// copy.
    pub(crate) fn note(&self, key: u128) -> Option<Vec<u8>> {
        let length = fs::metadata(self.path(key, COPY)).ok()?.len();
        let bytes = fs::read(self.path(key, NOTE)).ok()?;
        let (head, note) = bytes.split_at_checked(NOTE_HEAD)?;
        (head == note_head(length, note)).then(|| note.to_vec())
    }

    /// Stores the copy that was written to [`unfinished`](Self::unfinished).
    ///
    /// # Errors
    ///
    /// The copy cannot be synced to the disk, or the note cannot be written.
    pub(crate) fn finish(&self, key: u128, note: &[u8]) -> Result<()> {
        let unfinished = self.unfinished(key);
        let failed = |error| Error::io(&unfinished, "sync", error);
        let copy = File::open(&unfinished).map_err(failed)?;
        self.disk.sync_file(&copy, &unfinished).map_err(failed)?;
        let length = copy.metadata().map_err(failed)?.len();
        // The note comes first, because the copy counts once it has its name.
        let mut file = WholeFile::create(&self.path(key, NOTE), Durability::Synced)?;
        file.write(&note_head(length, note))?;
        file.write(note)?;
        file.sync()?;
        file.finish()?;
        let renamed = self.disk.rename(&unfinished, &self.path(key, COPY));
        renamed.and_then(|()| self.disk.sync_folder(&self.folder)).map_err(failed)
    }

    /// Puts a stored copy at the path `to`, which must be free. The copy also stays in the store.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn place(&self, key: u128, to: &Path) -> Result<()> {
        let copy = self.path(key, COPY);
        let place = || {
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            // A second name takes no space. Some file systems have no second names.
            match fs::hard_link(&copy, to) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    fs::copy(&copy, to).map(drop)
                }
                linked => linked,
            }
        };
        place().map_err(|error| Error::io(to, "write", error))
    }

    /// Removes the store. Errors are ignored, because nobody needs the copies any more.
    pub(crate) fn remove(self) {
        let Self { folder, staging, .. } = self;
        drop(staging);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == COPY || ending == NOTE) {
                drop(fs::remove_file(path));
            }
        }
        drop(fs::remove_dir(folder));
    }

    fn path(&self, key: u128, ending: &str) -> PathBuf {
        self.folder.join(format!("{key:032x}.{ending}"))
    }
}

/// Returns the bytes that precede a note in its file: `length`, which is the number of bytes of the copy, and a hash of
/// the note.
fn note_head(length: u64, note: &[u8]) -> [u8; NOTE_HEAD] {
    let mut head = [0; NOTE_HEAD];
    head[..8].copy_from_slice(&length.to_le_bytes());
    head[8..].copy_from_slice(&wide_hash(note).to_le_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_copies_are_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copies");
        let store = CopyStore::open(&path).unwrap();
        fs::write(store.unfinished(1), "whole").unwrap();
        fs::write(store.unfinished(2), "ha").unwrap();
        store.finish(1, b"note").unwrap();
        assert_eq!((store.note(1).unwrap(), store.note(2)), (b"note".to_vec(), None));
        // The unfinished copy goes with the run, and the stored one stays.
        let unfinished = store.unfinished(2);
        drop(store);
        assert!(!unfinished.exists());
        let store = CopyStore::open(&path).unwrap();
        let to = folder.path().join("out/d/a.txt");
        store.place(1, &to).unwrap();
        assert!(store.place(1, &to).is_err(), "an existing file is not replaced");
        // A copy or a note that was changed is not used.
        for (name, bytes) in
            [("copy", &b"whole!"[..]), ("copy", b"whole"), ("note", b"not"), ("note", b"")]
        {
            let file = path.join(format!("{:032x}.{name}", 1));
            let before = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            fs::write(&file, bytes).unwrap();
            assert_eq!(store.note(1).is_some(), bytes == b"whole");
            fs::write(&file, before).unwrap();
        }
        store.remove();
        assert!(!path.exists());
        assert_eq!(fs::read(to).unwrap(), b"whole");
    }
}
