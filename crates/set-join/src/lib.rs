//! The exact join of sets: finds every pair whose similarity reaches a threshold, by any measure of
//! [`simtool_model::similarity::MEASURES`]. It takes about as long as reading the text twice.
//!
//! Steps 1 and 2 prepare the join (`survivors`), and steps 3 and 4 find the pairs.
//!
//! 1. *Prune.* Two sets that are similar at threshold t share at least the fraction t of their terms. In real
//!    collections, most terms of most documents occur nowhere else. The terms are therefore counted
//!    in a table of two-bit counters, called cells. Sets with too many unmatched terms, which no other set has, are
//!    dropped (`prune`, or `reread` if the terms do not fit into memory). With few terms, this step costs more than it
//!    saves and is skipped.
//! 2. *Sketch* the sets that were not dropped: each set becomes a row of bits, with about three bits a term
//!    (`sketching`). Among equal sets, only the first one is joined, and all share a sketch (`known_rows`).
//! 3. *Compare the sketches* of every two sets whose sizes allow similarity (`window_scan`), or only of the pairs of
//!    sets that an index of their first terms finds (`prefix_postings`). The few documents with similar sketches are
//!    read again and compared term by term (`compare_terms`, or `streamed_terms` if they do not fit in memory). If
//!    there are too many pairs for the memory or the time (`pair_sample`), only those pairs are found that decide which
//!    documents are kept (`kept_pairs`). If too many sketches are similar, new sketches are made without the terms that
//!    no other document has (`counted_join`).
//! 4. *Or join by prefixes*, if comparing sketches would cost more. The terms are renumbered by
//!    frequency (`ranked_sets`). Sets that share some of their rarest terms are compared (`prefix_join`), one block of
//!    documents after the other if memory is scarce (`block_join`).
//!
//! If terms have weights, the join compares no sketches and no candidates. It renumbers the terms
//! that remain after pruning, and joins by prefixes of sums of weights (`weighted_join`).
//!
//! Input: a [`TermSource`], which is read one to three times, or more often if memory is scarce.
//! Output: [`Close`](close::Close), the same for any number of threads. The join does not know what a term is.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data
//! cleaning. ICDE 2006.
//! W. Mann, N. Augsten, P. Bouros. An empirical evaluation of set similarity join techniques.
//! PVLDB 9(9), 2016.

pub mod close;
pub mod close_pairs;
#[doc(hidden)]
pub mod disjoint_sets;

mod block_join;
mod block_sets;
mod candidate_links;
mod cells;
mod compare_terms;
mod cost;
mod counted_join;
mod find_pairs;
mod forecast;
pub mod kept_pairs;
mod known_rows;
mod large_vec;
mod linking_pairs;
mod memory_texts;
mod other_sequences;
mod pair_filter;
pub mod pair_order;
mod pair_sample;
mod pair_search;
mod prefix_join;
mod prefix_postings;
mod prune;
mod ranked_sets;
mod reread;
pub mod row_sequences;
mod set_join;
mod sketch_join;
mod sketch_levels;
mod sketch_pairs;
mod sketch_parts;
mod sketch_room;
mod sketch_rows;
mod sketches;
mod sketching;
mod streamed_terms;
mod survivors;
mod term_numbers;
mod term_sample;
mod term_source;
#[cfg(test)]
mod tests;
mod weighted_join;
mod window_scan;

pub use cells::{CellNumbers, CellWriter, Cells, Filling};
pub use cost::{SampledSets, SetJoinCost, TermShares};
pub use pair_filter::PairFilter;
pub use prefix_join::shared_if_enough;
pub use set_join::{KeptChoice, SetJoin};
pub use term_source::{TermSource, Wanted};
pub use weighted_join::shared_weight_if_enough;
