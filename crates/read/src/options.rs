//! Options of all readers.

use crate::format::Format;
use crate::selection::Selection;
use simtool_base::mapped_file::FileAccess;

/// Options of a reading.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format of every file; by content and name if `None`.
    pub format: Option<Format>,
    /// Whether each line of a plain-text file is a document, instead of the whole file.
    pub per_line: bool,
    /// The character between the columns of every table of text. If `None`, a tab in TSV, and in
    /// CSV a guess from the first rows.
    pub delimiter: Option<u8>,
    /// Name of the field, column or path that holds the text.
    pub text_field: String,
    /// Name of the field, column or path that holds the ID.
    pub id_field: String,
    /// Name of the field, column, path or WARC header that decides which documents are kept.
    pub keep_field: Option<String>,
    /// Longest record, in bytes; longer ones are quarantined.
    pub max_record_bytes: usize,
    /// Most output bytes for each compressed byte, beyond the first GiB.
    pub max_expansion: u64,
    /// Base 2 logarithm of the largest Zstandard window.
    pub zstd_window_log: u32,
    /// The documents that take part.
    pub selection: Selection,
    /// About how many bytes of a plain file are a shard.
    pub shard_bytes: u64,
    /// Whether large plain files are mapped.
    pub access: FileAccess,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            per_line: false,
            delimiter: None,
            text_field: "text".to_owned(),
            id_field: "id".to_owned(),
            keep_field: None,
            max_record_bytes: 128 << 20,
            max_expansion: 2000,
            zstd_window_log: 27,
            selection: Selection::default(),
            shard_bytes: 1 << 20,
            access: FileAccess::READ,
        }
    }
}
