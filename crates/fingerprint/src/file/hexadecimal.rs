//! Fingerprints as text: one lower-case hexadecimal number per line, with a digit for every four
//! bits, highest first. An empty line is a row without a fingerprint.

use super::format::{FileFormat, FoundIds, MOST_BITS};
use simtool_base::error::{ErrorKind, Result};
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use std::io::{self, Write};
use std::path::Path;

/// Maximum number of hexadecimal digits of a fingerprint.
const MOST_DIGITS: usize = MOST_BITS as usize / 4;
/// Number of hexadecimal digits of a 64-bit word.
const WORD_DIGITS: usize = 16;

/// The text format as an entry of [`FILE_FORMATS`](super::FILE_FORMATS), the table of file formats. Text has no
/// signature, so any content may be text.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "text",
    extensions: &["txt", "hex"],
    help: "one hexadecimal number per line",
    marks_missing: true,
    missing_feature: None,
    is_format_of: |_| true,
    read: |bytes, path| read(bytes, path),
    write: |rows, _, out| write(rows, out),
    has_ids: |_, _| Ok(false),
    find_ids: |_, _| Ok(FoundIds::default()),
};

/// Reads the fingerprints of a text. All fingerprints must have the same number of digits as the first one. Lines end
/// with LF or CRLF, which may be missing at the end of the file. `path` is for error messages.
///
/// # Errors
///
/// A line contains anything except lower-case hexadecimal digits, or another number of digits.
fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    let mut rows = HexadecimalRows::for_lines(bytes.len(), "\n".len());
    for (start, line) in lines(bytes) {
        let number = line.strip_suffix(b"\r").unwrap_or(line);
        rows.push((!number.is_empty()).then_some(number)).map_err(|digits| {
            let expected = format!("{digits}, or an empty line");
            ErrorKind::Format { path: path.to_owned(), byte: start as u64, expected }
        })?;
    }
    Ok(rows.finish())
}

/// Returns the lines of a text without their LF, each with the byte offset at which it begins.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    bytes.split_inclusive(|&byte| byte == b'\n').map(move |line| {
        start += line.len();
        (start - line.len(), line.strip_suffix(b"\n").unwrap_or(line))
    })
}

/// Builder of rows from hexadecimal numbers. All numbers must have as many digits as the first one.
#[derive(Debug, Default)]
pub(super) struct HexadecimalRows {
    /// The rows so far, and the number of digits of each. `None` before the first number.
    rows: Option<(RowsBuilder, usize)>,
    /// Number of rows without a fingerprint that were added before the first hexadecimal number.
    leading: usize,
    /// Number of bytes of the file, and number of bytes of a line in addition to its digits. The
    /// builder estimates the number of rows from these two numbers.
    file: Option<(usize, usize)>,
    words: Vec<u64>,
}

impl HexadecimalRows {
    /// Creates a builder for a file of `bytes` bytes. Each line has `around` bytes in addition to
    /// its digits.
    pub(super) fn for_lines(bytes: usize, around: usize) -> Self {
        Self { file: Some((bytes, around)), ..Self::default() }
    }

    /// Adds a row with the hexadecimal digits `number`, or a row without a fingerprint if `number`
    /// is `None`. The error is a phrase that describes what was expected.
    pub(super) fn push(&mut self, number: Option<&[u8]>) -> Result<(), String> {
        let Some(number) = number else {
            match &mut self.rows {
                Some((rows, _)) => rows.push(None),
                // The width is not known before the first number, so the rows before it are only
                // counted.
                None => self.leading += 1,
            }
            return Ok(());
        };
        // All rows have the width of the first one.
        let fits = match &self.rows {
            Some((_, digits)) => number.len() == *digits,
            None => (1..=MOST_DIGITS).contains(&number.len()),
        };
        if !fits || !parse(number, &mut self.words) {
            return Err(match &self.rows {
                Some((_, digits)) => format!("{digits} digits 0-9a-f, as in the first row"),
                None => format!("1 to {MOST_DIGITS} digits 0-9a-f"),
            });
        }
        let file = self.file;
        let leading = self.leading;
        let (rows, _) = self.rows.get_or_insert_with(|| {
            let digits = number.len();
            let mut rows = begin(4 * digits as u32, leading);
            if let Some((bytes, around)) = file {
                // The file cannot have more numbers. If there is too little memory for them, there
                // may still be enough for the actual number, so the error is ignored.
                drop(rows.reserve(bytes / (digits + around) + 1));
            }
            (rows, digits)
        });
        rows.push(Some(&self.words));
        Ok(())
    }

    /// Returns the rows that were added. If no row has a fingerprint, the rows are 64 bits wide.
    pub(super) fn finish(self) -> FingerprintRows<'static> {
        let rows = self.rows.map_or_else(|| begin(u64::BITS, self.leading), |(rows, _)| rows);
        rows.finish()
    }
}

/// Creates a builder of rows of `bits` bits that begins with `leading` rows without a fingerprint.
fn begin(bits: u32, leading: usize) -> RowsBuilder {
    let mut rows = RowsBuilder::new(Shape::bits(bits));
    for _ in 0..leading {
        rows.push(None);
    }
    rows
}

/// Parses a hexadecimal number and writes its 64-bit words to `words`, lowest first. Returns `false` if `digits`
/// contains anything except lower-case hexadecimal digits.
fn parse(digits: &[u8], words: &mut Vec<u64>) -> bool {
    words.clear();
    // The number is written highest digit first, but rows store the lowest word first. So the
    // digits are cut from the end, and only the last chunk may be short.
    for digits in digits.rchunks(WORD_DIGITS) {
        let mut word = 0;
        for &digit in digits {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                // Upper case is refused, so that equal fingerprints are equal lines for tools such
                // as `sort`.
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return false,
            };
            word = word << 4 | u64::from(value);
        }
        words.push(word);
    }
    true
}

/// Writes one number per line, and an empty line for a row without a fingerprint.
///
/// # Errors
///
/// `out` fails.
fn write(rows: &FingerprintRows<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in 0..rows.len() {
        if let Some(words) = rows.row(row) {
            write_number(words, rows.shape, out)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes the hexadecimal digits of a fingerprint with the words `words`, including leading zeros.
///
/// # Errors
///
/// `out` fails.
pub fn write_number(words: &[u64], shape: Shape, out: &mut dyn Write) -> io::Result<()> {
    let digits = shape.row_bits().div_ceil(4) as usize;
    // The highest word may have fewer digits than the others. Leading zeros are written, because a
    // reader takes the width of the rows from the number of digits.
    let mut width = digits - WORD_DIGITS * (shape.words() - 1);
    for word in words.iter().rev() {
        write!(out, "{word:0width$x}")?;
        width = WORD_DIGITS;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_empty_lines() {
        let read = |text: &[u8]| read(text, Path::new("f.txt")).unwrap();
        let rows = read(b"\n00ff\r\n\n8000\n\n");
        assert_eq!(rows.words[..], [0, 0xFF, 0, 0x8000, 0]);
        assert_eq!(rows.shape, Shape::bits(16));
        let valid = [0, 1, 2, 3, 4].map(|row| rows.has_fingerprint(row));
        assert_eq!(valid, [false, true, false, true, false]);
        assert_eq!(read(b"").len(), 0);
        assert_eq!((read(b"\n").len(), read(b"\n").shape), (1, Shape::bits(64)));
        let wide = read(&[&[b'1'; 1][..], &[b'0'; 15], &[b'f'; 16]].concat());
        assert_eq!((&wide.words[..], wide.shape), (&[u64::MAX, 1 << 60][..], Shape::bits(128)));
        let odd = read(b"a0000000000000001\n");
        assert_eq!((&odd.words[..], odd.shape), (&[1, 10][..], Shape::bits(68)));
        let mut text = Vec::new();
        write(&odd, &mut text).unwrap();
        assert_eq!(text, b"a0000000000000001\n");
        let widest = read(&[b'f'; MOST_DIGITS]);
        assert_eq!((widest.shape.words(), widest.len()), (1024, 1));
    }

    #[test]
    fn other_lines_are_named() {
        for text in ["00ff\n0ff\n", "00ff\n00FF\n", "00ff\n 0ff", "00ff\nxxxx"] {
            let error = read(text.as_bytes(), Path::new("f.txt")).unwrap_err().to_string();
            let expected = "f.txt, byte 5: expected 4 digits 0-9a-f, as in the first row, or an \
                            empty line";
            assert_eq!(error, expected);
        }
        for text in ["00FF", &"0".repeat(MOST_DIGITS + 1)] {
            let error = read(text.as_bytes(), Path::new("f.txt")).unwrap_err().to_string();
            let expected = "f.txt, byte 0: expected 1 to 16384 digits 0-9a-f, or an empty line";
            assert_eq!(error, expected);
        }
    }
}
