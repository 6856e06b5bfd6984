//! Exact Hamming search and joins: finds the rows of fingerprints within a distance of each other.
//!
//! The stage knows only bits: rows of words go in, row numbers and distances come out. A distance is
//! the number of differing bits, or of differing lanes of bits, and every limit is inclusive.
//!
//! Callers use the [`door`], which takes rows of any width. The methods behind it work on lanes of
//! one width.

mod band_join;
pub mod bipartite_join;
pub mod block_index;
pub mod bucket_table;
pub mod capacity;
pub mod classic;
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
mod indexed_search;
pub mod join;
pub mod joins;
mod key_blocks;
pub mod layout;
mod leaf;
pub mod linear_scan;
pub mod multi_index_join;
pub mod null_lanes;
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

use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::Match;
use simtool_model::validity::Validity;

/// The fingerprints of a side, one lane for each row. Rows may lack a fingerprint.
///
/// A row without a fingerprint matches nothing, and the rows behind it keep their numbers. There are at
/// most 2^32 - 2 rows.
///
/// ```
/// use simtool_hamming::Rows;
/// use simtool_model::validity::Validity;
///
/// let mut validity = Validity::all(3);
/// validity.clear(1);
/// let rows = Rows { lanes: &[7_u64, 0, 9], validity: Some(&validity) };
/// assert_eq!(rows.fingerprint(0), Some(7));
/// assert_eq!(rows.fingerprint(1), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, L> {
    /// The fingerprints. The lane of a row without a fingerprint is ignored.
    pub lanes: &'a [L],
    /// The rows that have a fingerprint; `None` if all rows have one.
    pub validity: Option<&'a Validity>,
}

impl<'a, L> Rows<'a, L> {
    /// Borrows rows that all have a fingerprint.
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

impl<L: Copy> Rows<'_, L> {
    /// The fingerprint of a row, if it has one.
    #[inline]
    #[must_use]
    pub fn fingerprint(&self, row: usize) -> Option<L> {
        self.has_fingerprint(row).then(|| self.lanes[row])
    }
}

/// An index over an array of fingerprints, which answers queries.
pub trait FingerprintIndex<L: Lane>: Sync {
    /// The largest distance of a match.
    fn max_distance(&self) -> u32;

    /// Replaces `found` by every row within [`Self::max_distance`] of `query`, in row order.
    fn search(&self, query: L, found: &mut Vec<Match>);

    /// Calls `found` for each query in order, with the number of the query and its matches, as
    /// [`Self::search`] finds them.
    fn search_batch(&self, queries: &[L], found: &mut dyn FnMut(usize, &[Match])) {
        let mut matches = Vec::new();
        for (number, &query) in queries.iter().enumerate() {
            self.search(query, &mut matches);
            found(number, &matches);
        }
    }
}
