//! CSV and TSV: rows of columns under a header row that names them.
//!
//! If a row has another number of columns than the header, or a quote that is never closed, its first
//! line is a bad record, and reading goes on at the next line. So the same bytes may be read many times.
//! After a limit of such bytes, the whole row becomes the bad record. If no column has the name of the
//! text column, every row is a bad record.
//!
//! The delimiter is [guessed](guess) from the first rows unless the user names it.

use crate::form_feed::without_byte_order_mark;
use crate::plain_text::next_line;
use crate::splitter::{AfterLoss, SplitStep, Splitter};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use simtool_model::document::{Bad, Content, Document};
use std::borrow::Cow;

/// Characters that are tried when the delimiter is guessed, the likeliest first.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// Largest number of rows after the header from which the delimiter is guessed.
const GUESSED_FROM: usize = 20;
/// Largest number of bytes of a file that are read again because of bad rows. Without this limit,
/// the time for a crafted file would grow with the square of its length.
const MOST_READ_AGAIN: u64 = 256 << 20;

/// Splitter that divides a text table at the ends of its rows.
pub(super) struct DelimitedRows {
    parser: Reader,
    names: [Option<String>; 3],
    /// Number of columns, and the numbers of the columns of the text, the ID and the field that
    /// decides which documents are kept. `None` until the header row was read.
    header: Option<(usize, [Option<usize>; 3])>,
    at_file_start: bool,
    /// The fields of the present row without their quotes, one after the other. `ends` has the end
    /// of each field.
    fields: Vec<u8>,
    ends: Vec<usize>,
    bad: Bad,
    /// Number of bytes so far that must be read again. If a row of several lines is bad, its lines
    /// after the first one are read again, since a row may start there.
    read_again: u64,
}

const TEXT: usize = 0;
const ID: usize = 1;
const KEEP: usize = 2;

impl DelimitedRows {
    /// Creates a splitter for columns separated by `delimiter`. `text`, `id` and `keep` are the
    /// names of the columns of the text, of the ID, and of the field that decides which documents
    /// are kept.
    pub(super) fn new(delimiter: u8, text: &str, id: &str, keep: Option<&str>) -> Self {
        Self {
            parser: ReaderBuilder::new().delimiter(delimiter).build(),
            names: [Some(text), Some(id), keep].map(|name| name.map(str::to_owned)),
            header: None,
            at_file_start: true,
            fields: vec![0; 4096],
            ends: vec![0; 16],
            bad: Bad { code: "csv", expected: Cow::Borrowed(""), length: 0 },
            read_again: 0,
        }
    }

    /// Reads the row at the start of `bytes` into `fields` and `ends`. Returns its length in bytes
    /// and its number of columns, or `None` if the row does not end in `bytes`. `last` means that
    /// no bytes follow.
    fn parse(&mut self, bytes: &[u8], last: bool) -> Option<(usize, usize)> {
        // The parser remembers whether it is inside quotes. Every row is parsed from a clean state,
        // because the row before may have been given up.
        self.parser.reset();
        let (mut read, mut written, mut columns) = (0, 0, 0);
        loop {
            let (result, took, wrote, ended) = self.parser.read_record(
                &bytes[read..],
                &mut self.fields[written..],
                &mut self.ends[columns..],
            );
            read += took;
            written += wrote;
            columns += ended;
            match result {
                // If the parser is called again without input, it assumes that the file has ended.
                ReadRecordResult::InputEmpty if last => {}
                ReadRecordResult::InputEmpty => return None,
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => return Some((read, columns)),
            }
        }
    }

    fn field(&self, column: Option<usize>) -> Option<&[u8]> {
        let column = column?;
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        Some(&self.fields[start..self.ends[column]])
    }

    /// Finds the columns to read, whose names are `self.names`, in the header row. The header row
    /// was just parsed and has `columns` columns.
    fn read_header(&mut self, columns: usize) {
        let found = [TEXT, ID, KEEP].map(|which| {
            let name = self.names[which].as_ref()?.as_bytes();
            (0..columns).find(|&column| self.field(Some(column)) == Some(name))
        });
        self.header = Some((columns, found));
    }

    /// Returns a bad record for the row at the start of `window`, which has `row` bytes. The bad
    /// record is only the first line of the row, and the other lines are parsed again. If more than
    /// [`MOST_READ_AGAIN`] bytes of the file were parsed again, the bad record is the whole row.
    fn bad_row(&mut self, window: &[u8], row: usize, expected: Cow<'static, str>) -> SplitStep<'_> {
        let line = next_line(window).unwrap_or(window.len());
        self.read_again += row.saturating_sub(line) as u64;
        let length = if self.read_again > MOST_READ_AGAIN { row.max(line) } else { line };
        self.bad = Bad { code: "csv", expected, length: length as u64 };
        SplitStep::record(length, Content::Bad(&self.bad))
    }
}

/// Guesses the delimiter of a table that begins with `head`; `text` is the name of the text column.
/// Delimiters inside quotes do not count. The guess is the first of these delimiters that exists:
///
/// 1. the delimiter that gives the header a column named `text`;
/// 2. the delimiter that gives the header at least two columns, and the largest share of rows as
///    many columns as the header;
/// 3. the delimiter that gives the header the most columns;
/// 4. the comma.
pub(super) fn guess(head: &[u8], text: &str) -> u8 {
    let head = without_byte_order_mark(head);
    let blank = head.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let head = &head[blank..];
    let rank = |delimiter: u8| {
        let mut rows = DelimitedRows::new(delimiter, "", "", None);
        let (mut at, columns) = rows.parse(head, false).or_else(|| rows.parse(head, true))?;
        let has_text = (0..columns).any(|at| rows.field(Some(at)) == Some(text.as_bytes()));
        let (mut seen, mut even) = (0, 0);
        // At the end of `head`, the parser would return empty rows for ever.
        while seen < GUESSED_FROM
            && at < head.len()
            && let Some((length, of_row)) = rows.parse(&head[at..], false)
        {
            at += length;
            // The parser sees an empty row between the two bytes of a line end.
            if of_row > 0 {
                (seen, even) = (seen + 1, even + usize::from(of_row == columns));
            }
        }
        // The share is in percent as a whole number, so that no floating-point numbers are
        // compared.
        let share = (100 * even).checked_div(seen).unwrap_or(100);
        (delimiter == DELIMITERS[0] || columns > 1).then_some((
            has_text,
            columns > 1,
            share,
            columns,
        ))
    };
    let ranked = DELIMITERS.into_iter().rev().filter_map(|d| Some((rank(d)?, d)));
    ranked.max_by_key(|&(rank, _)| rank).map_or(DELIMITERS[0], |(_, delimiter)| delimiter)
}

/// Returns the fields of a row, for example the column names in the header. A blank row has no
/// fields.
pub(super) fn columns(delimiter: u8, row: &[u8]) -> Vec<String> {
    let mut rows = DelimitedRows::new(delimiter, "", "", None);
    let row = without_byte_order_mark(row).trim_ascii_start();
    let columns = rows.parse(row, true).map_or(0, |(_, columns)| columns);
    let field = |column| rows.field(Some(column)).unwrap_or_default();
    (0..columns).map(|column| String::from_utf8_lossy(field(column)).into_owned()).collect()
}

impl Splitter for DelimitedRows {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let mark = if self.at_file_start {
            window.len() - without_byte_order_mark(window).len()
        } else {
            0
        };
        // The parser would take an empty line for a row without columns. As filler, such lines stay
        // in copies of the file and are not counted.
        let blank = window[mark..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if blank > 0 {
            return SplitStep::filler(mark + blank);
        }
        let Some((length, columns)) = self.parse(&window[mark..], last) else {
            return SplitStep::More;
        };
        // The parser stops after a carriage return, even if a line feed follows, which belongs to
        // the same line end.
        let length = mark + length;
        let length = match (window[..length].last(), window.get(length)) {
            (Some(b'\r'), Some(b'\n')) => length + 1,
            (Some(b'\r'), None) if !last => return SplitStep::More,
            _ => length,
        };
        self.at_file_start = false;
        let Some((wanted, found)) = self.header else {
            self.read_header(columns);
            return SplitStep::filler(length);
        };
        // A missing or additional delimiter moves all later fields, so the text could be another
        // column.
        if columns != wanted {
            let expected = format!("{wanted} columns as in the header, not {columns}");
            return self.bad_row(window, length, expected.into());
        }
        let row = &window[..length];
        // Within a quoted field, quotes are doubled (RFC 4180, section 2), so a complete row has an
        // even number of quotes. At the end of the file, the parser accepts a quote that is not
        // closed. A row of one line with an odd number of quotes is accepted, because one of its
        // quotes is inside a field that is not quoted.
        let ends_open = memchr::memchr_iter(b'"', row).count() % 2 == 1
            && (row.last() != Some(&b'\n') || next_line(row) != Some(length));
        if ends_open {
            return self.bad_row(window, length, "a closing quote".into());
        }
        if found[TEXT].is_none() {
            self.bad = Bad::no_text(length as u64);
            return SplitStep::record(length, Content::Bad(&self.bad));
        }
        let filled = |column| self.field(column).filter(|field| !field.is_empty());
        SplitStep::record(
            length,
            Content::Document(Document {
                id: filled(found[ID]),
                text: self.field(found[TEXT]).unwrap_or_default(),
                field: filled(found[KEEP]),
                repaired: None,
            }),
        )
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_guessed_from_the_first_rows() {
        for (head, expected) in [
            ("id,text\n1,a; b | c\n", b','),
            ("id;text\n1;a, b, c\n2;d, e, f\n", b';'),
            ("\u{feff}\r\n\"id\";\"text\"\r\n1;\"a; b, c\nd\"\r\n", b';'),
            ("id|text\n1|a;b,c\n", b'|'),
            ("id\ttext\n1\ta, b\n", b'\t'),
            // The header decides, whatever the texts hold.
            ("text;x\na,b;1\nc,d;2\n", b';'),
            ("a,text;x\n1,2\n", b','),
            ("a;b,text\n1;2,3\n", b','),
            // No column has the name of the text column.
            ("id;body\n1;a, b\n2;c\n", b';'),
            ("a,b;c\n1,2;3\n1;2;3\n", b','),
            ("a,b;c|d|e\n", b'|'),
            // One column is no reason to leave the comma.
            ("text\na;b\n", b','),
            ("text\na,b\n", b','),
            ("", b','),
            ("id;text", b';'),
            ("\"id;text\n1;2\n", b','),
        ] {
            assert_eq!(char::from(guess(head.as_bytes(), "text")), char::from(expected), "{head}");
        }
    }
}
