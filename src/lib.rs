//! Finds near-duplicate documents in large text collections, exactly and in parallel.
//!
//! # Problem
//!
//! Given a corpus of documents and a few documents to look for, which corpus documents are nearly
//! the same text? Every document gets a *fingerprint* of up to 128 bits that changes little when
//! the document changes little (SimHash): near-duplicates are documents whose fingerprints differ
//! in few bits. Comparing fingerprints is so cheap that all of them are compared, so nothing within
//! the distance is missed.
//!
//! # Example
//!
//! Three articles and one sample, in the form-feed format: documents are separated by form feeds,
//! and each begins with a line that holds its ID.
//!
//! ```
//! use simtool::fingerprint::hash_table::HashTable;
//! use simtool::kernels::Isa;
//! use simtool::pipeline::{config::MatchConfig, match_queries};
//!
//! let corpus = b"fox\nThe quick brown fox jumps over the lazy dog.\x0c\n\
//!                tides\nThe moon pulls the water of the sea twice a day.\x0c\n\
//!                copy\nQuick, the brown fox JUMPS over the lazy dog!";
//! let queries = b"sample\nthe lazy dog; over the quick brown fox jumps";
//! let config = MatchConfig {
//!     stop_words: vec![b"the".to_vec()],
//!     // 100 features, 64 bits; a text with fewer words has fewer features.
//!     hash_table: HashTable::built_in(100, 64)?,
//!     max_distance: 3,
//!     threads: 2,
//!     isa: Isa::detected(),
//! };
//! let matched = match_queries(corpus, queries, &config)?;
//! // Both articles with these words, in the corpus's order, at distance 0.
//! assert_eq!(matched.first_query(), b"sample\n0:fox copy \n");
//! # Ok::<(), simtool::Error>(())
//! ```
//!
//! # Flow
//!
//! ```text
//! file ──read──▶ document ──tokenize──▶ words ──extract──▶ features ──fingerprint──▶ lanes
//!                                                                                      │ search
//!                                              output ◀──write── matches ◀─────────────┘
//! ```
//!
//! Each arrow is a module; [`pipeline`] is the one that calls them in order. A stage knows the data
//! that it takes and gives, never the stage before or behind it, and can be used alone:
//! [`search::linear_scan`] compares any fingerprints, [`fingerprint::table_simhash`] makes one of
//! any features. The same input and settings give the same bytes for any number of threads and on
//! any processor.
//!
//! # Features
//!
//! All are on by default; the library alone is `default-features = false`. `cli` builds the command
//! line program, and `csv`, `gzip`, `jsonl`, `parquet`, `warc` and `zstd` each read one kind of
//! input. A build without one of these answers [`ErrorKind::FeatureOff`] where it is asked for.

pub mod closeness;
pub mod cluster;
pub mod document;
pub mod durable;
pub mod error;
pub mod extract;
pub mod fault;
pub mod field_value;
pub mod fingerprint;
pub mod fingerprint_rows;
pub mod fingerprint_table;
pub mod generate;
pub mod input_format;
pub mod kernels;
pub mod large_buffer;
pub mod mapped_file;
pub mod matches;
pub mod pipeline;
pub mod read;
pub mod resources;
pub mod rows_of_words;
pub mod search;
pub mod similarity;
pub mod stable_hash;
pub mod store;
pub mod text_difference;
pub mod token_batch;
pub mod tokenize;
pub mod unordered_map;
pub mod validity;
pub mod write;

pub use error::{Error, ErrorKind, Result};
