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
//! [`deduplicate`] finds every pair of documents that are near-duplicates and decides which to
//! remove; [`match_collections`] looks for the documents of one collection in another;
//! [`fingerprint()`] makes what is compared, of later documents [`fingerprint_by`]; [`compare()`]
//! looks at two texts.
//!
//! * A collection is any [`Corpus`]: [`Texts`] over memory, or a [`Collection`] of files of any
//!   format.
//! * What counts as a near-duplicate is a [`Method`]: `exact`, the default, compares sets of
//!   shingles, `simhash` fingerprints that change little when a text changes little. It is read from
//!   text, as in `"simhash:bits=128,max_distance=6".parse()`.
//! * [`Config`] holds it with the other settings, and with the [`Resources`] that a run may use.
//!
//! Nothing within the limit is missed, and the same input and settings give the same result for any
//! number of threads and on any processor.
//!
//! # Stages
//!
//! For programs that build on the parts. Each is a module; [`pipeline`] calls them in order, and a
//! stage never knows what runs before or behind it.
//!
//! ```text
//! file ──read──▶ document ──tokenize──▶ tokens ──extract──▶ terms ──fingerprint──▶ rows of words
//!                                                             │                        │
//!                                                             └──────── search ◀───────┘
//!                                      output ◀──write── clusters ◀──cluster── what is close
//! ```
//!
//! [`hamming::door`] compares rows of fingerprints, [`search::set_join`] sets of terms,
//! [`fingerprint::Sketch`](mod@fingerprint) makes rows of any terms. What crosses from stage to stage
//! has modules of its own, such as [`document`], [`close`] and [`mod@matches`].
//!
//! # Features
//!
//! All are on by default; the library alone is `default-features = false`. `cli` builds the command
//! line program, `chinese` holds the dictionary of Chinese words, and `parquet` reads and writes
//! Apache Parquet. A build without one of these answers [`ErrorKind::FeatureOff`] when it is needed.

pub mod close;
mod close_pairs;
pub mod closeness;
pub mod cluster;
pub mod context;
#[doc(hidden)]
pub mod disjoint_sets;
#[doc(hidden)]
pub mod distinct_terms;
pub mod document;
pub mod document_name;
pub mod durable;
pub mod error;
pub mod evaluate;
pub mod evaluation;
pub mod extract;
pub mod fault;
pub mod features;
pub mod field_value;
pub mod fingerprint;
pub mod fingerprint_file;
pub mod fingerprint_rows;
pub mod fingerprint_table;
#[doc(hidden)]
pub mod generate;
pub mod hamming;
pub mod input_format;
#[doc(hidden)]
pub mod json_text;
#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod large_buffer;
#[doc(hidden)]
pub mod lent_array;
#[doc(hidden)]
pub mod mapped_file;
pub mod matches;
pub mod memory_ledger;
#[doc(hidden)]
pub mod numpy_header;
pub mod options;
pub mod pipeline;
pub mod progress;
pub mod quantity;
pub mod read;
pub mod resources;
pub mod search;
pub mod shell_word;
pub mod sides;
pub mod similarity;
pub mod stable_hash;
pub mod store;
pub mod threads;
#[doc(hidden)]
pub mod token_batch;
pub mod tokenize;
#[doc(hidden)]
pub mod unordered_map;
pub mod utc_time;
pub mod validity;
pub mod write;

pub use error::{Error, ErrorKind, Result};
pub use pipeline::config::{ClusterRule, Config, Keep};
pub use pipeline::method::{Fitted, Method};
pub use pipeline::{
    FingerprintedCollection, NearDuplicates, compare, deduplicate, fingerprint, fingerprint_by,
    match_collections,
};
pub use read::{Collection, Corpus, ReadOptions, Texts};
pub use resources::Resources;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
