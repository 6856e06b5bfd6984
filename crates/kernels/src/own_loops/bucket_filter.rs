//! The plain loop of [`crate::bucket_filter`].

use crate::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::Lane;

/// The word of a bucket with several values. Its rows are kept. A single value whose fold happens to be
/// this number is not lost: its rows are kept, too.
pub const CROWDED: u32 = u32::MAX;

/// Rows of a step. A step writes at most this many places.
pub(crate) const STEP: usize = 8;

/// The search of rows in the words of their buckets.
#[derive(Clone, Copy)]
pub(crate) struct BucketSearch<'a, L> {
    /// Rows that are looked up.
    pub(crate) rows: &'a [L],
    /// Bucket of a row.
    pub(crate) hash: &'a BlockHash<L>,
    /// Word of each bucket.
    pub(crate) words: &'a [u32],
    /// Most bits in which the fold of a kept row differs from the word.
    pub(crate) max_distance: u32,
}

/// Looks at one row after the other. Writes the places of the kept rows, which start at `first`, and
/// returns how many there are.
#[inline(always)]
pub(crate) fn plain<L: Lane>(
    search: BucketSearch<'_, L>,
    first: usize,
    found: &mut [u32],
) -> usize {
    let BucketSearch { rows, hash, words, max_distance } = search;
    let mut count = 0;
    for (at, &row) in rows.iter().enumerate() {
        let word = words[hash.part(row)];
        let is_near = (word ^ row.fold32()).count_ones() <= max_distance;
        // Written in any case, kept if it is near: no branch to mispredict.
        found[count] = (first + at) as u32;
        count += usize::from(is_near) | usize::from(word == CROWDED);
    }
    count
}
