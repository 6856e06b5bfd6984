//! Divides bytes into records by a splitter. The bytes are a slice, or a stream that is read through a
//! window in memory.
//!
//! Both ways give the same records. A splitter gets at most as many bytes at once as the longest allowed record has. A
//! record that does not end within these bytes is skipped up to the next start of a record, and reported as `oversize`.
//! So the memory is limited, whatever sizes the input declares.

use crate::bytes::{Damage, Filled, Stream, Then};
use crate::formats::{
    AfterLoss, Event, Flow, RecordMemory, SplitStep, Splitter, Visit, give, part_of,
};
use simtool_base::error::Result;
use simtool_base::memory_turns::Turn;
use simtool_model::document::{Bad, Content, Record};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Number of bytes that are read from a stream at once. It is large enough that the cost of a call does not matter, and
/// small enough that the window stays in the second-level cache.
const FILL_BYTES: usize = 256 << 10;
/// Number of bytes of a slice between two reports of progress.
const REPORT_BYTES: usize = 64 << 10;

/// Function that creates the event that reports damage of a stream. The `bool` argument is true if bytes were lost.
pub(crate) type ToFault<'f> = dyn Fn(Damage, bool) -> Event<'static> + 'f;

/// Passes the records of `bytes` to `visit`, and returns their number. `offset` is the byte offset of `bytes` in the
/// file, and `longest` is the length in bytes of the longest allowed record.
///
/// # Errors
///
/// The first error of `visit`.
pub(crate) fn read_slice<S: Splitter>(
    splitter: &mut S,
    bytes: &[u8],
    offset: u64,
    longest: usize,
    visit: &mut Visit<'_>,
) -> Result<u64> {
    let mut out = RecordOutput { byte: offset, records: 0, is_last_bad: false, visit };
    let flow = cut_slice(splitter, bytes, longest, &mut out);
    out.ended(flow)
}

fn cut_slice<S: Splitter>(
    splitter: &mut S,
    bytes: &[u8],
    longest: usize,
    out: &mut RecordOutput<'_, '_>,
) -> Flow {
    let (mut at, mut reported) = (0, 0);
    while at < bytes.len() {
        if at - reported >= REPORT_BYTES {
            reported = at;
            give(Event::Reached(at as u64), out.visit)?;
        }
        let rest = &bytes[at..];
        let window = &rest[..rest.len().min(longest)];
        let last = window.len() == rest.len();
        at += match splitter.next(window, last) {
            SplitStep::Record { length, counted, content } => {
                out.record(&window[..length], counted, content)?;
                length
            }
            SplitStep::More if last => {
                out.bad(window, window.len() as u64, "truncated", CLIPPED)?;
                window.len()
            }
            SplitStep::More => {
                // The bytes that mark the start of the next record may begin in the last bytes of
                // the window. The search starts at byte 1 at the earliest, because the skipped
                // record begins at byte 0.
                let from = window.len().saturating_sub(S::BOUNDARY_BYTES).max(1);
                let length = splitter.boundary(&rest[from..]).map_or(rest.len(), |end| from + end);
                rest[..length].chunks(FILL_BYTES).try_for_each(|bytes| out.piece(bytes))?;
                out.bad(&[], length as u64, Bad::OVERSIZE, Bad::at_most(longest))?;
                length
            }
        };
    }
    out.end(splitter)
}

/// A stream whose bytes a splitter divides into records.
pub(crate) struct RecordStream<'s, S> {
    pub(crate) splitter: &'s mut S,
    pub(crate) stream: &'s mut dyn Stream,
    /// Length of the longest allowed record, in bytes.
    pub(crate) longest: usize,
    pub(crate) to_fault: &'s ToFault<'s>,
    pub(crate) memory: RecordMemory<'s>,
}

impl<S: Splitter> RecordStream<'_, S> {
    /// Passes the records of the stream to `visit`, and returns their number. `offset` is the byte offset in the file
    /// at which the stream starts.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    pub(crate) fn read(mut self, offset: u64, visit: &mut Visit<'_>) -> Result<u64> {
        let mut out = RecordOutput { byte: offset, records: 0, is_last_bad: false, visit };
        let window = Window::new(self.longest, self.memory);
        let flow = self.cut_behind(window, offset, 0, &mut out);
        out.ended(flow)
    }

    /// Passes the records of a stream that starts in the middle of a record to `visit`. The rest of this record is
    /// skipped. The start of the next record is searched in about `searched` bytes on disk. The first event is
    /// [`Event::Reached`] with the position of that start.
    ///
    /// Damage before the first record is ignored, because the bytes at which the stream starts may look like the start
    /// of a gzip member by chance.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    pub(crate) fn read_within(mut self, searched: u64, visit: &mut Visit<'_>) -> Result<u64> {
        let mut out = RecordOutput { byte: 0, records: 0, is_last_bad: false, visit };
        let flow = self.cut_within(searched, &mut out);
        out.ended(flow)
    }

    fn cut_within(&mut self, searched: u64, out: &mut RecordOutput<'_, '_>) -> Flow {
        let mut window = Window::new(self.longest, self.memory);
        let mut content = 0;
        while self.stream.position() <= searched {
            let Filled { bytes, then } = self.stream.fill(window.space()?);
            window.end += bytes;
            content += bytes as u64;
            match then {
                Then::More | Then::Warning(_) => {}
                Then::NeedsMemory { bytes } => window.lend_to_stream(bytes)?,
                // The bytes after the damage do not continue the bytes before it. A start of a record
                // that is found across this border would be wrong.
                Then::Loss { goes_on: true, .. } => window.start = window.end,
                Then::End | Then::Loss { .. } => break,
            }
            let rest = &window.bytes[window.start..window.end];
            if let Some(at) = self.splitter.boundary(rest) {
                out.byte = content - (rest.len() - at) as u64;
                window.start += at;
                give(
                    Event::Reached(part_of(self.stream.position(), out.byte, content)),
                    out.visit,
                )?;
                return self.cut_behind(window, 0, content, out);
            }
            // The last bytes are kept, because the bytes that mark the start of a record may lie across
            // two fills.
            window.start += rest.len().saturating_sub(S::BOUNDARY_BYTES);
        }
        ControlFlow::Continue(())
    }

    /// Passes the records from the start of the window up to the end of the stream to the visitor. `content` is the
    /// number of bytes that were read from the stream before this call. The last of these bytes are already in the
    /// window. `offset` is the byte offset in the file at which the stream starts.
    fn cut_behind(
        &mut self,
        mut window: Window<'_>,
        offset: u64,
        mut content: u64,
        out: &mut RecordOutput<'_, '_>,
    ) -> Flow {
        let Self { splitter, stream, to_fault, .. } = self;
        loop {
            let filled = stream.fill(window.space()?);
            window.end += filled.bytes;
            content += filled.bytes as u64;
            let last = matches!(filled.then, Then::End);
            // After the last bytes, or before damage, every record in the window must be visited now,
            // however few bytes there are.
            if !matches!(filled.then, Then::More | Then::NeedsMemory { .. }) {
                window.enough = 0;
            }
            // The checksum of a member is known only after its last bytes. Records that were visited
            // before that cannot be taken back, so at least the records in the window are reported as
            // bad.
            if let Then::Loss { damage, untrusted: true, .. } = &filled.then {
                window.condemned = Some(damage.code);
            }
            split(*splitter, &mut window, last, out)?;
            match filled.then {
                Then::More => {
                    // Bytes in the window were read but not visited yet, so they do not count.
                    let reached = part_of(stream.position(), out.byte - offset, content);
                    give(Event::Reached(reached), out.visit)?;
                }
                Then::NeedsMemory { bytes } => window.lend_to_stream(bytes)?,
                Then::Warning(damage) => give(to_fault(damage, false), out.visit)?,
                Then::End => return out.end(&**splitter),
                Then::Loss { damage, goes_on, .. } => {
                    let code = damage.code;
                    window.lose(code, out)?;
                    give(to_fault(damage, true), out.visit)?;
                    if !goes_on || S::AFTER_LOSS == AfterLoss::Stop {
                        return ControlFlow::Continue(());
                    }
                    // The next bytes begin somewhere inside a record. If the rest of that record were
                    // read as a record of its own, it would be a wrong document.
                    if S::AFTER_LOSS == AfterLoss::SkipToBoundary {
                        window.skipping = Some(Skip { code, length: 0 });
                    }
                }
            }
        }
    }
}

const CLIPPED: Cow<'static, str> =
    Cow::Borrowed("the rest of the record; the file ends or is damaged within it");

/// Passes the complete records in the window to the visitor. `last` means that no bytes follow the window. Then the
/// rest of the window becomes a record, too.
fn split<S: Splitter>(
    splitter: &mut S,
    window: &mut Window<'_>,
    last: bool,
    out: &mut RecordOutput<'_, '_>,
) -> Flow {
    loop {
        if window.skipping.is_some() {
            window.skip(splitter, out)?;
            if window.skipping.is_some() {
                if last {
                    window.end_skip(out)?;
                }
                return ControlFlow::Continue(());
            }
        }
        let rest = &window.bytes[window.start..window.end];
        if rest.is_empty() || rest.len() < window.enough {
            return ControlFlow::Continue(());
        }
        let seen = &rest[..rest.len().min(window.longest)];
        let last_seen = last && seen.len() == rest.len();
        match splitter.next(seen, last_seen) {
            SplitStep::Record { length, counted, content } => {
                match window.condemned {
                    // Filler between records is no document, so it is not reported as bad, even if
                    // its bytes may be wrong.
                    Some(code) if counted => {
                        out.bad(&seen[..length], length as u64, code, UNTRUSTED)?;
                    }
                    _ => out.record(&seen[..length], counted, content)?,
                }
                window.start += length;
                window.enough = 0;
            }
            SplitStep::More if last_seen => {
                out.bad(seen, seen.len() as u64, "truncated", CLIPPED)?;
                window.start = window.end;
            }
            SplitStep::More if rest.len() > seen.len() => {
                // At least one byte is skipped, or this loop would not end.
                let passed = seen.len().saturating_sub(S::BOUNDARY_BYTES).max(1);
                out.piece(&seen[..passed])?;
                window.start += passed;
                window.enough = 0;
                window.skipping = Some(Skip { code: Bad::OVERSIZE, length: passed as u64 });
            }
            SplitStep::More => {
                // If the window has one byte more than the longest allowed record, the record is
                // known to be too long.
                window.enough = (2 * rest.len()).min(window.longest + 1);
                return ControlFlow::Continue(());
            }
        }
    }
}

const UNTRUSTED: Cow<'static, str> = Cow::Borrowed("bytes that agree with their checksum");

/// Passes records to the visitor, and counts the records and their bytes.
struct RecordOutput<'o, 'v> {
    /// Byte offset of the next record in the file, after decompression.
    byte: u64,
    records: u64,
    is_last_bad: bool,
    visit: &'o mut Visit<'v>,
}

impl RecordOutput<'_, '_> {
    /// Returns the result of a reading that ended with `flow`: the number of records, or the error of the visitor.
    fn ended(self, flow: Flow) -> Result<u64> {
        match flow {
            ControlFlow::Continue(()) => Ok(self.records),
            ControlFlow::Break(ended) => ended.map(|()| self.records),
        }
    }

    fn record(&mut self, bytes: &[u8], counted: bool, content: Content<'_>) -> Flow {
        self.is_last_bad = matches!(content, Content::Bad(_));
        let record =
            Record { number: self.records, byte: self.byte, bytes, known_hash: None, content };
        self.records += u64::from(counted);
        self.byte += bytes.len() as u64;
        give(Event::Record(record), self.visit)
    }

    /// Reports the end of the file as a bad record without bytes, if the format requires more bytes there. If the last
    /// record is bad, nothing is reported, since that record already shows that bytes are missing.
    fn end<S: Splitter>(&mut self, splitter: &S) -> Flow {
        match splitter.missing_end() {
            Some(missing) if !self.is_last_bad => self.bad(&[], 0, "truncated", missing.into()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Passes a part of the bytes of a skipped record to the visitor.
    fn piece(&mut self, bytes: &[u8]) -> Flow {
        if bytes.is_empty() {
            ControlFlow::Continue(())
        } else {
            give(Event::Piece(bytes), self.visit)
        }
    }

    fn bad(
        &mut self,
        bytes: &[u8],
        length: u64,
        code: &'static str,
        expected: Cow<'static, str>,
    ) -> Flow {
        let bad = Bad { code, expected, length };
        self.record(bytes, true, Content::Bad(&bad))?;
        self.byte += length - bytes.len() as u64;
        ControlFlow::Continue(())
    }
}

/// State while a record is skipped because it is too long or damaged.
struct Skip {
    /// Code of the reason for skipping the record, such as `oversize`.
    code: &'static str,
    /// Number of bytes of the record that were skipped so far.
    length: u64,
}

/// The part of a stream that is in memory: `bytes[start..end]`.
struct Window<'m> {
    memory: RecordMemory<'m>,
    /// Permission to use memory for a long window. `None` if the window is short.
    turn: Option<Turn>,
    /// Permission to use memory for the decoder of the stream. `None` if the decoder needs little memory.
    stream_turn: Option<Turn>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Length in bytes of the longest allowed record. The window holds at most this number of bytes
    /// plus [`FILL_BYTES`].
    longest: usize,
    /// Number of bytes that must be in the window before the splitter is called again. If a record does not end in the
    /// window, this number becomes twice the length of the window. Otherwise a long record would be searched again
    /// after every read, which would take quadratic time.
    enough: usize,
    skipping: Option<Skip>,
    /// Code of the damage if the bytes in the window are known to be wrong, otherwise `None`. All records in these
    /// bytes are reported as bad records with this code.
    condemned: Option<&'static str>,
}

/// Largest length in bytes of a window that is kept for the records after a long record.
const SHORT_WINDOW: usize = 4 << 20;
/// Number of bytes of memory that are counted for each byte of a long window. Besides the window, a reader holds the
/// text that it makes from the record.
const MEMORY_A_WINDOW_BYTE: usize = 2;

impl<'m> Window<'m> {
    fn new(longest: usize, memory: RecordMemory<'m>) -> Self {
        Self {
            memory,
            turn: None,
            stream_turn: None,
            bytes: vec![0; FILL_BYTES],
            start: 0,
            end: 0,
            longest,
            enough: 0,
            skipping: None,
            condemned: None,
        }
    }

    /// Waits until the decoder of the stream may take `bytes` bytes of memory.
    fn lend_to_stream(&mut self, bytes: u64) -> Flow {
        let what = || "the window of a compressed part".to_owned();
        match self.memory.take(bytes, what) {
            Ok(turn) => self.stream_turn = turn,
            Err(error) => return ControlFlow::Break(Err(error)),
        }
        ControlFlow::Continue(())
    }

    /// Waits until a window of `wanted` bytes may be in memory, and makes the window that long. `held` is the number of
    /// bytes of the stream that the window holds. The error message, if the window is too long, has this number.
    fn grow(&mut self, wanted: usize, held: usize) -> Flow {
        match self.memory.of_record(held, wanted.saturating_mul(MEMORY_A_WINDOW_BYTE)) {
            Ok(turn) => self.turn = turn,
            Err(error) => return ControlFlow::Break(Err(error)),
        }
        self.bytes.resize(wanted, 0);
        ControlFlow::Continue(())
    }

    /// Returns the free space of the window, into which the next bytes of the stream are read. The space is never
    /// empty.
    fn space(&mut self) -> ControlFlow<Result<()>, &mut [u8]> {
        let held = self.end - self.start;
        if self.bytes.len() > SHORT_WINDOW && held < FILL_BYTES / 2 {
            // The long record is done.
            let mut bytes = vec![0; FILL_BYTES];
            bytes[..held].copy_from_slice(&self.bytes[self.start..self.end]);
            (self.bytes, self.start, self.end, self.turn) = (bytes, 0, held, None);
        }
        // Bytes are moved to the front only if there is little room after them, so each byte is
        // moved rarely.
        if self.start > 0 && (held == 0 || self.bytes.len() - self.end < FILL_BYTES / 2) {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, held);
        }
        if self.bytes.len() - self.end < FILL_BYTES / 2 {
            let wanted = (2 * held).min(self.longest + FILL_BYTES).max(held + FILL_BYTES);
            self.grow(wanted, held)?;
        }
        ControlFlow::Continue(&mut self.bytes[self.end..])
    }

    /// Skips the bytes in the window up to the next start of a record. If the window has no start of a record, keeps
    /// only the last bytes, which may be the beginning of such a start.
    fn skip<S: Splitter>(&mut self, splitter: &S, out: &mut RecordOutput<'_, '_>) -> Flow {
        let Some(skip) = &mut self.skipping else { return ControlFlow::Continue(()) };
        let rest = &self.bytes[self.start..self.end];
        if let Some(length) = splitter.boundary(rest) {
            out.piece(&rest[..length])?;
            self.start += length;
            let (code, length) = (skip.code, skip.length + length as u64);
            self.skipping = None;
            return out.bad(&[], length, code, self.expected(code));
        }
        let passed = rest.len().saturating_sub(S::BOUNDARY_BYTES);
        out.piece(&rest[..passed])?;
        self.start += passed;
        skip.length += passed as u64;
        ControlFlow::Continue(())
    }

    /// Ends the skipping of a record at the end of the stream. Reports the skipped bytes as one bad record.
    fn end_skip(&mut self, out: &mut RecordOutput<'_, '_>) -> Flow {
        let Some(skip) = self.skipping.take() else { return ControlFlow::Continue(()) };
        let rest = &self.bytes[self.start..self.end];
        out.piece(rest)?;
        let length = skip.length + rest.len() as u64;
        self.start = self.end;
        if length > 0 {
            out.bad(&[], length, skip.code, self.expected(skip.code))
        } else {
            ControlFlow::Continue(())
        }
    }

    fn expected(&self, code: &'static str) -> Cow<'static, str> {
        if code == Bad::OVERSIZE { Bad::at_most(self.longest) } else { CLIPPED }
    }

    /// Reports the bytes in the window as a bad record with the code `code`, and removes them from the window. It is
    /// called when bytes after the window are lost.
    fn lose(&mut self, code: &'static str, out: &mut RecordOutput<'_, '_>) -> Flow {
        self.end_skip(out)?;
        let rest = &self.bytes[self.start..self.end];
        if !rest.is_empty() {
            out.bad(rest, rest.len() as u64, code, CLIPPED)?;
        }
        (self.start, self.end, self.condemned) = (0, 0, None);
        ControlFlow::Continue(())
    }
}
