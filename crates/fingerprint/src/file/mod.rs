//! Files of fingerprints, in several formats. Each row of a file is the fingerprint of one
//! document.
//!
//! | format | a row is | a row without fingerprint | the file also contains |
//! | --- | --- | --- | --- |
//! | packed | words as in memory | is marked | shape and recipe |
//! | JSON Lines | a hexadecimal number in a field | is null | names of documents |
//! | Parquet | a 64-bit integer, or bytes if it is wider | is null | names, shape and recipe |
//! | `NumPy` | one or more `uint64`, lowest first | is zeros | |
//! | text | a hexadecimal number in a line | is an empty line | |
//!
//! The format of a file that is read follows from its content, not from its name. The name decides the
//! format of a file that is written. [`FILE_FORMATS`] lists the formats. To add one, write its file
//! with a [`FileFormat`] and add it to the table.

mod checked_rows;
mod format;
mod hexadecimal;
mod json_lines;
mod little_endian;
mod numpy;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod row_ids;
#[cfg(feature = "parquet")]
mod shape_text;

use checked_rows::missing_rows;
use format::NameOf;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_model::fingerprint_rows::FingerprintRows;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

pub use format::{FileFormat, FoundIds, MOST_BITS};
pub use hexadecimal::write_number as write_hexadecimal;
pub use row_ids::RowIds;

/// Maximum number of rows that an error message lists.
const ROWS_LISTED: usize = 5;

/// All formats. A file is read with the first format whose `is_format_of` accepts it. So the format
/// without a signature, which accepts everything, is the last one.
pub const FILE_FORMATS: &[FileFormat] = &[
    packed::FORMAT,
    numpy::FORMAT,
    #[cfg(feature = "parquet")]
    parquet::FORMAT,
    #[cfg(not(feature = "parquet"))]
    PARQUET_WITHOUT_FEATURE,
    json_lines::FORMAT,
    hexadecimal::FORMAT,
];

/// Entry for Parquet in a build without the Parquet library. The errors of this format describe how to
/// get a build with the library.
#[cfg(not(feature = "parquet"))]
const PARQUET_WITHOUT_FEATURE: FileFormat = FileFormat {
    name: "parquet",
    extensions: &["parquet", "pq"],
    help: "a Parquet file (this build cannot write it)",
    missing_feature: Some("parquet"),
    is_format_of: |bytes| bytes.starts_with(b"PAR1"),
    ..packed::FORMAT
};

// These functions read the table, which the file of the type does not know.
impl FileFormat {
    /// Returns the format that the extension of an output file selects. The path `-`, which means
    /// standard output, selects JSON Lines.
    ///
    /// ```
    /// use simtool_fingerprint::file::FileFormat;
    /// use std::path::Path;
    ///
    /// let format = FileFormat::for_output(Path::new("fingerprints.npy"))?;
    /// assert_eq!((format.name, format.marks_missing), ("numpy", false));
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No format has the extension, or this build cannot write the format.
    pub fn for_output(path: &Path) -> Result<&'static Self> {
        if path.as_os_str() == "-" {
            return Ok(&json_lines::FORMAT);
        }
        let extension = path.extension().map_or("".as_ref(), OsStr::as_encoded_bytes);
        let has_extension = |format: &&Self| {
            format.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known.as_bytes()))
        };
        // A trailing dot is an empty extension, but not a name without extension.
        let is_ambiguous = extension.is_empty() && path.extension().is_some();
        let format = FILE_FORMATS.iter().find(has_extension).filter(|_| !is_ambiguous);
        let Some(format) = format else {
            let usual: Vec<_> = FILE_FORMATS.iter().map(Self::usual_extension).collect();
            let rule = format!("must end in one of {}", usual.join(", "));
            return Err(Error::config("output", path.display(), rule));
        };
        format.check_feature()?;
        Ok(format)
    }

    /// Returns the format of a file with this content.
    fn from_content(bytes: &[u8]) -> &'static Self {
        let found = FILE_FORMATS.iter().find(|format| (format.is_format_of)(bytes));
        found.unwrap_or(&hexadecimal::FORMAT)
    }

    /// Returns the extension that error messages suggest, with its dot.
    fn usual_extension(&self) -> String {
        format!(".{}", self.extensions[0])
    }

    /// Returns an error if this build lacks the format.
    fn check_feature(&self) -> Result<()> {
        match self.missing_feature {
            Some(feature) => Err(ErrorKind::FeatureOff { what: feature, feature }.into()),
            None => Ok(()),
        }
    }

    /// Returns an error if some rows have no fingerprint and this format cannot mark such rows.
    ///
    /// # Errors
    ///
    /// Some rows have no fingerprint, and the format cannot mark them. The error lists the first
    /// such rows.
    pub fn check_missing(&self, rows: &FingerprintRows<'_>, path: &Path) -> Result<()> {
        // Zeros would be read back as a real fingerprint, and then all documents without words
        // would be near-duplicates of each other. So a format that cannot mark such rows is
        // refused.
        let mut missing = missing_rows(rows);
        let listed: Vec<_> =
            missing.by_ref().take(ROWS_LISTED).map(|row| row.to_string()).collect();
        if self.marks_missing || listed.is_empty() {
            return Ok(());
        }
        let more = match missing.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let row = if listed.len() == 1 { "row" } else { "rows" };
        let rule = format!(
            "{} cannot mark documents without words, which have no fingerprint (here {row} {}{more}). \
             Use a file of another format, for example .parquet",
            self.usual_extension(),
            listed.join(", ")
        );
        Err(Error::config("output", path.display(), rule))
    }

    /// Writes `rows` to `out`. `name` returns the name of the document of a row, for formats that
    /// contain names. `path` is only for error messages.
    ///
    /// # Errors
    ///
    /// `out` fails, there are too many rows, the rows are too wide, or this build cannot write the
    /// format.
    pub fn write(
        &self,
        rows: &FingerprintRows<'_>,
        name: &NameOf<'_, '_>,
        path: &Path,
        out: &mut dyn Write,
    ) -> Result<()> {
        self.check_feature()?;
        if rows.shape.row_bits() > MOST_BITS {
            let rule = format!("a file can hold rows of at most {MOST_BITS} bits");
            return Err(Error::limit(format!("rows of {}", rows.shape), rule));
        }
        if !has_row_numbers(rows) {
            let rule = format!("a file can have at most {} rows", u32::MAX - 1);
            return Err(Error::limit(format!("{} rows", rows.len()), rule));
        }
        let written = (self.write)(rows, name, out);
        // A buffered writer that is dropped hides the errors of its last bytes, so it is flushed
        // here.
        written.and_then(|()| out.flush()).map_err(|error| Error::io(path, "write", error))
    }
}

/// Reads the fingerprints of a file with the content `bytes`. The first bytes decide the format.
/// `path` is for error messages. If possible, the result borrows `bytes` instead of copying them.
///
/// # Errors
///
/// The content does not follow its format, or this build cannot read the format.
pub fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let format = FileFormat::from_content(bytes);
    format.check_feature()?;
    let rows = (format.read)(bytes, path)?;
    if !has_row_numbers(&rows) {
        let expected = format!("fewer than {} rows", u32::MAX);
        return Err(ErrorKind::Format { path: path.to_owned(), byte: 0, expected }.into());
    }
    Ok(rows)
}

/// Describes the formats and their extensions, one per line, for help texts.
#[must_use]
pub fn describe_formats() -> String {
    let describe = |format: &FileFormat| {
        let extensions = format.extensions.iter().map(|extension| match *extension {
            "" => "no extension".to_owned(),
            extension => format!(".{extension}"),
        });
        format!("{}: {}", extensions.collect::<Vec<_>>().join(", "), format.help)
    };
    FILE_FORMATS.iter().map(describe).collect::<Vec<_>>().join("\n")
}

/// Whether 32 bits are enough to number the rows. The highest 32-bit number is reserved, so it
/// cannot be the number of a row.
fn has_row_numbers(rows: &FingerprintRows<'_>) -> bool {
    u32::try_from(rows.len()).is_ok_and(|rows| rows < u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_model::document_name::DocumentName;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use std::borrow::Cow;

    fn name(row: u32) -> DocumentName<'static> {
        let id = Cow::Owned(format!("d{row}").into_bytes());
        DocumentName { id, is_number: false, file: Path::new("in.txt"), record: row.into() }
    }

    /// Returns nine rows. The third and the last have no fingerprint.
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

    fn written(rows: &FingerprintRows<'_>, format: &FileFormat) -> Vec<u8> {
        let mut out = Vec::new();
        format.write(rows, &name, Path::new("f"), &mut out).unwrap();
        out
    }

    #[test]
    fn extensions_select_the_format() {
        let check = |path: &str, expected: &FileFormat| {
            assert_eq!(FileFormat::for_output(Path::new(path)).unwrap(), expected, "{path}");
        };
        for packed in ["f", "a.b/f", "x.f", "x.simtool", "x.bin", ".f"] {
            check(packed, &packed::FORMAT);
        }
        check("x.npy", &numpy::FORMAT);
        check("x.txt", &hexadecimal::FORMAT);
        check("x.hex", &hexadecimal::FORMAT);
        check("x.JSONL", &json_lines::FORMAT);
        check("-", &json_lines::FORMAT);
        #[cfg(feature = "parquet")]
        for path in ["x.parquet", "x.pq"] {
            check(path, &parquet::FORMAT);
        }
        for other in ["x.csv", "x.tsv", "x.json", "x.f.gz", "x.md", "x.", "run-2024.10"] {
            let error = FileFormat::for_output(Path::new(other)).unwrap_err().to_string();
            let rule = "must end in one of .f, .npy, .parquet, .jsonl, .txt";
            assert_eq!(error, format!("output {other}: {rule}"));
        }
    }

    #[test]
    fn help_describes_every_format() {
        let help = describe_formats();
        assert!(help.starts_with(".f, .simtool, .bin, no extension: "), "{help}");
        for format in FILE_FORMATS {
            assert!(
                help.contains(format.help) && help.contains(&format.usual_extension()),
                "{help}"
            );
        }
    }

    #[test]
    fn written_rows_are_read_back() {
        let mut shapes = [64, 128, 256, 512].map(Shape::bits).to_vec();
        shapes.extend([Shape::lanes(128, 4), Shape::lanes_or_null(3), Shape::votes(5, 2)]);
        for shape in shapes {
            let rows = sample(shape);
            // Formats without metadata lose the recipe and the meaning of the bits.
            let plain = FingerprintRows {
                recipe: None,
                shape: Shape::bits(shape.row_bits()),
                ..rows.clone()
            };
            let without_marks = FingerprintRows { validity: None, ..plain.clone() };
            for format in FILE_FORMATS.iter().filter(|format| format.missing_feature.is_none()) {
                let expected = match format.name {
                    "packed" | "parquet" => &rows,
                    _ if format.marks_missing => &plain,
                    _ => &without_marks,
                };
                let found = written(&rows, format);
                assert_eq!(&read(&found, Path::new("f")).unwrap(), expected, "{format:?}, {shape}");
            }
        }
    }

    #[test]
    fn rows_of_any_width_are_read_back_from_formats_with_metadata() {
        for bits in [1, 16, 60, 100, 1000, MOST_BITS] {
            let rows = sample(Shape::bits(bits));
            let is_exact = |format: &&FileFormat| {
                matches!(format.name, "packed" | "parquet") && format.missing_feature.is_none()
            };
            for format in FILE_FORMATS.iter().filter(is_exact) {
                let bytes = written(&rows, format);
                assert_eq!(read(&bytes, Path::new("f")).unwrap(), rows, "{format:?}, {bits}");
            }
            // Text has whole digits.
            let bytes = written(&rows, &hexadecimal::FORMAT);
            let found = read(&bytes, Path::new("f")).unwrap();
            assert_eq!((found.words, found.validity), (rows.words, rows.validity));
            assert_eq!(found.shape.row_bits(), bits.next_multiple_of(4));
        }
    }

    #[test]
    fn rows_that_no_file_can_hold_are_refused() {
        let rows = sample(Shape::bits(MOST_BITS + 1));
        let mut out = Vec::new();
        let refused = packed::FORMAT.write(&rows, &name, Path::new("f.f"), &mut out).unwrap_err();
        assert!(out.is_empty());
        let expected = "rows of 65537 bits: a file can hold rows of at most 65536 bits";
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn a_format_that_cannot_mark_missing_rows_refuses_them() {
        let rows = sample(Shape::bits(64));
        let refused = numpy::FORMAT.check_missing(&rows, Path::new("f.npy")).unwrap_err();
        let expected = "output f.npy: .npy cannot mark documents without words, which have no \
                        fingerprint (here rows 2, 8). Use a file of another format, for example \
                        .parquet";
        assert_eq!(refused.to_string(), expected);
        assert!(packed::FORMAT.check_missing(&rows, Path::new("f.f")).is_ok());
    }
}
