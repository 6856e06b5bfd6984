//! The one place that knows the order of the stages.
//!
//! ```text
//! corpus ──▶ count words (pass 1) ──▶ N most frequent ──▶ fingerprint documents (pass 2) ─┐
//! queries ─────────────────────────────────▶ fingerprint documents ────────▶ compare ◀────┘
//!                                                                               │
//!                                                                result text ◀──┘
//! ```
//!
//! [`match_queries()`] runs it. Pass 1 writes down the number of every word that it meets, so pass 2
//! never looks at the text.

mod close_fingerprints;
pub mod compare;
pub mod config;
mod corpus_terms;
mod deduplicate;
mod document_names;
mod document_terms;
pub mod emit_pairs;
mod estimate;
mod fingerprint_collection;
mod fingerprint_documents;
mod fit;
pub mod join_fingerprints;
mod kept_copies;
mod match_collections;
mod match_queries;
pub mod progress;
mod report;
mod shard_summary;
pub mod timings;
mod verify_pairs;
mod word_fingerprints;
mod workers;
pub mod write_fingerprints;
mod write_groups;
mod write_outputs;

pub use deduplicate::{Deduplicated, deduplicate};
pub use estimate::{Estimate, estimate};
pub use fingerprint_collection::{FingerprintedCollection, fingerprint_collection};
pub use kept_copies::write_kept_copies;
pub use match_collections::{MatchedCollections, match_collections};
pub use match_queries::{MatchedQueries, match_queries};
pub use shard_summary::{BadRecord, CollectionSummary, Quarantined};
pub use write_outputs::{Close, Findings, Outputs, Side, write_outputs};
