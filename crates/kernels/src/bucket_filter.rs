//! Finds the rows that may be near a value. Each row is compared only with the values in its own bucket,
//! which a hash of some bits of the row selects.
//!
//! A bucket has one word: the fold of its only value (see [`Fingerprint::fold32`]), or [`CROWDED`] if
//! it has several values. The folds of two rows differ in at most as many bits as the rows do. So this
//! word alone excludes nearly all rows, without a branch:
//!
//! ```text
//! row → hash of its block → word of the bucket → near the row's fold, or crowded? → keep the row
//! ```

pub use super::own_loops::bucket_filter::{BucketSearch, CROWDED};

use super::Isa;
use super::own_loops::bucket_filter::{STEP, plain};
use super::partition::{BlockHash, Parts};
use super::vector::{Kernel, Level};
use simtool_model::fingerprint_table::Fingerprint;

/// Returns the number of elements that the buffer `found` of [`rows_near_buckets`] needs for this
/// number of rows. These are a few more elements than rows, because the loop always writes whole
/// vectors.
#[must_use]
pub fn places(rows: usize) -> usize {
    rows + STEP
}

/// Finds the rows of a search that may be near a value in their bucket. It keeps each row whose bucket has several
/// values, and so the word [`CROWDED`]. It keeps another row if its fold differs from the word of its bucket in at most
/// `search.max_distance` bits. A fold is the XOR of the 32-bit words of a row. Writes the indices of the kept rows to
/// `found` in ascending order, and returns their number.
///
/// A row that is near the only value of its bucket is always found.
///
/// # Panics
///
/// The number of words is not the number of buckets, or `found` has fewer than [`places`] elements.
pub fn rows_near_buckets<L: Fingerprint>(
    search: BucketSearch<'_, L>,
    isa: Isa,
    found: &mut [u32],
) -> usize {
    assert_eq!(search.words.len(), search.hash.parts());
    assert!(found.len() >= places(search.rows.len()));
    isa.run(search, found)
}

impl<W: Fingerprint> Kernel<&mut [u32]> for BucketSearch<'_, W> {
    type Result = usize;

    #[inline(always)]
    fn run<L: Level>(self, level: L, found: &mut [u32]) -> usize {
        if W::WORDS != 1 {
            return plain(self, 0, found);
        }
        let Self { rows, hash, words, max_distance } = self;
        // A single word is its own fold.
        let (block, shift, window) = (hash.block.fold64(), hash.shift, hash.window);
        let hash = &BlockHash { block, shift, window };
        let search = BucketSearch { rows: bytemuck::cast_slice(rows), hash, words, max_distance };
        level.rows_near_buckets_64(search, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;

    fn check<L: Fingerprint>(rows: &[L]) {
        for (block, bits) in [(0xFFFF, 16), (0xF0F0_F0F0, 9)] {
            let hash = BlockHash::new(L::from_words(&[block]), 0, bits);
            let mut words = vec![0; hash.parts()];
            for (number, row) in rows.iter().enumerate().step_by(3) {
                let word = &mut words[hash.part(*row)];
                *word = if *word == 0 && number % 5 != 0 { row.fold32() } else { CROWDED };
            }
            for max_distance in [0, 3, 12, 64] {
                for length in (0..30).chain([rows.len()]) {
                    let mut expected = vec![7; places(length)];
                    let rows = &rows[..length];
                    let search = BucketSearch { rows, hash: &hash, words: &words, max_distance };
                    let count = plain(search, 0, &mut expected);
                    for &isa in Isa::available() {
                        let mut found = vec![9; places(length)];
                        let number = rows_near_buckets(search, isa, &mut found);
                        assert_eq!(found[..number], expected[..count], "{isa}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_path_lets_the_same_rows_through() {
        let mixed = |i: u64| (i % 97).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32 % 3);
        check(&(0..1000).map(mixed).collect::<Vec<u64>>());
        check(&(0..300).map(|i| Wide([mixed(i) << 40 | 5, mixed(i) >> 24])).collect::<Vec<_>>());
        check(&(0..300).map(|i| Wide([5, mixed(i), 0, i])).collect::<Vec<_>>());
    }
}
