//! Recognizes the dialect of a text table from its first rows.
//!
//! Programs that write tables disagree on quotes. RFC 4180 encloses a field in quotes and doubles the quotes inside it.
//! Spark puts a backslash before a quote. In many TSV files, a quote is an ordinary character. With the wrong dialect,
//! a quote at the start of a field swallows all lines up to the next quote. So a dialect with quotes is chosen only if
//! the first rows agree with it.

use super::row_parser::RowParser;
use crate::bytes::without_byte_order_mark;
use crate::formats::dialect::LEAST_SWALLOWED;
use crate::formats::{Dialect, NamedDialect, Quote};

/// Characters that are tried when the delimiter is recognized, the likeliest first.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// Largest number of rows after the header from which the delimiter is recognized.
const RANKED_ROWS: usize = 20;
/// Start of the line in which spreadsheet programs name the delimiter, for example `sep=;`.
const SEPARATOR_LINE: &[u8] = b"sep=";

impl Dialect {
    /// Recognizes the dialect of a table that begins with `head`. Characters that `named` has are used as they are.
    /// `usual` is the delimiter of the format, or `None` if the format can have several. `is_text` returns whether a
    /// column of this name may be the text, which helps to recognize the delimiter.
    ///
    /// Three kinds of quotes are tried: quotes as in RFC 4180, quotes with a backslash before them, and single quotes.
    /// The first kind that agrees with all complete rows of `head` is chosen. A line inside a text can look like a row
    /// if it has delimiters. So if no kind agrees, the kinds are tried again for CSV, and a few such lines inside a row
    /// are then allowed. If still no kind agrees, CSV is read as in RFC 4180, and bad rows are reported.
    ///
    /// In TSV, quotes are ordinary characters unless a row of `head` has a field in quotes, because most programs that
    /// write TSV do not quote.
    pub(super) fn recognize(
        head: &[u8],
        named: NamedDialect,
        usual: Option<u8>,
        is_text: &dyn Fn(&[u8]) -> bool,
    ) -> Self {
        let head = without_byte_order_mark(head);
        let separator = separator_line(head);
        let head = &head[separator.map_or(0, |(_, length)| length)..];
        let delimiter = named
            .delimiter
            .or(separator.map(|(delimiter, _)| delimiter))
            .or(usual)
            .unwrap_or_else(|| recognize_delimiter(head, is_text));
        let has_header = !named.no_header;
        let base = Self { has_header, ..Self::rfc4180(delimiter) };
        let (quote, escape) = match (named.quote, named.escape) {
            (Some(Quote::None), _) => (None, None),
            (Some(Quote::Char(quote)), escape) => (Some(quote), escape),
            (None, Some(escape)) => (base.quote, Some(escape)),
            (None, None) => base.recognize_quotes(head),
        };
        Self { quote, escape, ..base }
    }

    /// Returns the quote and the escape for a table that begins with `head`. Usual combinations are tried in order, and
    /// the first one with which all complete rows of `head` are valid is returned.
    fn recognize_quotes(self, head: &[u8]) -> (Option<u8>, Option<u8>) {
        let (letters, quoted) = ((None, None), (Some(b'"'), None));
        let is_tsv = self.delimiter == b'\t';
        let fallback = if is_tsv { letters } else { quoted };
        // Most tables have no quotes near their beginning, and need no search for their meaning.
        if memchr::memchr2(b'"', b'\'', head).is_none() {
            return fallback;
        }
        // A quote that opens a field of a TSV file must be closed somewhere. Otherwise it is a letter.
        // Single quotes are usual as letters in any text.
        let dialects = [
            (quoted, usize::from(is_tsv)),
            ((Some(b'"'), Some(b'\\')), usize::from(is_tsv)),
            ((Some(b'\''), None), 1),
        ];
        let agreeing = |swallowed: usize| {
            let mut dialects = dialects.into_iter();
            let agrees = |&((quote, escape), least): &((Option<u8>, Option<u8>), usize)| {
                let dialect = Self { quote, escape, ..self };
                dialect.quoted_rows(head, swallowed).is_some_and(|rows| rows >= least)
            };
            dialects.find(agrees).map(|(dialect, _)| dialect)
        };
        let again = || agreeing(LEAST_SWALLOWED).filter(|_| !is_tsv);
        agreeing(1).or_else(again).unwrap_or(fallback)
    }

    /// Returns the number of complete rows of `head` with a field in quotes. Returns `None` if `head` does not agree
    /// with this dialect. This is so if a row has another number of columns than the first row, if a closing quote is
    /// not followed by a delimiter or a line end, or if a row contains at least `swallowed` lines that are valid rows
    /// themselves.
    fn quoted_rows(self, mut head: &[u8], swallowed: usize) -> Option<usize> {
        let (mut columns, mut quoted) = (None, 0);
        loop {
            let blank = head.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            head = &head[blank..];
            let Some(row) = self.strict_row(head, false) else { return Some(quoted) };
            let of_row = row.columns?;
            let (bytes, rest) = head.split_at(row.length);
            head = rest;
            let is_odd = of_row != *columns.get_or_insert(of_row);
            if is_odd || self.swallows_rows(bytes, of_row, swallowed) {
                return None;
            }
            quoted += usize::from(row.has_quotes);
        }
    }
}

/// Returns the delimiter that the first line names, for example `sep=;`, and the length of this line in bytes. Returns
/// `None` if the first line names no delimiter. `head` has no byte order mark.
pub(super) fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let (start, rest) = head.split_at_checked(SEPARATOR_LINE.len())?;
    let (&delimiter, end) = rest.split_first()?;
    let is_delimiter = delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric();
    let end_length = match end {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    (start.eq_ignore_ascii_case(SEPARATOR_LINE) && is_delimiter)
        .then_some((delimiter, SEPARATOR_LINE.len() + 1 + end_length))
}

/// Recognizes the delimiter of a table that begins with `head`. Delimiters inside quotes do not count. The result is
/// the first of the following delimiters that exists:
///
/// 1. the delimiter that gives the header a column whose name satisfies `is_text`;
/// 2. the delimiter that gives the header at least two columns, and the largest share of rows as
///    many columns as the header;
/// 3. the delimiter that gives the header the most columns;
/// 4. the comma.
fn recognize_delimiter(head: &[u8], is_text: &dyn Fn(&[u8]) -> bool) -> u8 {
    let blank = head.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let head = &head[blank..];
    let rank = |delimiter: u8| {
        // A parser is expensive to build. A delimiter that `head` does not have gives one column.
        if delimiter != DELIMITERS[0] && memchr::memchr(delimiter, head).is_none() {
            return None;
        }
        let mut rows = RowParser::new(Dialect::rfc4180(delimiter));
        let (mut at, columns) = rows.parse(head, false).or_else(|| rows.parse(head, true))?;
        let has_text = (0..columns).any(|column| is_text(rows.row().field(column)));
        let (mut seen, mut even) = (0, 0);
        // At the end of `head`, the parser would return empty rows for ever.
        while seen < RANKED_ROWS
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
            let is_text = |name: &[u8]| name == b"text";
            let named = NamedDialect::default();
            let found = Dialect::recognize(head.as_bytes(), named, None, &is_text).delimiter;
            assert_eq!(char::from(found), char::from(expected), "{head}");
        }
    }

    #[test]
    fn quotes_are_recognized_by_the_rows_that_agree_with_them() {
        let letters = (None, None);
        let quoted = (Some(b'"'), None);
        let escaped = (Some(b'"'), Some(b'\\'));
        for (usual, head, expected) in [
            // CSV is quoted unless another dialect agrees.
            (None, "id,text\n1,a\n", quoted),
            (None, "id,text\n1,\"a, \"\"b\"\"\nc\"\n", quoted),
            (None, "id,text\n1,\"a, \\\"b\\\" c\"\n2,\"d\"\n", escaped),
            (None, "id,text\n1,a \"b\" c\n", quoted),
            (None, "id,text\n1,\"a\" b\n", quoted),
            (None, "id,text\n1,'a, \"b\" c'\n2,d\n", (Some(b'\''), None)),
            (None, "id,text\n1,'tis, so\n2,d\n", quoted),
            // The second line of the text looks like a row.
            (None, "id,text\n1,\"a \\\"b\\\"\nc, d\ne\"\n2,\"f\"\n", escaped),
            (None, "id,text\n1,'a, \"b\"\nc, d\ne'\n2,f\n", (Some(b'\''), None)),
            // In TSV, quotes are letters unless they enclose fields.
            (Some(b'\t'), "id\ttext\n1\t\"a\n2\tb\n3\tc\"\n", letters),
            (Some(b'\t'), "id\ttext\n1\ta\n", letters),
            (Some(b'\t'), "id\ttext\n1\ta \"b\" c\n", letters),
            (Some(b'\t'), "id\ttext\n1\t\"a\" b\n2\tc\n", letters),
            (Some(b'\t'), "id\ttext\n1\t\"a\n2\tb\n", letters),
            (Some(b'\t'), "id\ttext\n1\t\"a\n2\t\"b\n", letters),
            (Some(b'\t'), "id\ttext\n1\t\"a\tb\nc\"\n2\td\n", quoted),
            (Some(b'\t'), "id\ttext\n1\t\"a \\\"b\\\"\"\n2\td\n", escaped),
        ] {
            let dialect =
                Dialect::recognize(head.as_bytes(), NamedDialect::default(), usual, &|_| false);
            assert_eq!((dialect.quote, dialect.escape), expected, "{head}");
        }
    }

    #[test]
    fn named_characters_and_the_line_that_names_the_delimiter_are_obeyed() {
        let recognize = |head: &str, named| {
            Dialect::recognize(head.as_bytes(), named, None, &|name| name == b"text")
        };
        let usual = NamedDialect::default();
        let dialect = recognize("\u{feff}sep=;\r\nid;a,text\r\n1;b,c\r\n", usual);
        assert_eq!(dialect, Dialect::rfc4180(b';'));
        assert_eq!(recognize("sep=a\nid,text\n", usual).delimiter, b',');
        let named = NamedDialect { quote: Some(Quote::Char(b'\'')), no_header: true, ..usual };
        let dialect = recognize("1,'a, b'\n", named);
        let expected = Dialect { quote: Some(b'\''), has_header: false, ..Dialect::rfc4180(b',') };
        assert_eq!(dialect, expected);
        let named = NamedDialect { quote: Some(Quote::None), delimiter: Some(b'|'), ..usual };
        let dialect = recognize("id|text\n1|\"a\"\n", named);
        assert_eq!((dialect.delimiter, dialect.quote), (b'|', None));
    }
}
