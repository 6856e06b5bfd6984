//! Fingerprints as `NumPy`'s `.npy` files: one array of unsigned integers of shape n, or n × w with
//! the lowest word of each row first. An array cannot mark rows without a fingerprint.
//!
//! # References
//!
//! R. Kern, "NEP 1: A simple file format for `NumPy` arrays", 2007.

use super::checked_rows::missing_rows;
use super::format::{FileFormat, FoundIds, MOST_BITS};
use super::little_endian;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::numpy_header;
use std::io::{self, Write};
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY";
const EXPECTED: &str = "a C-ordered array of '<u8' with shape (n,) or (n, w), w from 1 to 1024; or \
                        of '<u4' or '<u2' with shape (n,)";
/// Maximum number of 64-bit words in a fingerprint.
const MOST_WORDS: usize = (MOST_BITS / u64::BITS) as usize;

/// The format of `NumPy` as an entry of [`FILE_FORMATS`](super::FILE_FORMATS), the table of file formats.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "numpy",
    extensions: &["npy"],
    help: "a NumPy array of uint64 of shape n, or n x words with the lowest word first; it cannot mark \
           documents without words",
    marks_missing: false,
    missing_feature: None,
    is_format_of: is_numpy,
    read,
    write: |rows, _, out| write(rows, out),
    has_ids: |_, _| Ok(false),
    find_ids: |_, _| Ok(FoundIds::default()),
};

/// Whether `bytes` begin with the signature of an `.npy` file.
fn is_numpy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads the fingerprints of an `.npy` file. `path` is for error messages.
///
/// # Errors
///
/// The file is truncated, or contains an array of another type or shape.
fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let wrong = |byte: usize, expected: String| {
        let path = path.to_owned();
        Error::from(ErrorKind::Format { path, byte: byte as u64, expected })
    };
    // Bytes 6 and 7 are the version. The length of the header follows: 16 bits in version 1, and 32
    // bits in versions 2 and 3, for headers of more than 65,535 bytes.
    let (start, length): (usize, usize) = match bytes.get(6..12) {
        Some(&[1, _, a, b, _, _]) => (10, usize::from(u16::from_le_bytes([a, b]))),
        Some(&[2 | 3, _, a, b, c, d]) => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return Err(wrong(6, "the version of an .npy file, 1 to 3, and its header".into())),
    };
    let header = bytes.get(start..start.saturating_add(length));
    let Some(header) = header.and_then(|header| std::str::from_utf8(header).ok()) else {
        return Err(wrong(start, format!("a header of {length} bytes")));
    };
    let number_bytes = match field(header, "descr") {
        Some(descr) if descr.starts_with("'<u8'") => 8,
        Some(descr) if descr.starts_with("'<u4'") => 4,
        Some(descr) if descr.starts_with("'<u2'") => 2,
        _ => return Err(wrong(start, EXPECTED.into())),
    };
    // In Fortran order, the words of a row would not be adjacent.
    let c_order = field(header, "fortran_order").is_some_and(|order| order.starts_with("False"));
    let dimensions = field(header, "shape").and_then(tuple);
    let (rows, row_bytes) = match dimensions.as_deref() {
        Some(&[rows]) if c_order => (rows, number_bytes),
        Some(&[rows, words @ 1..=MOST_WORDS]) if c_order && number_bytes == 8 => (rows, 8 * words),
        _ => return Err(wrong(start, EXPECTED.into())),
    };
    let data = &bytes[start + length..];
    let bits = 8 * row_bytes as u32;
    // More bytes are refused as well. They would mean that the header is wrong, and then the rows
    // are, too.
    if rows.checked_mul(row_bytes) != Some(data.len()) {
        let expected = format!("{rows} rows of {bits} bits up to the file's end");
        return Err(wrong(start + length, expected));
    }
    let words = match number_bytes {
        8 => little_endian::words(data),
        _ => little_endian::widened(data, number_bytes).into(),
    };
    Ok(FingerprintRows { shape: Shape::bits(bits), words, validity: None, recipe: None })
}

/// Returns the rest of the header text after the key `'name':`, which begins with the value of the key. Returns `None`
/// if the header has no such key.
fn field<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    Some(rest.trim_start())
}

/// Parses the numbers of a tuple such as `(3,)` or `(3, 2)`. Returns `None` if the text is no
/// tuple.
fn tuple(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.split_once(')')?.0;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

/// Writes the fingerprints as an array. A row without a fingerprint becomes zeros.
///
/// # Errors
///
/// `out` fails.
fn write(rows: &FingerprintRows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let count = rows.len();
    let words = rows.shape.words();
    let shape = if words == 1 { format!("({count},)") } else { format!("({count}, {words})") };
    out.write_all(&numpy_header::header("<u8", &shape))?;
    // The rows between two missing ones are written as one piece. The words of a missing row are
    // undefined, so they are not written.
    let zeros = vec![0; words];
    let mut done = 0;
    for row in missing_rows(rows) {
        let at = row * words;
        little_endian::hand_over(&rows.words[done..at], |bytes| out.write_all(bytes))?;
        little_endian::hand_over(&zeros, |bytes| out.write_all(bytes))?;
        done = at + words;
    }
    little_endian::hand_over(&rows.words[done..], |bytes| out.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::validity::Validity;

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
        let found = found.ok().map(|rows| (rows.len(), rows.shape.row_bits()));
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn shapes_and_types() {
        let plain = "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }      \n";
        check(plain, &[7; 16], Some((2, 64)));
        check(plain, &[7; 15], None);
        check(&plain.replace("(2,)", "(2, 1)"), &[7; 16], Some((2, 64)));
        check(&plain.replace("(2,)", "(2, 2)"), &[7; 32], Some((2, 128)));
        check(&plain.replace("(2,)", "(2, 4)"), &[7; 64], Some((2, 256)));
        check(&plain.replace("(2,)", "(1, 1024)"), &[7; 8192], Some((1, 65536)));
        check(&plain.replace("(2,)", "(1, 1025)"), &[7; 8200], None);
        check(&plain.replace("(2,)", "(2, 0)"), &[], None);
        check(&plain.replace("(2,)", "(2, 2, 2)"), &[7; 64], None);
        check(&plain.replace("(2,)", "()"), &[], None);
        check(&plain.replace("(2,)", "(0,)"), &[], Some((0, 64)));
        check(&plain.replace("(2,)", "(0, 8)"), &[], Some((0, 512)));
        check(&plain.replace("<u8", "<u4"), &[7; 8], Some((2, 32)));
        check(&plain.replace("<u8", "<u2"), &[7; 4], Some((2, 16)));
        check(&plain.replace("<u8", "<u4").replace("(2,)", "(2, 2)"), &[7; 16], None);
        check(&plain.replace("<u8", "<f8"), &[7; 16], None);
        check(&plain.replace("False", "True"), &[7; 16], None);
        check(&plain.replace("(2,)", "(99999999999999999999,)"), &[], None);
        check(&plain.replace("(2,)", "(9999999999999999999, 4)"), &[], None);
    }

    #[test]
    fn narrow_numbers_are_widened() {
        let bytes =
            file("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }", &[1, 2, 3, 4]);
        assert_eq!(read(&bytes, Path::new("f.npy")).unwrap().words[..], [0x0201, 0x0403]);
    }

    #[test]
    fn a_file_cut_short_is_refused() {
        let bytes = file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", &[1; 8]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end], Path::new("f.npy")).is_err());
        }
    }

    #[test]
    fn rows_of_a_word_have_one_dimension_however_few_bits_they_have() {
        for (bits, shape) in
            [(16, "(2,)"), (32, "(2,)"), (64, "(2,)"), (128, "(1, 2)"), (512, "(1, 8)")]
        {
            let shape_of_rows = Shape::bits(bits);
            let words = (0..2.max(shape_of_rows.words() as u64)).collect::<Vec<_>>();
            let words = words.into();
            let rows =
                FingerprintRows { shape: shape_of_rows, words, validity: None, recipe: None };
            let mut out = Vec::new();
            write(&rows, &mut out).unwrap();
            let header = format!("'descr': '<u8', 'fortran_order': False, 'shape': {shape}");
            let found = String::from_utf8_lossy(&out[..128]).into_owned();
            assert!(found.contains(&header), "{bits}: {found}");
            assert_eq!(out.len(), 128 + 8 * rows.words.len());
        }
    }

    #[test]
    fn rows_without_fingerprint_are_named_or_zeros() {
        let mut validity = Validity::all(12);
        (0..12).filter(|row| row % 3 != 1).for_each(|row| validity.clear(row));
        let words = vec![9; 12].into();
        let validity = Some(validity);
        let rows = FingerprintRows { shape: Shape::bits(64), words, validity, recipe: None };
        let error = FORMAT.check_missing(&rows, Path::new("f.npy")).unwrap_err().to_string();
        assert!(error.contains("(here rows 0, 2, 3, 5, 6 and 3 more). Use"), "{error}");
        let mut out = Vec::new();
        write(&rows, &mut out).unwrap();
        let found = read(&out, Path::new("f.npy")).unwrap();
        assert_eq!(found.words[..], [0, 9, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0]);
        let all = FingerprintRows { validity: Some(Validity::all(12)), ..rows };
        assert!(FORMAT.check_missing(&all, Path::new("f.npy")).is_ok());
    }
}
