//! Counts for each bit how many of many 64-bit rows have it set: the inner loop of SimHash.
//!
//! A row's weight is the number of times that it is given. A bit of the fingerprint is 1 where the
//! rows with the bit outnumber those without: where 2 × ones > rows, so no signs are needed.
//!
//! The 64 counters lie across the words: word k of the counts holds digit k of every counter, so
//! one addition of three words, five bitwise instructions, adds to all of them. Rows are added in a
//! tree, as Harley and Seal count bits: eight rows cost seven such additions, and only what eights
//! carry goes to the digits above. The majority is a comparison, digit by digit, of all counters at
//! once.
//!
//! The loop is plain, and the compiler makes vectors of it: four rows are added next to each other, and
//! their counts are summed at the end. Eight at once did not pay for documents of a page, so levels
//! with longer registers run it with 32 bytes, too.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
//!
//! W. Muła, N. Kurz, D. Lemire, "Faster population counts using AVX2 instructions", The Computer
//! Journal 61 (2018): the tree.

use super::{Isa, Kind};

/// Rows that are added next to each other.
const LANES: usize = 4;

/// Rows of one lane that are added in one tree.
const TREE: usize = 8;

/// Digits of the counts of a lane.
const LANE_DIGITS: usize = 8;

/// Trees that the digits of a lane are enough for.
const MOST_TREES: usize = (1 << LANE_DIGITS) / TREE - 1;

/// A word of each lane.
type Words = [u64; LANES];

/// Counts of rows: how many were added, and how many of them have each bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitCounts {
    /// Bit i of word k is digit k, of value 2^k, of the number of rows that have bit i.
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
    /// O(rows): about 6 bitwise instructions a row, that AVX2 does for four rows at once.
    pub fn add(&mut self, isa: Isa, rows: &[u64]) {
        self.add_some(isa, rows, rows.len() as u64);
    }

    /// Adds `count` rows. `rows` may have others among them if they are 0: they add nothing to any bit,
    /// and they are not counted.
    pub fn add_some(&mut self, isa: Isa, rows: &[u64], count: u64) {
        for rows in rows.chunks(MOST_TREES * TREE * LANES) {
            match isa.0 {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `runnable` says that this processor has AVX2, which AVX-512 includes.
                Kind::Avx2 | Kind::Avx512 => unsafe { avx2::add(rows, &mut self.digits) },
                _ => portable::add(rows, &mut self.digits),
            }
        }
        self.rows += count;
    }

    /// The bits that more than half of the rows have, a tie giving 0; forgets the rows.
    #[must_use]
    pub fn take_majority(&mut self) -> u64 {
        // 2 × ones > rows.
        let half = std::mem::take(&mut self.rows) / 2;
        let used = 64 - half.leading_zeros() as usize + 1;
        // From the lowest digit up: a higher one decides, unless it is that of `half`.
        (0..).zip(self.digits.iter_mut().take(used)).fold(0, |over, (place, digit)| {
            let digit = std::mem::take(digit);
            if half >> place & 1 == 1 { over & digit } else { over | digit }
        })
    }
}

mod portable {
    use super::{LANE_DIGITS, LANES, MOST_TREES, TREE, Words};

    /// Adds as many rows as [`MOST_TREES`] take, or fewer.
    // Always inlined, so that it is compiled for the instructions of its caller.
    #[inline(always)]
    pub(super) fn add(rows: &[u64], digits: &mut [u64; 64]) {
        let mut lanes = [[0; LANES]; LANE_DIGITS];
        let (trees, rest) = rows.as_chunks::<{ TREE * LANES }>();
        for tree in trees {
            add_tree(&mut lanes, tree);
        }
        if !rest.is_empty() {
            let mut tree = [0; TREE * LANES];
            tree[..rest.len()].copy_from_slice(rest);
            add_tree(&mut lanes, &tree);
        }
        let trees = rows.len().div_ceil(TREE * LANES);
        debug_assert!(trees <= MOST_TREES, "the digits are enough for so many");
        // A lane has counted `TREE` × trees rows or fewer, and all lanes `LANES` times as many.
        let bits = |count: usize| (usize::BITS - count.leading_zeros()) as usize;
        let lanes = &lanes[..bits(TREE * trees).min(LANE_DIGITS)];
        let mut sum = [0; LANE_DIGITS + LANES.ilog2() as usize];
        let used = bits(TREE * LANES * trees).min(sum.len());
        let sum = &mut sum[..used];
        for lane in 0..LANES {
            add_number(sum, lanes.iter().map(|words| words[lane]));
        }
        add_number(digits, sum.iter().copied());
    }

    /// Adds the rows of a tree to the counts of their lanes.
    #[inline(always)]
    fn add_tree(lanes: &mut [Words; LANE_DIGITS], rows: &[u64; TREE * LANES]) {
        let (rows, _) = rows.as_chunks::<LANES>();
        let [ones, twos, fours, above @ ..] = lanes;
        // Named each: the compiler keeps them in wide registers, but not an array of them.
        let first = add_two(ones, &rows[0], &rows[1]);
        let second = add_two(ones, &rows[2], &rows[3]);
        let third = add_two(ones, &rows[4], &rows[5]);
        let fourth = add_two(ones, &rows[6], &rows[7]);
        let front = add_two(twos, &first, &second);
        let back = add_two(twos, &third, &fourth);
        let mut carry = add_two(fours, &front, &back);
        for digit in above {
            for (digit, carry) in digit.iter_mut().zip(&mut carry) {
                let sum = *digit ^ *carry;
                *carry &= *digit;
                *digit = sum;
            }
        }
    }

    /// Adds two words to one of the same digit, and returns the carry.
    #[inline(always)]
    fn add_two(to: &mut Words, one: &Words, other: &Words) -> Words {
        std::array::from_fn(|lane| {
            let carry;
            (to[lane], carry) = sum_of(to[lane], one[lane], other[lane]);
            carry
        })
    }

    /// Adds a number of fewer digits to `digits`, for every bit.
    #[inline(always)]
    fn add_number(digits: &mut [u64], number: impl ExactSizeIterator<Item = u64>) {
        let (low, high) = digits.split_at_mut(number.len());
        let mut carry = 0;
        for (digit, other) in low.iter_mut().zip(number) {
            (*digit, carry) = sum_of(*digit, other, carry);
        }
        for digit in high {
            if carry == 0 {
                break;
            }
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
    }

    /// The digits of the sum of three digits, for every bit: the lower one and the carry.
    #[inline(always)]
    fn sum_of(a: u64, b: u64, c: u64) -> (u64, u64) {
        let differ = a ^ b;
        (differ ^ c, a & b | differ & c)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    /// [`super::portable::add`], four lanes an instruction.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn add(rows: &[u64], digits: &mut [u64; 64]) {
        super::portable::add(rows, digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow, obvious twin: signed sums.
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
