//! `index filter`: adds the lines of a pipe to an index, and passes on the lines that are not near an earlier
//! line.

use super::OpenRequest;
use super::batches::{Due, LineBatches, Taken};
use crate::index::{Added, Arrival, IndexAdder, Line, LineFate, Near, ReadLines};
use crate::output::index_rows::{DuplicateRow, write_duplicate};
use crate::run::face::{Face, Notice};
use simtool_base::error::{Error, Result};
use simtool_base::utc_time::UtcTime;
use simtool_read::ReadOptions;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Number of lines since the last commit after which the added documents are committed.
const COMMITTED_LINES: u64 = 100_000;
/// Maximum time between two commits while lines come in.
const COMMITTED_AFTER: Duration = Duration::from_secs(5);
/// Maximum number of bad lines that are reported. Further bad lines are only counted.
const REPORTED: u64 = 20;

/// Index to which the documents of lines are added, and the settings for reading the lines and passing them
/// on.
#[derive(Clone, Debug)]
pub struct FilterRequest {
    /// Index that the documents of the lines are added to.
    pub index: OpenRequest,
    /// Fields of the text and of the ID.
    pub reading: ReadOptions,
    /// Name of the source of the lines, for example the name of a crawl.
    pub source: String,
    /// Time at which the lines arrived. `None` means the time at which their batch is added.
    pub time: Option<UtcTime>,
    /// Number of lines in a batch, at least 1. The lines of a batch are added and passed on together.
    pub batch_lines: u64,
    /// Maximum time from the arrival of the first line of a batch until the batch is added, even if few lines
    /// came.
    pub wait: Duration,
    /// File to which lines are appended whose documents repeat others. `None` if such lines are only left
    /// out.
    pub duplicates: Option<PathBuf>,
}

/// Result of a finished [`filter_lines`]: numbers of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterOutcome {
    /// Number of lines of the input.
    pub lines: u64,
    /// Number of lines whose document is new in the index. They were passed on.
    pub new: u64,
    /// Number of lines whose document is near a document of the index. They were not passed on.
    pub repeats: u64,
    /// Number of lines that cannot be read as documents. They were passed on.
    pub bad: u64,
}

/// Lines of a batch, and the fingerprints that were computed from them.
struct AnsweredBatch {
    bytes: Vec<u8>,
    read: ReadLines,
}

/// Adds the lines to the index, and decides for each line whether it is passed on. Writes the line to
/// standard output or to the file of duplicates.
struct Answers<'a> {
    adder: IndexAdder,
    request: &'a FilterRequest,
    face: &'a dyn Face,
    out: BufWriter<&'a mut (dyn Write + Send)>,
    duplicates: Option<Duplicates<'a>>,
    counts: FilterOutcome,
    /// Number of lines whose documents were committed to the index.
    committed: u64,
    /// Time of the last commit.
    since: Instant,
}

/// File to which lines are appended whose documents repeat earlier documents.
struct Duplicates<'a> {
    path: &'a Path,
    out: BufWriter<File>,
}

/// Adds the documents of the lines of `input` to the index, until the input ends. Writes lines that are not
/// near an earlier document to `out`, in their order. The index is committed regularly, and at the end.
///
/// A line that is no document is passed on, counted, and shown by `face` as a warning.
///
/// # Errors
///
/// The index cannot be opened for adding, the input cannot be read, or an output cannot be written. Documents
/// of lines that were processed before stay in the index.
pub fn filter_lines(
    request: &FilterRequest,
    input: impl Read + Send + 'static,
    out: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<FilterOutcome> {
    let adder = request.index.open_adder(face.access())?;
    let duplicates = request.duplicates.as_deref().map(Duplicates::open).transpose()?;
    let reader = adder.line_reader(request.reading.clone())?;
    let mut answers = Answers {
        adder,
        request,
        face,
        out: BufWriter::with_capacity(1 << 20, out),
        duplicates,
        counts: FilterOutcome::default(),
        committed: 0,
        since: Instant::now(),
    };
    let unread = |error| Error::io("standard input", "read", error);
    let due = Due { lines: request.batch_lines, wait: request.wait };
    let input = LineBatches::new(input, due).map_err(unread)?;
    let (mut waiting, mut room): (Option<AnsweredBatch>, _) = (None, Vec::new());
    loop {
        // A batch is answered while the next one is parsed. If the next batch has not arrived, it is answered
        // at once, so that no line waits for later lines.
        let longest = if waiting.is_some() { Duration::ZERO } else { answers.until_commit() };
        let mut answer = || answers.answer(waiting.take());
        (waiting, room) = match input.take(room, longest) {
            Ok(Taken::Lines(bytes)) => {
                let (read, answered) = reader.read_during(&bytes, answer)?;
                let room = answered?;
                (Some(AnsweredBatch { bytes, read }), room)
            }
            Ok(Taken::Nothing) => (None, answer()?),
            Ok(Taken::End) => {
                answer()?;
                break;
            }
            Err(error) => {
                answer()?;
                // If reading the input fails, the answers that were already written must still be committed.
                answers.commit()?;
                return Err(unread(error));
            }
        };
    }
    answers.commit()?;
    Ok(answers.counts)
}

impl<'a> Duplicates<'a> {
    /// Opens the file for appending, because an earlier run of the filter may have written to it.
    fn open(path: &'a Path) -> Result<Self> {
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|error| Error::io(path, "write", error))?;
        Ok(Self { path, out: BufWriter::new(file) })
    }

    fn push(&mut self, row: &DuplicateRow<'_>) -> Result<()> {
        let written = write_duplicate(&mut self.out, row);
        written.map_err(|error| Error::io(self.path, "write", error))
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::io(self.path, "write", error))
    }
}

impl Answers<'_> {
    /// Adds the batch `waiting` to the index, if there is a batch, and passes its new lines on. Commits if it
    /// is time. Returns the buffer of the batch, so that its memory can be used again.
    fn answer(&mut self, waiting: Option<AnsweredBatch>) -> Result<Vec<u8>> {
        let mut room = Vec::new();
        if let Some(AnsweredBatch { bytes, read }) = waiting {
            let time = self.request.time.unwrap_or_else(|| SystemTime::now().into());
            let arrival = Arrival { source: &self.request.source, time: time.seconds() };
            let lines = self.adder.add_lines(read, self.counts.lines, arrival)?;
            self.give(&bytes, lines)?;
            room = bytes;
        }
        let is_many = self.counts.lines - self.committed >= COMMITTED_LINES;
        if is_many || self.until_commit().is_zero() {
            self.commit()?;
        }
        Ok(room)
    }

    /// Returns the time that is left until lines that were passed on or left out must be committed.
    fn until_commit(&self) -> Duration {
        if self.counts.lines > self.committed {
            COMMITTED_AFTER.saturating_sub(self.since.elapsed())
        } else {
            Duration::MAX
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.adder.commit()?;
        (self.committed, self.since) = (self.counts.lines, Instant::now());
        Ok(())
    }

    /// Passes the lines of a batch on to standard output, except repeats, which go to the file of duplicates.
    /// `batch` holds the bytes of the lines.
    fn give(&mut self, batch: &[u8], lines: Vec<Line>) -> Result<()> {
        // Consecutive lines that pass are written together. `passed` is where the last written or removed
        // line ends.
        let mut passed = 0;
        let mut stop = 0;
        for Line { bytes, fate } in lines {
            let number = self.counts.lines;
            self.counts.lines += 1;
            match fate {
                LineFate::Document(id, Added::Repeats(near)) => {
                    self.pass(&batch[passed..bytes.start])?;
                    passed = bytes.end;
                    self.counts.repeats += 1;
                    self.note_duplicate(&id, near, &batch[bytes.clone()])?;
                }
                LineFate::Document(_, Added::New(_)) => self.counts.new += 1,
                // Lines without words are near nothing, so they pass.
                LineFate::Document(_, Added::Wordless) | LineFate::Blank => {}
                LineFate::Bad(bad) => {
                    self.counts.bad += 1;
                    if self.counts.bad <= REPORTED {
                        let what = format!("line {}: expected {}", number + 1, bad.expected);
                        let warning = format!("standard input, {what}; it passes");
                        self.face.notice(Notice::Warning(&warning));
                    }
                }
            }
            stop = bytes.end;
        }
        self.pass(&batch[passed..stop.max(passed)])?;
        // The next program in the pipe waits for this batch.
        self.out.flush().map_err(unwritten)?;
        self.duplicates.as_mut().map_or(Ok(()), Duplicates::flush)
    }

    fn pass(&mut self, lines: &[u8]) -> Result<()> {
        self.out.write_all(lines).map_err(unwritten)
    }

    /// Records a repeated document in the file of duplicates. Does nothing if there is no such file.
    /// `line` is the line of the document, and `near` is the earlier document that it repeats.
    fn note_duplicate(&mut self, id: &[u8], near: Near, line: &[u8]) -> Result<()> {
        let Some(duplicates) = &mut self.duplicates else { return Ok(()) };
        let Near { distance, number } = near;
        let repeated = self.adder.id(number)?;
        let document = line.trim_ascii_end();
        duplicates.push(&DuplicateRow { id, repeated: &repeated, number, distance, document })
    }
}

fn unwritten(error: std::io::Error) -> Error {
    Error::io("standard output", "write", error)
}
