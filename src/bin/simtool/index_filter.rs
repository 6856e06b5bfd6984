//! `simtool index filter`: passes on the lines of a pipe that are not near an earlier line.

use crate::args::{ArrivalArgs, FilterArgs, OneIndexArgs};
use crate::opened_index::{arrival, open_adder};
use crate::piped_lines::{Due, PipedLines, Taken};
use crate::{ExitStatus, console};
use simtool::Error;
use simtool::index::{Added, IndexAdder, Line, LineFate, Near, ReadLines};
use simtool::json_text::write_string;
use simtool::quantity::{counted, grouped};
use simtool::read::ReadOptions;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

/// Number of lines after which the added documents are committed.
const COMMITTED_LINES: u64 = 100_000;
/// Maximum time between two commits while lines come in.
const COMMITTED_AFTER: Duration = Duration::from_secs(5);
/// Maximum number of bad lines that are reported. Further ones are only counted.
const REPORTED: u64 = 20;

/// Numbers of lines: all, new ones, repeats and bad ones.
#[derive(Default)]
struct Counts {
    lines: u64,
    new: u64,
    repeats: u64,
    bad: u64,
}

/// Lines of a batch, and the fingerprints that were computed from them.
struct Batch {
    bytes: Vec<u8>,
    read: ReadLines,
}

/// Decides for each line whether it is passed on, and writes it to the output that it belongs to.
struct Answers<'a> {
    adder: IndexAdder,
    arrival: &'a ArrivalArgs,
    out: BufWriter<io::Stdout>,
    duplicates: Option<BufWriter<File>>,
    counts: Counts,
    /// Number of lines whose documents were committed to the index.
    committed: u64,
    /// Time of the last commit.
    since: Instant,
}

/// Reads lines from standard input and passes on the new ones, until the input ends.
pub(crate) fn run(args: &FilterArgs) -> anyhow::Result<ExitStatus> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let adder = open_adder(index, "filter", common, memory)?;
    let duplicates = args.duplicates.as_ref().map(|path| {
        // If a filter is started again, it appends to the file.
        let file = File::options().create(true).append(true).open(path);
        file.map(BufWriter::new).map_err(|e| Error::io(path, "write", e))
    });
    let duplicates = duplicates.transpose()?;
    let reader = adder.line_reader(ReadOptions {
        text_field: args.text_field.clone(),
        id_field: args.id_field.clone(),
        ..ReadOptions::default()
    });
    let mut answers = Answers {
        adder,
        arrival: &args.arrival,
        out: BufWriter::with_capacity(1 << 20, io::stdout()),
        duplicates,
        counts: Counts::default(),
        committed: 0,
        since: Instant::now(),
    };
    let due = Due { lines: args.batch.into(), wait: Duration::from_millis(args.wait) };
    let input = PipedLines::new(due)?;
    let (mut waiting, mut room): (Option<Batch>, _) = (None, Vec::new());
    loop {
        // A batch is answered while the next one is parsed. If the next batch has not arrived, it is answered
        // at once, so that no line waits for later lines.
        let longest = if waiting.is_some() { Duration::ZERO } else { answers.until_commit() };
        let mut answer = || answers.answer(waiting.take());
        (waiting, room) = match input.take(room, longest) {
            Ok(Taken::Lines(bytes)) => {
                let (read, answered) = reader.read_beside(&bytes, answer)?;
                let room = answered?;
                (Some(Batch { bytes, read }), room)
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
                return Err(Error::io("standard input", "read", error).into());
            }
        };
    }
    answers.commit()?;
    let Counts { lines, new, repeats, bad } = answers.counts;
    if !common.running.quiet {
        let [new, repeats, bad] = [new, repeats, bad].map(grouped);
        let lines = counted(lines, "line");
        console::note(&format!("{lines}: {new} new, {repeats} repeat others, {bad} no documents"));
    }
    Ok(if bad > 0 { ExitStatus::DoneWithLosses } else { ExitStatus::Done })
}

impl Answers<'_> {
    /// Answers the batch `waiting`, if there is one, and commits if it is time. Returns the buffer of the
    /// batch, so that its memory can be used again.
    fn answer(&mut self, waiting: Option<Batch>) -> anyhow::Result<Vec<u8>> {
        let mut room = Vec::new();
        if let Some(Batch { bytes, read }) = waiting {
            let arrival = arrival(self.arrival);
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

    /// Returns the time that is left until answered lines must be committed.
    fn until_commit(&self) -> Duration {
        if self.counts.lines > self.committed {
            COMMITTED_AFTER.saturating_sub(self.since.elapsed())
        } else {
            Duration::MAX
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.adder.commit()?;
        (self.committed, self.since) = (self.counts.lines, Instant::now());
        Ok(())
    }

    /// Writes lines that pass to standard output, and repeats to the file of duplicates. `batch` holds the
    /// bytes of the lines.
    fn give(&mut self, batch: &[u8], lines: Vec<Line>) -> anyhow::Result<()> {
        // Consecutive lines that pass are written together. `passed` is where the last written or removed
        // line ends.
        let (mut passed, mut stop) = (0, 0);
        for Line { bytes, fate } in lines {
            let (line, number) = (bytes, self.counts.lines);
            self.counts.lines += 1;
            match fate {
                LineFate::Document(id, Added::Repeats(near)) => {
                    self.out.write_all(&batch[passed..line.start])?;
                    passed = line.end;
                    self.counts.repeats += 1;
                    if let Some(out) = &mut self.duplicates {
                        write_duplicate(out, &id, near, &self.adder, &batch[line.clone()])?;
                    }
                }
                LineFate::Document(_, Added::New(_)) => self.counts.new += 1,
                // Lines without words are near nothing, so they pass.
                LineFate::Document(_, Added::Wordless) | LineFate::Blank => {}
                LineFate::Bad(bad) => {
                    self.counts.bad += 1;
                    if self.counts.bad <= REPORTED {
                        let what = format!("line {}: expected {}", number + 1, bad.expected);
                        console::error(&format!("standard input, {what}; it passes"));
                    }
                }
            }
            stop = line.end;
        }
        self.out.write_all(&batch[passed..stop.max(passed)])?;
        // The next program in the pipe waits for this batch.
        self.out.flush()?;
        if let Some(out) = &mut self.duplicates {
            out.flush()?;
        }
        Ok(())
    }
}

/// Writes a JSON object with the ID of a line, the ID of the document that it is near, their distance, and
/// the line itself.
fn write_duplicate(
    out: &mut dyn Write,
    id: &[u8],
    Near { distance, number }: Near,
    adder: &IndexAdder,
    line: &[u8],
) -> anyhow::Result<()> {
    out.write_all(b"{\"id\":")?;
    write_string(out, id)?;
    out.write_all(b",\"repeats\":")?;
    write_string(out, &adder.id(number)?)?;
    write!(out, ",\"number\":{number},\"distance\":{distance},\"document\":")?;
    out.write_all(line.trim_ascii_end())?;
    out.write_all(b"}\n")?;
    Ok(())
}
