//! Checks candidate pairs on their fingerprints.
//!
//! A join compares short folds of fingerprints first, so the fingerprints of some candidates are not
//! near. A pair is accepted if it is near enough, and if it is equal in some bits and different in
//! others. These conditions differ from part to part of a join, so that only one part accepts each
//! pair.

pub use super::own_loops::hamming_accept::PairTest;

use super::Isa;
use super::own_loops::hamming_accept::plain;
use super::vector::{Kernel, Level};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Fingerprint, Reach};

/// Candidate pairs of `values`. Candidate i is the pair of `values[rows[i]]` and `values[columns[i]]`.
#[derive(Clone, Copy, Debug)]
pub struct CandidatePairs<'a, W> {
    /// Values that form the pairs.
    pub values: &'a [W],
    /// Index of the first value of each pair.
    pub rows: &'a [u32],
    /// Index of the second value of each pair.
    pub columns: &'a [u32],
}

/// Calls `sink` for each candidate pair that passes `test`. The arguments are the indices of the
/// pair's two values, and the distance of these values.
///
/// # Panics
///
/// The index of a candidate is outside `values`.
#[inline]
pub fn accept<L: Fingerprint>(
    pairs: CandidatePairs<'_, L>,
    test: &PairTest<'_, L>,
    isa: Isa,
    sink: &mut impl FnMut(u32, u32, u32),
) {
    isa.run(Accept { pairs, test }, sink);
}

struct Accept<'a, W> {
    pairs: CandidatePairs<'a, W>,
    test: &'a PairTest<'a, W>,
}

impl<W: Fingerprint, Sink: FnMut(u32, u32, u32)> Kernel<&mut Sink> for Accept<'_, W> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, sink: &mut Sink) {
        let Self { pairs: CandidatePairs { values, rows, columns }, test } = self;
        if test.reach.shape.metric() != Metric::Bits {
            return plain(values, rows, columns, test, sink);
        }
        // From here on the compiler knows the metric.
        let reach = Reach::bits(W::BITS, test.reach.max_distance);
        if W::WORDS == 1 {
            let words = bytemuck::cast_slice(values);
            // A single word is its own fold.
            let equal = test.equal.fold64();
            let unequal = bytemuck::cast_slice(test.unequal);
            level.accept_64(words, rows, columns, &PairTest { reach, equal, unequal }, sink);
        } else {
            plain(values, rows, columns, &PairTest { reach, ..*test }, sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;

    fn check<L: Fingerprint>(values: &[L], shape: Shape, equal: L, unequal: &[L]) {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for row in 0..60u32 {
            for column in row + 1..64 {
                rows.push(row);
                columns.push(column);
            }
        }
        for max_distance in 0..6 {
            let reach = Reach { shape, max_distance };
            let test = PairTest { reach, equal, unequal };
            let mut expected = Vec::new();
            plain(values, &rows, &columns, &test, &mut |a, b, d| {
                expected.push((a, b, d));
            });
            for &isa in Isa::available() {
                let mut found = Vec::new();
                let pairs = CandidatePairs { values, rows: &rows, columns: &columns };
                accept(pairs, &test, isa, &mut |a, b, d| found.push((a, b, d)));
                assert_eq!(found, expected, "{isa}");
            }
        }
    }

    #[test]
    fn every_path_accepts_the_same_pairs() {
        let values: Vec<u64> = (0..64u64).map(|i| i << 3 | i >> 2).collect();
        let masks = [0b110, 1 << 7 | 1];
        check(&values, Shape::bits(64), 0b1_0000, &masks);
        check(&values, Shape::lanes(16, 4), 0b1_0000, &masks);
        let wide: Vec<Wide<8>> = values.iter().map(|&v| Wide([0, v, 0, 0, 0, 0, 0, v])).collect();
        let masks = masks.map(|mask| Wide([0, mask, 0, 0, 0, 0, 0, 0]));
        check(&wide, Shape::bits(512), Wide::<8>::ZERO.flipped(64 + 4), &masks);
    }
}
