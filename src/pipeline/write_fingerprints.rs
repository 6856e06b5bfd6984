//! A collection's fingerprints to bytes, in the forms that
//! [`read_fingerprints`](super::join_fingerprints::read_fingerprints) reads.

use super::FingerprintedCollection;
use super::outputs::document_name;
use crate::error::{Error, ErrorKind, Result};
use crate::read::Corpus;
use crate::store::format;
#[cfg(feature = "parquet")]
use crate::write::fingerprint_columns::write_columns;
use crate::write::{fingerprint_text, numpy};
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

/// What a build without Parquet answers.
const PARQUET_OFF: ErrorKind = ErrorKind::FeatureOff { what: "parquet", feature: "parquet" };

/// In which form fingerprints are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerprintOutput {
    /// simtool's packed file.
    Packed,
    /// An array of `uint64`, of shape n or n × 2, the lower half first.
    Numpy,
    /// A hexadecimal number a line.
    Hexadecimal,
    /// A JSON object a line, with the document's name.
    JsonLines,
    /// A Parquet file, with the documents' names.
    Parquet,
}

impl FingerprintOutput {
    /// The form that a file's name asks for: `.npy`, `.txt`, `.jsonl` or `.parquet`, else packed;
    /// `-`, which is standard output, takes JSON Lines.
    ///
    /// # Errors
    ///
    /// This build cannot write Parquet.
    pub fn of(path: &Path) -> Result<Self> {
        Ok(match path.extension().map(OsStr::as_encoded_bytes) {
            None if path.as_os_str() == "-" => Self::JsonLines,
            Some(b"npy") => Self::Numpy,
            Some(b"txt") => Self::Hexadecimal,
            Some(b"jsonl") => Self::JsonLines,
            Some(b"parquet") if cfg!(feature = "parquet") => Self::Parquet,
            Some(b"parquet") => return Err(PARQUET_OFF.into()),
            _ => Self::Packed,
        })
    }
}

/// Writes the fingerprints that were made of `collection` to `out`, which `path` names in messages.
///
/// # Errors
///
/// `out` fails; or documents have no fingerprint and the form cannot tell; or this build does not
/// know the form.
pub fn write_fingerprints(
    collection: &dyn Corpus,
    made: &FingerprintedCollection,
    output: FingerprintOutput,
    path: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    let rows = &old(&made.rows);
    let name = |row| document_name(collection, &made.summary.ids, row);
    let written = match output {
        FingerprintOutput::Packed => format::write(rows, out),
        FingerprintOutput::Numpy => {
            if rows.validity.is_some() {
                let rule = "an array cannot tell which documents have no words and no fingerprint; \
                            name another file, such as .parquet";
                return Err(Error::config("output", path.display(), rule));
            }
            let (count, words) = (rows.lanes.len(), rows.lanes.lane_bits() / 64);
            let shape = if words == 1 { format!("({count},)") } else { format!("({count}, 2)") };
            out.write_all(&numpy::header("<u8", &shape))
                .and_then(|()| out.write_all(&rows.lanes.to_bytes()))
        }
        FingerprintOutput::Hexadecimal => fingerprint_text::write_numbers(rows, out),
        FingerprintOutput::JsonLines => fingerprint_text::write_objects(rows, &name, out),
        #[cfg(feature = "parquet")]
        FingerprintOutput::Parquet => write_columns(rows, &name, out),
        #[cfg(not(feature = "parquet"))]
        FingerprintOutput::Parquet => return Err(PARQUET_OFF.into()),
    };
    written.and_then(|()| out.flush()).map_err(|e| Error::io(path, "write", e))
}

fn old(
    rows: &crate::rows_of_words::FingerprintRows<'_>,
) -> crate::fingerprint_rows::FingerprintRows<'static> {
    use crate::fingerprint_rows::Lanes;
    let lanes = if rows.shape.words() == 1 {
        Lanes::Bits64(rows.words.to_vec().into())
    } else {
        Lanes::Bits128(
            rows.words.chunks(2).map(|w| u128::from(w[1]) << 64 | u128::from(w[0])).collect(),
        )
    };
    crate::fingerprint_rows::FingerprintRows {
        lanes,
        bits: rows.shape.row_bits(),
        validity: rows.validity.clone(),
        recipe: rows.recipe.clone(),
    }
}
