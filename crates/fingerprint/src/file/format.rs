//! The description of a file format. [`FILE_FORMATS`](super::FILE_FORMATS) lists the descriptions of all formats.

use simtool_base::error::Result;
use simtool_model::document_name::DocumentName;
use simtool_model::fingerprint_rows::FingerprintRows;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// Maximum number of bits of a fingerprint in a file.
pub const MOST_BITS: u32 = 1 << 16;

/// Function that returns the name of the document of a row: its ID, file and record number.
pub(crate) type NameOf<'n, 'd> = dyn Fn(u32) -> DocumentName<'d> + 'n;

/// A file format for fingerprints, with the functions that read and write it.
#[derive(Clone, Copy)]
pub struct FileFormat {
    /// Name of the format in options and messages.
    pub name: &'static str,
    /// Extensions of file names that select the format, the usual one first. An empty extension selects the format for
    /// file names without an extension.
    pub extensions: &'static [&'static str],
    /// Short description of the format, for help texts.
    pub help: &'static str,
    /// Whether the format can mark rows without a fingerprint. If not, such rows would be written
    /// as zeros.
    pub marks_missing: bool,
    /// Name of the Cargo feature that the format needs and this build lacks. `None` if the build has the format.
    pub(super) missing_feature: Option<&'static str>,
    /// Whether a file that begins with these bytes has this format.
    pub(super) is_format_of: fn(&[u8]) -> bool,
    /// Parses the content of a file. The path is for error messages.
    pub(super) read: for<'a> fn(&'a [u8], &Path) -> Result<FingerprintRows<'a>>,
    /// Writes fingerprints. The function argument returns the names of their documents.
    pub(super) write: fn(&FingerprintRows<'_>, &NameOf<'_, '_>, &mut dyn Write) -> io::Result<()>,
    /// Whether the file contains the IDs of documents. The path is for error messages.
    pub(super) has_ids: fn(&[u8], &Path) -> Result<bool>,
    /// Finds the IDs of documents in the content of a file. The path is for error messages.
    pub(super) find_ids: for<'a> fn(&'a [u8], &Path) -> Result<FoundIds<'a>>,
}

/// Decoded document IDs, or the positions where they can be found.
#[derive(Debug, Default)]
pub enum FoundIds<'a> {
    /// The format has no IDs.
    #[default]
    Nothing,
    /// The file consists of lines of text. A line is parsed when the ID in it is needed.
    Lines {
        /// All bytes of the file.
        bytes: &'a [u8],
        /// Byte offset of the start of each line. Row i of the file is line i.
        starts: Vec<usize>,
        /// Returns the ID in a line, or `None` if the line has none.
        parse: fn(&[u8]) -> Option<Cow<'_, [u8]>>,
    },
    /// All IDs, one after the other in one buffer.
    Column {
        /// The bytes of all IDs.
        ids: Vec<u8>,
        /// Byte offset in `ids` of the end of each ID.
        ends: Vec<usize>,
    },
}

/// Two formats are equal if their names are equal, because each name occurs once in
/// [`FILE_FORMATS`](super::FILE_FORMATS).
impl PartialEq for FileFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FileFormat {}

impl fmt::Debug for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
