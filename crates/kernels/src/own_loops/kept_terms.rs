//! A random subset of all terms, and the plain loop of [`crate::kept_terms`].

use simtool_base::stable_hash::mix;

/// Number of terms for which the loop first decides whether they are kept, before it copies the kept ones.
const BLOCK: usize = 32;

/// A random subset of all terms. A term belongs to it if the hash of the term is below a bound.
///
/// ```
/// use simtool_kernels::{Isa, kept_terms::RandomPart};
///
/// let everything = RandomPart { start: 7, below: 1 << 32 };
/// let mut kept = Vec::new();
/// everything.keep(Isa::detected(), &[5, 6, 7], &mut kept);
/// assert_eq!(kept, [5, 6, 7]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomPart {
    /// Number that is added to a term before it is hashed. Each number gives another random subset.
    pub start: u64,
    /// Bound on the hash: a term is kept if the highest 32 bits of its hash are below this number.
    /// For example, 2³¹ keeps half of all terms.
    pub below: u64,
}

impl RandomPart {
    /// Returns whether a term belongs to this random subset of all terms.
    #[inline(always)]
    #[must_use]
    pub fn has(self, term: u64) -> bool {
        mix(term.wrapping_add(self.start)) >> 32 < self.below
    }
}

/// Writes those of `terms` that belong to the random subset `part` to the front of `kept`, and returns their number.
#[inline(always)]
pub(crate) fn keep(part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
    let mut count = 0;
    for block in terms.chunks(BLOCK) {
        let mut is_kept = [false; BLOCK];
        for (is_kept, &term) in is_kept.iter_mut().zip(block) {
            *is_kept = part.has(term);
        }
        for (&term, is_kept) in block.iter().zip(is_kept) {
            // Written in any case: a branch would be mispredicted half of the time. The next term
            // overwrites it unless it is kept.
            kept[count] = term;
            count += usize::from(is_kept);
        }
    }
    count
}
