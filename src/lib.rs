//! Finds near-duplicate documents in large text collections, exactly and in parallel.
//!
//! # In one call
//!
//! ```
//! use simtool::{Config, Texts, deduplicate};
//!
//! let texts = vec![
//!     "The quick brown fox jumps over the lazy dog near the river".to_owned(),
//!     "Something else entirely was written here by somebody".to_owned(),
//!     "The quick brown fox jumps over the lazy dog near the river!".to_owned(),
//! ];
//! let found = deduplicate(&Texts::of(&texts), &Config::default())?;
//! let kept: Vec<&String> = found.kept().map(|row| &texts[row]).collect();
//! assert_eq!(kept, [&texts[0], &texts[1]]);
//! # Ok::<(), simtool::Error>(())
//! ```
//!
//! [`deduplicate`] finds every pair of near-duplicates and decides which documents to remove.
//! [`match_collections`] finds the documents of one collection in another. [`fingerprint()`] returns the fingerprints
//! that a method compares. [`fingerprint_by`] returns fingerprints of documents that come later and can be compared
//! with the first ones. [`compare()`] compares two texts.
//!
//! * A collection is any [`Corpus`]: [`Texts`] over memory, or a [`Collection`] of files of any
//!   format.
//! * A [`Method`] says when two documents are near-duplicates. `exact`, the default, compares sets of
//!   shingles; `simhash` compares fingerprints that change little if a text changes little. Methods are
//!   parsed from text: `"simhash:bits=128,max_distance=6".parse()`.
//! * [`Config`] holds the method and the other settings, with the [`Resources`] that a run may use.
//!
//! A search misses no pair within the limit, unless bands (`recall`) allow it. The same input and settings
//! give the same result for any number of threads and on any processor. The folder `examples` of the sources
//! has complete programs.
//!
//! # Stages
//!
//! Programs can also use single stages, which are modules of [`stages`]. [`pipeline`] calls the stages in order, and a
//! stage does not know which stages run before and after it. [`run`] has the commands of the program.
//!
//! ```text
//! file ──read──▶ document ──tokenize──▶ tokens ──extract──▶ terms ──fingerprint──▶ rows of words
//!                                                             │                        │
//!                                                             └──────── search ◀───────┘
//!                                      output ◀──write── clusters ◀──cluster── close pairs
//! ```
//!
//! [`hamming::door`](stages::hamming::door) compares fingerprints (rows), and [`set_join`](stages::set_join) compares
//! sets of terms. [`Sketch`](stages::fingerprint::Sketch) makes fingerprints from any terms. Data that passes from
//! stage to stage has modules of its own, such as [`document`](stages::document) and [`close`](stages::close).
//!
//! # Features
//!
//! All features are on by default; `default-features = false` is the library alone. `cli` builds the command
//! line program, `chinese` holds the dictionary of Chinese words, and `parquet` reads and writes
//! Apache Parquet and Arrow IPC. A build without a feature returns [`ErrorKind::FeatureOff`] when it
//! is needed.

pub mod cluster;
pub mod estimate;
pub mod evaluate;
#[doc(hidden)]
pub mod generate;
pub mod index;
pub mod method;
pub mod output;
pub mod pipeline;
pub mod run;
mod sample;
pub mod setting;
pub mod suggest;
pub mod write;

pub use simtool_base::error;
pub use simtool_base::options;
pub use simtool_base::progress;

/// The single stages, and the data that passes from one to the next. What is here may change in any version, while
/// everything else is stable within a minor version.
///
/// ```
/// use simtool::stages::similarity::Similarity;
///
/// assert_eq!(Similarity { shared: 3, union: 4 }.ratio(), 0.75);
/// ```
pub mod stages {
    pub use simtool_base::byte_text;
    pub use simtool_base::durable;
    pub use simtool_base::fault;
    pub use simtool_base::json_text;
    pub use simtool_base::large_buffer;
    pub use simtool_base::mapped_file;
    pub use simtool_base::memory_ledger;
    pub use simtool_base::quantity;
    pub use simtool_base::shell_word;
    pub use simtool_base::stable_hash;
    pub use simtool_base::unordered_map;
    pub use simtool_base::utc_time;
    pub use simtool_compute::context;
    pub use simtool_compute::lent_array;
    pub use simtool_compute::resources;
    pub use simtool_compute::threads;
    pub use simtool_contamination as contamination;
    pub use simtool_fingerprint as fingerprint;
    pub use simtool_fingerprint::file as fingerprint_file;
    pub use simtool_hamming as hamming;
    pub use simtool_kernels as kernels;
    pub use simtool_model::closeness;
    pub use simtool_model::compression;
    pub use simtool_model::distinct_terms;
    pub use simtool_model::document;
    pub use simtool_model::document_name;
    pub use simtool_model::evaluation;
    pub use simtool_model::features;
    pub use simtool_model::field_value;
    pub use simtool_model::fingerprint_rows;
    pub use simtool_model::fingerprint_table;
    pub use simtool_model::groups;
    pub use simtool_model::matches;
    pub use simtool_model::numpy_header;
    pub use simtool_model::page_text;
    pub use simtool_model::sides;
    pub use simtool_model::similarity;
    pub use simtool_model::validity;
    pub use simtool_passages as passages;
    pub use simtool_read as read;
    pub use simtool_set_join as set_join;
    pub use simtool_set_join::close;
    pub use simtool_set_join::disjoint_sets;
    pub use simtool_terms::extract;
    pub use simtool_terms::text_rules;
    pub use simtool_terms::token_batch;
    pub use simtool_terms::tokenize;
}

pub use method::{Fitted, Method};
pub use pipeline::config::{ClusterRule, Config, Keep};
pub use pipeline::{
    FingerprintedCollection, NearDuplicates, compare, deduplicate, fingerprint, fingerprint_by,
    match_collections,
};
pub use simtool_base::error::{Error, ErrorKind, Result};
pub use simtool_compute::resources::Resources;
pub use simtool_read::{Collection, Corpus, ReadOptions, Texts};

/// Compiles the examples of the guide for Rust as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guides/rust.md")]
struct RustGuide;
