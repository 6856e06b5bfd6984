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
use crate::selector::Selector;
use crate::splitter::{AfterLoss, SplitStep, Splitter};
use crate::table::Columns;
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
    wanted: [Option<Selector>; 3],
    /// Columns that are read. `None` until the header row was read.
    header: Option<Header>,
    at_file_start: bool,
    /// The fields of the present row without their quotes, one after the other. `ends` has the end
    /// of each field.
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// Reusable memory for the joined text of several columns.
    joined: Vec<u8>,
    bad: Bad,
    /// Number of bytes so far that must be read again. If a row of several lines is bad, its lines
    /// after the first one are read again, since a row may start there.
    read_again: u64,
}

/// Columns of a table that are read.
struct Header {
    columns: usize,
    /// Numbers of the columns of the text, of the ID, and of the field that decides which documents
    /// are kept: lists of columns to join, in order of preference.
    wanted: [Vec<Vec<usize>>; 3],
}

impl DelimitedRows {
    /// Creates a splitter for columns separated by `delimiter`. `wanted` selects the columns to read.
    pub(super) fn new(delimiter: u8, wanted: Columns<'_>) -> Self {
        Self {
            wanted: [Some(wanted.text), Some(wanted.id), wanted.keep]
                .map(Option::<&Selector>::cloned),
            ..Self::of_rows(delimiter)
        }
    }

    /// Creates a splitter that reads no columns.
    fn of_rows(delimiter: u8) -> Self {
        Self {
            parser: ReaderBuilder::new().delimiter(delimiter).build(),
            wanted: [const { None }; 3],
            header: None,
            at_file_start: true,
            fields: vec![0; 4096],
            ends: vec![0; 16],
            joined: Vec::new(),
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

    /// Returns the row that was parsed last.
    fn row(&self) -> Row<'_> {
        Row { fields: &self.fields, ends: &self.ends }
    }

    /// Finds the columns to read in the header row, which was just parsed and has `columns` columns.
    fn read_header(&mut self, columns: usize) {
        let find = |selector: &Selector| {
            let Some(lists) = selector.column_names() else { return vec![(0..columns).collect()] };
            let row = self.row();
            let number = |name: &str| (0..columns).find(|&at| row.field(at) == name.as_bytes());
            let found = lists.map(|names| names.into_iter().filter_map(number).collect());
            found.filter(|columns: &Vec<usize>| !columns.is_empty()).collect()
        };
        let wanted =
            self.wanted.each_ref().map(|selector| selector.as_ref().map_or_else(Vec::new, find));
        self.header = Some(Header { columns, wanted });
    }

    /// Returns the record of the present row, which has `length` bytes.
    fn document(&mut self, length: usize) -> SplitStep<'_> {
        let Self { header, fields, ends, joined, bad, .. } = self;
        let row = Row { fields, ends };
        let Some(Header { wanted: [text, id, keep], .. }) = header else {
            return SplitStep::filler(length);
        };
        if text.is_empty() {
            *bad = Bad::no_text(length as u64);
            return SplitStep::record(length, Content::Bad(bad));
        }
        let document = Document {
            id: row.first_filled(id),
            text: row.text(text, joined),
            field: row.first_filled(keep),
            repaired: None,
        };
        SplitStep::record(length, Content::Document(document))
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

/// Row of a table, without the quotes of its fields.
#[derive(Clone, Copy)]
struct Row<'r> {
    /// The fields, one after the other.
    fields: &'r [u8],
    /// The end of each field in `fields`.
    ends: &'r [usize],
}

impl<'r> Row<'r> {
    /// Returns the content of the column with this number.
    fn field(self, column: usize) -> &'r [u8] {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.fields[start..self.ends[column]]
    }

    /// Returns the first column of `lists` that is not empty.
    fn first_filled(self, lists: &[Vec<usize>]) -> Option<&'r [u8]> {
        let mut fields = lists.iter().flatten().map(|&column| self.field(column));
        fields.find(|field| !field.is_empty())
    }

    /// Returns the text: the first list of columns of which one is not empty. The columns of a list
    /// are joined by newlines in `joined`, and empty ones are left out.
    fn text(self, lists: &[Vec<usize>], joined: &'r mut Vec<u8>) -> &'r [u8] {
        let is_filled =
            |columns: &&Vec<usize>| columns.iter().any(|&at| !self.field(at).is_empty());
        match lists.iter().find(is_filled).map(Vec::as_slice) {
            None => &[],
            Some([column]) => self.field(*column),
            Some(columns) => {
                let fields = columns.iter().map(|&column| self.field(column));
                let filled: Vec<&[u8]> = fields.filter(|field| !field.is_empty()).collect();
                *joined = filled.join(&b'\n');
                joined
            }
        }
    }
}

/// Guesses the delimiter of a table that begins with `head`; `text` selects the text columns.
/// Delimiters inside quotes do not count. The guess is the first of these delimiters that exists:
///
/// 1. the delimiter that gives the header a text column;
/// 2. the delimiter that gives the header at least two columns, and the largest share of rows as
///    many columns as the header;
/// 3. the delimiter that gives the header the most columns;
/// 4. the comma.
pub(super) fn guess(head: &[u8], text: &Selector) -> u8 {
    let head = without_byte_order_mark(head);
    let blank = head.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let head = &head[blank..];
    let rank = |delimiter: u8| {
        let mut rows = DelimitedRows::of_rows(delimiter);
        let (mut at, columns) = rows.parse(head, false).or_else(|| rows.parse(head, true))?;
        let is_text = |at| str::from_utf8(rows.row().field(at)).is_ok_and(|name| text.names(name));
        let has_text = (0..columns).any(is_text);
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
    let mut rows = DelimitedRows::of_rows(delimiter);
    let row = without_byte_order_mark(row).trim_ascii_start();
    let columns = rows.parse(row, true).map_or(0, |(_, columns)| columns);
    (0..columns)
        .map(|column| String::from_utf8_lossy(rows.row().field(column)).into_owned())
        .collect()
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
        let Some(header) = &self.header else {
            self.read_header(columns);
            return SplitStep::filler(length);
        };
        let wanted = header.columns;
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
        self.document(length)
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;
    use crate::conformance::{options, read_as};

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
            assert_eq!(
                char::from(guess(head.as_bytes(), &Selector::from("text"))),
                char::from(expected),
                "{head}"
            );
        }
    }

    #[test]
    fn columns_of_tables_of_text_are_selected_and_joined() {
        let bytes = b"meta.id,\"a,b\",c,d\n1,x,y,\n2,,,z\n3,,,\n";
        for (text, expected) in [
            (Selector::from("c,d"), ["y", "z", ""]),
            ("a,b".into(), ["x", "", ""]),
            (r"a\,b+c+none,d".into(), ["x\ny", "z", ""]),
            ("none,d".into(), ["", "z", ""]),
            (Selector::all_strings(), ["1\nx\ny", "2\nz", "3"]),
        ] {
            let options =
                ReadOptions { text_field: text, id_field: "none,meta.id".into(), ..options(1) };
            let expected = [("1", expected[0]), ("2", expected[1]), ("3", expected[2])];
            assert_eq!(read_as("a.csv", bytes, options).texts(), expected);
        }
    }
}
