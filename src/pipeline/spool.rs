//! Temporary files for data of shards that are expensive to read, and for data that does not fit in memory.
//!
//! The files have no names, and disappear when the [`Spool`] is dropped. Each thread writes to a file of its own, shard
//! after shard.

use simtool_base::error::{Error, Result};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files without names, to which threads write the data of shards.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    files: Mutex<Files>,
    spooled_bytes: AtomicU64,
    /// Maximum number of bytes of all temporary files together.
    most_bytes: u64,
    /// Whether the data of some shard did not fit in the files. From then on, no further shard is stored.
    is_full: AtomicBool,
}

#[derive(Debug, Default)]
struct Files {
    all: Vec<SpoolFile>,
    /// For each file that no thread is writing to, its index in `all` and its length in bytes.
    free: Vec<(usize, u64)>,
}

/// A temporary file. All threads that read the file share one position in it. So a thread locks the file
/// before it reads.
type SpoolFile = std::sync::Arc<Mutex<File>>;

/// Position of the data of one shard in a temporary file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpoolPlace {
    /// Number of the temporary file.
    file: usize,
    /// Byte offset in the file at which the data begin.
    start: u64,
}

/// A temporary file to which a thread writes the data of one shard. Dropping the value removes the data of the shard
/// if it is not finished. Then the file is free for another shard.
pub(super) struct Writing<'s> {
    spool: &'s Spool,
    number: usize,
    file: SpoolFile,
    /// Byte offset in the file at which the data of this shard begin. The last finished shard ends there.
    start: u64,
    end: u64,
}

impl Writing<'_> {
    /// Appends bytes to the file. Returns false if there is no space for them in the spool or on the disk.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<bool> {
        let spooled = self.spool.spooled_bytes.load(Ordering::Relaxed);
        if spooled + bytes.len() as u64 > self.spool.most_bytes {
            return Ok(self.no_room());
        }
        let mut file = locked(&self.file);
        let written = file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(bytes));
        match written.map_err(|error| (error.kind(), error)) {
            Ok(()) => {}
            // A full disk is not an error: the texts are read again instead.
            Err((ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _)) => {
                return Ok(self.no_room());
            }
            Err((_, error)) => {
                return Err(Error::io(&self.spool.folder, "write a temporary file in", error));
            }
        }
        self.end += bytes.len() as u64;
        self.spool.spooled_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(true)
    }

    fn no_room(&self) -> bool {
        self.spool.is_full.store(true, Ordering::Relaxed);
        false
    }

    /// Marks the shard as finished and returns the position of its data. All data must have been written before this
    /// call.
    pub(super) fn finish(mut self) -> SpoolPlace {
        // Moving `start` behind the data marks the shard as finished, so that dropping does not remove it.
        let start = std::mem::replace(&mut self.start, self.end);
        SpoolPlace { file: self.number, start }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // If truncating fails, the next shard overwrites the data of the unfinished one.
        drop(locked(&self.file).set_len(self.start));
        self.spool.spooled_bytes.fetch_sub(self.end - self.start, Ordering::Relaxed);
        locked(&self.spool.files).free.push((self.number, self.start));
    }
}

impl Spool {
    /// Creates a spool whose temporary files will be in `folder` and take at most `most_bytes` together.
    pub(super) fn new(folder: PathBuf, most_bytes: u64) -> Self {
        Self {
            folder,
            files: Mutex::default(),
            spooled_bytes: AtomicU64::new(0),
            most_bytes,
            is_full: AtomicBool::new(false),
        }
    }

    /// Returns the number of bytes of all temporary files.
    pub(super) fn spooled_bytes(&self) -> u64 {
        self.spooled_bytes.load(Ordering::Relaxed)
    }

    /// Returns the maximum number of bytes of all temporary files together.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Returns whether the data of some shard did not fit in the files. From then on, no further shard is stored.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Begins to write the data of a shard. Returns a file to which no other thread writes. Creates a file
    /// if there is none.
    pub(super) fn begin(&self) -> Result<Writing<'_>> {
        let mut files = locked(&self.files);
        let (number, start) = if let Some(free) = files.free.pop() {
            free
        } else {
            let file = tempfile::tempfile_in(&self.folder)
                .map_err(|e| Error::io(&self.folder, "create a temporary file in", e))?;
            files.all.push(SpoolFile::new(Mutex::new(file)));
            (files.all.len() - 1, 0)
        };
        let file = SpoolFile::clone(&files.all[number]);
        Ok(Writing { spool: self, number, file, start, end: start })
    }

    /// Fills `space` with data of the shard at the position `place`, beginning at byte `offset` of the data of the
    /// shard.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has fewer bytes.
    pub(super) fn read(&self, place: SpoolPlace, offset: u64, space: &mut [u8]) -> Result<()> {
        let file = SpoolFile::clone(&locked(&self.files).all[place.file]);
        let mut file = locked(&file);
        // Readers share the position in the file, so seeking and reading must happen under one lock.
        let read = file.seek(SeekFrom::Start(place.start + offset));
        let read = read.and_then(|_| file.read_exact(space));
        read.map_err(|error| self.unreadable(error))
    }

    /// Returns the error for a temporary file that cannot be read.
    pub(super) fn unreadable(&self, error: std::io::Error) -> Error {
        Error::io(&self.folder, "read a temporary file in", error)
    }
}

/// Locks `mutex`, even if another thread panicked while it held the lock. Such a panic ends the run anyway,
/// so the data is never used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
