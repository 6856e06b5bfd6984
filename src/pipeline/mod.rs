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
pub mod emit_pairs;
mod estimate;
mod find_close;
mod fingerprint_collection;
mod fingerprint_documents;
mod fit;
pub mod join_fingerprints;
mod match_queries;
pub mod method;
mod near_duplicates;
mod outputs;
mod plan;
pub mod progress;
mod shard_summary;
pub mod timings;
mod verify_pairs;
mod workers;
pub mod write_fingerprints;

pub use estimate::{Estimate, estimate};
pub use fingerprint_collection::{FingerprintedCollection, fingerprint_collection};
pub use match_queries::{MatchedQueries, match_queries};
pub use near_duplicates::{NearDuplicates, find_near_duplicates};
pub use outputs::{Findings, Outputs, Side, write_kept_copies, write_outputs};
pub use plan::{Plan, Task};
pub use shard_summary::{BadRecord, CollectionSummary, Quarantined};
