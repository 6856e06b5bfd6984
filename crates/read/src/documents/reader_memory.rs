//! Estimates the memory that readers take. A reader is a thread that reads input files.
//!
//! The constants were measured on a real crawl in every format, with one thread and with two. The
//! tenth longest page of the crawl is a third as long as the longest one. So the longest of n times
//! as many documents is assumed to be √n times as long.

use crate::bytes::decompress::decoder_bytes;
use crate::formats::{Format, TableRows};
use simtool_model::compression::Compression;

/// Number of bytes that the window takes for each byte of the longest record. The window is the part of the
/// decompressed content that is in memory. When the window is full, its size doubles, and the allocator does not always
/// return the old memory to the system.
const WINDOW_BYTES_A_RECORD_BYTE: f64 = 3.0;
/// Number of bytes of memory, for each byte of the longest text, that buffers and the terms of the text take. Terms are
/// the units by which texts are compared.
const BYTES_A_TEXT_BYTE: f64 = 1.5;

/// Lengths of the longest record and of the longest text of a collection, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongestRecord {
    /// Length of the longest record, in bytes.
    pub record: f64,
    /// Length of the longest text, in bytes.
    pub text: f64,
}

impl LongestRecord {
    /// Returns the larger one of the two record lengths, and the larger one of the two text
    /// lengths.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { record: self.record.max(other.record), text: self.text.max(other.text) }
    }

    /// Estimates the lengths in a collection that has `times` times as many documents. A `times` below 1 counts as 1.
    #[must_use]
    pub fn among_more(self, times: f64) -> Self {
        let longer = times.max(1.0).sqrt();
        Self { record: self.record * longer, text: self.text * longer }
    }
}

/// Estimated memory of one reader, in bytes.
///
/// ```
/// use simtool_model::compression::Compression;
/// use simtool_read::{LongestRecord, ReaderMemory, TableRows};
///
/// let rows = TableRows { text_bytes: 1e3, shard_bytes: 1e6 };
/// let longest = LongestRecord { record: 1e6, text: 1e6 };
/// let plain = ReaderMemory::estimate(Compression::None, None, rows, longest);
/// let packed = ReaderMemory::estimate(Compression::Zstd, None, rows, longest);
/// assert!(packed.of_readers(1) > plain.of_readers(1));
/// // Only one of several readers meets the longest record.
/// assert!(packed.of_readers(2) < 2.0 * packed.of_readers(1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReaderMemory {
    /// Number of bytes that do not depend on the lengths of the longest record and text.
    fixed: f64,
    /// Number of bytes for the longest record and the longest text.
    longest: f64,
}

impl ReaderMemory {
    /// Estimates the memory of a reader of files with this compression and format. `rows` has the
    /// sizes of the rows, and is used only if the files are tables.
    #[must_use]
    pub fn estimate(
        compression: Compression,
        format: Option<Format>,
        rows: TableRows,
        longest: LongestRecord,
    ) -> Self {
        let text = BYTES_A_TEXT_BYTE * longest.text;
        let table = format.and_then(|format| format.table_bytes(rows));
        if let Some(table) = table {
            return Self { fixed: table, longest: text };
        }
        let window = match compression {
            // Uncompressed files are mapped, so they need no window.
            Compression::None => 0.0,
            _ => WINDOW_BYTES_A_RECORD_BYTE * longest.record,
        };
        Self { fixed: decoder_bytes(compression), longest: window + text }
    }

    /// Returns an estimate that is enough for both `self` and `other`. Takes the larger fixed part and the larger part
    /// for the longest record and text.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { fixed: self.fixed.max(other.fixed), longest: self.longest.max(other.longest) }
    }

    /// Estimates the number of bytes of memory that `readers` readers take together if they read at
    /// the same time.
    ///
    /// Only the first reader is assumed to read the longest document. The longest document of the n-th reader is
    /// assumed to be √n times shorter.
    #[must_use]
    pub fn of_readers(self, readers: usize) -> f64 {
        let documents: f64 = (1..=readers).map(|reader| (reader as f64).sqrt().recip()).sum();
        readers as f64 * self.fixed + documents * self.longest
    }
}
