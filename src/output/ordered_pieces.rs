//! Writes copies of files in pieces. Threads read and compress pieces in any order, and the pieces of each
//! file are written in the order of the file.
//!
//! Each file is divided into *units*, which can be read alone, and each unit into chunks. Every thread takes
//! the next unit, reads it, and compresses and writes its chunks. When no unit is left, threads that have
//! finished compress chunks for the threads that still read. So all threads work on the last large file.

use crate::write::kept_documents::{Chunk, KeptFile, Packing};
use simtool_base::error::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of compressed bytes, for each thread, that wait until earlier pieces of the same file are
/// written.
const WAITING_BYTES: usize = 4 << 20;

/// Position of a unit. A unit is a part of a file that can be read alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileUnit {
    /// Number of the file that the unit belongs to.
    pub(super) file: usize,
    /// Number of the unit in the file, from 0.
    pub(super) number: usize,
}

/// Copies of files that several threads write together, piece by piece.
///
/// A thread that locks both `state` and a file must lock `state` first. The other order could deadlock.
pub(super) struct OrderedPieces<'p> {
    units: Vec<FileUnit>,
    files: Vec<Mutex<OrderedFile>>,
    state: Mutex<QueueState>,
    /// Signal that wakes waiting threads when the state or a file has changed.
    changed: Condvar,
    threads: usize,
    /// Function that is called with the number of each file that is completely written.
    completed: &'p (dyn Fn(usize) -> Result<()> + Sync),
}

/// Work that is left, and numbers of threads that read or wait.
#[derive(Debug, Default)]
struct QueueState {
    next_unit: usize,
    /// Number of units (parts of files) that threads are reading.
    reading: usize,
    /// Number of threads that wait until this state or a file changes.
    waiting: usize,
    /// Chunks (bytes that are compressed together) that any idle thread may compress.
    jobs: VecDeque<PackJob>,
    /// First error that any thread met. It ends the work.
    failed: Option<Error>,
    /// Whether all threads must stop, because one of them has failed or panicked.
    is_over: bool,
}

/// A chunk that still has to be compressed and written.
#[derive(Debug)]
struct PackJob {
    unit: FileUnit,
    /// Number of the chunk in the unit, from 0.
    number: usize,
    chunk: Chunk,
    packing: Packing,
    /// Whether the chunk is the last one of the unit.
    is_last: bool,
}

/// Next task of a thread: to read a unit, or to compress a chunk.
enum NextTask {
    Read(FileUnit),
    Pack(PackJob),
}

/// A compressed chunk that waits until all earlier chunks of its file are written.
#[derive(Debug)]
struct WaitingPiece {
    bytes: Vec<u8>,
    /// Whether the chunk is the last one of its unit.
    is_last: bool,
}

/// A copy of a file that is being written.
#[derive(Debug)]
struct OrderedFile {
    path: PathBuf,
    /// The open copy. `None` before the first chunk is written and after the last one.
    file: Option<KeptFile>,
    /// Number of units that the file is divided into.
    units: usize,
    /// Position of the chunk that is written next: the number of its unit, and its number in the unit.
    next: (usize, usize),
    /// Compressed chunks that wait until all earlier chunks are written. The key is the unit number and the chunk
    /// number.
    pieces: BTreeMap<(usize, usize), WaitingPiece>,
    waiting_bytes: usize,
}

impl OrderedFile {
    fn new(path: PathBuf, units: usize) -> Self {
        Self { path, file: None, units, next: (0, 0), pieces: BTreeMap::new(), waiting_bytes: 0 }
    }

    /// Adds a compressed chunk. `place` has the number of its unit, and the number of the chunk in the unit.
    /// Writes all chunks for which every earlier chunk of the file is written. Returns whether the file is complete.
    fn add(&mut self, place: (usize, usize), piece: WaitingPiece) -> Result<bool> {
        self.waiting_bytes += piece.bytes.len();
        self.pieces.insert(place, piece);
        while let Some(WaitingPiece { bytes, is_last }) = self.pieces.remove(&self.next) {
            self.waiting_bytes -= bytes.len();
            // A file is created when its first chunk is written, so a file without chunks is not created.
            let file = match &mut self.file {
                Some(file) => file,
                file => file.insert(KeptFile::create(&self.path)?),
            };
            file.write(&bytes)?;
            let (unit, number) = self.next;
            self.next = if is_last { (unit + 1, 0) } else { (unit, number + 1) };
        }
        // The complete file is closed now. With many inputs, the number of open files would otherwise reach
        // the limit of the system.
        let is_complete = self.next.0 == self.units;
        if is_complete {
            self.file = None;
        }
        Ok(is_complete)
    }
}

impl<'p> OrderedPieces<'p> {
    /// Prepares the work for `threads` threads. `files` has the path and the number of units of each copy.
    /// `completed` is called with the number of each file that is completely written.
    pub(super) fn new(
        files: Vec<(PathBuf, usize)>,
        threads: usize,
        completed: &'p (dyn Fn(usize) -> Result<()> + Sync),
    ) -> Self {
        let units = files
            .iter()
            .enumerate()
            .flat_map(|(file, (_, count))| (0..*count).map(move |number| FileUnit { file, number }))
            .collect();
        let files =
            files.into_iter().map(|(path, units)| Mutex::new(OrderedFile::new(path, units)));
        Self {
            units,
            files: files.collect(),
            state: Mutex::default(),
            changed: Condvar::new(),
            threads,
            completed,
        }
    }

    /// Reads, compresses and writes until everything is written or something fails. Every thread must call
    /// this function once.
    ///
    /// `read` reads a unit and passes its chunks to the [`UnitWriter`].
    pub(super) fn work(&self, read: &(dyn Fn(&mut UnitWriter<'_>) -> Result<()> + Sync)) {
        let _wake = WakeOnDrop(self);
        while let Some(task) = self.next_task() {
            let done = match task {
                NextTask::Pack(job) => self.pack(job),
                NextTask::Read(unit) => {
                    let read = read(&mut UnitWriter { pieces: self, unit, next: 0 });
                    // Idle threads stop when the last reader is done, so they are woken to check that.
                    self.state().reading -= 1;
                    self.changed.notify_all();
                    read
                }
            };
            if let Err(error) = done {
                let mut state = self.state();
                state.is_over = true;
                // Later errors only follow from the first one, which ends the work.
                state.failed.get_or_insert(error);
            }
        }
    }

    /// Returns the first error of any thread, if there was one.
    pub(super) fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), Err)
    }

    /// Returns the next task of the calling thread, and waits for a task if necessary. Returns `None` if no
    /// work is left.
    fn next_task(&self) -> Option<NextTask> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            // Chunks come before units, because they occupy memory and other threads may wait for them.
            if let Some(job) = state.jobs.pop_front() {
                return Some(NextTask::Pack(job));
            }
            if let Some(unit) = self.units.get(state.next_unit) {
                state.next_unit += 1;
                state.reading += 1;
                return Some(NextTask::Read(*unit));
            }
            // A thread that still reads may queue more chunks.
            if state.reading == 0 {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Compresses a chunk, and writes it once all earlier chunks of its file are written.
    fn pack(&self, job: PackJob) -> Result<()> {
        let PackJob { unit, number, chunk, packing, is_last } = job;
        // An empty chunk adds no bytes unless it is the first of a file. Even a compressed file without
        // records needs one gzip member or Zstandard frame to be valid.
        let is_nothing = chunk.is_empty() && (unit.number, number) != (0, 0);
        let packed = if is_nothing { Ok(Vec::new()) } else { packing.pack(chunk) };
        let mut file = self.file(unit);
        let bytes = packed.map_err(|e| Error::io(&file.path, "compress", e))?;
        let is_complete = file.add((unit.number, number), WaitingPiece { bytes, is_last })?;
        // The file must be unlocked before the state is locked.
        drop(file);
        if is_complete {
            (self.completed)(unit.file)?;
        }
        if self.threads > 1 && self.state().waiting > 0 {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Compresses a chunk, or queues it for threads that have nothing left to read.
    fn hand_over(&self, job: PackJob) -> Result<()> {
        let mut state = self.state();
        // While units are left, no thread is idle, and queued chunks would only occupy memory.
        let is_spare = state.next_unit == self.units.len() && state.jobs.len() < self.threads;
        if self.threads > 1 && is_spare && job.packing.takes_time() && !state.is_over {
            state.jobs.push_back(job);
            drop(state);
            self.changed.notify_all();
            return Ok(());
        }
        drop(state);
        self.pack(job)
    }

    /// Waits while the file of `unit` has too many compressed bytes that cannot be written before earlier chunks.
    /// Compresses queued chunks meanwhile. `next` is the number of the chunk in `unit` that the caller makes next.
    /// Returns at once if this chunk is the next to be written.
    fn catch_up(&self, unit: FileUnit, next: usize) -> Result<()> {
        let most = WAITING_BYTES * self.threads;
        let mut state = self.state();
        loop {
            if state.is_over {
                return Err(ErrorKind::Cancelled.into());
            }
            let file = self.file(unit);
            // The caller must not wait if its chunk is the one that is written next, because all later chunks
            // wait for this one.
            if file.waiting_bytes <= most || file.next == (unit.number, next) {
                return Ok(());
            }
            drop(file);
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                self.pack(job)?;
                state = self.state();
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Waits until the state or a file has changed.
    fn wait<'s>(&self, mut state: MutexGuard<'s, QueueState>) -> MutexGuard<'s, QueueState> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, unit: FileUnit) -> MutexGuard<'_, OrderedFile> {
        self.files[unit.file].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receiver of the chunks of one unit, which is a part of a file. The chunks come in their order.
pub(super) struct UnitWriter<'p> {
    pieces: &'p OrderedPieces<'p>,
    unit: FileUnit,
    /// Number of the next chunk of the unit, counted from 0.
    next: usize,
}

impl UnitWriter<'_> {
    /// Returns the unit (part of a file) that the caller must read.
    pub(super) fn unit(&self) -> FileUnit {
        self.unit
    }

    /// Passes on the next chunk, which is compressed by `packing`. The last chunk of a unit may be empty. A
    /// file without any chunk is not created.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or another thread has failed.
    pub(super) fn write(&mut self, chunk: Chunk, packing: Packing, is_last: bool) -> Result<()> {
        let unit = self.unit;
        let number = self.next;
        self.next += 1;
        self.pieces.hand_over(PackJob { unit, number, chunk, packing, is_last })?;
        if is_last { Ok(()) } else { self.pieces.catch_up(unit, self.next) }
    }

    /// Waits until the unit may be read. Otherwise fast readers would fill the memory with chunks that wait
    /// for a slow reader.
    ///
    /// # Errors
    ///
    /// Another thread has failed.
    pub(super) fn wait(&self) -> Result<()> {
        self.pieces.catch_up(self.unit, 0)
    }
}

/// Guard that wakes all waiting threads when the calling thread ends its work, even if it panics.
struct WakeOnDrop<'p>(&'p OrderedPieces<'p>);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        // The unit of a thread that panics is never completed, so other threads must not wait for it.
        if std::thread::panicking() {
            self.0.state().is_over = true;
        }
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::compression::Compression;
    use std::fs;
    use std::thread;

    /// Writes two files of five units with four chunks each. Returns the bytes of the files.
    fn write_files(threads: usize, compression: Compression) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..2).map(|file| folder.path().join(format!("{file}"))).collect();
        let packing = Packing::new(compression, false);
        let complete = Mutex::new(Vec::new());
        let completed = |file: usize| {
            complete.lock().unwrap().push((file, fs::metadata(&paths[file]).unwrap().len()));
            Ok(())
        };
        let pieces = OrderedPieces::new(
            paths.iter().map(|path| (path.clone(), 5)).collect(),
            threads,
            &completed,
        );
        let read = |writer: &mut UnitWriter<'_>| {
            writer.wait()?;
            let FileUnit { file, number } = writer.unit();
            // The first unit takes longest, so that all other units wait for it.
            if number == 0 {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            for chunk in 0..4 {
                let mut bytes = Chunk::default();
                let times = if file == 0 { 10 } else { 1 << 17 };
                bytes.push(format!("{file} {number} {chunk}, ").repeat(times).as_bytes());
                writer.write(bytes, packing, false)?;
            }
            writer.write(Chunk::default(), packing, true)
        };
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| pieces.work(&read));
            }
        });
        pieces.finish().unwrap();
        // Each file was reported once, when it had all its bytes.
        let mut complete = complete.into_inner().unwrap();
        complete.sort_unstable();
        let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
        assert_eq!(complete, [(0, length(&paths[0])), (1, length(&paths[1]))]);
        paths.iter().map(|path| fs::read(path).unwrap()).collect()
    }

    #[test]
    fn pieces_are_in_order_for_any_number_of_threads() {
        let expected = write_files(1, Compression::None);
        assert!(expected[1].starts_with(b"1 0 0, 1 0 0, "));
        assert!(expected[1].ends_with(b"1 4 3, "));
        let packed = write_files(1, Compression::Zstd);
        for (packed, expected) in packed.iter().zip(&expected) {
            assert!(zstd::decode_all(&packed[..]).unwrap() == *expected);
        }
        for threads in [2, 3, 8] {
            assert!(write_files(threads, Compression::None) == expected, "{threads}");
            assert!(write_files(threads, Compression::Zstd) == packed, "{threads}");
        }
    }

    #[test]
    fn the_first_error_ends_the_work_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "in the way").unwrap();
        let pieces = OrderedPieces::new(vec![(path, 100)], 3, &|_| Ok(()));
        let packing = Packing::new(Compression::None, false);
        let read = |writer: &mut UnitWriter<'_>| writer.write(Chunk::default(), packing, true);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| pieces.work(&read));
            }
        });
        assert!(pieces.finish().unwrap_err().to_string().starts_with("cannot create "));
    }
}
