//! Table of random bits for SimHash. The fingerprints of the reference program use such a table.
//!
//! The table is a text file with one row per line, made of the characters `0` and `1`. Feature i
//! uses row i, and a fingerprint of M bits uses the first M columns. Only the rows and columns that
//! are used are read.

use simtool_base::error::{Error, ErrorKind, Result};
use simtool_kernels::Isa;
use simtool_kernels::binary_digits::{MOST_DIGITS, binary_digits};
use std::path::Path;

/// Number of rows of the built-in table, which is the maximum number of features.
pub(crate) const BUILT_IN_ROWS: usize = 10_000;

/// Number of columns of the built-in table, and maximum number of columns of any table.
pub(crate) const MOST_COLUMNS: usize = MOST_DIGITS;

/// Initial state of the random generator for the built-in table: the text "simtool1".
const BUILT_IN_SEED: u64 = 0x7369_6d74_6f6f_6c31;

/// A table of random bits, from which fingerprints are made. It has a row for each feature and a column for each bit of
/// a fingerprint. Column j of a row is bit j of a number, and the higher bits of the number are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashTable {
    rows: Vec<u128>,
    bits: u32,
}

/// Number of rows and columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of lines of the file, not counting blank lines at the end.
    pub rows: usize,
    /// Number of characters in the first line, at most `MOST_COLUMNS`.
    pub columns: usize,
}

impl Extent {
    /// Size of the built-in table.
    pub const BUILT_IN: Self = Self { rows: BUILT_IN_ROWS, columns: MOST_COLUMNS };

    /// Returns the numbers of rows and columns of the table in `text`.
    ///
    /// # Complexity
    ///
    /// O(bytes of the table).
    #[must_use]
    pub fn from_text(text: &[u8]) -> Self {
        let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
        let rows = lines(&text[..end]).count();
        let first = lines(text).next().unwrap_or_default();
        Self { rows: if end == 0 { 0 } else { rows }, columns: first.len().min(MOST_COLUMNS) }
    }

    /// Checks that the table has a row for each of `features` features and a column for each of
    /// `bits` bits.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`] if one of the numbers is 0 or too large. The message names the size of
    /// the table.
    pub fn check(self, features: usize, bits: usize) -> Result<()> {
        if features == 0 || features > self.rows {
            return Err(Error::config("N", features, self.offer()));
        }
        if bits == 0 || bits > self.columns {
            return Err(Error::config("M", bits, self.offer()));
        }
        Ok(())
    }

    /// Returns a sentence for error messages that states the possible values of N (features) and M
    /// (bits).
    #[must_use]
    pub fn offer(self) -> String {
        let Self { rows, columns } = self;
        format!(
            "the hash table has {rows} rows and {columns} columns, so N must be a whole number \
             from 1 to {rows} and M from 1 to {columns}"
        )
    }
}

/// Returns the lines of a text without their line ends (LF or CRLF).
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

impl HashTable {
    /// Parses the first `features` rows and the first `bits` columns of the table in `text`. `path`
    /// is the name of its file, for error messages.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`] if the table is too small; [`ErrorKind::HashTable`] if a row is too short or contains a
    /// character other than 0 and 1.
    pub fn parse(isa: Isa, text: &[u8], path: &Path, features: usize, bits: usize) -> Result<Self> {
        // To find the whole size takes a look at every byte, so it is only done if it may decide.
        let columns = lines(text).next().unwrap_or_default().len().min(MOST_COLUMNS);
        // A line has at most two bytes of line end. Longer lines than the first make this number
        // too large, which only delays the check.
        let rows_at_least = text.len() / (columns + 2).max(3);
        if features == 0 || bits == 0 || bits > columns || features > rows_at_least {
            Extent::from_text(text).check(features, bits)?;
        }
        let mut rows = Vec::with_capacity(features.min(text.len()));
        let mut rest = text;
        while rows.len() < features {
            let line_number = rows.len() + 1;
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            // Only the columns that are used are checked.
            let digits = &line[..line.len().min(bits)];
            let read = binary_digits(isa, digits);
            match read {
                Ok(row) if digits.len() == bits => rows.push(row),
                _ => {
                    // A row can be short because the file has no more rows. Then the message names the
                    // size of the table, which helps more than the place of an error.
                    Extent::from_text(text).check(features, bits)?;
                    return Err(row_error(path, line_number, line, read.err(), bits));
                }
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(Self { rows, bits: bits as u32 })
    }

    /// Returns the first `features` rows and `bits` columns of the built-in table.
    ///
    /// Row i consists of two numbers of 64 bits, lower columns first: the outputs 2i and 2i + 1 of
    /// `SplitMix64` from the state "simtool1", read as a big-endian number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`] if the table is too small.
    ///
    /// # References
    ///
    /// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    pub fn built_in(features: usize, bits: usize) -> Result<Self> {
        Extent::BUILT_IN.check(features, bits)?;
        let mut state = BUILT_IN_SEED;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(z ^ (z >> 31))
        };
        // Columns behind the fingerprint are cleared, so that equal tables of equal width have
        // equal rows, whatever their source.
        let columns = u128::MAX >> (MOST_COLUMNS - bits);
        let rows = (0..features).map(|_| (next() | next() << 64) & columns).collect();
        Ok(Self { rows, bits: bits as u32 })
    }

    /// Returns the rows that are used, one for each feature. Column j of a row is bit j of the
    /// number.
    #[must_use]
    pub fn rows(&self) -> &[u128] {
        &self.rows
    }

    /// Returns the number of bits of a fingerprint, which is the number of columns used: from 1 to
    /// 128.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

/// Returns the error for a row that is too short or contains a character other than 0 and 1. `line`
/// is the line number of the row. `wrong` is the index of the first character that is neither 0 nor
/// 1, if there is one.
fn row_error(path: &Path, line: usize, row: &[u8], wrong: Option<usize>, bits: usize) -> Error {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let (column, found) = match wrong.filter(|&at| at < row.len()) {
        Some(at) => (at + 1, format!("found '{}'", row[at].escape_ascii())),
        None => (row.len() + 1, format!("the row ends after {} characters", row.len())),
    };
    let expected = format!("at least {bits} characters, each 0 or 1");
    ErrorKind::HashTable { path: path.to_owned(), line, column, found, expected }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, features: usize, bits: usize) -> Result<HashTable> {
        let tables: Vec<_> = Isa::available()
            .iter()
            .map(|&isa| HashTable::parse(isa, text.as_bytes(), Path::new("table"), features, bits))
            .collect();
        let shown: Vec<_> = tables.iter().map(|table| format!("{table:?}")).collect();
        assert!(shown.windows(2).all(|two| two[0] == two[1]));
        tables.into_iter().next().unwrap()
    }

    fn message(text: &str, features: usize, bits: usize) -> String {
        parse(text, features, bits).unwrap_err().to_string()
    }

    #[test]
    fn line_ends_do_not_matter() {
        let expected = parse("101\n011\n", 2, 3).unwrap();
        assert_eq!(expected.rows(), [0b101, 0b110]);
        for text in ["101\r\n011\r\n", "101\n011", "101\r\n011", "101\n011\n\n\r\n \n"] {
            assert_eq!(parse(text, 2, 3).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn unused_rows_and_columns_are_not_looked_at() {
        assert_eq!(parse("10x\n01\nzz\n", 2, 2).unwrap().rows(), [0b01, 0b10]);
    }

    #[test]
    fn more_than_the_table_offers_is_a_usage_error() {
        for (text, n, m) in
            [("101\n", 0, 3), ("101\n", 1, 0), ("101\n\n", 2, 3), ("101\n", 1, 4), ("", 1, 1)]
        {
            let error = parse(text, n, m).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Config { .. }), "{error}");
        }
        assert_eq!(
            message("101\r\n010\r\n\r\n", 3, 3),
            "N 3: the hash table has 2 rows and 3 columns, so N must be a whole number from 1 to \
             2 and M from 1 to 3"
        );
        let wide = "0".repeat(200);
        assert!(parse(&wide, 1, 128).is_ok());
        assert!(parse(&wide, 1, 129).is_err());
    }

    #[test]
    fn a_bad_row_is_named() {
        assert_eq!(
            message("101\r\n01\r\n111\r\n", 2, 3),
            "table, line 2, column 3: the row ends after 2 characters; expected at least 3 \
             characters, each 0 or 1"
        );
        assert!(message("101\n0a1\n", 2, 3).starts_with("table, line 2, column 2: found 'a';"));
        assert!(message("101\n\n111\n", 2, 3).starts_with("table, line 2, column 1: the row ends"));
    }

    #[test]
    fn the_built_in_table_is_frozen() {
        let table = HashTable::built_in(BUILT_IN_ROWS, MOST_COLUMNS).unwrap();
        assert_eq!(table.rows()[0], 0x6b76_0771_6048_aa4e_2ac0_87be_57e8_718a);
        let ones: u32 = table.rows().iter().map(|row| row.count_ones()).sum();
        assert!((635_000..645_000).contains(&ones), "{ones}");
        assert_eq!(HashTable::built_in(1, 8).unwrap().rows(), [table.rows()[0] & 0xff]);
        assert!(HashTable::built_in(BUILT_IN_ROWS + 1, 1).is_err());
    }
}
