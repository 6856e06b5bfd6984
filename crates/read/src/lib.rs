//! Bytes → records: every input format, one file or folder each.
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
//! * A **shard** can be read alone, by any thread, any number of times. Shards in order are reading
//!   order, so results per shard need no sort, only concatenation.
//! * A sample of a large packed file can start inside it, at the start of a member:
//!   [`Corpus::read_shard_behind`].
//! * Reading pushes: [`Corpus::read_shard`] calls the visitor with each [`Event`]. A [`Record`] is
//!   borrowed, from the map or from scratch memory that the next record overwrites.
//! * `formats` is the table of input formats. A format is either a sequence of bytes with a
//!   `Splitter`, or a table with a reader of its own.
//! * A `Splitter` answers one question: given a window on the bytes, where does the next record end,
//!   and what does it hold? `window` runs a splitter over a mapped slice and over a stream. It is the
//!   only place that knows about limits, clipped files and losses.
//! * A fault of an input is never an error of the program. Bad records are records, damaged files
//!   are [`Event::Fault`]s, and reading goes on where it can. `Err` is the error of the visitor. A
//!   visitor that has had enough is no error.
//!
//! This stage does not know what becomes of a document. It counts nothing and writes nothing, with
//! one exception: a table copies its own rows, since no other code knows its format.

mod arrow_ipc;
mod collection;
mod compressed_input;
#[cfg(test)]
mod conformance;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod conformance_parquet;
#[cfg(test)]
mod crafted_inputs;
mod decompress;
mod delimited;
mod field_names;
pub mod form_feed;
mod format;
mod formats;
pub mod globs;
mod gzip;
mod html;
mod http;
mod jsonl;
mod midway;
mod opened;
mod options;
mod parquet;
mod plain_stream;
mod plain_text;
mod read_file;
mod recognition;
pub mod selection;
mod sniff;
mod split_job;
mod splitter;
mod stream;
mod strict;
mod table;
mod texts;
pub mod view;
pub mod walk;
mod warc;
mod window;
mod zstd;
mod zstd_headers;

use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_model::document::Record;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;

pub use collection::Collection;
pub use format::Format;
pub use jsonl::JsonLinesInMemory;
pub use opened::Recognized;
pub use options::ReadOptions;
pub use strict::Strict;
pub use table::{InParallel, RowsCopy, TableRows};
pub use texts::{ArrowOffsets, Texts};

/// An event of a reading.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next record.
    Record(Record<'a>),
    /// A stretch of a record that is not lent whole. The record itself, with empty bytes, comes
    /// after all its stretches.
    Stretch(&'a [u8]),
    /// Something wrong with the file; the records before it have been visited.
    Fault(Fault),
    /// The reading has come about so far into the shard, in the bytes that [`Corpus::shard_bytes`]
    /// counts. Reported now and then, and not at the end, so that small shards report nothing.
    Reached(u64),
}

/// Takes the events of a shard, in order, and says whether it wants more. Its first error ends the
/// reading, and so does its first `Break`, which is none: nothing is visited after either.
pub type Visit<'v> = dyn FnMut(Event<'_>) -> Result<ControlFlow<()>> + 'v;

/// The course of a reading inside a reader: it ends well, because the visitor had enough, or with
/// the visitor's error.
type Flow<T = ()> = ControlFlow<Result<()>, T>;

/// Visits an event.
fn give(event: Event<'_>, visit: &mut Visit<'_>) -> Flow {
    match visit(event) {
        Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
        Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Visits a fault, after which nothing of a file is read.
fn refuse(fault: Fault, visit: &mut Visit<'_>) -> Result<u64> {
    visit(Event::Fault(fault)).map(|_| 0)
}

/// Returns `bytes` × `part` / `whole`.
fn part_of(bytes: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    // No more than `bytes`.
    share as u64
}

/// The price of reading a shard again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// About the price of looking at its bytes: text in memory, or plain text in a file. It is not
    /// worth keeping what was made of it.
    Cheap,
    /// A few times that price: content of zstd, and rows of Parquet. A slow disk is no faster.
    Unpacked,
    /// Many times that price: content of gzip, and pages of HTML.
    Dear,
}

/// A collection of records, in shards that can be read alone.
///
/// [`Collection`] reads records from files, [`Texts`] lends texts in memory. Only files can be copied
/// without some of their records: [`Corpus::as_files`] gives access to them. Everything that computes
/// takes any corpus.
pub trait Corpus: Debug + Sync {
    /// Number of files. File numbers are positions in reading order. Records that are in no file
    /// are in one without a name.
    fn file_count(&self) -> usize;

    /// The file as the user named it; empty if it has no name.
    fn file_name(&self, file: usize) -> &Path;

    /// Number of shards. In order they are reading order.
    fn shard_count(&self) -> usize;

    /// The file that a shard is a part of.
    fn shard_file(&self, shard: usize) -> usize;

    /// Bytes on disk or in memory that reading the shard takes, for shares and progress.
    fn shard_bytes(&self, shard: usize) -> u64;

    /// The bytes of all shards.
    fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// Returns the number of records of the shard, if it is known without reading it.
    fn known_records(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Estimates the length of a packed shard's content, in bytes, if the file states it.
    fn content_bytes(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Returns the price of reading the shard again, as far as it is known without reading it.
    fn price(&self, shard: usize) -> Price;

    /// Visits the shard's events in order and returns its number of counted records. If `visit` had
    /// enough, returns the number of records that it was given. Every reading visits the same events,
    /// faults included.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns. Faults of the input are no errors.
    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64>;

    /// Visits the events of the shard that come after `byte`, from the first record that can be found
    /// there. `byte` counts like [`Corpus::shard_bytes`]. The first event is [`Event::Reached`], with
    /// about the start of that record. Faults are not reported. Returns whether such a record was
    /// found without reading the bytes before `byte`; if not, nothing was visited.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns.
    fn read_shard_behind(&self, _shard: usize, _byte: u64, _visit: &mut Visit<'_>) -> Result<bool> {
        Ok(false)
    }

    /// The files that the records are in, for what only files have; `None` if they are in none.
    fn as_files(&self) -> Option<&Collection> {
        None
    }
}
