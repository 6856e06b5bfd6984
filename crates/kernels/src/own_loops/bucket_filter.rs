//! The plain loop of [`crate::bucket_filter`].

use crate::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::Fingerprint;

/// The word of a bucket with several values. The rows that look up such a bucket are kept. If the
/// fold of a bucket's only value is this number by chance, these rows are kept, too, so none is
/// missed.
pub const CROWDED: u32 = u32::MAX;

/// Number of rows of a step of the loop. A step writes at most this number of elements.
pub(crate) const STEP: usize = 8;

/// The arguments of a search for rows that may be near a value in their buckets.
#[derive(Clone, Copy)]
pub(crate) struct BucketSearch<'a, L> {
    /// Rows whose buckets are looked up.
    pub(crate) rows: &'a [L],
    /// Function that returns the bucket of a row.
    pub(crate) hash: &'a BlockHash<L>,
    /// Word of each bucket: the fold of its only value, or [`CROWDED`].
    pub(crate) words: &'a [u32],
    /// Maximum number of bits in which the fold of a kept row differs from the word of its bucket.
    pub(crate) max_distance: u32,
}

/// Looks up one row after the other. Writes the indices of the kept rows to `found`, and returns
/// their number. `first` is the index of the first row.
#[inline(always)]
pub(crate) fn plain<L: Fingerprint>(
    search: BucketSearch<'_, L>,
    first: usize,
    found: &mut [u32],
) -> usize {
    let BucketSearch { rows, hash, words, max_distance } = search;
    let mut count = 0;
    for (at, &row) in rows.iter().enumerate() {
        let word = words[hash.part(row)];
        let is_near = (word ^ row.fold32()).count_ones() <= max_distance;
        // The index is always written, and overwritten later unless the row is kept. So there is no
        // branch to mispredict.
        found[count] = (first + at) as u32;
        count += usize::from(is_near) | usize::from(word == CROWDED);
    }
    count
}
