//! Counts the bits that two rows share.
//!
//! For example, `0b1100` and `0b1010` share one bit. The loop is plain: the compiler counts the bits
//! of a word, of four words (AVX2) or of eight words (AVX-512) at once.

use super::Isa;
use super::vector::{Kernel, Level};

/// Returns the number of bits that are set in both of two rows with equally many words.
///
/// ```
/// use simtool_kernels::{Isa, shared_bits::shared_bits};
///
/// assert_eq!(shared_bits(Isa::detected(), &[0b1100, 7], &[0b1010, 7]), 4);
/// ```
#[must_use]
pub fn shared_bits(isa: Isa, left: &[u64], right: &[u64]) -> u64 {
    isa.run(SharedBits { left, right }, ())
}

struct SharedBits<'a> {
    left: &'a [u64],
    right: &'a [u64],
}

impl Kernel<()> for SharedBits<'_> {
    type Result = u64;

    #[inline(always)]
    fn run<L: Level>(self, _: L, (): ()) -> u64 {
        count_shared(self.left, self.right)
    }
}

#[inline(always)]
fn count_shared(left: &[u64], right: &[u64]) -> u64 {
    left.iter().zip(right).map(|(a, b)| u64::from((a & b).count_ones())).sum()
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
            let both = |bit: usize| left[bit / 64] & right[bit / 64] & 1 << (bit % 64) != 0;
            let expected = (0..length * 64).filter(|&bit| both(bit)).count() as u64;
            for &isa in Isa::available() {
                assert_eq!(shared_bits(isa, left, right), expected, "{isa}, {length} words");
            }
        }
    }
}
