//! Options for reading files of any format.

use crate::bytes::{DecodingLimits, PageContent, TextEncoding};
use crate::documents::Selection;
use crate::formats::{Format, NamedDialect, Selector, TextSplit, USUAL_ID};
use simtool_base::mapped_file::FileAccess;
use simtool_base::memory_turns::MemoryTurns;
#[cfg(doc)]
use simtool_model::document::MOST_FIELDS;

/// Options for reading a collection of files.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Format of all files. With `None`, the format of each file is recognized by its content and name.
    pub format: Option<Format>,
    /// Rule by which plain-text files are divided into documents, for example line by line.
    pub split: TextSplit,
    /// Encoding of texts. If a file has a byte order mark, or a mail declares an encoding, that encoding is used
    /// instead. An encoding that the user names is preferred to the encoding that an HTML page or its HTTP header
    /// declares.
    pub encoding: TextEncoding,
    /// Part of an HTML page whose text is the document. Mails in HTML are read as a whole.
    pub content: PageContent,
    /// Characters that structure CSV and TSV files, such as the delimiter. Characters that are not set here are
    /// recognized from the first rows.
    pub dialect: NamedDialect,
    /// Fields or columns that hold the text.
    pub text_field: Selector,
    /// Name of the option that sets `text_field`. Messages recommend this option.
    pub text_setting: &'static str,
    /// Field or column that holds the ID.
    pub id_field: Selector,
    /// Fields, columns or WARC header fields whose values decide which documents are compared, and which
    /// of several similar documents is kept. Only the first [`MOST_FIELDS`] are read.
    pub fields: Vec<Selector>,
    /// Length of the longest allowed record, in bytes. A longer record is skipped and reported as a
    /// bad record.
    pub max_record_bytes: usize,
    /// Largest allowed number of decompressed bytes for each compressed byte. The limit applies once 1 GiB of a file
    /// was decompressed. If a file exceeds the limit, reading of this file ends with a fault.
    pub max_expansion: u64,
    /// Base 2 logarithm of the largest Zstandard window in bytes. Frames that need a larger window,
    /// and so more memory, are not read.
    pub zstd_window_log: u32,
    /// Conditions that select the documents to compare.
    pub selection: Selection,
    /// Approximate length in bytes of each shard of an uncompressed file.
    pub shard_bytes: u64,
    /// Whether large uncompressed files are memory-mapped.
    pub access: FileAccess,
    /// Turns of the threads. Only one thread at a time may use more memory than its share, for example for a long
    /// record or a large window. All readers of a run share the turns, so together they keep to a memory limit.
    pub turns: MemoryTurns,
}

impl ReadOptions {
    /// Returns the limits on decoders.
    pub(crate) fn decoding(&self) -> DecodingLimits {
        let Self { max_expansion, zstd_window_log: window_log, .. } = *self;
        DecodingLimits { max_expansion, window_log }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            split: TextSplit::File,
            encoding: TextEncoding::Utf8,
            content: PageContent::default(),
            dialect: NamedDialect::default(),
            text_field: Selector::from("text"),
            text_setting: "text_field",
            id_field: Selector::from(USUAL_ID),
            fields: Vec::new(),
            max_record_bytes: 128 << 20,
            max_expansion: 2000,
            zstd_window_log: 27,
            selection: Selection::default(),
            shard_bytes: 1 << 20,
            access: FileAccess::READ,
            turns: MemoryTurns::unlimited(),
        }
    }
}
