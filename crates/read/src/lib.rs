//! Reads files as records and documents. Every input format has its own file or folder.
//!
//! ```text
//! paths ──walk──▶ files ──Collection::open──▶ shards ──read_shard──▶ Event, one by one
//!                          sniff: compression          │
//!                          and format                  ├ a range of a plain file: borrowed slices
//!                                                      ├ a compressed file: unpacked into a window
//!                                                      └ groups of rows of a table
//! ```
//!
//! * [`walk`] turns paths and lists into the files to read, in order, and reports paths that cannot
//!   be read. [`Collection::open`] looks at each file's first bytes and cuts large plain files into
//!   shards, always after a record.
//! * A **shard** is a file or a part of one. It can be read alone, by any thread, any number of
//!   times. The records of all shards, in the order of the shards, are in reading order. So results
//!   per shard need no sort, only concatenation.
//! * A sample of a large compressed file can begin in the middle of the file, at the start of a
//!   gzip member or Zstandard frame: [`Corpus::read_shard_behind`].
//! * [`Corpus::read_shard`] calls the visitor with each [`Event`]. A [`Record`] is borrowed, from
//!   the map or from scratch memory that the next record overwrites.
//! * `formats` is the table of input formats. A format is either a sequence of bytes with a
//!   `Splitter`, or a table with a reader of its own.
//! * A `Splitter` answers one question: given the next bytes of a file (a window), where does the
//!   first record end, and what does it contain? `window` runs a splitter over a mapped slice and
//!   over a stream. It is the only place that handles limits, truncated files and lost bytes.
//! * A fault of an input is never an error of the program. Bad records are records, damaged files
//!   are [`Event::Fault`]s, and reading goes on where it can. `Err` is the error of the visitor. A
//!   visitor that stops the reading causes no error.
//!
//! This crate does not know what happens to a document later. It counts nothing and writes nothing,
//! with one exception: it copies rows of tables, since no other code knows their formats.

mod added_fields;
mod arrow_ipc;
mod blank_lines;
mod collection;
mod compressed_input;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_html;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod conformance_parquet;
#[cfg(test)]
mod crafted_inputs;
mod decoded_stream;
mod decompress;
mod delimited;
mod field_names;
mod foreign_file;
pub mod form_feed;
mod format;
mod formats;
pub mod globs;
mod gzip;
mod html;
mod html_page;
mod http;
mod jsonl;
mod longest_reading;
mod mail;
mod midway;
mod opened;
mod options;
mod page_content;
mod parquet;
mod plain_stream;
mod plain_text;
mod read_file;
mod reader_memory;
mod recognition;
mod record_memory;
pub mod selection;
mod selector;
mod sniff;
mod split_job;
mod splitter;
mod stream;
mod strict;
mod table;
mod text_blocks;
mod text_edit;
mod text_encoding;
mod texts;
mod undecodable;
mod unpacked_input;
pub mod uri;
pub mod view;
pub mod walk;
mod warc;
mod window;
mod zstd;
mod zstd_dictionary;
mod zstd_headers;

use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_model::document::Record;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;

pub use added_fields::{AddedField, AddedFields, AddedKind, AddedValue};
pub use collection::Collection;
pub use delimited::csv_rows::{VisitCsvRow, visit_csv_rows};
pub use delimited::dialect::Dialect;
pub use delimited::recognize_dialect::{NamedDialect, Quote};
pub use field_names::lack_of_text_in_line;
pub use format::Format;
pub use jsonl::JsonLinesInMemory;
pub use opened::Recognized;
pub use options::{ReadOptions, TextSplit};
pub use page_content::PageContent;
pub use reader_memory::{LongestRecord, ReaderMemory};
pub use selector::{Selector, USUAL_DATES};
pub use strict::Strict;
#[cfg(feature = "parquet")]
pub use table::named_columns::{ColumnSteps, NamedColumns};
pub use table::{EditRow, InParallel, RowsCopy, TableRows};
pub use text_edit::TextEdit;
pub use text_encoding::TextEncoding;
pub use texts::{ArrowOffsets, Texts};
pub use unpacked_input::UnpackedInput;

/// An event that a visitor gets while a shard is read.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next record.
    Record(Record<'a>),
    /// A part of the bytes of a record that is too long to be in memory as a whole. After all parts
    /// of the record, the record itself follows as [`Event::Record`] with empty bytes.
    Stretch(&'a [u8]),
    /// A problem of the file. The visitor has got all records before the fault.
    Fault(Fault),
    /// Progress: about this number of bytes of the shard has been read, counted like
    /// [`Corpus::shard_bytes`]. This event is sent from time to time, but not at the end of a
    /// shard. So small shards send no such event.
    Reached(u64),
}

/// Visitor of the events of a shard, in order. The visitor returns `Continue` to get more events.
/// `Break` ends the reading without an error, and an error ends the reading with that error. After
/// `Break` or an error, the visitor gets no more events.
pub type Visit<'v> = dyn FnMut(Event<'_>) -> Result<ControlFlow<()>> + 'v;

/// Control flow inside a reader. `Break` holds the result of the reading: `Ok` if the visitor
/// stopped the reading, otherwise the visitor's error.
type Flow<T = ()> = ControlFlow<Result<()>, T>;

/// Passes an event to the visitor, and converts the result of the visitor to a [`Flow`].
fn give(event: Event<'_>, visit: &mut Visit<'_>) -> Flow {
    match visit(event) {
        Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
        Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Passes the fault of a file to the visitor. Returns 0 as the number of records, because nothing
/// of the file is read.
fn refuse(fault: Fault, visit: &mut Visit<'_>) -> Result<u64> {
    visit(Event::Fault(fault)).map(|_| 0)
}

/// Returns `bytes` × `part` / `whole`, rounded down. The result is at most `bytes`.
fn part_of(bytes: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    // At most `bytes`, so the cast loses nothing.
    share as u64
}

/// The cost of reading a shard again, which decides whether results are worth keeping in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// About the cost of scanning the bytes. This is the cost of text in memory and of uncompressed
    /// files. Results need not be kept in memory, because the shard can just be read again.
    Cheap,
    /// A few times the cost of `Cheap`. This is the cost of Zstandard, Parquet and Arrow files.
    /// Reading uncompressed files from a slow disk costs about as much.
    Unpacked,
    /// Many times the cost of `Cheap`. This is the cost of gzip files and of HTML pages.
    Expensive,
}

/// A collection of records, divided into shards. A shard can be read without the other shards, by
/// any thread.
///
/// [`Collection`] reads records from files, and [`Texts`] borrows texts in memory. Computations
/// accept any corpus. Code that needs files, for example to write copies of them, gets them from
/// [`Corpus::as_files`].
pub trait Corpus: Debug + Sync {
    /// Returns the number of files. Files are numbered from 0 in reading order. A corpus in memory
    /// counts as one file without a name.
    fn file_count(&self) -> usize;

    /// Returns the path of a file as the user named it. The path is empty if the file has no name.
    fn file_name(&self, file: usize) -> &Path;

    /// Returns the number of shards. Shards are numbered from 0 in reading order.
    fn shard_count(&self) -> usize;

    /// Returns the number of the file that a shard is a part of.
    fn shard_file(&self, shard: usize) -> usize;

    /// Returns the length of the shard in bytes, on disk or in memory. The length is used to divide
    /// the work and to show progress.
    fn shard_bytes(&self, shard: usize) -> u64;

    /// Returns the number of bytes of all shards.
    fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// Returns the number of records of the shard, or `None` if the shard must be read to count
    /// them.
    fn known_records(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Estimates the decompressed length of a shard in bytes. Returns `None` if the length cannot
    /// be estimated without decompressing the file.
    fn content_bytes(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Returns the cost of reading the shard again. Before a file is read, the cost may be a guess.
    fn price(&self, shard: usize) -> Price;

    /// Visits the shard's events in order. Returns the number of records in the shard. Filler, such
    /// as a header row, is not counted. If `visit` stops the reading, returns the number of records
    /// that `visit` got. Every reading visits the same events, including faults.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns, or [`ErrorKind::Changed`] if an earlier reading of the
    /// shard had other events. Other faults of the input are no errors.
    ///
    /// [`ErrorKind::Changed`]: simtool_base::error::ErrorKind::Changed
    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64>;

    /// Visits the events of the shard, beginning at the first record that is found after offset
    /// `byte`. The bytes before that offset are not read. `byte` counts like
    /// [`Corpus::shard_bytes`]. The first event is [`Event::Reached`] with the approximate start of
    /// that record. Faults are not reported. Returns `false`, and visits nothing, if no record is
    /// found, or if the format does not allow reading to start there.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns.
    fn read_shard_behind(&self, _shard: usize, _byte: u64, _visit: &mut Visit<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Returns the corpus as a collection of files, or `None` if its records are not in files.
    fn as_files(&self) -> Option<&Collection> {
        None
    }
}
