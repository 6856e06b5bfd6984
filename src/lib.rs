//! Finds near-duplicate documents in large text collections, exactly and in parallel.

pub mod closeness;
pub mod cluster;
pub mod document;
pub mod error;
pub mod extract;
pub mod fault;
pub mod field_value;
pub mod fingerprint;
pub mod fingerprint_table;
pub mod input_format;
pub mod kernels;
pub mod large_buffer;
pub mod mapped_file;
pub mod matches;
pub mod pipeline;
pub mod read;
pub mod search;
pub mod similarity;
pub mod stable_hash;
pub mod text_difference;
pub mod token_batch;
pub mod tokenize;
pub mod unordered_map;
pub mod write;

pub use error::{Error, ErrorKind, Result};
