//! Fingerprints as text: a lower-case hexadecimal number a line, f/4 digits; an empty line is a row
//! without a fingerprint.

use crate::error::{ErrorKind, Result};
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::validity::Validity;
use std::path::Path;

/// The fingerprints of the text `bytes`; `path` is for messages. The first line that is not empty
/// says how many digits all have. Lines end in LF or CRLF; the last one need not end.
///
/// # Errors
///
/// A line holds anything else, or another number of digits.
pub fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    let wrong = |byte: usize, expected: String| {
        let path = path.to_owned();
        crate::Error::from(ErrorKind::Format { path, byte: byte as u64, expected })
    };
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut rows: Vec<u128> = Vec::new();
    let mut empty = Vec::new();
    let mut digits = 0;
    let mut start = 0;
    for line in
        text.split(|&byte| byte == b'\n').take(if bytes.is_empty() { 0 } else { usize::MAX })
    {
        let number = line.strip_suffix(b"\r").unwrap_or(line);
        if number.is_empty() {
            empty.push(rows.len());
            rows.push(0);
        } else {
            if digits == 0 {
                digits = number.len();
            }
            let value = (number.len() == digits && digits <= 32).then(|| parse(number)).flatten();
            let Some(value) = value else {
                let digits = digits.min(32);
                let expected =
                    format!("{digits} digits 0-9a-f, as in the first line, or an empty line");
                return Err(wrong(start, expected));
            };
            rows.push(value);
        }
        start += line.len() + 1;
    }
    let mut validity = Validity::all(rows.len());
    for row in empty.iter().copied() {
        validity.clear(row);
    }
    let lanes = match digits {
        1..=4 => Lanes::Bits16(rows.iter().map(|&row| row as u16).collect()),
        5..=8 => Lanes::Bits32(rows.iter().map(|&row| row as u32).collect()),
        0 | 9..=16 => Lanes::Bits64(rows.iter().map(|&row| row as u64).collect()),
        _ => Lanes::Bits128(rows.into()),
    };
    let bits = if digits == 0 { 64 } else { 4 * digits as u32 };
    let validity = (!empty.is_empty()).then_some(validity);
    Ok(FingerprintRows { lanes, bits, validity, recipe: None })
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
            let expected = "f.txt, byte 5: expected 4 digits 0-9a-f, as in the first line, or an \
                            empty line";
            assert_eq!(error, expected);
        }
        assert!(read(&[b'0'; 33], Path::new("f.txt")).is_err());
    }
}
