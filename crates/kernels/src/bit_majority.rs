//! Counts for each bit the rows of 64 bits in which it is set. This is the inner loop of SimHash.
//!
//! A row with weight n is added n times. A bit of the fingerprint is 1 if more than half of the rows
//! have it set: 2 × ones > rows. So the counts need no signs.
//!
//! The 64 counters are stored across words: word k has binary digit k of every counter. So one addition
//! of three words, which is five bitwise instructions, adds to all counters. Rows are added in a tree,
//! as Harley and Seal count bits. Eight rows take seven additions, and only a carry of value eight goes
//! on to the higher digits. The majority is one comparison of all counters with half of the rows, digit
//! by digit.
//!
//! The loop is plain, and the compiler makes vectors of it. Four rows are added next to each other, and
//! their counts are summed at the end. Eight rows at once were not faster for documents of one page. So
//! levels with longer registers run the loop with 32 bytes, too.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
//!
//! W. Muła, N. Kurz, D. Lemire, "Faster population counts using AVX2 instructions", The Computer
//! Journal 61 (2018): the tree.

use super::Isa;
use super::own_loops::bit_majority::MOST_ROWS;
use super::vector::{Kernel, Level};

/// Number of rows that were added, and for each bit the number of these rows that have it set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitCounts {
    /// Binary digits of the 64 counts, one for each bit of a row. Bit i of `digits[k]` is digit k
    /// of the number of rows in which bit i is set. Digit k has the value 2^k.
    digits: [u64; 64],
    rows: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        Self { digits: [0; 64], rows: 0 }
    }
}

impl BitCounts {
    /// Adds `rows`, each with weight 1.
    ///
    /// # Complexity
    ///
    /// O(rows). A row takes about 6 bitwise instructions, and AVX2 handles four rows at once.
    pub fn add(&mut self, isa: Isa, rows: &[u64]) {
        self.add_some(isa, rows, rows.len() as u64);
    }

    /// Adds `rows`, but counts only `count` of them, for callers that set some rows to 0 instead of removing them.
    /// `count` is the number of the other rows. Rows of 0 add nothing to any bit.
    pub fn add_some(&mut self, isa: Isa, rows: &[u64], count: u64) {
        isa.run(AddRows { rows }, &mut self.digits);
        self.rows += count;
    }

    /// Returns a 64-bit word in which a bit is 1 if more than half of the rows have it set. Resets all counts to 0.
    #[must_use]
    pub fn take_majority(&mut self) -> u64 {
        // 2 × ones > rows.
        let half = std::mem::take(&mut self.rows) / 2;
        let used = 64 - half.leading_zeros() as usize + 1;
        // The loop goes from the lowest digit up. A higher digit decides, unless it is equal to the
        // digit of `half`.
        (0..).zip(self.digits.iter_mut().take(used)).fold(0, |over, (place, digit)| {
            let digit = std::mem::take(digit);
            if half >> place & 1 == 1 { over & digit } else { over | digit }
        })
    }
}

struct AddRows<'a> {
    rows: &'a [u64],
}

impl Kernel<&mut [u64; 64]> for AddRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, digits: &mut [u64; 64]) {
        for rows in self.rows.chunks(MOST_ROWS) {
            level.add_rows(rows, digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the majority of each bit of `rows` like [`BitCounts`], in a slow and simple way for comparison: sums +1
    /// or −1 for each row and bit.
    fn naive(rows: &[u64]) -> u64 {
        (0..64).fold(0, |all, bit| {
            let sum: i64 = rows.iter().map(|row| if row >> bit & 1 == 1 { 1 } else { -1 }).sum();
            all | u64::from(sum > 0) << bit
        })
    }

    fn check(rows: &[u64]) {
        for &isa in Isa::available() {
            let mut counts = BitCounts::default();
            let (first, second) = rows.split_at(rows.len() / 3);
            counts.add(isa, first);
            counts.add(isa, second);
            assert_eq!(counts.take_majority(), naive(rows), "{isa}, {} rows", rows.len());
            assert_eq!(counts, BitCounts::default());
        }
    }

    #[test]
    fn no_row_and_a_tie_give_zeros() {
        check(&[]);
        check(&[u64::MAX, 0]);
        check(&[u64::MAX, 0, 1]);
    }

    #[test]
    fn counters_do_not_overflow() {
        for length in [1, 31, 32, 33, 254, 255, 256, 991, 992, 993, 1000, 2047, 2048, 5000] {
            check(&vec![u64::MAX; length]);
            check(&[vec![u64::MAX; length], vec![0; length - 1]].concat());
        }
    }

    proptest! {
        #[test]
        fn random_rows_are_the_same(rows in proptest::collection::vec(any::<u64>(), 0..2500)) {
            check(&rows);
        }
    }
}
