//! Files of fingerprints: rows of any width, read and written in every format.
//!
//! | format | a row is | a row without fingerprint | keeps |
//! | --- | --- | --- | --- |
//! | packed | words as they are in memory | is marked | shape and recipe |
//! | JSON Lines | a hexadecimal number in a field | null | the documents' names |
//! | Parquet | a 64-bit integer, or bytes if it is wider | null | names, shape and recipe |
//! | `NumPy` | one or more `uint64`, the lowest first | cannot be told | |
//! | text | a hexadecimal number in a line | an empty line | |
//!
//! A file is read as what its content says, whatever its name is; its name says how it is written.

mod hexadecimal;
mod json_lines;
mod little_endian;
mod numpy;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod row_ids;

use crate::document_name::DocumentName;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint_rows::FingerprintRows;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

pub use hexadecimal::write_number as write_hexadecimal;
pub use row_ids::{FoundIds, RowIds};

/// Most bits of a row in a file.
pub const MOST_BITS: u32 = 1 << 16;

/// How a file holds fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// simtool's packed file.
    Packed,
    /// An array of `uint64`, of shape n or n × w, the lowest word of a row first.
    Numpy,
    /// A hexadecimal number a line.
    Hexadecimal,
    /// A JSON object a line, with the document's name.
    JsonLines,
    /// A Parquet file, with the documents' names.
    Parquet,
}

/// What becomes of rows without fingerprint where a format cannot tell which these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing is written, and the error names the first of them.
    Refused,
    /// They are written as zeros.
    Zeros,
}

/// Names the document of a row.
pub type NameOf<'n, 'd> = dyn Fn(u32) -> DocumentName<'d> + 'n;

impl FileFormat {
    /// The format that a file's name asks for: `.npy`, `.txt` or `.hex`, `.jsonl`, `.parquet` or
    /// `.pq`; packed for `.f`, `.simtool`, `.bin` and a name without extension; `-`, which is
    /// standard output, takes JSON Lines.
    ///
    /// # Errors
    ///
    /// The name ends in anything else, or this build cannot write the format.
    pub fn of(path: &Path) -> Result<Self> {
        let extension =
            path.extension().map(OsStr::as_encoded_bytes).map(<[u8]>::to_ascii_lowercase);
        Ok(match extension.as_deref() {
            None if path.as_os_str() == "-" => Self::JsonLines,
            None | Some(b"f" | b"simtool" | b"bin") => Self::Packed,
            Some(b"npy") => Self::Numpy,
            Some(b"txt" | b"hex") => Self::Hexadecimal,
            Some(b"jsonl") => Self::JsonLines,
            Some(b"parquet" | b"pq") if cfg!(feature = "parquet") => Self::Parquet,
            Some(b"parquet" | b"pq") => return Err(Self::Parquet.is_off()),
            Some(_) => {
                let rule = "must end in .f, .npy, .txt, .jsonl or .parquet";
                return Err(Error::config("output", path.display(), rule));
            }
        })
    }

    /// The format of a file that begins like these bytes.
    fn of_content(bytes: &[u8]) -> Self {
        if packed::is_packed(bytes) {
            Self::Packed
        } else if numpy::is_numpy(bytes) {
            Self::Numpy
        } else if bytes.starts_with(b"PAR1") {
            Self::Parquet
        } else if bytes.trim_ascii_start().starts_with(b"{") {
            Self::JsonLines
        } else {
            Self::Hexadecimal
        }
    }

    /// Whether the format can tell which rows have no fingerprint. That there are such rows shows
    /// only at the end, so a caller who cannot do without them asks before.
    #[must_use]
    pub fn can_hold_missing(self) -> bool {
        self != Self::Numpy
    }

    /// What a build without the format answers.
    fn is_off(self) -> Error {
        let feature = if self == Self::Parquet { "parquet" } else { "jsonl" };
        ErrorKind::FeatureOff { what: feature, feature }.into()
    }
}

/// The fingerprints of the file with these bytes, whose first ones tell the format; `path` is for
/// messages. Rows are lent where the bytes can be used as they are.
///
/// # Errors
///
/// The file does not hold what its format asks for, or this build cannot read the format.
pub fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let rows = match FileFormat::of_content(bytes) {
        FileFormat::Packed => packed::read(bytes, path)?,
        FileFormat::Numpy => numpy::read(bytes, path)?,
        FileFormat::Hexadecimal => hexadecimal::read(bytes, path)?,
        FileFormat::JsonLines => json_lines::read(bytes, path)?,
        #[cfg(feature = "parquet")]
        FileFormat::Parquet => parquet::read(bytes, path)?,
        #[cfg(not(feature = "parquet"))]
        lacking => return Err(lacking.is_off()),
    };
    if !has_row_numbers(&rows) {
        let expected = format!("fewer than {} rows", u32::MAX);
        return Err(ErrorKind::Format { path: path.to_owned(), byte: 0, expected }.into());
    }
    Ok(rows)
}

/// Writes `rows` to `out`, which `path` names in messages; `name` names the documents of rows where
/// the format has a place for that.
///
/// # Errors
///
/// `out` fails; rows have no fingerprint, the format cannot tell and `missing` refuses that; there
/// are too many rows or too wide ones; or this build cannot write the format.
pub fn write(
    rows: &FingerprintRows<'_>,
    name: &NameOf<'_, '_>,
    format: FileFormat,
    missing: Missing,
    path: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    if rows.shape.row_bits() > MOST_BITS {
        let rule = format!("a file holds rows of at most {MOST_BITS} bits");
        return Err(Error::limit(format!("rows of {}", rows.shape), rule));
    }
    if !has_row_numbers(rows) {
        let rule = format!("a file holds fewer than {} rows", u32::MAX);
        return Err(Error::limit(format!("{} rows", rows.len()), rule));
    }
    let written = match format {
        FileFormat::Packed => packed::write(rows, out),
        FileFormat::Numpy => {
            if missing == Missing::Refused {
                numpy::refuse_missing(rows, path)?;
            }
            numpy::write(rows, out)
        }
        FileFormat::Hexadecimal => hexadecimal::write(rows, out),
        FileFormat::JsonLines => json_lines::write(rows, name, out),
        #[cfg(feature = "parquet")]
        FileFormat::Parquet => parquet::write(rows, name, out),
        #[cfg(not(feature = "parquet"))]
        FileFormat::Parquet => return Err(format.is_off()),
    };
    written.and_then(|()| out.flush()).map_err(|e| Error::io(path, "write", e))
}

/// Whether the rows can be numbered with 32 bits.
fn has_row_numbers(rows: &FingerprintRows<'_>) -> bool {
    u32::try_from(rows.len()).is_ok_and(|rows| rows < u32::MAX)
}

/// Whether no row with a fingerprint has a bit beyond those of the shape.
fn ends_in_zeros(rows: &FingerprintRows<'_>) -> bool {
    let used = rows.shape.row_bits() % u64::BITS;
    used == 0 || (0..rows.len()).filter_map(|row| rows.row(row)?.last()).all(|&w| w >> used == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::{RowsBuilder, Shape};
    use crate::stable_hash::mix;
    use std::borrow::Cow;

    fn name(row: u32) -> DocumentName<'static> {
        let id = Cow::Owned(format!("d{row}").into_bytes());
        DocumentName { id, file: Path::new("in.txt"), record: row.into() }
    }

    /// Nine rows, of which the third and the last have no fingerprint.
    fn sample(shape: Shape) -> FingerprintRows<'static> {
        let mut rows = RowsBuilder::new(shape);
        for row in 0..9 {
            let mut words: Vec<u64> =
                (0..shape.words() as u64).map(|word| mix(1000 * row + word + 1)).collect();
            let used = shape.row_bits() % 64;
            if used > 0 {
                *words.last_mut().unwrap() &= (1 << used) - 1;
            }
            rows.push((row != 2 && row != 8).then_some(&words));
        }
        FingerprintRows { recipe: Some("test/shingle=3".to_owned()), ..rows.finish() }
    }

    fn written(rows: &FingerprintRows<'_>, format: FileFormat, missing: Missing) -> Vec<u8> {
        let mut out = Vec::new();
        write(rows, &name, format, missing, Path::new("f"), &mut out).unwrap();
        out
    }

    #[test]
    fn names_tell_the_format() {
        let check = |path: &str, expected: Option<FileFormat>| match (
            FileFormat::of(Path::new(path)),
            expected,
        ) {
            (Ok(found), Some(expected)) => assert_eq!(found, expected, "{path}"),
            (Err(error), None) => {
                let rule = "must end in .f, .npy, .txt, .jsonl or .parquet";
                assert_eq!(error.to_string(), format!("output {path}: {rule}"));
            }
            (found, _) => panic!("{path}: {found:?}"),
        };
        for packed in ["f", "a.b/f", "x.f", "x.simtool", "x.bin", ".f"] {
            check(packed, Some(FileFormat::Packed));
        }
        check("x.npy", Some(FileFormat::Numpy));
        check("x.txt", Some(FileFormat::Hexadecimal));
        check("x.hex", Some(FileFormat::Hexadecimal));
        check("x.JSONL", Some(FileFormat::JsonLines));
        check("-", Some(FileFormat::JsonLines));
        if cfg!(feature = "parquet") {
            check("x.parquet", Some(FileFormat::Parquet));
            check("x.pq", Some(FileFormat::Parquet));
        }
        for other in ["x.csv", "x.tsv", "x.json", "x.f.gz", "x.md", "x.", "run-2024.10"] {
            check(other, None);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut shapes = [64, 128, 256, 512].map(Shape::bits).to_vec();
        shapes.extend([Shape::lanes(128, 4), Shape::lanes_or_null(3), Shape::votes(5, 2)]);
        for shape in shapes {
            let rows = sample(shape);
            let plain = FingerprintRows {
                recipe: None,
                shape: Shape::bits(shape.row_bits()),
                ..rows.clone()
            };
            let check = |format, expected: &FingerprintRows<'_>| {
                let bytes = written(&rows, format, Missing::Refused);
                let found = read(&bytes, Path::new("f")).unwrap();
                assert_eq!(&found, expected, "{format:?}, {shape}");
            };
            check(FileFormat::Packed, &rows);
            check(FileFormat::Hexadecimal, &plain);
            check(FileFormat::JsonLines, &plain);
            #[cfg(feature = "parquet")]
            check(FileFormat::Parquet, &rows);
            let bytes = written(&rows, FileFormat::Numpy, Missing::Zeros);
            let expected = FingerprintRows { validity: None, ..plain };
            assert_eq!(read(&bytes, Path::new("f")).unwrap(), expected, "array, {shape}");
        }
    }

    #[test]
    fn rows_of_other_widths_come_back_where_the_format_tells_them() {
        for bits in [1, 16, 60, 100, 1000, MOST_BITS] {
            let rows = sample(Shape::bits(bits));
            let mut formats = vec![FileFormat::Packed];
            if cfg!(feature = "parquet") {
                formats.push(FileFormat::Parquet);
            }
            for format in formats {
                let bytes = written(&rows, format, Missing::Refused);
                assert_eq!(read(&bytes, Path::new("f")).unwrap(), rows, "{format:?}, {bits}");
            }
            // Text has whole digits.
            let bytes = written(&rows, FileFormat::Hexadecimal, Missing::Refused);
            let found = read(&bytes, Path::new("f")).unwrap();
            assert_eq!((found.words, found.validity), (rows.words, rows.validity));
            assert_eq!(found.shape.row_bits(), bits.next_multiple_of(4));
        }
    }

    #[test]
    fn rows_that_no_file_can_hold_are_refused() {
        let rows = sample(Shape::bits(MOST_BITS + 1));
        let refused = |rows: &FingerprintRows<'_>, format| {
            let path = Path::new("f.npy");
            let mut out = Vec::new();
            let written = write(rows, &name, format, Missing::Refused, path, &mut out);
            assert!(out.is_empty());
            written.unwrap_err().to_string()
        };
        let expected = "rows of 65537 bits: a file holds rows of at most 65536 bits";
        assert_eq!(refused(&rows, FileFormat::Packed), expected);
        let expected = "output f.npy: an array cannot tell which documents have no words and no \
                        fingerprint, here rows 2, 8; name another file, such as .parquet";
        assert_eq!(refused(&sample(Shape::bits(64)), FileFormat::Numpy), expected);
        assert!(!FileFormat::Numpy.can_hold_missing() && FileFormat::Packed.can_hold_missing());
    }
}
