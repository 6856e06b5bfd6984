//! Compares one row of bits with rows in groups of eight, word by word.
//!
//! The words of the eight rows of a group alternate, so that eight words with the same number are one
//! vector and no sum ever crosses lanes:
//!
//! ```text
//! memory     row 0 word 0, row 1 word 0, … row 7 word 0, row 0 word 1, row 1 word 1, …
//! vector 0   [ word 0 of the eight rows ]  ^ word 0 of the row → counts of bits, added up by lane
//! vector 1   [ word 1 of the eight rows ]  ^ word 1 of the row → …
//! ```
//!
//! Most groups have no near row, and the first words are enough to see that. So after every eighth
//! word, the loop leaves the group if all eight sums are above the limit.

pub use super::own_loops::hamming_groups::{GROUP, GroupSearch};

use super::Isa;
use super::vector::{Kernel, Level};

/// Appends a hit, `row << 32 | distance`, for each row of `groups` that is near `row`. A row is
/// near if its distance is at most the sum of `own_limit` and the limit of the row's group. Hits
/// are in ascending order.
///
/// All rows have as many words as `row`. Word w of the eight rows of a group begins at index 8 w of
/// the group. There are as many limits as groups, and fewer than 2^32 rows.
///
/// ```
/// use simtool_kernels::Isa;
/// use simtool_kernels::hamming_groups::{GroupSearch, near_in_groups};
///
/// // Eight rows of one word each.
/// let group = [0b0000, 0b0001, 0b0011, 0b0111, 0, 0, 0, 0];
/// let mut hits = Vec::new();
/// let search = GroupSearch { row: &[0b0011], groups: &group, own_limit: 0, limits: &[1] };
/// near_in_groups(Isa::detected(), search, &mut hits);
/// // Row 1 has distance 1, row 2 has 0 and row 3 has 1.
/// assert_eq!(hits, [1 << 32 | 1, 2 << 32, 3 << 32 | 1]);
/// ```
///
/// # Complexity
///
/// O(words of the groups). If rows are long and far apart, a third of the words or fewer are read.
pub fn near_in_groups(isa: Isa, search: GroupSearch<'_>, hits: &mut Vec<u64>) {
    debug_assert_eq!(search.groups.len(), search.row.len() * GROUP * search.limits.len());
    isa.run(search, hits);
}

impl Kernel<&mut Vec<u64>> for GroupSearch<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, hits: &mut Vec<u64>) {
        level.near_in_groups(self, hits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    /// Finds the hits of [`near_in_groups`] in a slow and simple way for comparison: compares one row after the other.
    fn slowly(row: &[u64], rows: &[Vec<u64>], own_limit: u32, limits: &[u32]) -> Vec<u64> {
        let mut hits = Vec::new();
        for (number, other) in rows.iter().enumerate() {
            let distance: u32 = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
            if distance <= own_limit + limits[number / GROUP] {
                hits.push((number as u64) << 32 | u64::from(distance));
            }
        }
        hits
    }

    #[test]
    fn every_instruction_set_finds_the_rows_that_are_near() {
        for words in [1, 2, 4, 8, 16, 32] {
            let row: Vec<u64> = (0..words).map(mix).collect();
            // Rows that differ from the first one by more and more bits.
            let rows: Vec<Vec<u64>> = (0..40_u64)
                .map(|number| {
                    let mut other = row.clone();
                    for flip in 0..number * words {
                        let bit = mix(number << 32 | flip) % (words * 64);
                        other[(bit / 64) as usize] ^= 1 << (bit % 64);
                    }
                    other
                })
                .collect();
            let mut groups = Vec::new();
            for group in rows.chunks(GROUP) {
                for word in 0..words as usize {
                    groups.extend(group.iter().map(|row| row[word]));
                }
            }
            for own_limit in [0, 1, words as u32 * 9, u32::MAX] {
                let limits: Vec<u32> = (0..5).map(|group| group * words as u32).collect();
                let own_limit = own_limit.min(u32::MAX - limits[4]);
                let expected = slowly(&row, &rows, own_limit, &limits);
                assert!(!expected.is_empty());
                for &isa in Isa::available() {
                    let mut hits = Vec::new();
                    let search =
                        GroupSearch { row: &row, groups: &groups, own_limit, limits: &limits };
                    near_in_groups(isa, search, &mut hits);
                    assert_eq!(hits, expected, "{isa}, {words} words, within {own_limit}");
                }
            }
        }
    }
}
