//! Reads a pipe in batches of whole lines. A thread reads while the caller works on the
//! previous batch.

use std::io::{self, Read};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes of one read from the pipe. It is the usual capacity of a pipe.
const PIECE: usize = 64 << 10;
/// Number of waiting bytes that are enough for a batch, even if they have few lines. At this number, the reading thread
/// pauses until a call takes the bytes. If no line has ended yet, it reads on until the line ends or is too long for a
/// batch.
const WAITING: usize = 4 << 20;

/// Limits at which the lines that were read become a batch.
#[derive(Clone, Copy)]
pub(super) struct Due {
    /// Number of waiting lines that are enough for a batch.
    pub(super) lines: u64,
    /// Maximum time that the first line of a batch waits. After this time, even few lines are a batch.
    pub(super) wait: Duration,
    /// Maximum number of bytes of a line in a batch. A longer line is returned in several parts.
    pub(super) longest: usize,
}

/// Result of waiting for a batch of lines.
pub(super) enum Taken {
    /// A batch of whole lines. Only the last line of the input may be without a line end.
    Lines(Vec<u8>),
    /// Bytes of a line that is too long for a batch.
    Part {
        /// Next bytes of the line.
        bytes: Vec<u8>,
        /// Whether the line ends with these bytes.
        is_last: bool,
    },
    /// No batch was complete within the given time.
    Nothing,
    /// The input has ended, and earlier calls have returned all lines.
    End,
}

/// Input that the thread has read and that no call has returned yet.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    lines: u64,
    /// Time at which the first whole line was complete. `None` if there is no whole line.
    since: Option<Instant>,
    /// Whether the bytes continue a line that is too long. Its earlier bytes were returned as parts.
    is_inside_line: bool,
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

impl Waiting {
    /// Returns whether no more bytes should be read for now, because enough bytes wait for the next call.
    fn is_full(&self, due: &Due) -> bool {
        let has_some = self.lines > 0 || self.is_inside_line;
        has_some && self.bytes.len() >= WAITING || self.has_too_long_line(due)
    }

    /// Returns whether the bytes are a part of a single line that is too long for a batch.
    fn has_too_long_line(&self, due: &Due) -> bool {
        self.lines == 0 && self.bytes.len() > due.longest
    }

    fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        self.lines += count_lines(piece);
        // The time of a batch starts with its first whole line, not with a part of a line.
        if self.lines > 0 {
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// Takes the bytes of the next batch out of the waiting bytes, or returns `None` if no batch is complete and the
    /// caller must wait. `room` is an empty buffer, which receives the bytes that are still waiting.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    fn take(&mut self, due: &Due, room: &mut Vec<u8>) -> io::Result<Option<Taken>> {
        let (has_ended, has_bytes) = (self.end.is_some(), !self.bytes.is_empty());
        if self.is_inside_line && (has_bytes || has_ended) || self.has_too_long_line(due) {
            let line_end = memchr::memchr(b'\n', &self.bytes);
            let is_last = line_end.is_some() || has_ended;
            self.is_inside_line = !is_last;
            let bytes = self.split(line_end.map_or(self.bytes.len(), |at| at + 1), room);
            return Ok(Some(Taken::Part { bytes, is_last }));
        }
        let is_late = self.since.is_some_and(|since| since.elapsed() >= due.wait);
        let is_due = self.lines >= due.lines || self.is_full(due) || is_late;
        if self.lines > 0 && is_due || has_ended && has_bytes {
            // The end of the input also ends its last line. Otherwise the bytes after the last line end
            // are left for the next batch.
            let line_end = memchr::memrchr(b'\n', &self.bytes).map_or(0, |at| at + 1);
            let end = if has_ended { self.bytes.len() } else { line_end };
            return Ok(Some(Taken::Lines(self.split(end, room))));
        }
        let end = if has_ended { self.end.take() } else { None };
        end.map(|end| end.map(|()| Taken::End)).transpose()
    }

    /// Returns the first `end` waiting bytes. The other bytes go on waiting, in the buffer `room`.
    fn split(&mut self, end: usize, room: &mut Vec<u8>) -> Vec<u8> {
        room.clear();
        room.extend_from_slice(&self.bytes[end..]);
        self.bytes.truncate(end);
        self.lines = count_lines(room);
        // The time of the lines that are left starts now.
        self.since = (self.lines > 0).then(Instant::now);
        mem::replace(&mut self.bytes, mem::take(room))
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

impl BatchQueue {
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
        let mut waiting = self.lock();
        // The reading thread pauses while the memory is used up.
        while waiting.is_full(&self.due) {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.push(piece);
        drop(waiting);
        self.changed.notify_all();
    }
}

impl LineBatches {
    /// Starts the thread that reads the input, which `open` opens in that thread: decoders cannot move to another
    /// thread.
    ///
    /// # Errors
    ///
    /// The thread does not start.
    pub(super) fn new<R: Read>(
        open: impl FnOnce() -> R + Send + 'static,
        due: Due,
    ) -> io::Result<Self> {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(BatchQueue { waiting, changed, due });
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("reader".into()).spawn(move || reader.read(open()))?;
        Ok(Self(shared))
    }

    /// Waits for a batch, or for a part of a line that is too long for one, at most for the time `longest`. `room` is
    /// an empty buffer, which will hold bytes that a later call returns.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub(super) fn take(&self, mut room: Vec<u8>, longest: Duration) -> io::Result<Taken> {
        let BatchQueue { changed, due, .. } = &*self.0;
        let began = Instant::now();
        let mut waiting = self.0.lock();
        loop {
            if let Some(taken) = waiting.take(due, &mut room)? {
                drop(waiting);
                changed.notify_all();
                return Ok(taken);
            }
            let rest = longest.saturating_sub(began.elapsed());
            if rest.is_zero() {
                return Ok(Taken::Nothing);
            }
            // Waiting ends when the first line has waited long enough, even if no further input comes.
            let left = waiting.since.map(|since| due.wait.saturating_sub(since.elapsed()));
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
        let due = Due { lines: 10_000, wait: Duration::from_hours(1), longest: 1 << 20 };
        let input = LongLines(Arc::clone(&bytes));
        let batches = LineBatches::new(|| input, due).unwrap();
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

    /// Returns the batches and the long lines of `input`, which comes in pieces of `step` bytes. Each line
    /// starts with `=` if it comes in a batch, and with `+` if it comes in parts.
    fn taken(input: &str, step: usize) -> String {
        let due = Due { lines: 2, wait: Duration::from_hours(1), longest: 5 };
        let (mut waiting, mut room) = (Waiting::default(), Vec::new());
        let (mut all, mut is_start) = (String::new(), true);
        let mut pieces = input.as_bytes().chunks(step);
        loop {
            match waiting.take(&due, &mut room).unwrap() {
                Some(Taken::Lines(lines)) => {
                    for line in String::from_utf8(lines).unwrap().split_inclusive('\n') {
                        all += "=";
                        all += line;
                    }
                }
                Some(Taken::Part { bytes, is_last }) => {
                    assert!(bytes.len() <= due.longest + step, "{}", bytes.len());
                    all += if is_start { "+" } else { "" };
                    all += &String::from_utf8(bytes).unwrap();
                    is_start = is_last;
                }
                Some(Taken::End) => return all,
                Some(Taken::Nothing) | None => match pieces.next() {
                    Some(piece) => waiting.push(piece),
                    None => waiting.end = Some(Ok(())),
                },
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_comes_in_parts_between_batches() {
        for step in 1..5 {
            let lines = "a\nb\nlonglonglong\nc\nd\nagainlong";
            assert_eq!(taken(lines, step), "=a\n=b\n+longlonglong\n=c\n=d\n+againlong", "{step}");
            // The line end counts as well.
            assert_eq!(taken("1234\n12\n12345", step), "=1234\n=12\n=12345", "{step}");
            assert_eq!(taken("longlong\n", step), "+longlong\n", "{step}");
            assert_eq!(taken("", step), "");
        }
    }
}
