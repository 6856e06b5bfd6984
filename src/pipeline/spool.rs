//! Temporary files of terms that do not fit in memory.

use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::reserve;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Description of the memory for terms that are kept. Out-of-memory messages contain it.
pub(super) const WHAT: &str = "the terms of texts that are read once";
/// Number of terms that are read from or written to a temporary file at a time. So many terms take a
/// megabyte.
pub(super) const BLOCK_TERMS: usize = 128 << 10;
/// Number of bytes of a term in memory and in a file.
pub(super) const TERM_BYTES: u64 = size_of::<u64>() as u64;

/// Temporary files without names, for terms that do not fit in memory.
pub(super) struct Spool {
    folder: PathBuf,
    files: Mutex<Files>,
    spooled_bytes: AtomicU64,
    /// Maximum number of bytes of all terms in the temporary files together.
    most_bytes: u64,
    /// Whether the terms of some shard did not fit in the files. From then on, the terms of no other shard
    /// are kept.
    is_full: AtomicBool,
}

#[derive(Default)]
struct Files {
    all: Vec<SpoolFile>,
    /// Numbers and lengths of the files that no thread is writing to.
    free: Vec<(usize, u64)>,
}

/// A temporary file. All threads that read the file share one position in it. So a thread locks the file
/// before it reads.
type SpoolFile = std::sync::Arc<Mutex<File>>;

/// Place of the terms of one shard in a temporary file.
#[derive(Clone, Copy)]
pub(super) struct SpoolPlace {
    /// Number of the temporary file.
    file: usize,
    /// Byte offset in the file at which the terms begin.
    start: u64,
}

/// A temporary file to which a thread writes the terms of one shard. Dropping the value removes the terms of
/// the shard if it is not finished. Then the file is free for another shard.
pub(super) struct Writing<'s> {
    spool: &'s Spool,
    number: usize,
    file: SpoolFile,
    /// Byte offset in the file at which the terms of this shard begin. The last finished shard ends there.
    start: u64,
    end: u64,
}

impl Writing<'_> {
    /// Appends terms to the file. Returns false if there is no space for them in the spool or on the disk.
    pub(super) fn write(&mut self, terms: &[u64]) -> Result<bool> {
        let bytes: &[u8] = bytemuck::cast_slice(terms);
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

    /// Marks the shard as finished and returns the place of its terms. All terms must have been written
    /// before this call.
    pub(super) fn finish(mut self) -> SpoolPlace {
        // Moving `start` behind the terms marks the shard as finished, so that dropping does not remove it.
        let start = std::mem::replace(&mut self.start, self.end);
        SpoolPlace { file: self.number, start }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // If truncating fails, the next shard overwrites the terms of the unfinished one.
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

    /// Returns the number of bytes of all terms in the temporary files.
    pub(super) fn spooled_bytes(&self) -> u64 {
        self.spooled_bytes.load(Ordering::Relaxed)
    }

    /// Returns the maximum number of bytes of all terms in the temporary files together.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Returns whether the terms of some shard did not fit in the files. From then on, the terms of no other
    /// shard are kept.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Begins to write the terms of a shard. Returns a file to which no other thread writes. Creates a file
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

    /// Calls `visit` with the number and the terms of each wanted document of a shard. `place` is the place
    /// of the shard, and `term_count` the number of its terms. `wanted` lists the numbers of the wanted
    /// documents, and for each document the range of its terms among the terms of the shard. Both ascend.
    pub(super) fn visit(
        &self,
        place: SpoolPlace,
        wanted: impl Iterator<Item = (u32, Range<u64>)>,
        term_count: u64,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let file = SpoolFile::clone(&locked(&self.files).all[place.file]);
        let mut block: Vec<u64> = Vec::new();
        let mut block_start = 0;
        for (index, range) in wanted {
            if range.end > block_start + block.len() as u64 {
                // A block of terms begins at a wanted document, so that skipped documents are not read. It
                // holds at least all terms of that document.
                let length = (range.end - range.start).max(BLOCK_TERMS as u64);
                let length = length.min(term_count - range.start) as usize;
                let more = length.saturating_sub(block.len());
                reserve(&mut block, more, WHAT)?;
                block.resize(length, 0);
                block_start = range.start;
                let mut file = locked(&file);
                // Readers share the position in the file, so seeking and reading must happen under one lock.
                let first_byte = SeekFrom::Start(place.start + block_start * TERM_BYTES);
                let bytes = bytemuck::cast_slice_mut(&mut block);
                let read = file.seek(first_byte).and_then(|_| file.read_exact(bytes));
                read.map_err(|e| Error::io(&self.folder, "read a temporary file in", e))?;
            }
            let start = (range.start - block_start) as usize;
            visit(index, &block[start..][..(range.end - range.start) as usize]);
        }
        Ok(())
    }
}

/// Locks `mutex`, even if another thread panicked while it held the lock. Such a panic ends the run anyway,
/// so the data is never used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
