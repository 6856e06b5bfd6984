//! Finds the documents of a collection whose words are all in other documents, so that nothing is lost if they are
//! removed.
//!
//! A *run* is a sequence of n consecutive words. A document with fewer words is one run. The search decides about the
//! documents from the last to the first in an order of preference. A run of a document is *kept* if another document
//! that was not removed has it, and a word is lost if it is in no kept run. The document is removed if
//!
//! * at least one of its runs is kept,
//! * it loses at most as many words as the [`LoseLimit`] allows,
//! * and no earlier removal relies on a run of it that would disappear. The kept runs of a removed document are *pinned*:
//!   from then on, no removal may make them disappear.
//!
//! So each removed document loses at most as many words as the limit allows, measured with the documents that are left
//! at the end. If no word may be lost, a document with a run that is not kept stays, even if each of its words is in
//! another run. Then the documents that are left have all runs of the collection. The result depends on the order of
//! preference and on nothing else.
//!
//! The search reads the collection about twice:
//!
//! 1. All runs are counted in a table of two-bit cells. A document that would lose too many words even if each run that
//!    looks repeated was kept stays (`candidates`). Few documents remain.
//! 2. Their runs are numbered, and looked up in all other documents (`numbered_runs`). If memory is scarce, the runs are
//!    divided into slices, and the collection is read for each slice.
//! 3. The documents that remain are decided in the order of preference, by comparing numbers of runs (`decision`).
//! 4. For each removed document, a few kept documents are found that together have all its words (`covering`).
//!
//! Input: a [`TermSource`](simtool_set_join::TermSource) whose terms are the hashes of runs in reading order. Output: a
//! [`CoveredDocument`] for each removed document. The search does not know what a word is. Different runs have equal
//! hashes with a probability of about N² / 2⁶⁵ for N runs.

mod candidates;
mod cost;
mod coverage;
mod covering;
mod decision;
mod groups;
mod lose_limit;
mod loss;
mod numbered_runs;
mod own_numbers;
mod run_ranges;
mod run_table;
mod search;
mod sources;
#[cfg(test)]
mod tests;

pub use cost::coverage_cost;
pub use coverage::{Coverage, CoveredDocument, Stretch};
pub use lose_limit::{LoseLimit, LostWords, RULE};
pub use loss::visit_lost;
pub use search::{CoverageSearch, DocumentOrder};
