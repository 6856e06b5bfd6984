//! The characters that structure a text table, and the strict form of its rows.

use csv_core::{Reader, ReaderBuilder};

/// Smallest number of lines inside a row that make the row bad if all of them are valid rows themselves. One quote of
/// such a row is probably an ordinary character.
pub(crate) const LEAST_SWALLOWED: usize = 8;
/// Largest number of bytes after a row that are searched for the end of the next line.
pub(crate) const LOOKAHEAD: usize = 64 << 10;

/// Result of checking whether the line after a row of a table can be another row.
pub(crate) enum NextLine {
    /// The line may begin a row, or there is no next line.
    MayBeRow,
    /// The line is not a row of the table, because its number of columns differs from the number in the table.
    NoRow {
        /// Number of columns of the line.
        columns: usize,
    },
    /// The line does not end within the bytes that were searched.
    Unknown,
}

/// Characters that structure a text table, and whether its first row names the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Character between columns.
    pub delimiter: u8,
    /// Character that encloses a field if the field contains delimiters or line ends. Inside such a field, two quotes
    /// mean one. `None` means that no character encloses fields.
    pub quote: Option<u8>,
    /// Character that marks the quote after it as part of the field, so that this quote does not end the field.
    pub escape: Option<u8>,
    /// Whether the first row has the names of the columns. Otherwise the columns are named by their
    /// numbers, from 1.
    pub has_header: bool,
}

impl Dialect {
    /// Creates the dialect of RFC 4180 with this delimiter.
    pub(crate) const fn rfc4180(delimiter: u8) -> Self {
        Self { delimiter, quote: Some(b'"'), escape: None, has_header: true }
    }

    /// Returns whether `row` probably consists of several rows, because one of its quotes is an ordinary character.
    /// This is the case if there are at least `least` lines between its first and its last line, and each of them is a
    /// valid row with `columns` columns. Returns `false` for a table of one column, in which every line is a valid row.
    pub(crate) fn swallows_rows(self, row: &[u8], columns: usize, least: usize) -> bool {
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let (Some(first), Some(last)) = (memchr::memchr(b'\n', row), memchr::memrchr(b'\n', row))
        else {
            return false;
        };
        let inner = row.get(first + 1..last).unwrap_or_default();
        let lines = || inner.split(|&byte| byte == b'\n');
        first < last && lines().count() >= least && self.are_rows(lines(), columns)
    }

    /// Returns whether each of `lines` is a valid row with `columns` columns. For a table of one column,
    /// the result is `false`.
    pub(crate) fn are_rows<'l>(
        self,
        mut lines: impl Iterator<Item = &'l [u8]>,
        columns: usize,
    ) -> bool {
        columns > 1 && lines.all(|line| self.columns_of_line(line) == Some(columns))
    }

    /// Returns the number of columns of `line`, one line of a table without its line end. Returns
    /// `None` if the line is not a valid row on its own.
    fn columns_of_line(self, line: &[u8]) -> Option<usize> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let row = self.strict_row(line, true)?;
        row.columns.filter(|_| row.length == line.len())
    }

    /// Returns whether the next line after a row can be another row with `columns` columns. `rest` has the bytes after
    /// the row. Blank lines at its start are skipped. At most [`LOOKAHEAD`] bytes are searched. `last` means that the
    /// file has no bytes after `rest`.
    pub(crate) fn next_line(self, rest: &[u8], columns: usize, last: bool) -> NextLine {
        let read = &rest[..rest.len().min(LOOKAHEAD)];
        let blank = read.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        let line = match memchr::memchr2(b'\r', b'\n', &read[blank..]) {
            Some(length) => &read[blank..blank + length],
            None if last && read.len() == rest.len() => &read[blank..],
            None => return NextLine::Unknown,
        };
        let has_quote = self.quote.is_some_and(|quote| memchr::memchr(quote, line).is_some());
        let found = if line.is_empty() {
            None
        } else if has_quote {
            // The row may go on after this line, inside quotes.
            self.strict_row(line, true).and_then(|row| row.columns)
        } else {
            Some(1 + memchr::memchr_iter(self.delimiter, line).count())
        };
        match found {
            Some(found) if found != columns => NextLine::NoRow { columns: found },
            _ => NextLine::MayBeRow,
        }
    }

    /// Creates a parser of rows in this dialect.
    pub(crate) fn parser(self) -> Reader {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(self.delimiter).escape(self.escape);
        match self.quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        builder.build()
    }
}

/// Result of checking a row strictly: the length of the row in bytes with its line end, and its number of columns. The
/// number is `None` if the row is not valid.
pub(crate) struct StrictRow {
    pub(crate) length: usize,
    pub(crate) columns: Option<usize>,
    /// Whether a field of the row is in quotes.
    pub(crate) has_quotes: bool,
}

impl Dialect {
    /// Checks the row at the start of `bytes`. `last` means that the file has no bytes after `bytes`. Returns `None` if
    /// no row ends in `bytes`.
    pub(crate) fn strict_row(self, bytes: &[u8], last: bool) -> Option<StrictRow> {
        let (mut at, mut columns, mut is_valid) = (0, 1, true);
        let (mut is_field_start, mut has_quotes) = (true, false);
        loop {
            if last && at == bytes.len() {
                return Some(StrictRow {
                    length: at,
                    columns: is_valid.then_some(columns),
                    has_quotes,
                });
            }
            let byte = *bytes.get(at)?;
            if is_field_start && Some(byte) == self.quote {
                at = self.end_of_quoted(bytes, at + 1, byte)?;
                let after = bytes.get(at).copied();
                is_valid &= after.map_or(last, |after| {
                    after == self.delimiter || matches!(after, b'\r' | b'\n')
                });
                (is_field_start, has_quotes) = (false, true);
                continue;
            }
            at += 1;
            is_field_start = byte == self.delimiter;
            columns += usize::from(is_field_start);
            if matches!(byte, b'\r' | b'\n') {
                at += usize::from(byte == b'\r' && bytes.get(at) == Some(&b'\n'));
                let columns = is_valid.then_some(columns);
                return Some(StrictRow { length: at, columns, has_quotes });
            }
        }
    }

    /// Returns the position after the quote that closes a field. `at` is the position of the first byte after the
    /// opening quote. Returns `None` if no quote closes the field.
    fn end_of_quoted(self, bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
        loop {
            let byte = *bytes.get(at)?;
            let is_doubled = byte == quote && bytes.get(at + 1) == Some(&quote);
            if is_doubled || Some(byte) == self.escape {
                at += 2;
            } else if byte == quote {
                return Some(at + 1);
            } else {
                at += 1;
            }
        }
    }
}
