//! `simtool index filter`: stands in a pipe, and lets pass what was never seen.

use crate::args::{FilterArgs, OneIndexArgs};
use crate::opened_index::{arrival, open_adder};
use crate::piped_lines::{Due, PipedLines, Taken};
use crate::{Outcome, console};
use simtool::Error;
use simtool::json_text::write_string;
use simtool::pipeline::index::{Added, IndexAdder, Line, LineFate, Near};
use simtool::quantity::{counted, grouped};
use simtool::read::ReadOptions;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

/// Lines after which what was added is committed.
const COMMITTED_LINES: u64 = 100_000;
/// Time after which it is, however few lines there were.
const COMMITTED_AFTER: Duration = Duration::from_secs(5);
/// Bad lines that are told of one by one.
const TOLD: u64 = 20;

/// What became of the lines.
#[derive(Default)]
struct Counts {
    lines: u64,
    new: u64,
    repeats: u64,
    bad: u64,
}

/// Where lines go.
struct Answers {
    out: BufWriter<io::StdoutLock<'static>>,
    duplicates: Option<BufWriter<File>>,
    counts: Counts,
}

/// Filters standard input.
pub(crate) fn run(args: &FilterArgs) -> anyhow::Result<Outcome> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let mut adder = open_adder(index, "filter", common, memory)?;
    let duplicates = args.duplicates.as_ref().map(|path| {
        let file = File::options().create(true).append(true).open(path);
        file.map(BufWriter::new).map_err(|e| Error::io(path, "write", e))
    });
    let mut answers = Answers {
        out: BufWriter::with_capacity(1 << 20, io::stdout().lock()),
        duplicates: duplicates.transpose()?,
        counts: Counts::default(),
    };
    let options = ReadOptions {
        text_field: args.text_field.clone(),
        id_field: args.id_field.clone(),
        ..ReadOptions::default()
    };
    let due = Due { lines: args.batch.into(), wait: Duration::from_millis(args.wait) };
    let input = PipedLines::new(due)?;
    let mut lines = Vec::new();
    let (mut committed_lines, mut committed) = (0, Instant::now());
    loop {
        let rest = if answers.counts.lines > committed_lines {
            COMMITTED_AFTER.saturating_sub(committed.elapsed())
        } else {
            Duration::MAX
        };
        let taken = input.take(lines, rest).map_err(|e| Error::io("standard input", "read", e))?;
        let has_ended = matches!(taken, Taken::End);
        lines = match taken {
            Taken::Lines(lines) => lines,
            Taken::Nothing | Taken::End => Vec::new(),
        };
        if !lines.is_empty() {
            let (first, arrival) = (answers.counts.lines, arrival(&args.arrival));
            let answered = adder.add_lines(&lines, &options, first, arrival)?;
            answers.give(&lines, answered, &adder)?;
        }
        let new_lines = answers.counts.lines - committed_lines;
        let is_old = new_lines > 0 && committed.elapsed() >= COMMITTED_AFTER;
        if has_ended || new_lines >= COMMITTED_LINES || is_old {
            adder.commit()?;
            (committed_lines, committed) = (answers.counts.lines, Instant::now());
        }
        if has_ended {
            break;
        }
    }
    let Counts { lines, new, repeats, bad } = answers.counts;
    if !common.running.quiet {
        let [new, repeats, bad] = [new, repeats, bad].map(grouped);
        let lines = counted(lines, "line");
        console::note(&format!("{lines}: {new} new, {repeats} repeat others, {bad} no documents"));
    }
    Ok(if bad > 0 { Outcome::DoneWithLosses } else { Outcome::Done })
}

impl Answers {
    /// Lets lines pass, or sets them aside.
    fn give(&mut self, batch: &[u8], lines: Vec<Line>, adder: &IndexAdder) -> anyhow::Result<()> {
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
                        write_duplicate(out, &id, near, adder, &batch[line.clone()])?;
                    }
                }
                LineFate::Document(_, Added::New(_)) => self.counts.new += 1,
                LineFate::Document(_, Added::Wordless) | LineFate::Blank => {}
                LineFate::Bad(bad) => {
                    self.counts.bad += 1;
                    if self.counts.bad <= TOLD {
                        let what = format!("line {}: expected {}", number + 1, bad.expected);
                        console::error(&format!("standard input, {what}; it passes"));
                    }
                }
            }
            stop = line.end;
        }
        self.out.write_all(&batch[passed..stop.max(passed)])?;
        self.out.flush()?;
        if let Some(out) = &mut self.duplicates {
            out.flush()?;
        }
        Ok(())
    }
}

/// Writes an object with the ID of a line, the one that it repeats, and the line itself.
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
