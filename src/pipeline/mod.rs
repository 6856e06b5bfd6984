//! Runs from beginning to end. Only this module knows the order of the stages.
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
//! * [`config`] is all settings, [`Plan`] the settings that were checked together.
//! * [`find_near_duplicates`] runs a plan. [`deduplicate`], [`match_collections`], [`fingerprint`]
//!   and [`compare()`] are whole runs in one call.
//! * `find_covered` finds documents whose words are all in others, without pairs, for the method `covered`.
//! * [`find_passages()`] finds passages that occur more than once, in any two documents.
//! * [`find_contamination()`] finds the items of an evaluation set in documents.
//! * [`match_queries()`] is `simtool N M`. It counts and numbers the most frequent words of form-feed
//!   texts in a first pass, so that the second pass never looks at the text.
//! * [`SetKeys`] computes keys of sets; any two similar sets have a key in common. [`Verifier`] compares the
//!   texts of candidate pairs that another engine found.

pub(crate) mod boilerplate;
mod boilerplate_rule;
pub(crate) mod close_fingerprints;
pub mod compare;
pub mod config;
pub(crate) mod corpus_terms;
mod date_value;
mod deciding_fingerprints;
pub(crate) mod decisions;
pub mod document_fields;
pub(crate) mod document_names;
pub(crate) mod document_traits;
pub(crate) mod excerpts;
pub(crate) mod find_close;
pub(crate) mod find_contamination;
mod find_covered;
pub(crate) mod find_passages;
pub(crate) mod fingerprint_collection;
mod fingerprint_documents;
pub(crate) mod fit;
pub(crate) mod held_documents;
mod in_turns;
mod item_in_document;
mod joined_lists;
pub mod keep_order;
mod keep_rule;
pub(crate) mod kept_documents;
pub(crate) mod kept_terms;
mod left_out_counts;
mod levels;
mod little_pages;
pub(crate) mod lost_words;
pub(crate) mod match_queries;
pub(crate) mod near_duplicates;
mod near_filter;
pub(crate) mod near_misses;
mod needed_memory;
pub(crate) mod one_call;
mod origin;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod probe_sets;
mod quarantine;
pub(crate) mod row_scope;
pub mod scope;
mod set_keys;
pub(crate) mod shard_summary;
mod source;
mod spool;
pub(crate) mod stored_bytes;
mod stored_close;
mod stored_passages;
mod stored_summary;
mod text_facts;
pub mod timings;
mod unread_values;
pub(crate) mod verify;
pub(crate) mod watched;

pub use boilerplate_rule::{Boilerplate, Site};
pub use decisions::{Decided, Decision, Decisions, OutputName, source_name};
pub use find_contamination::{FoundContamination, find_contamination};
pub use find_passages::{FoundPassages, RepeatedWords, find_passages, repeated_words};
pub use fingerprint_collection::{
    FingerprintedCollection, WithoutWords, fingerprint_by_fitted, fingerprint_collection,
};
pub use item_in_document::ItemInDocument;
pub use lost_words::{PairLoss, RemovalLosses};
pub use match_queries::{MatchedQueries, match_queries};
pub use near_duplicates::{NearDuplicates, find_near_duplicates};
pub use one_call::{compare, deduplicate, fingerprint, fingerprint_by, match_collections};
pub use origin::Origin;
pub use plan::{Plan, Task};
pub use quarantine::{Quarantine, Quarantined};
pub use set_keys::{KeyedSet, SetKeys, SetUnderKey};
pub use shard_summary::CollectionSummary;
pub use simtool_coverage::{LoseLimit, LostWords};
pub use text_facts::TextFacts;
pub use verify::Verifier;
