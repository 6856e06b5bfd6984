//! Finds the smallest values of many hash functions over a set of terms: the inner loops of MinHash.
//!
//! Two sets have the same minimum under a random function with a probability that is their Jaccard
//! similarity. So the fraction of equal minima estimates it:
//!
//! ```text
//!                f1(x)  f2(x)              f1(x)  f2(x)
//! set A   "cat"    7      3       set B      7      3
//!         "dog"    2      9       "emu"      8      1
//! minima           2      3                  7      1    no minimum is equal
//! ```
//!
//! The loop is plain: the compiler takes the minima of 8 functions (AVX2) or 16 (AVX-512) at once.
//!
//! # References
//!
//! A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.
//!
//! P. Li, A. Owen, C.-H. Zhang, "One permutation hashing", NIPS 2012.

use super::Isa;
use super::vector::{Kernel, Level};

/// Value of a bin of [`one_permutation`] to which no term was assigned. The values of terms are
/// smaller.
pub const EMPTY_BIN: u32 = u32::MAX;

/// Number of hash functions in a group. Their minima stay in registers while all terms are hashed.
const TOGETHER: usize = 16;

/// Hash functions `(a × term + b) mod 2^64 >> 32`.
///
/// They are kept in groups of `TOGETHER`. If the last group is not full, the first functions fill
/// it, and the additional values are dropped.
#[derive(Clone, Debug)]
pub struct HashFunctions {
    groups: Vec<HashGroup>,
    count: usize,
}

/// Factors and summands of a group of hash functions `(a × term + b) mod 2^64 >> 32`: a is the factor and b the
/// summand.
#[derive(Clone, Debug)]
struct HashGroup {
    a: [u64; TOGETHER],
    b: [u64; TOGETHER],
}

impl HashFunctions {
    /// Creates hash functions `(a × term + b) mod 2^64 >> 32` from their pairs of a and b.
    ///
    /// ```
    /// use simtool_kernels::{Isa, min_hash::HashFunctions};
    ///
    /// // The first function is the identity on the high half of a term.
    /// let functions = HashFunctions::new(&[(1, 0), (3, 1 << 32)]);
    /// let mut minima = Vec::new();
    /// functions.minima(Isa::detected(), &[5 << 32, 2 << 32], &mut minima);
    /// assert_eq!(minima, [2, 3 * 2 + 1]);
    /// ```
    #[must_use]
    pub fn new(pairs: &[(u64, u64)]) -> Self {
        let count = pairs.len();
        let groups = (0..count).step_by(TOGETHER).map(|first| {
            let pair_at = |at: usize| pairs[(first + at) % count];
            HashGroup {
                a: std::array::from_fn(|at| pair_at(at).0),
                b: std::array::from_fn(|at| pair_at(at).1),
            }
        });
        Self { groups: groups.collect(), count }
    }

    /// Replaces `minima` by the smallest value of each function over `terms`. Without terms every
    /// minimum is `u32::MAX`.
    pub fn minima(&self, isa: Isa, terms: &[u64], minima: &mut Vec<u32>) {
        minima.clear();
        for group in &self.groups {
            let found = isa.run(GroupMinima { group, terms }, ());
            minima.extend_from_slice(&found);
        }
        minima.truncate(self.count);
    }
}

/// Computation of the minimum of each hash function of a group over all terms.
struct GroupMinima<'a> {
    group: &'a HashGroup,
    terms: &'a [u64],
}

impl Kernel<()> for GroupMinima<'_> {
    type Result = [u32; TOGETHER];

    #[inline(always)]
    fn run<L: Level>(self, _: L, (): ()) -> [u32; TOGETHER] {
        group_minima(self.group, self.terms)
    }
}

#[inline(always)]
fn group_minima(group: &HashGroup, terms: &[u64]) -> [u32; TOGETHER] {
    let mut minima = [u32::MAX; TOGETHER];
    // The terms are the outer loop, so that the minima of the group stay in registers.
    for &term in terms {
        for ((minimum, a), b) in minima.iter_mut().zip(&group.a).zip(&group.b) {
            let value = a.wrapping_mul(term).wrapping_add(*b) >> 32;
            *minimum = (*minimum).min(value as u32);
        }
    }
    minima
}

/// Assigns every term to a bin by the term's highest bits. The value of a bin becomes the minimum of
/// its old value and the lowest 32 bits of its terms.
///
/// The caller sets all bins to [`EMPTY_BIN`] first. With n bins, one hash of each term gives n
/// minima, which would otherwise need n hash functions.
#[inline]
pub fn one_permutation(terms: &[u64], bins: &mut [u32]) {
    let count = bins.len() as u128;
    for &term in terms {
        // Below `count`, since the product is below count × 2^64.
        let bin = ((u128::from(term) * count) >> 64) as usize;
        // The largest value belongs to empty bins.
        let value = (term as u32).min(EMPTY_BIN - 1);
        bins[bin] = bins[bin].min(value);
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
