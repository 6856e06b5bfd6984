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
//! * [`Corpus::read_shard`] calls the visitor with each [`Event`]. A
//!   [`Record`](simtool_model::document::Record) is borrowed, from the map or from scratch memory
//!   that the next record overwrites.
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
mod byte_order_mark;
mod collection;
mod collection_shards;
mod compressed_input;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_crafted;
#[cfg(test)]
mod conformance_html;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod conformance_parquet;
#[cfg(test)]
mod conformance_sources;
mod corpus;
mod decoded_stream;
mod decompress;
mod delimited;
mod dialect;
mod event;
mod field_names;
mod foreign_file;
pub mod form_feed;
mod format;
mod formats;
mod globs;
mod gzip;
mod html;
mod html_page;
mod http;
mod json_lines_in_memory;
mod jsonl;
mod longest_reading;
mod magic_bytes;
mod mail;
mod midway;
mod named_dialect;
mod opened;
mod options;
mod page_content;
mod parquet;
mod plain_stream;
mod plain_text;
mod price;
mod read_file;
mod reader_memory;
mod recognition;
mod record_memory;
pub mod selection;
mod selector;
mod sniff;
mod source;
mod split_job;
mod splitter;
mod stream;
mod strict;
mod table;
mod text_blocks;
mod text_edit;
mod text_encoding;
mod text_split;
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

pub use added_fields::{AddedField, AddedFields, AddedKind, AddedValue};
pub use byte_order_mark::without_byte_order_mark;
pub use collection::Collection;
pub use corpus::Corpus;
pub use delimited::csv_rows::{VisitCsvRow, visit_csv_rows};
pub use dialect::Dialect;
pub use event::{Event, Visit};
pub use field_names::lack_of_text_in_line;
pub use format::Format;
pub use globs::Globs;
pub use json_lines_in_memory::JsonLinesInMemory;
pub use named_dialect::{NamedDialect, Quote};
pub use opened::Recognized;
pub use options::ReadOptions;
pub use page_content::PageContent;
pub use price::Price;
pub use reader_memory::{LongestRecord, ReaderMemory};
pub use selector::{Selector, USUAL_DATES};
pub use strict::Strict;
#[cfg(feature = "parquet")]
pub use table::named_columns::{ColumnSteps, NamedColumns};
pub use table::{EditRow, InParallel, RowsCopy, TableRows};
pub use text_edit::TextEdit;
pub use text_encoding::TextEncoding;
pub use text_split::TextSplit;
pub use texts::{ArrowOffsets, Texts};
pub use unpacked_input::UnpackedInput;
