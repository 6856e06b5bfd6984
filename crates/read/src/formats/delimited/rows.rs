//! CSV and TSV: rows of columns, usually under a header row that names them.
//!
//! A row is bad if it has another number of columns than the first row, or if its quotes are not closed correctly. A
//! quote that is an ordinary character can make a row swallow many lines. So the lines of a bad row are read as rows of
//! their own if each of them is a valid row. Otherwise it is not known where rows begin, and each of the lines is a bad
//! record, so that no part of the lines is ever removed. A row before a line with another number of columns is bad,
//! too, because this line may be the rest of its text. If no column has the name of the text column, every row is a bad
//! record.
//!
//! The [dialect](Dialect) of a table is recognized from its first rows. Characters that the user chose are not changed.

use super::recognize_dialect::separator_line;
use super::row_parser::RowParser;
use crate::bytes::byte_order_mark::byte_order_mark_length;
use crate::bytes::without_byte_order_mark;
use crate::formats::dialect::{LEAST_SWALLOWED, LOOKAHEAD, NextLine};
use crate::formats::plain_text::next_line;
use crate::formats::records::stray_bytes::{StrayBytes, is_padding, without_padding};
use crate::formats::{AfterLoss, Columns, Dialect, FieldPath, Selector, SplitStep, Splitter};
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content, Document, MOST_FIELDS};
use simtool_model::document_id::DocumentId;
use std::borrow::Cow;

/// Largest number of lines of the first row that has several lines, if at least [`LEAST_ROWS`] rows were read. A longer
/// row is bad, because its first quote is probably an ordinary character.
const MOST_LINES: usize = 64;
/// Number of rows that must be read before the limit [`MOST_LINES`] is applied.
const LEAST_ROWS: u64 = 64;

/// Splitter that divides a text table at the ends of its rows.
pub(super) struct DelimitedRows {
    dialect: Dialect,
    /// Length of the longest allowed row, in bytes.
    longest: usize,
    parser: RowParser,
    /// Selector of the text, selector of the ID, and then the selectors of the other fields.
    wanted: Vec<Selector>,
    /// Columns that are read. `None` until the first row is read.
    header: Option<Header>,
    at_file_start: bool,
    stray: StrayBytes,
    /// Reusable memory for the joined text of several columns.
    joined: Vec<u8>,
    bad: Bad,
    /// Number of bytes, from the current position on, that belong to a bad row whose lines are not valid rows.
    bad_bytes: usize,
    /// Number of rows so far. `rows_of_lines` counts the rows among them that have several lines.
    rows: u64,
    rows_of_lines: u64,
}

/// Columns of a table that are read.
struct Header {
    columns: usize,
    /// Indexes of the columns of each selector. A selector has alternatives in order of preference, and each
    /// alternative is a list of columns whose values are joined.
    wanted: Vec<Vec<Vec<usize>>>,
    /// Name of a wanted column if several columns have this name, so that it is not clear which of them is meant.
    /// Otherwise `None`.
    ambiguous: Option<String>,
}

impl DelimitedRows {
    /// Creates a splitter for a table in this dialect. `wanted` selects the columns to read, and `longest` is the
    /// length in bytes of the longest allowed row.
    pub(super) fn new(dialect: Dialect, wanted: Columns<'_>, longest: usize) -> Self {
        Self {
            dialect,
            longest,
            parser: RowParser::new(dialect),
            wanted: [wanted.text, wanted.id].into_iter().chain(wanted.fields).cloned().collect(),
            header: None,
            at_file_start: true,
            stray: StrayBytes::default(),
            joined: Vec::new(),
            bad: Bad { code: "csv", expected: Cow::Borrowed(""), length: 0 },
            bad_bytes: 0,
            rows: 0,
            rows_of_lines: 0,
        }
    }

    /// Sets `self.header` from the first row, which was just parsed and has `columns` columns.
    fn read_header(&mut self, columns: usize) {
        let names = column_names(self.dialect, &self.parser, columns);
        let mut ambiguous = None;
        let mut number = |path: &FieldPath| {
            let mut same = (0..columns).filter(|&at| *names[at] == *path.name().as_bytes());
            let number = same.next();
            // Nobody knows which of the two columns the user means.
            if same.next().is_some() {
                ambiguous = Some(path.name().to_owned());
            }
            number
        };
        let mut find = |selector: &Selector| match selector.alternatives() {
            None => vec![(0..columns).collect()],
            Some(lists) => {
                lists.iter().filter_map(|list| FieldPath::find_all(list, &mut number)).collect()
            }
        };
        let wanted = self.wanted.iter().map(&mut find).collect();
        self.header = Some(Header { columns, wanted, ambiguous });
    }

    /// Returns whether the table has a column for the text.
    fn has_text(&self) -> bool {
        self.header.as_ref().is_some_and(|header| !header.wanted[0].is_empty())
    }

    /// Returns the step for the row that was just parsed: a record with its document, or a bad record. `length` is the
    /// length of the row in bytes.
    fn document(&mut self, length: usize) -> SplitStep<'_> {
        let Self { header, parser, joined, bad, .. } = self;
        let row = parser.row();
        let Some(header) = header.as_ref() else { return SplitStep::filler(length) };
        if let Some(name) = &header.ambiguous {
            let name = quoted(name.as_bytes());
            let expected = format!("one column with the name {name}: rename the others").into();
            *bad = Bad { code: "csv", expected, length: length as u64 };
            return SplitStep::record(length, Content::Bad(bad));
        }
        let [text, id, others @ ..] = &header.wanted[..] else {
            return SplitStep::filler(length);
        };
        if text.is_empty() {
            *bad = Bad::no_text(length as u64);
            return SplitStep::record(length, Content::Bad(bad));
        }
        let mut fields = [None; MOST_FIELDS];
        for (value, columns) in fields.iter_mut().zip(others) {
            *value = row.first_filled(columns);
        }
        let document = Document {
            id: row.first_filled(id).map(DocumentId::Text),
            fields,
            ..Document::new(row.text(text, joined))
        };
        SplitStep::record(length, Content::Document(document))
    }

    /// Returns the reason why a complete row of several lines is bad, or `None` if the row is good. `wanted` is the
    /// number of columns of the table.
    fn fault_of_lines(&mut self, row: &[u8], wanted: usize) -> Option<Cow<'static, str>> {
        let Some(strict) = self.dialect.strict_row(row, true) else {
            return Some("a closing quote".into());
        };
        if strict.columns.is_none() || strict.length != row.len() {
            return Some("a delimiter or the end of the row after a closing quote".into());
        }
        let lines = memchr::memchr_iter(b'\n', row).count();
        self.rows_of_lines += u64::from(lines > 1);
        if self.dialect.swallows_rows(row, wanted, LEAST_SWALLOWED) {
            return Some(format!("one row, not {lines} lines that are rows themselves").into());
        }
        let is_only = self.rows_of_lines == 1 && self.rows >= LEAST_ROWS;
        (is_only && lines > MOST_LINES)
            .then(|| format!("a row of few lines as before, not of {lines}").into())
    }

    /// Returns advice for a message if `row` has a quote that counts as an ordinary character, although it may enclose
    /// a field of several lines. Returns an empty text otherwise.
    fn advice_on_quotes(&self, row: &[u8]) -> &'static str {
        let has_letter = self.dialect.quote.is_none() && row.contains(&b'"');
        if has_letter {
            "; if quotes enclose fields of several lines, name them, as in `csv=quote=CHAR`"
        } else {
            ""
        }
    }

    /// Returns a bad record for the first line of the row at the start of `window`. `row` is the length of the row in
    /// bytes. `expected` describes how a valid row looks. The other lines of the row are then read as rows if each of
    /// them is a valid row with `wanted` columns. Otherwise they become bad records, too.
    fn bad_row(
        &mut self,
        window: &[u8],
        row: usize,
        wanted: usize,
        expected: Cow<'static, str>,
    ) -> SplitStep<'_> {
        let first = next_line(&window[..row]).unwrap_or(row);
        let rest = &window[first..row];
        let lines = rest.strip_suffix(b"\n").unwrap_or(rest).split(|&byte| byte == b'\n');
        self.bad_bytes = if self.dialect.are_rows(lines, wanted) { 0 } else { rest.len() };
        self.bad = Bad { code: "csv", expected, length: first as u64 };
        SplitStep::record(first, Content::Bad(&self.bad))
    }

    /// Returns a bad record for the next line of a bad row.
    fn bad_line(&mut self, window: &[u8]) -> SplitStep<'_> {
        let rest = &window[..self.bad_bytes.min(window.len())];
        let length = next_line(rest).unwrap_or(rest.len());
        self.bad_bytes -= length;
        let expected =
            "a line outside the bad row before it; `csv=quote=CHAR` names the quotes".into();
        self.bad = Bad { code: Bad::PART, expected, length: length as u64 };
        SplitStep::record(length, Content::Bad(&self.bad))
    }

    /// Returns the length of the line that names the delimiter, for example `sep=;`. Returns 0 if the table does not
    /// begin with such a line.
    fn separator_bytes(&self, start: &[u8]) -> usize {
        if self.at_file_start { separator_line(start).map_or(0, |(_, length)| length) } else { 0 }
    }
}

/// Returns the names of the columns of a table whose first row is `row`. Returns an empty list if the row is blank.
pub(super) fn columns(dialect: Dialect, row: &[u8]) -> Vec<String> {
    let mut parser = RowParser::new(dialect);
    let row = without_byte_order_mark(row).trim_ascii_start();
    if separator_line(row).is_some_and(|(_, length)| length == row.len()) {
        return Vec::new();
    }
    let columns = parser.parse(row, true).map_or(0, |(_, columns)| columns);
    let names = column_names(dialect, &parser, columns);
    names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Returns the names of the `columns` columns of a table. `parser` must just have parsed the first row.
fn column_names(dialect: Dialect, parser: &RowParser, columns: usize) -> Vec<Cow<'_, [u8]>> {
    let name = |column: usize| {
        if dialect.has_header {
            Cow::Borrowed(parser.row().field(column))
        } else {
            Cow::Owned((column + 1).to_string().into_bytes())
        }
    };
    (0..columns).map(name).collect()
}

impl Splitter for DelimitedRows {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if self.bad_bytes > 0 {
            return self.bad_line(window);
        }
        if let Some(step) = self.stray.padding(window, last) {
            return step;
        }
        let mark = byte_order_mark_length(window);
        // The parser would take an empty line for a row without columns. As filler, such lines stay
        // in copies of the file and are not counted.
        let separator = self.separator_bytes(&window[mark..]);
        let start = mark + separator;
        let blank = window[start..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if separator + blank > 0 {
            self.at_file_start &= separator == 0;
            return SplitStep::filler(start + blank);
        }
        let mut parsed = self.parser.parse(&window[mark..], last);
        // Padding may follow the last row directly. The next call passes over it.
        let mut end = window.len();
        if last && parsed.is_some_and(|(length, _)| mark + length == end) {
            let rest = without_padding(&window[mark..]);
            if !rest.is_empty() && mark + rest.len() < end {
                end = mark + rest.len();
                parsed = self.parser.parse(rest, last);
            }
        }
        let window = &window[..end];
        let Some((length, columns)) = parsed else { return SplitStep::More };
        // The parser stops after a carriage return, even if a line feed follows, which belongs to
        // the same line end.
        let length = mark + length;
        let length = match (window[..length].last(), window.get(length)) {
            (Some(b'\r'), Some(b'\n')) => length + 1,
            (Some(b'\r'), None) if !last => return SplitStep::More,
            _ => length,
        };
        self.stray.mark(mark > 0 && !self.at_file_start);
        self.at_file_start = false;
        if self.header.is_none() {
            self.read_header(columns);
            if self.dialect.has_header {
                return SplitStep::filler(length);
            }
        }
        let wanted = self.header.as_ref().map_or(columns, |header| header.columns);
        // A missing or additional delimiter moves all later fields, so the text could be another
        // column.
        if columns != wanted {
            let advice = self.advice_on_quotes(&window[..length]);
            let expected = format!("{wanted} columns as in the first row, not {columns}{advice}");
            return self.bad_row(window, length, wanted, expected.into());
        }
        let row = &window[mark..length];
        // A row of one line may have quotes that are not closed: one of its quotes is a letter.
        let is_line = row.last() == Some(&b'\n') && next_line(row) == Some(row.len());
        if !is_line
            && self.dialect.quote.is_some()
            && let Some(fault) = self.fault_of_lines(row, wanted)
        {
            return self.bad_row(window, length, wanted, fault);
        }
        let rest = &window[length..];
        let next = if rest.first().copied().is_some_and(is_padding) {
            NextLine::MayBeRow
        } else {
            self.dialect.next_line(rest, wanted, last)
        };
        match next {
            NextLine::Unknown if window.len() < self.longest.min(length + LOOKAHEAD) => {
                SplitStep::More
            }
            NextLine::NoRow { columns } if self.has_text() => {
                let advice = self.advice_on_quotes(&window[..length]);
                let expected =
                    format!("{wanted} columns in the line after the row, not {columns}{advice}");
                self.bad = Bad { code: "csv", expected: expected.into(), length: length as u64 };
                SplitStep::record(length, Content::Bad(&self.bad))
            }
            // A longer line is not read twice, and a row of nearly the allowed length is not compared
            // with the next line.
            NextLine::MayBeRow | NextLine::NoRow { .. } | NextLine::Unknown => {
                self.rows += 1;
                self.document(length)
            }
        }
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }

    fn note(&self) -> Option<(&'static str, String)> {
        self.stray.note()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{gzip, options, read_as};
    use crate::documents::ReadOptions;
    use crate::formats::{NamedDialect, Quote};

    #[test]
    fn columns_of_tables_of_text_are_selected_and_joined() {
        let bytes = b"meta.id,\"a,b\",c,d\n1,x,y,\n2,,,z\n3,,,\n";
        for (text, expected) in [
            (Selector::from("c,d"), ["y", "z", ""]),
            ("a,b".into(), ["x", "", ""]),
            (r"a\,b+c+none?,d".into(), ["x\ny", "z", ""]),
            (r"a\,b+c+none,d".into(), ["", "z", ""]),
            ("none,d".into(), ["", "z", ""]),
            (Selector::all_strings(), ["1\nx\ny", "2\nz", "3"]),
        ] {
            let options =
                ReadOptions { text_field: text, id_field: "none,meta.id".into(), ..options(1) };
            let expected = [("1", expected[0]), ("2", expected[1]), ("3", expected[2])];
            assert_eq!(read_as("a.csv", bytes, options).texts(), expected);
        }
    }

    #[test]
    fn a_wanted_name_that_two_columns_have_is_refused() {
        let bytes = b"id,text,text,n,n\n1,x,y,5,6\n2,x,z,5,7\n";
        let of = |text: &str| ReadOptions { text_field: text.into(), ..options(1) };
        let seen = read_as("a.csv", bytes, of("text"));
        assert_eq!((seen.texts().len(), seen.bad.len()), (0, 2));
        assert_eq!(read_as("a.csv", bytes, of("id")).texts(), [("1", "1"), ("2", "2")]);
    }

    /// Returns the texts of a table, and the byte offsets of its bad records.
    fn read(bytes: &str, dialect: NamedDialect, text: &str) -> (Vec<String>, Vec<u64>) {
        let options = ReadOptions { dialect, text_field: text.into(), ..options(1) };
        let seen = read_as("a.csv", bytes.as_bytes(), options);
        assert_eq!(seen.bytes, bytes.as_bytes());
        let texts = seen.texts().iter().map(|(_, text)| (*text).to_owned()).collect();
        (texts, seen.bad.iter().map(|bad| bad.1).collect())
    }

    fn usual(bytes: &str) -> (Vec<String>, Vec<u64>) {
        read(bytes, NamedDialect::default(), "text")
    }

    #[test]
    fn every_dialect_reads_the_same_texts() {
        let no_header = NamedDialect { no_header: true, ..NamedDialect::default() };
        let single = NamedDialect { quote: Some(Quote::Char(b'\'')), ..NamedDialect::default() };
        let letters = NamedDialect { quote: Some(Quote::None), ..NamedDialect::default() };
        for (bytes, dialect, text) in [
            ("id,text\n1,\"a \"\"b\"\", c\"\n2,d\n", NamedDialect::default(), "text"),
            ("id,text\n1,\"a \\\"b\\\", c\"\n2,d\n", NamedDialect::default(), "text"),
            ("sep=;\r\nid;text\r\n1;a \"b\", c\r\n2;d\r\n", NamedDialect::default(), "text"),
            ("id\rtext\r".replace("id\r", "id,").as_str(), NamedDialect::default(), "none"),
            ("1,\"a \"\"b\"\", c\"\n2,d\n", no_header, "2"),
            ("id,text\n1,'a \"b\", c'\n2,d\n", single, "text"),
            ("id|text\n1|a \"b\", c\n2|d\n", letters, "text"),
        ] {
            let (texts, bad) = read(bytes, dialect, text);
            let expected: &[&str] = if text == "none" { &[] } else { &["a \"b\", c", "d"] };
            assert_eq!(
                (&texts[..], &bad[..]),
                (&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..], &[][..]),
                "{bytes}"
            );
        }
    }

    #[test]
    fn a_row_that_swallows_others_is_bad_and_gives_them_back() {
        // The quote before "open" is closed by the quote before "close". It is not known whether the
        // lines between them are rows.
        let (texts, bad) = usual("id,text\n1,a\n2,\"open\n3,b\n4,\"close\n5,c\n");
        assert_eq!((texts.join(" "), bad), ("a c".to_owned(), vec![12, 20, 24]));
        let (texts, bad) = usual("id,text\n1,a\n2,\"open\n3,b\n4,c\n");
        assert_eq!((texts.join(" "), bad), ("a b c".to_owned(), vec![12]));
        // Both quotes enclose rows, and the last row ends like a field.
        let inner = (3..14).map(|n| format!("{n},x{n}\n")).collect::<Vec<_>>().concat();
        let (texts, bad) = usual(&format!("id,text\n1,a\n2,\"open\n{inner}14,close\"\n"));
        assert_eq!((texts.len(), bad), (13, vec![12]));
    }

    #[test]
    fn nothing_inside_a_bad_row_of_other_lines_is_a_document() {
        let verse = "first line\nsecond, line\nthird, with, commas\n";
        let rows = format!("id,text\n1,a\n2,\"{verse}\" and more\n3,b\n");
        let (texts, bad) = usual(&rows);
        assert_eq!((texts, bad.len()), (vec!["a".to_owned(), "b".to_owned()], 4), "{rows}");
        let (texts, bad) = usual(&format!("id,text\n1,a\n2,\"{verse}"));
        assert_eq!((texts, bad.len()), (vec!["a".to_owned()], 3));
        // The same lines in a row that is good are a text.
        let (texts, bad) = usual(&format!("id,text\n1,a\n2,\"{verse}\"\n3,b\n"));
        assert_eq!((texts.len(), bad), (3, vec![]));
    }

    #[test]
    fn a_row_before_the_rest_of_its_text_is_bad() {
        let (texts, bad) = usual("id,text\n1,a\n2,first half\nsecond half\n3,b\n");
        assert_eq!((texts.join(" "), bad), ("a b".to_owned(), vec![12, 25]));
        let (texts, bad) = usual("id,text\r\n2,first half\r\n\r\nand, a, half\r\n3,b\r\n");
        assert_eq!((texts.join(" "), bad), ("b".to_owned(), vec![9, 25]));
        let (texts, bad) = usual("id,text\n1,a\n2,\"b\nc\"\nd\n");
        assert_eq!((texts.join(" "), bad), ("a".to_owned(), vec![12, 20]));
        // A line that is the start of a long row, and lines of a table of one column, may be rows.
        let long = "word ".repeat(100_000);
        let (texts, bad) = usual(&format!("id,text\n1,a\n2,{long}\n3,\"{long}\nb\"\n"));
        assert_eq!((texts.len(), bad), (3, vec![]));
        let (texts, bad) = usual("text\na\nb\n\nc");
        assert_eq!((texts.join(" "), bad), ("a b c".to_owned(), vec![]));
    }

    #[test]
    fn a_single_row_of_very_many_lines_is_bad() {
        let lines = "a line of prose\n".repeat(100);
        let before = (0..100).map(|n| format!("{n},text {n}\n")).collect::<Vec<_>>().concat();
        let (texts, bad) = usual(&format!("id,text\n{before}100,\"{lines}\"\n101,last\n"));
        assert_eq!((texts.len(), bad.len()), (101, 101));
        // Long texts are usual in this table, so only the first of them is in doubt.
        let (texts, _) = usual(&format!("id,text\n1,\"{lines}\"\n{before}100,\"{lines}\"\n"));
        assert_eq!(texts.len(), 102);
    }

    #[test]
    fn a_bad_row_costs_its_first_line_and_a_row_of_which_it_may_be_the_rest() {
        let lines = |content: &str| {
            let (plain, packed) = (content.as_bytes(), gzip(content.as_bytes()));
            let seen = read_as("a.csv", plain, options(1));
            assert_eq!(read_as("a.csv.gz", &packed, options(1)), seen);
            let bad: Vec<_> = seen.bad.iter().map(|bad| (bad.0, bad.3)).collect();
            (seen.documents.into_iter().map(|d| d.3).collect::<Vec<_>>().join("|"), bad)
        };
        let both = vec![(0, "csv"), (1, "csv")];
        assert_eq!(lines("id,text\n1,a\n2\n3,c\n"), ("c".into(), both.clone()));
        assert_eq!(lines("id,text\n1,a\n2,\"b\n3,c\n4,d\n"), ("a|c|d".into(), vec![(1, "csv")]));
        assert_eq!(lines("id,text\n\n1,a\n2,b,x\n3,c"), ("c".into(), both));
        assert_eq!(lines("text\r\n\"a\r\n\"\"b\"\r\nc"), ("a\r\n\"b|c".into(), vec![]));
        // Without a column for the text every row is a bad record, even a row with too few columns.
        assert_eq!(
            lines("id,body\n1,a\n2\n3,\"b\nc\"\n"),
            (String::new(), vec![(0, "text-field"), (1, "csv"), (2, "text-field")])
        );
    }
}
