//! Finds near-duplicate documents in large text collections, exactly and in parallel.

pub mod error;
pub mod extract;
pub mod fingerprint;
pub mod fingerprint_table;
pub mod kernels;
pub mod mapped_file;
pub mod matches;
pub mod search;
pub mod similarity;
pub mod stable_hash;
pub mod tokenize;
pub mod unordered_map;

pub use error::{Error, ErrorKind, Result};
