//! `NumPy`'s `.npy` files of fingerprints: one array of unsigned integers, of shape n or n × w.
//!
//! # References
//!
//! R. Kern, "NEP 1: A simple file format for `NumPy` arrays", 2007.

use crate::error::{ErrorKind, Result};
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY";
const EXPECTED: &str = "a C-ordered array of '<u8' with shape (n,) or (n, w), w 1 or 2; or of '<u4' \
                        or '<u2' with shape (n,)";

/// Whether `bytes` begin like an `.npy` file.
#[must_use]
pub fn is_numpy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The fingerprints of the `.npy` file `bytes`; `path` is for messages. In rows of two words, the
/// first is the lower one.
///
/// # Errors
///
/// The file is cut short, or holds another kind of array.
pub fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let wrong = |byte: usize, expected: String| {
        let path = path.to_owned();
        crate::Error::from(ErrorKind::Format { path, byte: byte as u64, expected })
    };
    let (start, length): (usize, usize) = match bytes.get(6..12) {
        Some(&[1, _, a, b, _, _]) => (10, usize::from(u16::from_le_bytes([a, b]))),
        Some(&[2 | 3, _, a, b, c, d]) => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return Err(wrong(6, "the version of an .npy file, 1 to 3, and its header".into())),
    };
    let header = bytes.get(start..start + length);
    let Some(header) = header.and_then(|header| std::str::from_utf8(header).ok()) else {
        return Err(wrong(start, format!("a header of {length} bytes")));
    };
    let word_bits = match field(header, "descr") {
        Some(descr) if descr.starts_with("'<u8'") => 64,
        Some(descr) if descr.starts_with("'<u4'") => 32,
        Some(descr) if descr.starts_with("'<u2'") => 16,
        _ => return Err(wrong(start, EXPECTED.into())),
    };
    let c_order = field(header, "fortran_order").is_some_and(|order| order.starts_with("False"));
    let shape = field(header, "shape").and_then(shape);
    let (rows, bits) = match shape.as_deref() {
        Some(&[rows]) if c_order => (rows, word_bits),
        Some(&[rows, words @ 1..=2]) if c_order && word_bits == 64 => (rows, 64 * words as u32),
        _ => return Err(wrong(start, EXPECTED.into())),
    };
    let data = &bytes[start + length..];
    if rows.checked_mul(bits as usize / 8) != Some(data.len()) {
        return Err(wrong(
            start + length,
            format!("{rows} rows of {bits} bits up to the file's end"),
        ));
    }
    let Some(lanes) = Lanes::from_bytes(data, bits) else {
        return Err(wrong(start + length, "whole rows".into()));
    };
    Ok(FingerprintRows { lanes, bits, validity: None, recipe: None })
}

/// What follows `'name':` in the header.
fn field<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    Some(rest.trim_start())
}

/// The numbers of a tuple: `(3,)`, `(3, 2)`.
fn shape(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.split_once(')')?.0;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn check(header: &str, data: &[u8], expected: Option<(usize, u32)>) {
        let bytes = file(header, data);
        let found = read(&bytes, Path::new("f.npy"));
        assert_eq!(found.ok().map(|rows| (rows.lanes.len(), rows.bits)), expected, "{header}");
    }

    #[test]
    fn shapes_and_types() {
        let plain = "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }      \n";
        check(plain, &[7; 16], Some((2, 64)));
        check(plain, &[7; 15], None);
        check(&plain.replace("(2,)", "(2, 1)"), &[7; 16], Some((2, 64)));
        check(&plain.replace("(2,)", "(2, 2)"), &[7; 32], Some((2, 128)));
        check(&plain.replace("(2,)", "(2, 4)"), &[7; 64], None);
        check(&plain.replace("(2,)", "()"), &[], None);
        check(&plain.replace("(2,)", "(0,)"), &[], Some((0, 64)));
        check(&plain.replace("<u8", "<u4"), &[7; 8], Some((2, 32)));
        check(&plain.replace("<u8", "<f8"), &[7; 16], None);
        check(&plain.replace("False", "True"), &[7; 16], None);
        check(&plain.replace("(2,)", "(99999999999999999999,)"), &[], None);
    }

    #[test]
    fn a_file_cut_short_is_refused() {
        let bytes = file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", &[1; 8]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end], Path::new("f.npy")).is_err());
        }
    }
}
