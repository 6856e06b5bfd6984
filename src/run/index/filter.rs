//! `index filter`: adds the lines of a pipe to an index, and passes on the lines that are not near an earlier
//! line.

use super::batches::{Due, LineBatches, Taken};
use super::{ArrivalSettings, OpenRequest, refuse_rest};
use crate::index::{Added, Arrival, IndexAdder, Line, LineReader, LineStatus, Near, ReadLines};
use crate::output::index_rows::{DuplicateRow, write_duplicate};
use crate::run::face::{Face, Notice};
use crate::run::input_settings::InputSettings;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_base::quantity::{bytes as readable_bytes, counted};
use simtool_base::utc_time::UtcTime;
use simtool_model::document::Bad;
use simtool_read::{ReadOptions, UnpackedInput, lack_of_text_in_line};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";
/// Number of lines in a batch if the option `batch` is not given.
const BATCH: NonZeroU32 = NonZeroU32::new(1000).unwrap();
/// Maximum time from the arrival of the first line of a batch until the batch is processed, if the option `wait` is not
/// given.
const WAIT: Duration = Duration::from_millis(20);
/// Number of lines since the last commit after which the added documents are committed.
const COMMITTED_LINES: u64 = 100_000;
/// Maximum time between two commits while lines come in if the option `commit_after` is not given.
const COMMITTED_AFTER: Duration = Duration::from_secs(5);
/// Maximum time after which the filter notices an interruption while no lines come in.
const NOTICED_AFTER: Duration = Duration::from_millis(100);
/// Maximum number of bad lines that are reported. Further bad lines are only counted.
const REPORTED: u64 = 20;

/// Request to filter lines by an index. Each line is read as a document. If the document is near an earlier one in the
/// index, the line is left out. Otherwise the line is written to the output, and its document is added to the index if
/// it has words.
#[derive(Clone, Debug)]
pub struct FilterRequest {
    /// Index that the documents of the lines are added to.
    pub index: OpenRequest,
    /// Fields of the text and of the ID, and maximum number of bytes of a line. Other settings have no effect.
    pub input: InputSettings,
    /// Name of the source of the lines, for example the name of a crawl.
    pub source: String,
    /// Time at which the lines arrived. `None` means the time at which their batch is added.
    pub time: Option<UtcTime>,
    /// Number of lines in a batch, at least 1. The lines of a batch are added and passed on together.
    pub batch_lines: u64,
    /// Maximum time from the arrival of the first line of a batch until the batch is added, even if few lines
    /// came.
    pub wait: Duration,
    /// Maximum time between two commits while lines come in. Zero commits after every batch.
    pub commit_after: Duration,
    /// File to which the filter appends each line whose document is near an earlier document. `None` if the filter
    /// only leaves such lines out.
    pub duplicates: Option<PathBuf>,
}

impl FilterRequest {
    /// Creates the request to filter lines by `index`. `holder` describes this process. `options` may have the settings
    /// of the command `index filter`.
    ///
    /// # Errors
    ///
    /// A value is wrong, or a setting is unknown.
    pub fn parse(index: PathBuf, holder: String, mut options: Options) -> Result<Self> {
        let ArrivalSettings { source, time } = ArrivalSettings::parse(&mut options)?;
        let rule = "must be a whole number from 1 on";
        let batch: NonZeroU32 = options.take_parsed("batch", rule)?.unwrap_or(BATCH);
        let wait = options.take_parsed("wait", "must be a whole number of milliseconds")?;
        let commit_after =
            options.take_parsed("commit_after", "must be a whole number of seconds")?;
        let request = Self {
            input: InputSettings::parse(&mut options)?,
            index: OpenRequest::parse(index, holder, &mut options)?,
            source,
            time,
            batch_lines: batch.get().into(),
            wait: wait.map_or(WAIT, Duration::from_millis),
            commit_after: commit_after.map_or(COMMITTED_AFTER, Duration::from_secs),
            duplicates: options.take_path("duplicates"),
        };
        refuse_rest(&options)?;
        Ok(request)
    }
}

/// Reason why a filter ended. In all cases, the documents of all lines that were passed on are in the index, and no
/// others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterEnd {
    /// The input has ended.
    #[default]
    Input,
    /// The reader of standard output has ended, so the rest of the input was not read.
    Reader,
    /// The user or the system interrupted the filter.
    Interruption,
}

/// Result of [`filter_lines`]: numbers of lines, and the reason why the filter ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterOutcome {
    /// Reason why the filter ended.
    pub end: FilterEnd,
    /// Number of lines of the input.
    pub lines: u64,
    /// Number of lines whose document is new in the index. They were passed on.
    pub new: u64,
    /// Number of lines whose document is near a document of the index. They were not passed on.
    pub repeats: u64,
    /// Number of lines that cannot be read as documents. They were passed on.
    pub bad: u64,
}

/// Lines of a batch that was parsed, and their fingerprints.
struct AnsweredBatch {
    bytes: Vec<u8>,
    read: ReadLines,
}

/// Adds the documents of lines to the index, and decides for each line whether it is passed on. Writes the line to
/// standard output or to the file of duplicates.
struct Answers<'a> {
    adder: IndexAdder,
    request: &'a FilterRequest,
    face: &'a dyn Face,
    out: BufWriter<CountedWriter<'a>>,
    duplicates: Option<Duplicates<'a>>,
    /// Options by which the document of a line is read.
    reading: ReadOptions,
    /// Maximum number of bytes of a line that is compared. Longer lines are passed on without a comparison.
    longest: usize,
    /// Maximum number of bytes of a line that fits in memory, at most `longest`.
    fitting: usize,
    counts: FilterOutcome,
    /// Number of input lines that were processed before the last commit of the index.
    committed: u64,
    /// Time of the last commit.
    since: Instant,
    /// First error of an output. No more lines are processed after it.
    output_error: Option<Error>,
}

/// Number of bytes of memory for each byte of a line: for its batch, the next batch, its text and its terms.
const MEMORY_A_LINE_BYTE: u64 = 16;

/// Standard output that counts the bytes which it accepts. After the first error, it accepts no more.
struct CountedWriter<'a> {
    out: &'a mut (dyn Write + Send),
    accepted: u64,
    has_failed: bool,
}

impl<'a> CountedWriter<'a> {
    fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, accepted: 0, has_failed: false }
    }
}

impl Write for CountedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match self.out.write(bytes) {
            Ok(count) => {
                self.accepted += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                // When the `BufWriter` around this writer is dropped, it tries to write its bytes again. The documents
                // of these lines are no longer in the index then.
                self.has_failed = true;
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed { Ok(()) } else { self.out.flush() }
    }
}

/// The file that the option `--duplicates` names. The filter appends to it each input line whose document is near an
/// earlier document.
struct Duplicates<'a> {
    path: &'a Path,
    out: BufWriter<File>,
}

/// Adds the documents of the lines of `input` to the index, until the input ends, the reader of `out` ends or the
/// filter is interrupted. The input may be compressed. Writes lines that are not near an earlier document to `out`, in
/// their order. The index is committed regularly, and at the end.
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
    let reading = request.input.read_options(face.access(), &request.index.resources);
    let longest = reading.max_record_bytes.max(1);
    let most = reading.turns.most() / MEMORY_A_LINE_BYTE;
    let fitting = longest.min(usize::try_from(most).unwrap_or(usize::MAX));
    let reader = adder.line_reader(reading.clone())?;
    let mut answers = Answers {
        adder,
        request,
        face,
        out: BufWriter::with_capacity(1 << 20, CountedWriter::new(out)),
        duplicates,
        reading,
        longest,
        fitting,
        counts: FilterOutcome::default(),
        committed: 0,
        since: Instant::now(),
        output_error: None,
    };
    let due = Due { lines: request.batch_lines, wait: request.wait, longest: fitting };
    let unpacking = answers.reading.clone();
    let open = move || UnpackedInput::new(input, unpacking);
    let input = LineBatches::new(open, due).map_err(unread)?;
    face.defer_interruptions(true);
    let ended = answers.answer_all(&input, &reader);
    let ended = ended.and_then(|ended| answers.commit().map(|()| ended));
    face.defer_interruptions(false);
    if ended.is_err() {
        answers.warn_of_uncommitted();
    }
    answers.counts.end = ended??;
    Ok(answers.counts)
}

impl<'a> Duplicates<'a> {
    /// Opens the file for appending, because an earlier run of the filter may have written to it.
    fn open(path: &'a Path) -> Result<Self> {
        let file = end_last_row(path).and_then(|()| {
            let mut options = File::options();
            options.create(true).append(true).open(path)
        });
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

/// Start of each row of the file of duplicates.
const ROW_START: &[u8] = b"{\"id\":";

/// Makes the last row in the file of duplicates end with a line end, so that the next row does not continue
/// it. A killed filter can leave a part of a row, which is removed. Other text gets a line end.
fn end_last_row(path: &Path) -> io::Result<()> {
    // A pipe has no rows from before.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let mut file = File::options().read(true).write(true).open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let (mut start, mut row) = (length, Vec::new());
    // The file is read backwards, piece by piece, until a piece has a line end.
    while start > 0 && !row.contains(&b'\n') {
        let end = start;
        start = start.saturating_sub(1 << 16);
        let mut piece = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut piece)?;
        piece.append(&mut row);
        row = piece;
    }
    let begin = memchr::memrchr(b'\n', &row).map_or(0, |at| at + 1);
    let row = &row[begin..];
    let is_part = ROW_START.starts_with(&row[..row.len().min(ROW_START.len())])
        && serde_json::from_slice::<serde_json::Value>(row).is_err();
    if row.is_empty() {
        Ok(())
    } else if is_part {
        file.set_len(start + begin as u64)
    } else {
        file.seek(SeekFrom::End(0))?;
        file.write_all(b"\n")
    }
}

impl Answers<'_> {
    /// Adds the documents of the lines of `input` to the index and passes new lines on, until it ends for one of the
    /// reasons in [`FilterEnd`]. The inner result is an error if the input or an output fails. Also in this case, the
    /// lines that were processed can be committed.
    ///
    /// # Errors
    ///
    /// Documents cannot be added.
    fn answer_all(
        &mut self,
        input: &LineBatches,
        reader: &LineReader,
    ) -> Result<Result<FilterEnd>> {
        let (mut waiting, mut room): (Option<AnsweredBatch>, _) = (None, Vec::new());
        loop {
            // A batch is added and passed on while the next one is parsed. If the next batch has not arrived, this
            // happens at once, so that no line waits for later lines.
            let longest = match waiting {
                Some(_) => Duration::ZERO,
                None => self.until_commit().min(NOTICED_AFTER),
            };
            let mut end = None;
            let fits_longest = self.fitting == self.longest;
            let mut answer = || self.answer(waiting.take());
            (waiting, room) = match input.take(room, longest) {
                Ok(Taken::Lines(bytes)) => {
                    let (read, answered) = reader.read_during(&bytes, answer)?;
                    let room = answered?;
                    (Some(AnsweredBatch { bytes, read }), room)
                }
                Ok(Taken::Part { bytes, .. }) if !fits_longest => {
                    answer()?;
                    end = Some(Err(self.too_long()));
                    (None, bytes)
                }
                Ok(Taken::Part { bytes, is_last }) => {
                    answer()?;
                    self.pass_part(&bytes, is_last);
                    (None, bytes)
                }
                Ok(Taken::Nothing) => (None, answer()?),
                Ok(Taken::End) => {
                    end = Some(Ok(FilterEnd::Input));
                    (None, answer()?)
                }
                Err(error) => {
                    end = Some(Err(unread(error)));
                    (None, answer()?)
                }
            };
            if end.is_none() && self.face.is_interrupted() {
                self.answer(waiting.take())?;
                end = Some(Ok(FilterEnd::Interruption));
            }
            match self.output_error.take() {
                Some(error) if is_broken_pipe(&error) => return Ok(Ok(FilterEnd::Reader)),
                Some(error) => return Ok(Err(error)),
                None => {}
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Prints a warning if lines were passed on although their documents are not in the index.
    fn warn_of_uncommitted(&self) {
        let lines = self.counts.lines - self.committed;
        if lines > 0 {
            let lines = counted(lines, "line");
            let warning = format!("the last {lines} that were answered are not in the index");
            self.face.notice(Notice::Warning(&warning));
        }
    }

    /// Adds the batch `waiting`, if there is one, to the index, and passes its new lines on. Commits the index if
    /// enough lines have come or enough time has passed. Returns the buffer of the batch, so that its memory can be
    /// used again.
    fn answer(&mut self, waiting: Option<AnsweredBatch>) -> Result<Vec<u8>> {
        let mut room = Vec::new();
        if let Some(AnsweredBatch { bytes, read }) = waiting {
            let time = self.request.time.unwrap_or_else(|| SystemTime::now().into());
            let arrival = Arrival { source: &self.request.source, time: time.seconds() };
            let lines = self.adder.add_lines(read, self.counts.lines, arrival)?;
            // On a nearly full disk, lines are passed on only when the disk has all that the next commit needs.
            let is_disk_low = self.adder.is_disk_low();
            if is_disk_low {
                self.adder.prepare_commit()?;
            }
            self.output_error = self.give(&bytes, &lines).err();
            if is_disk_low && self.output_error.is_none() {
                self.adder.finish_commit()?;
                (self.committed, self.since) = (self.counts.lines, Instant::now());
            }
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
            self.request.commit_after.saturating_sub(self.since.elapsed())
        } else {
            Duration::MAX
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.adder.commit()?;
        (self.committed, self.since) = (self.counts.lines, Instant::now());
        Ok(())
    }

    /// Passes the lines of a batch on to standard output. Repeats, which are near an earlier document, go to the file
    /// of duplicates instead. `batch` holds the bytes of the lines. If standard output fails, the first line that did
    /// not reach it and all lines after it are taken back from the index.
    fn give(&mut self, batch: &[u8], lines: &[Line]) -> Result<()> {
        // The buffer is empty here, because the end of every batch flushes it.
        let before = self.out.get_ref().accepted;
        let passed = self.pass_new(batch, lines);
        let answered = match &passed {
            Ok(()) => lines.len(),
            Err(_) => whole_lines(lines, self.out.get_ref().accepted - before),
        };
        let (answered, unanswered) = lines.split_at(answered);
        let noted = answered.iter().try_for_each(|line| self.count(line, batch));
        // If a line is taken back, all later lines are taken back, too, also those that are near it.
        if !unanswered.is_empty() {
            let first = unanswered.iter().find_map(|line| match line.status {
                LineStatus::Document(_, Added::New(number)) => Some(number),
                _ => None,
            });
            let repeats = unanswered.iter().filter(|line| line.is_repeat()).count();
            self.adder.take_back(first, repeats);
        }
        passed.and(noted)?;
        self.duplicates.as_mut().map_or(Ok(()), Duplicates::flush)
    }

    /// Writes the lines of a batch to standard output, except those near an earlier document, and flushes standard
    /// output.
    fn pass_new(&mut self, batch: &[u8], lines: &[Line]) -> Result<()> {
        // Consecutive lines that pass are written together. `passed` is where the last written or removed
        // line ends.
        let mut passed = 0;
        for Line { bytes, .. } in lines.iter().filter(|line| line.is_repeat()) {
            self.pass(&batch[passed..bytes.start])?;
            passed = bytes.end;
        }
        let stop = lines.last().map_or(passed, |line| line.bytes.end);
        self.pass(&batch[passed..stop.max(passed)])?;
        // The next program in the pipe waits for this batch.
        self.out.flush().map_err(unwritten)
    }

    /// Counts a processed line. Writes a repeat to the file of duplicates, and reports a bad line as a warning.
    fn count(&mut self, Line { bytes, status }: &Line, batch: &[u8]) -> Result<()> {
        self.counts.lines += 1;
        let line = &batch[bytes.clone()];
        match status {
            LineStatus::Document(id, Added::Repeats(near)) => {
                self.counts.repeats += 1;
                return self.note_duplicate(id, *near, line);
            }
            LineStatus::Document(_, Added::New(_)) => self.counts.new += 1,
            // Lines without words are near nothing, so they pass.
            LineStatus::Document(_, Added::WithoutWords) | LineStatus::Blank => {}
            LineStatus::Bad(bad) if bad.code == Bad::NO_TEXT => {
                let lack = lack_of_text_in_line(line, &self.reading);
                self.count_bad(&self.face.message(&lack));
            }
            LineStatus::Bad(bad) => self.count_bad(&format!("expected {}", bad.expected)),
        }
        Ok(())
    }

    /// Counts the line that was counted last as a bad line, and reports its `fault`.
    fn count_bad(&mut self, fault: &str) {
        self.counts.bad += 1;
        if self.counts.bad <= REPORTED {
            let line = self.counts.lines;
            let warning = format!("standard input, line {line}: {fault}; it passes");
            self.face.notice(Notice::Warning(&warning));
        }
    }

    /// Passes on a part of a line that is too long to be compared, unless the output has failed. The last part of such
    /// a line counts as a bad line.
    fn pass_part(&mut self, part: &[u8], is_last: bool) {
        if self.output_error.is_some() {
            return;
        }
        let mut passed = self.pass(part);
        if is_last {
            self.counts.lines += 1;
            self.count_bad(&format!("expected {}", Bad::at_most(self.longest)));
            passed = passed.and_then(|()| self.out.flush().map_err(unwritten));
        }
        self.output_error = passed.err();
    }

    /// Returns the error for the next line of the input, which is longer than the memory limit allows.
    fn too_long(&self) -> Error {
        let line = self.counts.lines + 1;
        let length = readable_bytes(self.fitting as u64);
        let rule = "does not fit in `max_memory`; allow more, or set a smaller `max_record` to pass such lines on";
        Error::limit(format!("line {line} of standard input, with over {length},"), rule)
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

/// Returns the number of `lines` before the first one that standard output did not accept as a whole. Standard output
/// accepted `accepted` bytes of these lines, to which repeats were not written.
fn whole_lines(lines: &[Line], accepted: u64) -> usize {
    let mut passed = 0;
    let is_lost = |line: &Line| {
        if !line.is_repeat() {
            passed += line.bytes.len() as u64;
        }
        passed > accepted
    };
    lines.iter().position(is_lost).unwrap_or(lines.len())
}

fn unwritten(error: io::Error) -> Error {
    Error::io(STANDARD_OUTPUT, "write", error)
}

fn unread(error: io::Error) -> Error {
    Error::io("standard input", "read", error)
}

/// Returns whether the error means that the reader of standard output has ended.
fn is_broken_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { path, source, .. }
        if source.kind() == io::ErrorKind::BrokenPipe && path == Path::new(STANDARD_OUTPUT))
}
