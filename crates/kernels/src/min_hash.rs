//! The smallest values of many hash functions over a set of terms: the inner loops of MinHash.
//!
//! The code is plain: compiled for AVX2 and AVX-512 it takes the minima of 8 and 16 functions at once.
//!
//! # References
//!
//! A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.
//!
//! P. Li, A. Owen, C.-H. Zhang, "One permutation hashing", NIPS 2012.

use super::Isa;

/// What a bin of [`one_permutation`] holds that no term fell into; no term's value is as large.
pub const EMPTY_BIN: u32 = u32::MAX;

/// Hash functions whose minima stay in registers while the terms pass by.
const TOGETHER: usize = 16;

/// Hash functions `(a × term + b) mod 2^64 >> 32`, in groups; those that fill the last group repeat
/// the first ones.
#[derive(Clone, Debug)]
pub struct HashFunctions {
    groups: Vec<Group>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Group {
    a: [u64; TOGETHER],
    b: [u64; TOGETHER],
}

impl HashFunctions {
    /// The functions of these pairs of a and b.
    #[must_use]
    pub fn new(pairs: &[(u64, u64)]) -> Self {
        let count = pairs.len();
        let group = |group: usize| {
            let pair = |at: usize| pairs[(group * TOGETHER + at) % count];
            Group {
                a: std::array::from_fn(|at| pair(at).0),
                b: std::array::from_fn(|at| pair(at).1),
            }
        };
        Self { groups: (0..count.div_ceil(TOGETHER)).map(group).collect(), count }
    }

    /// Replaces `minima` by the smallest value of each function over `terms`; by `u32::MAX` where there
    /// are none.
    pub fn minima(&self, isa: Isa, terms: &[u64], minima: &mut Vec<u32>) {
        minima.clear();
        for group in &self.groups {
            let found = match isa.runnable() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `runnable` says that this processor has the instructions.
                Isa::Avx512 => unsafe { avx512(group, terms) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2(group, terms) },
                _ => portable(group, terms),
            };
            minima.extend_from_slice(&found);
        }
        minima.truncate(self.count);
    }
}

// Always inlined, so that it is compiled for the instructions of its caller.
#[inline(always)]
fn portable(group: &Group, terms: &[u64]) -> [u32; TOGETHER] {
    let mut minima = [u32::MAX; TOGETHER];
    for &term in terms {
        for ((minimum, a), b) in minima.iter_mut().zip(&group.a).zip(&group.b) {
            *minimum = (*minimum).min((a.wrapping_mul(term).wrapping_add(*b) >> 32) as u32);
        }
    }
    minima
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn avx2(group: &Group, terms: &[u64]) -> [u32; TOGETHER] {
    portable(group, terms)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512(group: &Group, terms: &[u64]) -> [u32; TOGETHER] {
    portable(group, terms)
}

/// Lets every term fall into one bin, by its high bits, and lowers the bin to the term's low half.
///
/// Bins are [`EMPTY_BIN`] at first.
#[inline]
pub fn one_permutation(terms: &[u64], bins: &mut [u32]) {
    let count = bins.len() as u128;
    for &term in terms {
        // Below `count`, since the product is below count × 2^64.
        let bin = ((u128::from(term) * count) >> 64) as usize;
        bins[bin] = bins[bin].min((term as u32).min(EMPTY_BIN - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn minima_are_those_of_each_function_at_every_count() {
        let terms: Vec<u64> = (1..70).map(mix).collect();
        for count in [1, 15, 16, 17, 100] {
            let pairs: Vec<_> = (0..count).map(|at| (mix(at + 1000) | 1, mix(at + 2000))).collect();
            let functions = HashFunctions::new(&pairs);
            for length in [0, 1, 7, 69] {
                let terms = &terms[..length];
                let slowly = pairs.iter().map(|&(a, b)| {
                    let value = |&term: &u64| (a.wrapping_mul(term).wrapping_add(b) >> 32) as u32;
                    terms.iter().map(value).min().unwrap_or(u32::MAX)
                });
                let slowly: Vec<u32> = slowly.collect();
                for &isa in Isa::available() {
                    let mut minima = vec![9];
                    functions.minima(isa, terms, &mut minima);
                    assert_eq!(minima, slowly, "{isa}, {count} functions, {length} terms");
                }
            }
        }
    }

    #[test]
    fn a_term_lowers_the_bin_of_its_high_bits() {
        let mut bins = [EMPTY_BIN; 3];
        one_permutation(&[7, 5, 0xAAAA_AAAA_0000_0009, u64::MAX], &mut bins);
        assert_eq!(bins, [5, 9, EMPTY_BIN - 1]);
    }
}
