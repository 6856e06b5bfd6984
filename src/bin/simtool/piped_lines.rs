//! Standard input in batches of whole lines, which a thread reads while the batch before is answered.

use std::io::{self, Read};
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
pub(crate) enum Taken {
    /// Lines, of which only the last of all may have no end.
    Lines(Vec<u8>),
    /// Nothing that would be a batch, in the time that was given.
    Nothing,
    End,
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

/// Lines of standard input.
pub(crate) struct PipedLines(Arc<Shared>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) {
        let mut input = io::stdin().lock();
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
        let lines = memchr::memchr_iter(b'\n', piece).count() as u64;
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
    pub(crate) fn new(due: Due) -> io::Result<Self> {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { waiting, changed, due });
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("reader".into()).spawn(move || reader.read())?;
        Ok(Self(shared))
    }

    /// Waits for a batch, for so long at most; `room` is memory for those that come later.
    ///
    /// # Errors
    ///
    /// Standard input cannot be read.
    pub(crate) fn take(&self, mut room: Vec<u8>, longest: Duration) -> io::Result<Taken> {
        let Shared { changed, due, .. } = &*self.0;
        let began = Instant::now();
        let mut waiting = self.0.lock();
        loop {
            let left = waiting.since.map(|since| due.wait.saturating_sub(since.elapsed()));
            let is_due = waiting.lines >= due.lines || left == Some(Duration::ZERO);
            let has_ended = waiting.end.is_some();
            if waiting.lines > 0 && is_due || has_ended && !waiting.bytes.is_empty() {
                let end = if has_ended {
                    waiting.bytes.len()
                } else {
                    memchr::memrchr(b'\n', &waiting.bytes).map_or(0, |at| at + 1)
                };
                room.clear();
                room.extend_from_slice(&waiting.bytes[end..]);
                waiting.bytes.truncate(end);
                (waiting.lines, waiting.since) = (0, None);
                let lines = std::mem::replace(&mut waiting.bytes, room);
                drop(waiting);
                changed.notify_all();
                return Ok(Taken::Lines(lines));
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
