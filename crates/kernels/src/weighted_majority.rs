//! Sums for each bit the weights of the rows that have it set. This is the inner loop of SimHash with
//! weights.
//!
//! A bit of the fingerprint is 1 if the rows that have it set have more than half of the total weight:
//! 2 × sum > total. So the sums need no signs. The 64 sums are next to each other and have 32 bits
//! each. Rows whose weights have a larger sum are added in two halves.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

use super::Isa;
use super::vector::{Kernel, Level};

/// For each bit, the sum of the weights of the rows that have the bit set. Also the sum of the weights
/// of all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitWeightSums {
    with_bit: [u64; 64],
    total: u64,
}

impl Default for BitWeightSums {
    fn default() -> Self {
        Self { with_bit: [0; 64], total: 0 }
    }
}

impl BitWeightSums {
    /// Adds `rows` with their weights.
    ///
    /// # Panics
    ///
    /// There are more weights than rows, or fewer.
    ///
    /// # Complexity
    ///
    /// O(rows). A row takes 4 additions of 16 sums with AVX-512, and 32 instructions with AVX2.
    pub fn add(&mut self, isa: Isa, rows: &[u64], weights: &[u32]) {
        assert_eq!(rows.len(), weights.len(), "every row has a weight");
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        if total > u64::from(u32::MAX) {
            // There are at least two rows, because a single weight fits in 32 bits.
            let half = rows.len() / 2;
            self.add(isa, &rows[..half], &weights[..half]);
            self.add(isa, &rows[half..], &weights[half..]);
            return;
        }
        let sums = isa.run(SumWeights { rows, weights }, ());
        for (with_bit, sum) in self.with_bit.iter_mut().zip(sums) {
            *with_bit += u64::from(sum);
        }
        self.total += total;
    }

    /// Returns the sum of the weights of all rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns a 64-bit word in which a bit is 1 if the rows that have it set have more than half of the total weight.
    /// Resets all sums to 0.
    #[must_use]
    pub fn take_majority(&mut self) -> u64 {
        let Self { with_bit, total } = std::mem::take(self);
        let bit = |(bit, &sum): (usize, &u64)| u64::from(2 * sum > total) << bit;
        with_bit.iter().enumerate().map(bit).sum()
    }
}

struct SumWeights<'a> {
    rows: &'a [u64],
    weights: &'a [u32],
}

impl Kernel<()> for SumWeights<'_> {
    type Result = [u32; 64];

    #[inline(always)]
    fn run<L: Level>(self, level: L, (): ()) -> [u32; 64] {
        level.bit_weights(self.rows, self.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the weighted majority of each bit of `rows` like [`BitWeightSums`], in a slow and simple way for
    /// comparison: adds or subtracts the weight of each row for each bit.
    fn naive(rows: &[u64], weights: &[u32]) -> u64 {
        (0..64).fold(0, |all, bit| {
            let signed = |(row, &weight): (&u64, &u32)| {
                if row >> bit & 1 == 1 { i64::from(weight) } else { -i64::from(weight) }
            };
            let sum: i64 = rows.iter().zip(weights).map(signed).sum();
            all | u64::from(sum > 0) << bit
        })
    }

    fn check(rows: &[u64], weights: &[u32]) {
        for &isa in Isa::available() {
            let mut sums = BitWeightSums::default();
            let first = rows.len() / 3;
            sums.add(isa, &rows[..first], &weights[..first]);
            sums.add(isa, &rows[first..], &weights[first..]);
            assert_eq!(sums.take_majority(), naive(rows, weights), "{isa}, {} rows", rows.len());
            assert_eq!(sums, BitWeightSums::default());
        }
    }

    #[test]
    fn no_weight_and_a_tie_give_zeros() {
        check(&[], &[]);
        check(&[u64::MAX], &[0]);
        check(&[u64::MAX, 0], &[7, 7]);
        check(&[u64::MAX, 0, 1], &[7, 7, 1]);
    }

    #[test]
    fn the_sums_of_the_tutorial_and_of_the_lecture() {
        let digits = |text| u64::from_str_radix(text, 2).unwrap();
        // Weights 4 and 5: 9 -9 1 -1 1 9.
        let rows = [digits("100101"), digits("101011")];
        check(&rows, &[4, 5]);
        let mut sums = BitWeightSums::default();
        sums.add(Isa::PORTABLE, &rows, &[4, 5]);
        assert_eq!(sums.take_majority(), digits("101011"));
    }

    #[test]
    fn sums_do_not_overflow() {
        for length in [1, 2, 3, 31, 100] {
            check(&vec![u64::MAX; length], &vec![u32::MAX; length]);
            let rows = [vec![u64::MAX; length], vec![0; length]].concat();
            let mut weights = vec![u32::MAX; 2 * length];
            check(&rows, &weights);
            weights[length] -= 1;
            check(&rows, &weights);
        }
    }

    proptest! {
        #[test]
        fn random_rows_are_the_same(
            rows in proptest::collection::vec((any::<u64>(), prop_oneof![0..9_u32, any::<u32>()]), 0..300),
        ) {
            let (rows, weights): (Vec<u64>, Vec<u32>) = rows.into_iter().unzip();
            check(&rows, &weights);
        }
    }
}
