//! How many bits two rows have both.
//!
//! The code is plain: compiled for AVX2 and AVX-512 it counts the bits of four and eight words at
//! once.

use super::Isa;

/// The number of bits that are set in both of two rows of equally many words.
#[must_use]
pub fn shared_bits(isa: Isa, left: &[u64], right: &[u64]) -> u64 {
    match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Isa::Avx512 => unsafe { avx512(left, right) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { avx2(left, right) },
        _ => portable(left, right),
    }
}

// Always inlined, so that it is compiled for the instructions of its caller.
#[inline(always)]
fn portable(left: &[u64], right: &[u64]) -> u64 {
    left.iter().zip(right).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn avx2(left: &[u64], right: &[u64]) -> u64 {
    portable(left, right)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn avx512(left: &[u64], right: &[u64]) -> u64 {
    portable(left, right)
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
