//! Finds the terms that a random function keeps: the ones whose hash under it is below a bound.
//!
//! A lexicon so keeps a random part of all terms, for example one half, without a list of them.
//!
//! The loops are plain: the compiler decides on four terms (AVX2) or eight terms (AVX-512) at once. Only
//! to pack the kept terms together, AVX-512 has an instruction that plain code does not reach.

use super::{Isa, Kind};
use simtool_base::stable_hash::{mix, row_word};

/// A random part of all terms.
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
    /// Number that is added to a term before it is hashed: each number makes another part.
    pub start: u64,
    /// Bound on the highest 32 bits of the hash of a kept term.
    pub below: u64,
}

impl RandomPart {
    /// Returns whether the part keeps a term.
    #[inline(always)]
    #[must_use]
    pub fn has(self, term: u64) -> bool {
        mix(term.wrapping_add(self.start)) >> 32 < self.below
    }

    /// Replaces `kept` by the terms that the part keeps, in order.
    pub fn keep(self, isa: Isa, terms: &[u64], kept: &mut Vec<u64>) {
        kept.clear();
        kept.resize(terms.len(), 0);
        let count = match isa.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `runnable` says that this processor has the instructions.
            Kind::Avx512 => unsafe { avx512::keep(self, terms, kept) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kind::Avx2 => unsafe { avx2::keep(self, terms, kept) },
            _ => portable::keep(self, terms, kept),
        };
        kept.truncate(count);
    }

    /// Replaces `words` by word `index` of the row of each term, 0 for terms that the part does not
    /// keep. Returns how many it keeps.
    pub fn row_words(self, isa: Isa, terms: &[u64], index: u32, words: &mut Vec<u64>) -> u64 {
        words.resize(terms.len(), 0);
        match isa.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `runnable` says that this processor has the instructions.
            Kind::Avx512 => unsafe { avx512::row_words(self, terms, index, words) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kind::Avx2 => unsafe { avx2::row_words(self, terms, index, words) },
            _ => portable::row_words(self, terms, index, words),
        }
    }

    /// Replaces `kept` by the weight of each term, 0 for terms that the part does not keep.
    ///
    /// # Panics
    ///
    /// There are more weights than terms, or fewer.
    pub fn weights(self, isa: Isa, terms: &[u64], weights: &[u32], kept: &mut Vec<u32>) {
        assert_eq!(terms.len(), weights.len(), "every term has a weight");
        kept.resize(terms.len(), 0);
        match isa.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `runnable` says that this processor has the instructions.
            Kind::Avx512 => unsafe { avx512::weights(self, terms, weights, kept) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kind::Avx2 => unsafe { avx2::weights(self, terms, weights, kept) },
            _ => portable::weights(self, terms, weights, kept),
        }
    }
}

// Always inlined, so that it is compiled for the instructions of its caller.
mod portable {
    use super::{RandomPart, row_word};

    /// Terms that are hashed before they are brought together.
    const BLOCK: usize = 32;

    #[inline(always)]
    pub(super) fn keep(part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
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

    #[inline(always)]
    pub(super) fn row_words(part: RandomPart, terms: &[u64], index: u32, words: &mut [u64]) -> u64 {
        let mut count = 0;
        for (word, &term) in words.iter_mut().zip(terms) {
            let is_kept = u64::from(part.has(term));
            count += is_kept;
            *word = row_word(term, index) & is_kept.wrapping_neg();
        }
        count
    }

    #[inline(always)]
    pub(super) fn weights(part: RandomPart, terms: &[u64], weights: &[u32], kept: &mut [u32]) {
        for ((kept, &term), weight) in kept.iter_mut().zip(terms).zip(weights) {
            *kept = weight & u32::from(part.has(term)).wrapping_neg();
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{RandomPart, portable};

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn keep(part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
        portable::keep(part, terms, kept)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn row_words(part: RandomPart, terms: &[u64], index: u32, words: &mut [u64]) -> u64 {
        portable::row_words(part, terms, index, words)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn weights(part: RandomPart, terms: &[u64], weights: &[u32], kept: &mut [u32]) {
        portable::weights(part, terms, weights, kept);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{RandomPart, portable};
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_maskz_compress_epi64, _mm512_storeu_si512};

    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn keep(part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
        let (blocks, rest) = terms.as_chunks::<8>();
        let mut count = 0;
        for block in blocks {
            let is_kept = block.map(|term| part.has(term));
            let mask = (0..8).fold(0, |mask, at| mask | u8::from(is_kept[at]) << at);
            let room: &mut [u64] = &mut kept[count..count + 8];
            // SAFETY: a block and what there is room for have eight terms.
            unsafe {
                let terms = _mm512_loadu_si512(block.as_ptr().cast());
                let terms = _mm512_maskz_compress_epi64(mask, terms);
                _mm512_storeu_si512(room.as_mut_ptr().cast(), terms);
            }
            count += mask.count_ones() as usize;
        }
        count + portable::keep(part, rest, &mut kept[count..])
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn row_words(part: RandomPart, terms: &[u64], index: u32, words: &mut [u64]) -> u64 {
        portable::row_words(part, terms, index, words)
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn weights(part: RandomPart, terms: &[u64], weights: &[u32], kept: &mut [u32]) {
        portable::weights(part, terms, weights, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_paths_agree_at_every_length_around_a_block() {
        let terms: Vec<u64> = (1..80).map(mix).collect();
        let weights: Vec<u32> = (1..80).collect();
        for below in [0, 1 << 30, 1 << 31, 1 << 32] {
            let part = RandomPart { start: 77, below };
            for length in 0..terms.len() {
                let (terms, weights) = (&terms[..length], &weights[..length]);
                let is_kept = |term: u64| mix(term.wrapping_add(77)) >> 32 < below;
                let slowly: Vec<u64> = terms.iter().copied().filter(|&t| is_kept(t)).collect();
                for &isa in Isa::available() {
                    let (mut kept, mut words, mut own) = (vec![9], vec![9], vec![9]);
                    part.keep(isa, terms, &mut kept);
                    assert_eq!(kept, slowly, "{isa}, {length} terms");
                    part.weights(isa, terms, weights, &mut own);
                    for index in [0, 1, 5] {
                        let count = part.row_words(isa, terms, index, &mut words);
                        assert_eq!(count, slowly.len() as u64);
                        for (at, &term) in terms.iter().enumerate() {
                            let (word, weight) = (row_word(term, index), weights[at]);
                            let expected = if is_kept(term) { (word, weight) } else { (0, 0) };
                            assert_eq!((words[at], own[at]), expected, "{isa}, {length} terms");
                        }
                    }
                }
            }
        }
    }
}
