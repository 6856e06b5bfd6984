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
//! * Whoever wants to know what a file is like may begin inside it, where a member of a packed file
//!   starts: [`Corpus::read_shard_behind`].
//! * Reading pushes: [`Corpus::read_shard`] calls the visitor with each [`Event`]. A
//!   [`Record`] is borrowed, from the map or from scratch memory that the
//!   next one overwrites.
//! * Formats that are a sequence of bytes are a `Splitter` each: given a window
//!   on the bytes, where does the next record end and what is it? `window` runs a splitter over
//!   a mapped slice and over a stream alike, and is the one place that knows about limits,
//!   clipped files and what was lost.
//! * Nothing in an input is an error of the program: bad records are records, damaged files are
//!   [`Event::Fault`]s, and reading goes on where it can. `Err` is what the visitor returned; that
//!   it has had enough is no error.
//!
//! This stage does not know what becomes of a document, counts nothing and writes nothing.

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
pub mod globs;
mod gzip;
mod html;
mod http;
mod json_lines_in_memory;
mod json_strings;
mod jsonl;
mod midway;
mod opened;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod plain_stream;
mod plain_text;
pub mod selection;
mod sniff;
mod strict;
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

pub use collection::{Collection, Recognized};
pub use json_lines_in_memory::JsonLinesInMemory;
pub use options::ReadOptions;
pub use strict::Strict;
pub use texts::{ArrowOffsets, Texts};

/// What a reader meets.
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
    /// counts. Told now and then, and not at the end: a small shard tells nothing.
    Reached(u64),
}

/// Takes the events of a shard, in order, and says whether it wants more. Its first error ends the
/// reading, and so does its first `Break`, which is none: nothing is visited after either.
pub type Visit<'v> = dyn FnMut(Event<'_>) -> Result<ControlFlow<()>> + 'v;

/// How a reading goes on inside a reader: it ends well, because the visitor had enough, or with
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

/// What `part` of `whole` is of `bytes`.
fn part_of(bytes: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    // No more than `bytes`.
    share as u64
}

/// How dear it is to read a shard again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// About as dear as looking at its bytes: text in memory, or plain text in a file. It is not
    /// worth keeping what was made of it.
    Cheap,
    /// A few times that: what zstd unpacks, and rows of Parquet. A slow disk is no faster.
    Unpacked,
    /// Many times that: what gzip unpacks, and pages of HTML.
    Dear,
}

/// A collection of records, in shards that can be read alone.
///
/// [`Collection`] reads them from files, [`Texts`] lends what is in memory. What only files have, such as copies of them without some
/// of their records, is asked of [`Corpus::as_files`]; everything that computes does without.
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

    /// How many records the shard has, where that is known without reading it.
    fn known_records(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// How many bytes the content of a packed shard has, about, where the file says so.
    fn content_bytes(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// How dear it is to read the shard again, as far as is known without reading it.
    fn price(&self, shard: usize) -> Price;

    /// Visits the shard's events in order and returns its number of counted records; if `visit`
    /// had enough, the number of those that it was given. Every reading visits the same events,
    /// faults included.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns; what is wrong with the input is no error.
    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64>;

    /// Visits the events of the shard from the first record on that begins somewhat behind `byte`, in
    /// the bytes that [`Corpus::shard_bytes`] counts; first of all [`Event::Reached`], with where that
    /// record begins, about. What is wrong is not told of. Whether there is such a record that can be
    /// found without reading what is before `byte`; if not, nothing was visited.
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
