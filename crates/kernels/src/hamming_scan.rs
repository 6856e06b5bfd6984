//! Compares one fingerprint with each fingerprint of an array.
//!
//! A hit is one 64-bit number, `row << 32 | distance`, and hits are in ascending order. So eight hits fit into a
//! vector. AVX-512 packs the hits together and stores them at once, without a branch for each:
//!
//! ```text
//! distances     9  2  7  3  8  9  9  1      limit 3
//! mask          .  x  .  x  .  .  .  x
//! stored        [row 1 | 2] [row 3 | 3] [row 7 | 1]
//! ```

use super::Isa;
use super::own_loops::hamming_scan::plain;
use super::vector::{Kernel, Level};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Fingerprint, Reach, Wide};

/// Appends a hit, `row << 32 | distance`, for each row of `corpus` within the maximum distance
/// `reach` of `query`.
///
/// Row numbers count from the start of `corpus`, which has at most 2^32 rows.
///
/// # Complexity
///
/// O(n) compares; with AVX-512, eight words to a vector.
pub fn scan<L: Fingerprint>(corpus: &[L], query: L, reach: Reach, isa: Isa, hits: &mut Vec<u64>) {
    debug_assert!(corpus.len() as u64 <= 1 << 32, "row numbers are 32 bits wide");
    if reach.shape.metric() != Metric::Bits {
        return scan_lanes(corpus, query, reach, hits);
    }
    isa.run(Scan { corpus, query, max_distance: reach.max_distance }, hits);
}

struct Scan<'a, W> {
    corpus: &'a [W],
    query: W,
    max_distance: u32,
}

impl<W: Fingerprint> Kernel<&mut Vec<u64>> for Scan<'_, W> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, hits: &mut Vec<u64>) {
        let Self { corpus, query, max_distance } = self;
        match W::WORDS {
            // A single word is its own fold.
            1 => level.scan_64(bytemuck::cast_slice(corpus), query.fold64(), max_distance, hits),
            2 => {
                let query = Wide::from_words(query.words());
                level.scan_128(bytemuck::cast_slice(corpus), query, max_distance, hits);
            }
            _ => plain(corpus, query, 0, max_distance, hits),
        }
    }
}

/// Appends a hit, `row << 32 | distance`, for each row of `corpus` within the maximum distance `reach` of `query`. The
/// distance is the number of lanes in which two rows differ. A lane is a group of adjacent bits.
fn scan_lanes<L: Fingerprint>(corpus: &[L], query: L, reach: Reach, hits: &mut Vec<u64>) {
    for (row, &fingerprint) in (0u64..).zip(corpus) {
        if let Some(distance) = reach.distance(fingerprint ^ query) {
            hits.push(row << 32 | u64::from(distance));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;

    fn check<L: Fingerprint>(corpus: &[L], query: L, max_distance: u32) {
        let mut expected = Vec::new();
        plain(corpus, query, 0, max_distance, &mut expected);
        for &isa in Isa::available() {
            let mut hits = Vec::new();
            scan(corpus, query, Reach::bits(L::BITS, max_distance), isa, &mut hits);
            assert_eq!(hits, expected, "{isa}, {} rows of {} bits", corpus.len(), L::BITS);
        }
    }

    #[test]
    fn every_path_finds_the_same_rows() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            state ^ (state >> 29)
        };
        let fingerprints: Vec<Wide<8>> = (0..300).map(|_| Wide([0; 8].map(|_| next()))).collect();
        let half: Vec<Wide<4>> =
            fingerprints.iter().map(|fingerprint| Wide::from_words(&fingerprint.0)).collect();
        let two: Vec<Wide<2>> =
            fingerprints.iter().map(|fingerprint| Wide::from_words(&fingerprint.0)).collect();
        let one: Vec<u64> = fingerprints.iter().map(|fingerprint| fingerprint.0[0]).collect();
        for length in (0..70).chain([128, 299]) {
            for max_distance in [0, 3, 24, 31, 60, 128, 250, u32::MAX] {
                check(&fingerprints[1..=length], fingerprints[0], max_distance);
                check(&half[1..=length], half[0], max_distance);
                check(&two[1..=length], two[0], max_distance);
                check(&one[1..=length], one[0], max_distance);
            }
        }
    }

    #[test]
    fn lanes_are_counted_where_the_metric_says_so() {
        let reach = Reach { shape: Shape::lanes(16, 4), max_distance: 1 };
        let mut hits = Vec::new();
        scan(&[0u64, 0xF00, 0xF0F, 0x0880], 0, reach, Isa::detected(), &mut hits);
        assert_eq!(hits, [0, 1 << 32 | 1]);
    }
}
