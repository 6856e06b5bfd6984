//! The one place that knows the order of the stages.
//!
//! ```text
//! Config ──Plan::new──▶ Plan            one corpus, or queries and corpus (Sides)
//!                        │                          │
//!                        └──────▶ find_close ◀──────┘
//!                sets of terms: read and join       fingerprints: read, join, verify
//!                        └───────────┬──────────────────────┘
//!                                  Close ──▶ which to remove ──▶ outputs
//! ```
//!
//! * [`method`] describes what is compared and what counts as close, and reads it from text;
//!   [`config`] is all settings, [`Plan`] those that were checked together.
//! * [`find_near_duplicates`] runs a plan; [`deduplicate`], [`match_collections`], [`fingerprint`]
//!   and [`compare()`] are whole runs in one call.
//! * [`estimate()`] tells what a run would take; [`write_outputs`] writes what was found.
//! * [`mod@suggest`] chooses a method for a collection by a sample of it.
//! * [`mod@evaluate`] measures methods on collections of which the near-duplicates are known.
//! * [`match_queries()`] is `simtool N M`: the most frequent words of form-feed texts, counted and
//!   numbered in a first pass, so that the second never looks at the text.
//! * [`finished_run`] reads back what became of a document.
//! * [`SetKeys`] says by which keys sets that are alike come together, [`Verifier`] compares texts that
//!   others bring together.
//! * [`join_fingerprints`], [`emit_pairs`] and [`write_fingerprints`] work on files of fingerprints
//!   alone.

mod close_fingerprints;
pub mod compare;
pub mod config;
mod corpus_terms;
pub mod emit_pairs;
mod estimate;
pub mod evaluate;
mod find_close;
mod fingerprint_collection;
mod fingerprint_documents;
pub mod finished_run;
mod fit;
pub mod index;
pub mod join_fingerprints;
mod kept_terms;
mod levels;
mod match_queries;
pub mod method;
mod near_duplicates;
mod one_call;
mod outputs;
mod plan;
mod probe_sets;
mod row_names;
mod set_keys;
mod shard_summary;
pub mod suggest;
pub mod timings;
mod verify;
mod watched;
pub mod write_fingerprints;
mod write_groups;

pub use estimate::{Care, Estimate, Guess, estimate};
pub use fingerprint_collection::{
    FingerprintedCollection, Wordless, fingerprint_by_fitted, fingerprint_collection,
};
pub use match_queries::{MatchedQueries, match_queries};
pub use near_duplicates::{NearDuplicates, find_near_duplicates};
pub use one_call::{compare, deduplicate, fingerprint, fingerprint_by, match_collections};
pub use outputs::{
    BadRecords, Findings, OutputDescription, Outputs, Side, histograms, output_descriptions,
    write_kept_copies, write_outputs, write_summaries,
};
pub use plan::{Plan, Task};
pub use set_keys::{KeyedSet, SetKeys, SetUnderKey};
pub use shard_summary::{BadRecord, CollectionSummary, Quarantined};
pub use verify::Verifier;
