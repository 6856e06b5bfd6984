//! Compares every element of a small array with every other: the leaves of the joins.
//!
//! Eight rows stay in registers while the columns are read. In each step, one branch checks whether any
//! pair is near. The elements are folds of fingerprints (see [`Fingerprint::fold32`]), so the found
//! pairs are only candidates. [`super::hamming_accept`] checks their whole fingerprints.
//!
//! [`Fingerprint::fold32`]: simtool_model::fingerprint_table::Fingerprint::fold32

pub use super::own_loops::hamming_pairs::{Candidates, PairSearch};

use super::Isa;
use super::vector::{Kernel, Level};

/// Finds the pairs of two indices of `words`, called row and column, whose words differ in at most
/// `max_distance` bits. The row is in `rows`, and the column is greater than the row and at least
/// `first_column`. Calls `sink` with some pairs at a time, as a slice of rows and a slice of
/// columns.
///
/// Rows are processed in groups of eight. If a caller divides `rows` at multiples of eight, all
/// calls together find the pairs in the same order as one call. `candidates` is a buffer.
///
/// # Panics
///
/// A row is outside `words`.
///
/// # Complexity
///
/// O(rows × columns) compares, up to 128 at a time.
pub fn near_pairs_32(
    search: PairSearch<'_, u32>,
    isa: Isa,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    assert!(search.rows.end <= search.words.len());
    candidates.length = 0;
    isa.run(NearPairs { search, sink: &mut *sink }, &mut *candidates);
    candidates.flush(sink);
}

/// Finds the pairs of rows and columns whose 64-bit words differ in at most `max_distance` bits, as [`near_pairs_32`]
/// does for 32-bit words. Use it for large distances, at which too many unrelated words of 32 bits would be near.
///
/// # Panics
///
/// A row is outside `words`.
pub fn near_pairs_64(
    search: PairSearch<'_, u64>,
    isa: Isa,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    assert!(search.rows.end <= search.words.len());
    candidates.length = 0;
    isa.run(NearPairs { search, sink: &mut *sink }, &mut *candidates);
    candidates.flush(sink);
}

/// A search for pairs of words that differ in few bits: its arguments, and the function that receives the found pairs.
struct NearPairs<'a, W> {
    search: PairSearch<'a, W>,
    sink: &'a mut dyn FnMut(&[u32], &[u32]),
}

impl Kernel<&mut Candidates> for NearPairs<'_, u32> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, candidates: &mut Candidates) {
        level.near_pairs_32(self.search, candidates, self.sink);
    }
}

impl Kernel<&mut Candidates> for NearPairs<'_, u64> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, candidates: &mut Candidates) {
        level.near_pairs_64(self.search, candidates, self.sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pairs that [`near_pairs_32`] finds, sorted. The rows are the words before `first_column`, or all
    /// words if it is 0.
    fn pairs_32(
        words: &[u32],
        first_column: usize,
        max_distance: u32,
        isa: Isa,
    ) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let end = if first_column == 0 { words.len() } else { first_column };
        let mut sink = |rows: &[u32], columns: &[u32]| {
            found.extend(rows.iter().copied().zip(columns.iter().copied()));
        };
        let candidates = &mut Candidates::default();
        let search = PairSearch { words, rows: 0..end, first_column, max_distance };
        near_pairs_32(search, isa, candidates, &mut sink);
        found.sort_unstable();
        found
    }

    fn pairs_64(
        words: &[u64],
        first_column: usize,
        max_distance: u32,
        isa: Isa,
    ) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let end = if first_column == 0 { words.len() } else { first_column };
        let mut sink = |rows: &[u32], columns: &[u32]| {
            found.extend(rows.iter().copied().zip(columns.iter().copied()));
        };
        let candidates = &mut Candidates::default();
        let search = PairSearch { words, rows: 0..end, first_column, max_distance };
        near_pairs_64(search, isa, candidates, &mut sink);
        found.sort_unstable();
        found
    }

    fn slow(words: &[u64], first_column: usize, max_distance: u32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for column in first_column..words.len() {
            let rows = if first_column == 0 { column } else { first_column };
            for row in 0..rows {
                if (words[row] ^ words[column]).count_ones() <= max_distance {
                    found.push((row as u32, column as u32));
                }
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn every_path_finds_the_near_pairs_of_every_length() {
        let mut state = 3u64;
        let words: Vec<u64> = (0..150)
            .map(|i| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(i | 1);
                // Few bits vary, so that every distance occurs.
                (state >> 33) & 0x0303_0303
            })
            .collect();
        for length in (0..60).chain([80, 150]) {
            let words = &words[..length];
            let narrow: Vec<u32> = words.iter().map(|&word| word as u32).collect();
            for max_distance in [0, 2, 3, 4, 40] {
                for first_column in [0, length / 3, length] {
                    let expected = slow(words, first_column, max_distance);
                    for &isa in Isa::available() {
                        let place = format!("{isa} {length} {first_column} {max_distance}");
                        let found = pairs_32(&narrow, first_column, max_distance, isa);
                        assert_eq!(found, expected, "{place}");
                        let found = pairs_64(words, first_column, max_distance, isa);
                        assert_eq!(found, expected, "{place}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_candidates_are_handed_over_in_pieces_and_none_is_lost() {
        for &isa in Isa::available() {
            let count = pairs_32(&[5; 700], 0, 0, isa).len();
            assert_eq!(count, 700 * 699 / 2, "{isa}");
        }
    }
}
