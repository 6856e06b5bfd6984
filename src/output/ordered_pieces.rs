//! Copies of files in pieces: read by one thread, packed by whichever has time, written in order.
//!
//! Files are cut into *units*, which can be read alone and are taken in order, and units into
//! chunks. Every thread reads a unit, packs what it has read and writes it. When no unit is left,
//! those that are done with theirs pack for those that still read, so that the last large file is
//! packed by all of them.

use crate::write::kept_documents::{Chunk, KeptFile, Packing};
use simtool_base::error::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a file that wait for pieces before them, for each thread.
const WAITING_BYTES: usize = 4 << 20;

/// A unit of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Number of the file.
    pub(super) file: usize,
    /// Number of the unit in the file.
    pub(super) number: usize,
}

/// All files, while they are written.
#[derive(Debug)]
pub(super) struct OrderedPieces {
    units: Vec<Unit>,
    files: Vec<Mutex<OrderedFile>>,
    /// Locked before a file where both are.
    state: Mutex<State>,
    /// Told whenever the state, or what a file waits for, has changed.
    changed: Condvar,
    threads: usize,
}

#[derive(Debug, Default)]
struct State {
    next_unit: usize,
    /// Units that are being read.
    reading: usize,
    /// Threads that wait.
    waiting: usize,
    jobs: VecDeque<Job>,
    failed: Option<Error>,
    /// Nothing more is to be begun.
    is_over: bool,
}

/// A chunk that is to be packed.
#[derive(Debug)]
struct Job {
    unit: Unit,
    /// Number of the chunk in the unit.
    number: usize,
    chunk: Chunk,
    packing: Packing,
    is_last: bool,
}

enum Task {
    Read(Unit),
    Pack(Job),
}

/// A file that is written.
#[derive(Debug)]
struct OrderedFile {
    path: PathBuf,
    file: Option<KeptFile>,
    units: usize,
    /// Unit and chunk that are written next.
    next: (usize, usize),
    /// What comes later, and whether it is its unit's last.
    pieces: BTreeMap<(usize, usize), (Vec<u8>, bool)>,
    waiting_bytes: usize,
}

impl OrderedFile {
    /// Writes a piece when those before it are written.
    fn add(&mut self, place: (usize, usize), bytes: Vec<u8>, is_last: bool) -> Result<()> {
        self.waiting_bytes += bytes.len();
        self.pieces.insert(place, (bytes, is_last));
        while let Some((bytes, is_last)) = self.pieces.remove(&self.next) {
            self.waiting_bytes -= bytes.len();
            let file = match &mut self.file {
                Some(file) => file,
                file => file.insert(KeptFile::create(&self.path)?),
            };
            file.write(&bytes)?;
            let (unit, number) = self.next;
            self.next = if is_last { (unit + 1, 0) } else { (unit, number + 1) };
        }
        if self.next.0 == self.units {
            self.file = None;
        }
        Ok(())
    }
}

impl OrderedPieces {
    /// Files with their numbers of units, to be written by `threads` threads.
    pub(super) fn new(files: Vec<(PathBuf, usize)>, threads: usize) -> Self {
        let units = files.iter().enumerate();
        let units = units
            .flat_map(|(file, (_, count))| (0..*count).map(move |number| Unit { file, number }));
        Self {
            units: units.collect(),
            files: files
                .into_iter()
                .map(|(path, units)| {
                    Mutex::new(OrderedFile {
                        path,
                        file: None,
                        units,
                        next: (0, 0),
                        pieces: BTreeMap::new(),
                        waiting_bytes: 0,
                    })
                })
                .collect(),
            state: Mutex::default(),
            changed: Condvar::new(),
            threads,
        }
    }

    /// Works until all is written or something fails; called once in every thread. `read` reads a
    /// unit, and hands its chunks to the [`UnitWriter`].
    pub(super) fn work(&self, read: &(dyn Fn(&mut UnitWriter<'_>) -> Result<()> + Sync)) {
        let _bell = Bell(self);
        while let Some(task) = self.next_task() {
            let done = match task {
                Task::Pack(job) => self.pack(job),
                Task::Read(unit) => {
                    let read = read(&mut UnitWriter { pieces: self, unit, next: 0 });
                    self.state().reading -= 1;
                    self.changed.notify_all();
                    read
                }
            };
            if let Err(error) = done {
                let mut state = self.state();
                state.is_over = true;
                state.failed.get_or_insert(error);
            }
        }
    }

    /// What failed first, if anything did.
    pub(super) fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), Err)
    }

    fn next_task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(Task::Pack(job));
            }
            if let Some(unit) = self.units.get(state.next_unit) {
                state.next_unit += 1;
                state.reading += 1;
                return Some(Task::Read(*unit));
            }
            if state.reading == 0 {
                return None;
            }
            state = self.wait(state);
        }
    }

    fn pack(&self, job: Job) -> Result<()> {
        let Job { unit, number, chunk, packing, is_last } = job;
        // A file of no records is a member or frame still, and only then.
        let is_nothing = chunk.is_empty() && (unit.number, number) != (0, 0);
        let packed = if is_nothing { Ok(Vec::new()) } else { packing.pack(chunk) };
        let mut file = self.file(unit);
        let packed = packed.map_err(|e| Error::io(&file.path, "compress", e))?;
        file.add((unit.number, number), packed, is_last)?;
        drop(file);
        if self.threads > 1 && self.state().waiting > 0 {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Packs a chunk, or leaves it to a thread that has nothing to read.
    fn hand_over(&self, job: Job) -> Result<()> {
        let mut state = self.state();
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

    /// Waits until not too much of the file waits for others, and helps them.
    fn catch_up(&self, unit: Unit, next: usize) -> Result<()> {
        let most = WAITING_BYTES * self.threads;
        let mut state = self.state();
        loop {
            if state.is_over {
                return Err(ErrorKind::Cancelled.into());
            }
            let file = self.file(unit);
            // What all wait for may be the very thing that this thread is to make.
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

    fn wait<'s>(&self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, unit: Unit) -> MutexGuard<'_, OrderedFile> {
        self.files[unit.file].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the chunks of a unit, in order.
#[derive(Debug)]
pub(super) struct UnitWriter<'p> {
    pieces: &'p OrderedPieces,
    unit: Unit,
    /// Number of the next chunk.
    next: usize,
}

impl UnitWriter<'_> {
    /// The unit.
    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// Takes the next chunk; the last of a unit may be empty. A file of which no chunk is written
    /// is not created.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the work ends for another error.
    pub(super) fn write(&mut self, chunk: Chunk, packing: Packing, is_last: bool) -> Result<()> {
        let (unit, number) = (self.unit, self.next);
        self.next += 1;
        self.pieces.hand_over(Job { unit, number, chunk, packing, is_last })?;
        if is_last { Ok(()) } else { self.pieces.catch_up(unit, self.next) }
    }

    /// Waits before the unit is read, if too much that was read waits for others.
    ///
    /// # Errors
    ///
    /// The work ends for an error.
    pub(super) fn wait(&self) -> Result<()> {
        self.pieces.catch_up(self.unit, 0)
    }
}

/// Wakes all that wait when a thread ends, by a panic too.
struct Bell<'p>(&'p OrderedPieces);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
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

    /// Writes files of units of chunks, and gives what is in them.
    fn written(threads: usize, compression: Compression) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..2).map(|file| folder.path().join(format!("{file}"))).collect();
        let packing = Packing::new(compression, false);
        let pieces =
            OrderedPieces::new(paths.iter().map(|path| (path.clone(), 5)).collect(), threads);
        let read = |writer: &mut UnitWriter<'_>| {
            writer.wait()?;
            let Unit { file, number } = writer.unit();
            // The first unit takes longest, and all others wait for it.
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
        paths.iter().map(|path| fs::read(path).unwrap()).collect()
    }

    #[test]
    fn pieces_are_in_order_for_any_number_of_threads() {
        let expected = written(1, Compression::None);
        assert!(expected[1].starts_with(b"1 0 0, 1 0 0, "));
        assert!(expected[1].ends_with(b"1 4 3, "));
        let packed = written(1, Compression::Zstd);
        for (packed, expected) in packed.iter().zip(&expected) {
            assert!(zstd::decode_all(&packed[..]).unwrap() == *expected);
        }
        for threads in [2, 3, 8] {
            assert!(written(threads, Compression::None) == expected, "{threads}");
            assert!(written(threads, Compression::Zstd) == packed, "{threads}");
        }
    }

    #[test]
    fn the_first_error_ends_the_work_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "in the way").unwrap();
        let pieces = OrderedPieces::new(vec![(path, 100)], 3);
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
