//! Standard input in batches of whole lines: parts of the file that it is, or what comes through it, which
//! a thread reads while the batch before is answered.

use crate::inputs::{self, Access};
use simtool::mapped_file::MappedFile;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are read at once: what a pipe holds.
const PIECE: usize = 64 << 10;
/// Bytes that may wait when there are enough lines.
const WAITING: usize = 4 << 20;

/// When lines that wait are a batch.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    /// As soon as there are so many.
    pub(crate) lines: u64,
    /// As soon as the first of them waits so long.
    pub(crate) wait: Duration,
}

/// What came next.
pub(crate) enum Taken<'l> {
    /// Lines, of which only the last of all may have no end.
    Lines(&'l [u8]),
    /// Nothing that would be a batch, in the time that was given.
    Nothing,
    End,
}

/// Lines of standard input.
pub(crate) struct InputLines {
    due: Due,
    source: Source,
}

/// Where lines come from.
enum Source {
    /// A file, where it is, and how many of its bytes were taken.
    File(&'static Path, MappedFile, usize),
    Pipe(PipedLines),
}

impl InputLines {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// The thread that would read does not start.
    pub(crate) fn new(due: Due, access: Access) -> io::Result<Self> {
        let path = inputs::standard_input_file().filter(|_| access == Access::Map);
        // What cannot be mapped can be read.
        let file = path.and_then(|path| {
            inputs::collection_access(access).open(path).ok().map(|file| (path, file))
        });
        let source = match file {
            Some((path, file)) => Source::File(path, file, 0),
            None => Source::Pipe(PipedLines::new(due, io::stdin())?),
        };
        Ok(Self { due, source })
    }

    /// Waits for a batch, for so long at most.
    ///
    /// # Errors
    ///
    /// Standard input cannot be read.
    pub(crate) fn take(&mut self, longest: Duration) -> io::Result<Taken<'_>> {
        let mut next = 0;
        if let Source::File(path, file, taken) = &self.source {
            next = self.due.batch(&file[*taken..]).len();
            if next == 0 {
                // A last line may have no end, or more may have come behind it.
                let mut rest = File::open(path)?;
                rest.seek(SeekFrom::Start(*taken as u64))?;
                self.source = Source::Pipe(PipedLines::new(self.due, rest)?);
            }
        }
        match &mut self.source {
            Source::File(_, file, taken) => {
                *taken += next;
                Ok(Taken::Lines(&file[*taken - next..*taken]))
            }
            Source::Pipe(pipe) => pipe.take(longest),
        }
    }
}

impl Due {
    /// The first whole lines that are a batch, or those that there are.
    fn batch(self, bytes: &[u8]) -> &[u8] {
        let (mut end, mut lines) = (0, 0);
        while lines < self.lines && end < bytes.len() {
            let piece = &bytes[end..bytes.len().min(end + WAITING)];
            lines += count_lines(piece);
            end += piece.len();
        }
        &bytes[..whole_lines(&bytes[..end])]
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// How many bytes are of lines that have an end.
fn whole_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

/// What came and waits.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    lines: u64,
    /// When the first line was there.
    since: Option<Instant>,
    /// The end, or an error that ended it.
    end: Option<io::Result<()>>,
}

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    due: Due,
}

/// Lines that a thread reads.
struct PipedLines {
    shared: Arc<Shared>,
    /// The batch that was taken last.
    lines: Vec<u8>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut input: impl Read) {
        let mut piece = vec![0; PIECE];
        loop {
            let end = match input.read(&mut piece) {
                Ok(0) => Some(Ok(())),
                Ok(read) => {
                    self.push(&piece[..read]);
                    None
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
                Err(error) => Some(Err(error)),
            };
            if end.is_some() {
                self.lock().end = end;
                self.changed.notify_all();
                return;
            }
        }
    }

    fn push(&self, piece: &[u8]) {
        let lines = count_lines(piece);
        let mut waiting = self.lock();
        while waiting.lines >= self.due.lines && waiting.bytes.len() >= WAITING {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes.extend_from_slice(piece);
        waiting.lines += lines;
        if waiting.lines > 0 {
            waiting.since.get_or_insert_with(Instant::now);
        }
        drop(waiting);
        self.changed.notify_all();
    }
}

impl PipedLines {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// The thread does not start.
    fn new(due: Due, input: impl Read + Send + 'static) -> io::Result<Self> {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { waiting, changed, due });
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("reader".into()).spawn(move || reader.read(input))?;
        Ok(Self { shared, lines: Vec::new() })
    }

    /// Waits for a batch, for so long at most.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    fn take(&mut self, longest: Duration) -> io::Result<Taken<'_>> {
        let Shared { changed, due, .. } = &*self.shared;
        let began = Instant::now();
        let mut waiting = self.shared.lock();
        loop {
            let left = waiting.since.map(|since| due.wait.saturating_sub(since.elapsed()));
            let is_due = waiting.lines >= due.lines || left == Some(Duration::ZERO);
            let has_ended = waiting.end.is_some();
            if waiting.lines > 0 && is_due || has_ended && !waiting.bytes.is_empty() {
                let Waiting { bytes, lines, since, .. } = &mut *waiting;
                let end = if has_ended { bytes.len() } else { whole_lines(bytes) };
                // The memory of the batch before is that of what waits next.
                self.lines.clear();
                self.lines.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                (*lines, *since) = (0, None);
                std::mem::swap(&mut self.lines, bytes);
                drop(waiting);
                changed.notify_all();
                return Ok(Taken::Lines(&self.lines));
            }
            if has_ended {
                return waiting.end.take().unwrap_or(Ok(())).map(|()| Taken::End);
            }
            let rest = longest.saturating_sub(began.elapsed());
            if rest.is_zero() {
                return Ok(Taken::Nothing);
            }
            let time = left.unwrap_or(rest).min(rest);
            let waited = changed.wait_timeout(waiting, time);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
