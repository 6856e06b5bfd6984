//! Reads files as records and documents. Every input format has its own file or folder.
//!
//! | folder | contains |
//! | --- | --- |
//! | `source` | the places where the bytes of inputs lie: files, standard input, memory, stores |
//! | `bytes` | bytes become text: decompression, encodings, HTTP, pages of HTML |
//! | `formats` | bytes become records: one file or folder for each format, and their table |
//! | `documents` | collections of files: walk, recognition, shards, selection, other corpora |
//!
//! Each folder uses only those before it.
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
//! * To read a sample of a large compressed file, reading can begin in the middle of the file, at the start of a gzip
//!   member or Zstandard frame: [`Corpus::read_shard_behind`].
//! * [`Corpus::read_shard`] calls the visitor with each [`Event`]. A [`Record`](simtool_model::document::Record)
//!   borrows its bytes from the memory map, or from scratch memory that the next record overwrites.
//! * A `Source` gives the bytes of an input at any offset. Readers get a source, and open no files.
//! * `formats` has the table of input formats. A format is either a sequence of bytes with a
//!   `Splitter`, or a table with a reader of its own.
//! * A `Splitter` answers one question: given the next bytes of a file (a window), where does the
//!   first record end, and what does it contain? `window` runs a splitter over a mapped slice and
//!   over a stream. It is the only place that handles limits, truncated files and lost bytes.
//! * A fault of an input is never an error of the program. Bad records are records, damage of a file is an
//!   [`Event::Fault`], and reading continues where possible. `Err` is always an error of the visitor. A visitor that
//!   stops the reading causes no error.
//!
//! This crate does not know what happens to a document later. It counts nothing and writes nothing,
//! with one exception: it copies rows of tables, since no other code knows their formats.

mod bytes;
#[cfg(test)]
mod conformance;
mod documents;
mod formats;
mod source;

/// Inputs that are objects in stores, such as buckets, and results that are written to stores.
pub mod remote {
    pub use crate::source::Fetching;
    pub use crate::source::address::{is_address, without_credentials};
    #[cfg(feature = "remote")]
    pub use crate::source::remote::{RemoteSettings, configure, result_place};
    #[cfg(not(feature = "remote"))]
    pub use crate::source::result_place::result_place;
    pub use crate::source::result_place::{ResultPlace, StagedObject};
}

pub use bytes::{PageContent, TextEncoding, uri, without_byte_order_mark};
pub use documents::{
    ArrowOffsets, Collection, Corpus, Globs, JsonLinesInMemory, LongestRecord, ReadOptions,
    ReaderMemory, Recognized, Strict, Texts, UnpackedInput, lack_of_text_in_line, selection, view,
    walk,
};
pub use formats::{
    AddedField, AddedFields, AddedKind, AddedValue, Dialect, EditRow, Event, Format, InParallel,
    NamedDialect, Price, Quote, RowsCopy, Selector, TableRows, TextEdit, TextSplit, USUAL_DATES,
    Visit, VisitCsvRow, form_feed, visit_csv_rows,
};
#[cfg(feature = "parquet")]
pub use formats::{ColumnSteps, NamedColumns};
