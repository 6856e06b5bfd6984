//! Fingerprints as text: a lower-case hexadecimal number a line, f/4 digits; an empty line is a row
//! without a fingerprint.

use crate::error::{ErrorKind, Result};
use crate::fingerprint_rows::{FingerprintRows, RowNumbers};
use std::path::Path;

/// Most digits of a number.
const MOST_DIGITS: usize = 32;

/// The fingerprints of the text `bytes`; `path` is for messages. The first line that is not empty
/// says how many digits all have. Lines end in LF or CRLF; the last one need not end.
///
/// # Errors
///
/// A line holds anything else, or another number of digits.
pub fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    let mut rows = HexadecimalRows::default();
    for (start, line) in lines(bytes) {
        let number = line.strip_suffix(b"\r").unwrap_or(line);
        rows.push((!number.is_empty()).then_some(number)).map_err(|digits| {
            let expected = format!("{digits}, or an empty line");
            ErrorKind::Format { path: path.to_owned(), byte: start as u64, expected }
        })?;
    }
    Ok(rows.finish())
}

/// Lines without their LF, each with the byte at which it starts.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    bytes.split_inclusive(|&byte| byte == b'\n').map(move |line| {
        start += line.len();
        (start - line.len(), line.strip_suffix(b"\n").unwrap_or(line))
    })
}

/// Rows of hexadecimal numbers, all of as many digits as the first.
#[derive(Debug, Default)]
pub(super) struct HexadecimalRows {
    rows: RowNumbers,
    digits: usize,
}

impl HexadecimalRows {
    /// Adds a row with these digits, or one without a fingerprint; an error is what was expected.
    pub(super) fn push(&mut self, number: Option<&[u8]>) -> Result<(), String> {
        let Some(number) = number else {
            self.rows.push(None);
            return Ok(());
        };
        let is_first = self.digits == 0;
        let fits = if is_first {
            (1..=MOST_DIGITS).contains(&number.len())
        } else {
            number.len() == self.digits
        };
        match fits.then(|| parse(number)).flatten() {
            Some(value) => {
                self.digits = number.len();
                self.rows.push(Some(value));
                Ok(())
            }
            None if is_first => Err(format!("1 to {MOST_DIGITS} digits 0-9a-f")),
            None => Err(format!("{} digits 0-9a-f, as in the first row", self.digits)),
        }
    }

    /// The rows; of 64 bits if none has a fingerprint.
    pub(super) fn finish(self) -> FingerprintRows<'static> {
        let bits = if self.digits == 0 { 64 } else { 4 * self.digits as u32 };
        self.rows.finish(bits)
    }
}

fn parse(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number: u128, &digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::Lanes;

    #[test]
    fn numbers_and_empty_lines() {
        let rows = read(b"00ff\r\n\n8000\n\n", Path::new("f.txt")).unwrap();
        assert_eq!(rows.lanes, Lanes::Bits16(vec![0xFF, 0, 0x8000, 0].into()));
        let validity = rows.validity.unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| validity.has_value(row)), [true, false, true, false]);
        assert_eq!(rows.bits, 16);
        assert_eq!(read(b"", Path::new("f.txt")).unwrap().lanes.len(), 0);
        assert_eq!(read(b"\n", Path::new("f.txt")).unwrap().lanes.len(), 1);
        let wide = read(&[b'f'; 32], Path::new("f.txt")).unwrap();
        assert_eq!(wide.lanes, Lanes::Bits128(vec![u128::MAX].into()));
    }

    #[test]
    fn other_lines_are_named() {
        for text in ["00ff\n0ff\n", "00ff\n00FF\n", "00ff\n 0ff", "00ff\nxxxx"] {
            let error = read(text.as_bytes(), Path::new("f.txt")).unwrap_err().to_string();
            let expected = "f.txt, byte 5: expected 4 digits 0-9a-f, as in the first row, or an \
                            empty line";
            assert_eq!(error, expected);
        }
        for text in [&b"00FF"[..], &[b'0'; 33]] {
            let error = read(text, Path::new("f.txt")).unwrap_err().to_string();
            let expected = "f.txt, byte 0: expected 1 to 32 digits 0-9a-f, or an empty line";
            assert_eq!(error, expected);
        }
    }
}
