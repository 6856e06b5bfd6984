//! Counts the bits that two rows share, and those in which they differ.
//!
//! For example, `0b1100` and `0b1010` share one bit and differ in two. The loops are plain: the compiler counts the
//! bits of a word, of four words (AVX2) or of eight words (AVX-512) at once.

use super::Isa;
use super::vector::{Kernel, Level};

/// Returns the number of bits that are set in both of two rows with equally many words.
///
/// ```
/// use simtool_kernels::{Isa, row_bits::shared_bits};
///
/// assert_eq!(shared_bits(Isa::detected(), &[0b1100, 7], &[0b1010, 7]), 4);
/// ```
#[must_use]
pub fn shared_bits(isa: Isa, left: &[u64], right: &[u64]) -> u64 {
    isa.run(CombinedBits { left, right, combined: |a, b| a & b }, ())
}

/// Returns the number of bits in which two rows with equally many words differ.
///
/// ```
/// use simtool_kernels::{Isa, row_bits::differing_bits};
///
/// assert_eq!(differing_bits(Isa::detected(), &[0b1100, 7], &[0b1010, 7]), 2);
/// ```
#[must_use]
pub fn differing_bits(isa: Isa, left: &[u64], right: &[u64]) -> u64 {
    isa.run(CombinedBits { left, right, combined: |a, b| a ^ b }, ())
}

/// Computation that counts the set bits of `combined(left, right)` for each pair of words, and adds up these counts.
struct CombinedBits<'a, F> {
    left: &'a [u64],
    right: &'a [u64],
    combined: F,
}

impl<F: Fn(u64, u64) -> u64> Kernel<()> for CombinedBits<'_, F> {
    type Result = u64;

    #[inline(always)]
    fn run<L: Level>(self, _: L, (): ()) -> u64 {
        let words = self.left.iter().zip(self.right);
        words.map(|(&a, &b)| u64::from((self.combined)(a, b).count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn bits_are_counted_at_every_length_around_a_vector() {
        let words: Vec<u64> = (0..200).map(mix).collect();
        for length in 0..100 {
            let (left, right) = (&words[..length], &words[100..100 + length]);
            let has = |row: &[u64], bit: usize| row[bit / 64] & 1 << (bit % 64) != 0;
            let bits = 0..length * 64;
            let shared = bits.clone().filter(|&bit| has(left, bit) && has(right, bit)).count();
            let differing = bits.filter(|&bit| has(left, bit) != has(right, bit)).count();
            for &isa in Isa::available() {
                let found = [shared_bits(isa, left, right), differing_bits(isa, left, right)];
                assert_eq!(found, [shared as u64, differing as u64], "{isa}, {length} words");
            }
        }
    }
}
