//! The IDs of the documents of rows, for those who read pairs of rows.
//!
//! They are not looked at before the first is asked for: a join of fingerprints that finds nothing, or
//! only counts, takes no longer for them.

use super::FileFormat;
use super::json_lines;
#[cfg(feature = "parquet")]
use super::parquet;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The IDs that a file of fingerprints has beside them.
pub struct RowIds<'a> {
    bytes: &'a [u8],
    path: PathBuf,
    format: FileFormat,
    found: OnceLock<Result<FoundIds<'a>>>,
}

impl fmt::Debug for RowIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RowIds");
        shown.field("path", &self.path).field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// The IDs, where they can be asked for.
#[derive(Debug)]
pub struct FoundIds<'a>(Ids<'a>);

#[derive(Debug)]
enum Ids<'a> {
    /// Lines of JSON, each of which is understood when its ID is asked for.
    Lines { bytes: &'a [u8], starts: Vec<usize> },
    /// All IDs, one after the other, and where each ends.
    #[cfg(feature = "parquet")]
    Column { ids: Vec<u8>, ends: Vec<usize> },
    /// None, in a format that has none.
    Nothing(PhantomData<&'a ()>),
}

impl<'a> RowIds<'a> {
    /// The IDs of the file with these bytes, which was [read](super::read) well; `None` if it has
    /// none. `path` is for messages.
    ///
    /// # Errors
    ///
    /// The file cannot be decoded.
    pub fn of(bytes: &'a [u8], path: &Path) -> Result<Option<Self>> {
        let format = FileFormat::of_content(bytes);
        let has_ids = match format {
            FileFormat::JsonLines => {
                let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
                json_lines::id(first).is_some()
            }
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => parquet::has_ids(bytes, path)?,
            _ => false,
        };
        let path = path.to_owned();
        Ok(has_ids.then_some(Self { bytes, path, format, found: OnceLock::new() }))
    }

    /// The IDs, found by the first call.
    ///
    /// # Errors
    ///
    /// They cannot be decoded.
    pub fn found(&self) -> Result<&FoundIds<'a>> {
        let found = self.found.get_or_init(|| match self.format {
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => {
                let (mut ids, mut ends) = (Vec::new(), Vec::new());
                parquet::for_each_id(self.bytes, &self.path, &mut |id| {
                    ids.extend_from_slice(id);
                    ends.push(ids.len());
                })?;
                Ok(FoundIds(Ids::Column { ids, ends }))
            }
            FileFormat::JsonLines => {
                let bytes = self.bytes;
                let behind = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
                let starts = std::iter::once(0).chain(behind).collect();
                Ok(FoundIds(Ids::Lines { bytes, starts }))
            }
            _ => Ok(FoundIds(Ids::Nothing(PhantomData))),
        });
        found.as_ref().map_err(|error| {
            Error::io(&self.path, "read the IDs of", io::Error::other(error.to_string()))
        })
    }
}

impl FoundIds<'_> {
    /// The ID of a row; `None` if it has none.
    #[must_use]
    pub fn id(&self, row: u32) -> Option<Cow<'_, [u8]>> {
        let row = row as usize;
        let id = match &self.0 {
            Ids::Lines { bytes, starts } => {
                let end = starts.get(row + 1).copied().unwrap_or(bytes.len());
                json_lines::id(bytes.get(*starts.get(row)?..end)?)
            }
            #[cfg(feature = "parquet")]
            Ids::Column { ids, ends } => {
                let start = if row == 0 { 0 } else { *ends.get(row - 1)? };
                Some(Cow::Borrowed(&ids[start..*ends.get(row)?]))
            }
            Ids::Nothing(_) => {
                let _ = row;
                None::<Cow<'_, [u8]>>
            }
        };
        id.filter(|id| !id.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(bytes: &[u8]) -> Option<Vec<Option<String>>> {
        let ids = RowIds::of(bytes, Path::new("f")).unwrap()?;
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
        use crate::document_name::DocumentName;
        use crate::fingerprint_file::{Missing, write};
        use crate::fingerprint_rows::{RowsBuilder, Shape};
        let mut rows = RowsBuilder::new(Shape::bits(64));
        rows.push(Some(&[1]));
        rows.push(None);
        rows.push(Some(&[2]));
        let name = |row: u32| DocumentName {
            id: Cow::Owned(if row == 1 { Vec::new() } else { format!("d{row}").into_bytes() }),
            file: Path::new("x"),
            record: 0,
        };
        let mut out = Vec::new();
        let (format, path) = (FileFormat::Parquet, Path::new("f"));
        write(&rows.finish(), &name, format, Missing::Refused, path, &mut out).unwrap();
        let some = |id: &str| Some(id.to_owned());
        assert_eq!(ids(&out), Some(vec![some("d0"), None, some("d2"), None]));
    }
}
