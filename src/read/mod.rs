//! Bytes → records: every input format, one file each.
//!
//! ```text
//! paths ──walk──▶ files ──Collection::open──▶ shards ──read_shard──▶ Event, one by one
//!                          sniff: compression          │
//!                          and format                  ├ a range of a plain file: borrowed slices
//!                                                      ├ a compressed file: decompressed into a window
//!                                                      └ a row group of a Parquet file
//! ```
//!
//! * [`walk`] turns paths and lists into the files to read, in order, and names those that cannot
//!   be. [`Collection::open`] looks at each file's first bytes and cuts large plain files into
//!   shards, always after a record.
//! * A **shard** can be read alone, by any thread, any number of times. Shards in order are
//!   reading order, so what is gathered per shard needs no sort, only concatenation.
//! * Reading pushes: [`Corpus::read_shard`] calls the visitor with each [`Event`]. A
//!   [`Record`] is borrowed, from the map or from scratch memory that the
//!   next one overwrites.
//! * Formats that are a sequence of bytes are a `Splitter` each: given a window
//!   on the bytes, where does the next record end and what is it? `window` runs a splitter over
//!   a mapped slice and over a stream alike, and is the one place that knows about limits,
//!   clipped files and what was lost.
//! * Nothing in an input is an error of the program: bad records are records, damaged files are
//!   [`Event::Fault`]s, and reading goes on where it can. `Err` is what the visitor returned.
//!
//! This stage does not know what becomes of a document, counts nothing and writes nothing.

mod collection;
#[cfg(any(feature = "gzip", feature = "zstd"))]
mod compressed_input;
#[cfg(test)]
#[cfg(all(feature = "csv", feature = "jsonl", feature = "warc", feature = "zstd"))]
mod conformance;
#[cfg(test)]
#[cfg(all(
    feature = "csv",
    feature = "jsonl",
    feature = "parquet",
    feature = "warc",
    feature = "zstd"
))]
mod conformance_parquet;
#[cfg(test)]
#[cfg(all(feature = "csv", feature = "jsonl", feature = "warc", feature = "zstd"))]
mod crafted_inputs;
mod decompress;
#[cfg(feature = "csv")]
mod delimited;
mod field_names;
#[cfg(feature = "parquet")]
pub mod fingerprint_column;
#[cfg(feature = "jsonl")]
pub mod fingerprint_lines;
pub mod form_feed;
#[cfg(feature = "cli")]
pub mod globs;
#[cfg(feature = "gzip")]
mod gzip;
pub mod hexadecimal;
#[cfg(feature = "warc")]
mod html;
#[cfg(feature = "warc")]
mod http;
#[cfg(feature = "jsonl")]
mod json_strings;
#[cfg(feature = "jsonl")]
mod jsonl;
pub mod numpy;
mod opened;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod plain_stream;
mod plain_text;
pub mod selection;
mod sniff;
pub mod walk;
#[cfg(feature = "warc")]
mod warc;
mod window;
#[cfg(feature = "zstd")]
mod zstd;

use crate::document::Record;
use crate::error::Result;
use crate::fault::Fault;
use std::path::Path;

pub use collection::{Collection, Recognized};
pub use options::ReadOptions;

/// What a reader meets.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next record.
    Record(Record<'a>),
    /// Something wrong with the file; the records before it have been visited.
    Fault(Fault),
}

/// Takes the events of a shard, in order. Its first error ends the reading.
pub type Visit<'v> = dyn FnMut(Event<'_>) -> Result<()> + 'v;

/// A collection of records in files, in shards that can be read alone.
pub trait Corpus: Sync {
    /// Number of files. File numbers are positions in reading order.
    fn file_count(&self) -> usize;

    /// The file as the user named it.
    fn file_name(&self, file: usize) -> &Path;

    /// Number of shards. In order they are reading order.
    fn shard_count(&self) -> usize;

    /// The file that a shard is a part of.
    fn shard_file(&self, shard: usize) -> usize;

    /// Bytes on disk that reading the shard takes, for shares and progress.
    fn shard_bytes(&self, shard: usize) -> u64;

    /// Bytes on disk of all shards.
    fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// Visits the shard's events in order and returns its number of counted records. Every reading
    /// visits the same events, faults included.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns; what is wrong with the input is no error.
    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64>;
}
