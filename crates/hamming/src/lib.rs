//! Exact Hamming search and joins: finds all fingerprints within a given distance of each other.
//!
//! This crate knows only bits. Its input is fingerprints, which are rows of 64-bit words, and its
//! output is row numbers and distances. A distance is the number of different bits or of different
//! groups of bits. Pairs at the maximum distance are included.
//!
//! Callers use the functions in [`door`], which take fingerprints of any length. The methods behind
//! them work on fingerprints of 1, 2, 4 or 8 words.

mod band_join;
pub mod bipartite_join;
pub mod block_index;
pub mod bucket_table;
pub mod capacity;
pub mod classic;
pub mod close_by_chance;
pub mod collect;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_of_door;
#[cfg(test)]
mod conformance_of_large_sets;
#[cfg(test)]
mod conformance_of_templates;
pub mod door;
mod first_level;
mod first_rows;
pub mod group_pairs;
pub mod grouping;
mod hash_lanes;
mod indexed_search;
pub mod join;
pub mod joins;
mod key_blocks;
pub mod layout;
mod leaf;
pub mod linear_scan;
pub mod multi_index_join;
pub mod null_lanes;
mod on_demand;
mod pair_room;
mod parallel_partition;
pub mod partition_join;
pub mod partners;
pub mod planner;
mod recursion;
mod recursion_memory;
pub mod row_pairs;
mod row_tags;
pub mod spilled_join;
mod split;
pub mod streamed_queries;
mod votes;
mod wide_scan;
pub mod work;
pub mod workload;

use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;
use simtool_model::validity::Validity;

/// The fingerprints of a collection, one value of type `L` for each row. Some rows may have no
/// fingerprint.
///
/// A row without a fingerprint has no partners, and does not change the numbers of the later rows.
/// There are at most 2³² − 2 rows.
///
/// ```
/// use simtool_hamming::Rows;
/// use simtool_model::validity::Validity;
///
/// let mut validity = Validity::all(3);
/// validity.clear(1);
/// let rows = Rows { fingerprints: &[7_u64, 0, 9], validity: Some(&validity) };
/// assert_eq!(rows.fingerprint(0), Some(7));
/// assert_eq!(rows.fingerprint(1), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, L> {
    /// The fingerprint of each row. The value of a row without a fingerprint is ignored.
    pub fingerprints: &'a [L],
    /// Marks the rows that have a fingerprint. `None` if all rows have one.
    pub validity: Option<&'a Validity>,
}

impl<'a, L> Rows<'a, L> {
    /// Creates rows that all have a fingerprint.
    pub fn all(fingerprints: &'a [L]) -> Self {
        Self { fingerprints, validity: None }
    }

    /// Whether a row has a fingerprint.
    #[inline]
    #[must_use]
    pub fn has_fingerprint(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.has_value(row))
    }
}

impl<L: Copy> Rows<'_, L> {
    /// Returns the fingerprint of a row, or `None` if the row has none.
    #[inline]
    #[must_use]
    pub fn fingerprint(&self, row: usize) -> Option<L> {
        self.has_fingerprint(row).then(|| self.fingerprints[row])
    }
}

/// An index over an array of fingerprints. It finds the fingerprints near a query.
pub trait FingerprintIndex<L: Fingerprint>: Sync {
    /// Returns the maximum distance of a match.
    fn max_distance(&self) -> u32;

    /// Replaces `found` by all rows within [`Self::max_distance`] of `query`, in ascending order of
    /// their numbers.
    fn search(&self, query: L, found: &mut Vec<Match>);

    /// Answers several queries. Calls `found` for each query in order, with the index of the query in `queries` and the
    /// matches that [`Self::search`] would find.
    fn search_batch(&self, queries: &[L], found: &mut dyn FnMut(usize, &[Match])) {
        let mut matches = Vec::new();
        for (number, &query) in queries.iter().enumerate() {
            self.search(query, &mut matches);
            found(number, &matches);
        }
    }
}
