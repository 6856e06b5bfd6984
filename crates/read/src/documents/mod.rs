//! Collections of documents: files that a walk finds, their shards, and documents in memory.

mod collection;
mod collection_shards;
mod corpus;
mod dumps;
mod field_names;
mod foreign_file;
mod globs;
mod json_lines_in_memory;
mod longest_reading;
mod midway;
mod opened;
mod options;
mod partitions;
mod read_file;
mod reader_memory;
mod recognition;
pub mod selection;
mod sniff;
mod strict;
mod texts;
mod unpacked_input;
pub mod view;
pub mod walk;

pub use collection::Collection;
pub use corpus::Corpus;
pub use field_names::lack_of_text_in_line;
pub use globs::Globs;
pub use json_lines_in_memory::JsonLinesInMemory;
pub use opened::Recognized;
pub(crate) use opened::{Opened, Part};
pub use options::ReadOptions;
pub use reader_memory::{LongestRecord, ReaderMemory};
pub(crate) use selection::Selection;
pub use strict::Strict;
pub use texts::{ArrowOffsets, Texts};
pub use unpacked_input::UnpackedInput;
