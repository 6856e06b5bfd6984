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

pub mod compare;
pub mod config;
mod corpus_terms;
mod deduplicate;
pub mod emit_pairs;
mod fingerprint_documents;
mod fit;
pub mod join_fingerprints;
mod kept_copies;
mod match_queries;
pub mod progress;
mod report;
pub mod timings;
mod workers;
mod write_outputs;

pub use corpus_terms::BadRecord;
pub use deduplicate::{Deduplicated, Quarantined, deduplicate};
pub use kept_copies::write_kept_copies;
pub use match_queries::{MatchedQueries, match_queries};
pub use write_outputs::{Outputs, write_outputs};
