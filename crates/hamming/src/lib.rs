//! Exact Hamming search and joins: finds the rows of fingerprints within a distance of each other.
//!
//! The stage knows only bits: rows of words go in, row numbers and distances come out. A distance is
//! the number of differing bits, or of differing lanes of bits, and every limit is inclusive.
//!
//! Callers use the [`door`], which takes rows of any width. The methods behind it work on lanes of
//! one width.

mod asked_rows;
mod band_join;
pub mod bipartite_join;
pub mod bit_probing;
pub mod block_index;
pub mod bucket_table;
pub mod capacity;
pub mod collect;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_of_door;
pub mod door;
pub mod expanded_set;
mod first_level;
mod first_rows;
pub mod grouping;
mod index_name;
mod key_blocks;
mod lane_rows;
pub mod layout;
pub mod linear_scan;
pub mod multi_index_join;
pub mod null_lanes;
mod parallel_partition;
pub mod partition_join;
pub mod partners;
pub mod permuted_tables;
pub mod planner;
mod recursion;
pub mod row_pairs;
mod row_tags;
pub mod spilled_join;
mod split;
pub mod streamed_queries;
mod votes;
mod wide_scan;

use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::Match;
use simtool_model::validity::Validity;

/// Fingerprints to be searched, one lane a row, and which rows have one.
///
/// A row without a fingerprint matches nothing and keeps its number. There are at most 2^32 - 2
/// rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, L> {
    /// The fingerprints; what a row without one holds means nothing.
    pub lanes: &'a [L],
    /// Which rows have one; all of them if absent.
    pub validity: Option<&'a Validity>,
}

impl<'a, L> Rows<'a, L> {
    /// Rows that all have a fingerprint.
    pub fn all(lanes: &'a [L]) -> Self {
        Self { lanes, validity: None }
    }

    /// Whether a row has a fingerprint.
    #[inline]
    #[must_use]
    pub fn has_fingerprint(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.has_value(row))
    }
}

/// A structure over an array of fingerprints that answers queries.
pub trait FingerprintIndex<L: Lane>: Sync {
    /// The largest distance that it was built for.
    fn max_distance(&self) -> u32;

    /// Replaces `found` by every row within [`Self::max_distance`] of `query`, in row order.
    fn search(&self, query: L, found: &mut Vec<Match>);

    /// Hands to `found` what [`Self::search`] finds for each query, with the query's number, in
    /// order.
    fn search_batch(&self, queries: &[L], found: &mut dyn FnMut(usize, &[Match])) {
        let mut matches = Vec::new();
        for (number, &query) in queries.iter().enumerate() {
            self.search(query, &mut matches);
            found(number, &matches);
        }
    }
}

/// A structure over rows of any width that answers queries, one at a time.
pub trait Searcher: Sync {
    /// Replaces `found` by every row within the distance of the row of these words, in row order.
    ///
    /// # Panics
    ///
    /// The query may have no other number of words than the rows.
    fn search(&self, query: &[u64], found: &mut Vec<Match>);
}
