//! Reads a pipe in batches of whole lines. A thread reads while the caller works on the
//! previous batch.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes of one read from the pipe. It is the usual capacity of a pipe.
const PIECE: usize = 64 << 10;
/// Number of waiting bytes that are enough for a batch, however few lines they have. The reading thread pauses
/// until they are taken, unless they are a part of a single line.
const WAITING: usize = 4 << 20;

/// Limits at which the lines that were read become a batch.
#[derive(Clone, Copy)]
pub(super) struct Due {
    /// Number of waiting lines that are enough for a batch.
    pub(super) lines: u64,
    /// Maximum time that the first line of a batch waits. After this time, even few lines are a batch.
    pub(super) wait: Duration,
}

/// Result of waiting for a batch.
pub(super) enum Taken {
    /// A batch of whole lines. Only the last line of the input may be without a line end.
    Lines(Vec<u8>),
    /// No batch was complete within the given time.
    Nothing,
    /// The input has ended, and earlier calls have returned all lines.
    End,
}

/// Input that the thread has read and that no call has returned as a batch yet.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    lines: u64,
    /// Time at which the first whole line was complete. `None` if there is no whole line.
    since: Option<Instant>,
    /// Result of reading the input to its end. `None` while the input has not ended.
    end: Option<io::Result<()>>,
}

struct BatchQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    due: Due,
}

/// Reader that divides the lines of a pipe into batches.
pub(super) struct LineBatches(Arc<BatchQueue>);

impl BatchQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the waiting bytes have a whole line, and no more of them should wait.
    fn is_full(waiting: &Waiting) -> bool {
        waiting.lines > 0 && waiting.bytes.len() >= WAITING
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
        let lines = memchr::memchr_iter(b'\n', piece).count() as u64;
        let mut waiting = self.lock();
        // The reading thread pauses while the memory is used up. A single line beyond the limit must still be
        // read to its end.
        while Self::is_full(&waiting) {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes.extend_from_slice(piece);
        waiting.lines += lines;
        // The time of a batch starts with its first whole line, not with a part of a line.
        if waiting.lines > 0 {
            waiting.since.get_or_insert_with(Instant::now);
        }
        drop(waiting);
        self.changed.notify_all();
    }
}

impl LineBatches {
    /// Starts the thread that reads `input`.
    ///
    /// # Errors
    ///
    /// The thread does not start.
    pub(super) fn new(input: impl Read + Send + 'static, due: Due) -> io::Result<Self> {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(BatchQueue { waiting, changed, due });
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("reader".into()).spawn(move || reader.read(input))?;
        Ok(Self(shared))
    }

    /// Waits for a batch, at most for `longest`. `room` is an empty buffer, which will hold the lines of a
    /// later batch.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub(super) fn take(&self, mut room: Vec<u8>, longest: Duration) -> io::Result<Taken> {
        let BatchQueue { changed, due, .. } = &*self.0;
        let began = Instant::now();
        let mut waiting = self.0.lock();
        loop {
            let left = waiting.since.map(|since| due.wait.saturating_sub(since.elapsed()));
            let is_due = waiting.lines >= due.lines
                || BatchQueue::is_full(&waiting)
                || left == Some(Duration::ZERO);
            let has_ended = waiting.end.is_some();
            if waiting.lines > 0 && is_due || has_ended && !waiting.bytes.is_empty() {
                // The end of the input also ends its last line. Otherwise the bytes after the last line end
                // are left for the next batch.
                let end = if has_ended {
                    waiting.bytes.len()
                } else {
                    memchr::memrchr(b'\n', &waiting.bytes).map_or(0, |at| at + 1)
                };
                room.clear();
                room.extend_from_slice(&waiting.bytes[end..]);
                waiting.bytes.truncate(end);
                // No whole line is left, so the time of the next batch has not started.
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
            // Waiting ends when the first line has waited long enough, even if no further input comes.
            let time = left.unwrap_or(rest).min(rest);
            let waited = changed.wait_timeout(waiting, time);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Input of endless lines of half a megabyte, which counts the bytes that were read.
    struct LongLines(Arc<AtomicUsize>);

    impl Read for LongLines {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let before = self.0.fetch_add(into.len(), Ordering::Relaxed);
            for (byte, place) in into.iter_mut().zip(before..) {
                *byte = if place % (1 << 19) == 0 { b'\n' } else { b'a' };
            }
            Ok(into.len())
        }
    }

    #[test]
    fn long_lines_wait_in_little_memory_while_nobody_takes_them() {
        let bytes = Arc::new(AtomicUsize::new(0));
        let due = Due { lines: 10_000, wait: Duration::from_hours(1) };
        let batches = LineBatches::new(LongLines(Arc::clone(&bytes)), due).unwrap();
        for _ in 0..3 {
            // The batch comes although it has few lines and the time is long.
            let taken = batches.take(Vec::new(), Duration::from_mins(1)).unwrap();
            let Taken::Lines(lines) = taken else { panic!("no lines") };
            assert!(
                lines.ends_with(b"\n") && lines.len() <= WAITING + (1 << 19),
                "{}",
                lines.len()
            );
            thread::sleep(Duration::from_millis(50));
        }
        let read = bytes.load(Ordering::Relaxed);
        assert!(read < 5 * WAITING, "{read}");
    }
}
