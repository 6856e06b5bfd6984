//! IDs of documents in a file of fingerprints. They let people see which documents a pair of row numbers means.
//!
//! The IDs are only decoded when the first ID is needed. So a join that finds no pair, or only counts pairs, takes no
//! longer.

use super::format::{FileFormat, FoundIds};
use simtool_base::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The document IDs in a file of fingerprints. They are decoded when they are first needed.
pub struct RowIds<'a> {
    bytes: &'a [u8],
    path: PathBuf,
    format: &'static FileFormat,
    found: OnceLock<Result<FoundIds<'a>>>,
}

impl fmt::Debug for RowIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RowIds");
        shown.field("path", &self.path).field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl<'a> RowIds<'a> {
    /// Prepares to read the IDs of a file whose content is `bytes`. [`read`](super::read) must have
    /// accepted the file before. Returns `None` if the file has no IDs. `path` is for error
    /// messages.
    ///
    /// # Errors
    ///
    /// The file cannot be decoded.
    pub fn from_bytes(bytes: &'a [u8], path: &Path) -> Result<Option<Self>> {
        let format = FileFormat::from_content(bytes);
        let has_ids = (format.has_ids)(bytes, path)?;
        let path = path.to_owned();
        Ok(has_ids.then_some(Self { bytes, path, format, found: OnceLock::new() }))
    }

    /// Returns the decoded IDs. The first call decodes them.
    ///
    /// # Errors
    ///
    /// The IDs cannot be decoded.
    pub fn found(&self) -> Result<&FoundIds<'a>> {
        let found = self.found.get_or_init(|| (self.format.find_ids)(self.bytes, &self.path));
        found.as_ref().map_err(|error| {
            Error::io(&self.path, "read the IDs of", io::Error::other(error.to_string()))
        })
    }
}

impl FoundIds<'_> {
    /// Returns the ID of the document of row number `row`, or `None` if it has none.
    #[must_use]
    pub fn id(&self, row: u32) -> Option<Cow<'_, [u8]>> {
        let row = row as usize;
        let id = match self {
            Self::Nothing => None,
            Self::Lines { bytes, starts, parse } => {
                let end = starts.get(row + 1).copied().unwrap_or(bytes.len());
                parse(bytes.get(*starts.get(row)?..end)?)
            }
            Self::Column { ids, ends } => {
                let start = if row == 0 { 0 } else { *ends.get(row - 1)? };
                Some(Cow::Borrowed(&ids[start..*ends.get(row)?]))
            }
        };
        // A null in a column was stored as an empty ID.
        id.filter(|id| !id.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(bytes: &[u8]) -> Option<Vec<Option<String>>> {
        let ids = RowIds::from_bytes(bytes, Path::new("f")).unwrap()?;
        let found = ids.found().unwrap();
        let text = |id: Cow<'_, [u8]>| String::from_utf8(id.into_owned()).unwrap();
        Some((0..4).map(|row| found.id(row).map(text)).collect())
    }

    #[test]
    fn lines_tell_their_ids() {
        let lines =
            b"{\"id\":\"a\\tb\",\"fingerprint\":\"ff\"}\n{\"fingerprint\":null,\"id\":12.50}\r\n\
            {\"fingerprint\":\"fe\",\"x\":{\"id\":1}}\n{\"id\":\"\",\"fingerprint\":\"ff\"}";
        let some = |id: &str| Some(id.to_owned());
        assert_eq!(ids(lines), Some(vec![some("a\tb"), some("12.50"), None, None]));
        assert_eq!(ids(b"{\"fingerprint\":\"ff\"}\n{\"id\":1,\"fingerprint\":\"ff\"}\n"), None);
        assert_eq!(ids(b"00ff\n"), None);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn a_column_tells_its_ids() {
        use simtool_model::document_name::DocumentName;
        use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
        let mut rows = RowsBuilder::new(Shape::bits(64));
        rows.push(Some(&[1]));
        rows.push(None);
        rows.push(Some(&[2]));
        let name = |row: u32| DocumentName {
            id: Cow::Owned(if row == 1 { Vec::new() } else { format!("d{row}").into_bytes() }),
            is_number: false,
            file: Path::new("x"),
            record: 0,
        };
        let mut out = Vec::new();
        let format = FileFormat::for_output(Path::new("f.parquet")).unwrap();
        format.write(&rows.finish(), &name, Path::new("f"), &mut out).unwrap();
        let some = |id: &str| Some(id.to_owned());
        assert_eq!(ids(&out), Some(vec![some("d0"), None, some("d2"), None]));
    }
}
