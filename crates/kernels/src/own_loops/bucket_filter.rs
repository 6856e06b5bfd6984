//! The plain loop of [`crate::bucket_filter`].

use crate::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::Fingerprint;

/// Word of a bucket that has several values. All rows of such a bucket are kept. The word of a bucket with one value is
/// the XOR of the value's 32-bit words. If it equals this number by chance, the rows of that bucket are kept, too, so
/// no near row is missed.
pub const CROWDED: u32 = u32::MAX;

/// Number of rows that one step of the loop handles. A step writes at most this number of elements
/// of `found`.
pub(crate) const STEP: usize = 8;

/// Arguments of a search for rows that may be near a value. Values are divided among buckets, and each row is compared
/// only with the values in the bucket that its hash selects.
#[derive(Clone, Copy, Debug)]
pub struct BucketSearch<'a, L> {
    /// Rows whose buckets are looked up.
    pub rows: &'a [L],
    /// Function that returns the bucket of a row.
    pub hash: &'a BlockHash<L>,
    /// Word of each bucket: the fold of its only value, or [`CROWDED`]. A fold is the XOR of the
    /// 32-bit words of a value.
    pub words: &'a [u32],
    /// Maximum number of bits in which the fold of a kept row, which is the XOR of its 32-bit words, differs from the
    /// word of its bucket.
    pub max_distance: u32,
}

/// Finds the rows of `search` that may be near a value in their bucket, one row after the other. Writes the numbers of
/// these rows to `found`, and returns how many they are. The first row has the number `first`.
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
