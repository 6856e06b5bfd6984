//! Finds the terms that belong to a random subset of all terms. A term belongs to it if the hash of the term is below a
//! bound.
//!
//! In this way, a lexicon keeps for example a random half of all terms, without a list of them.
//!
//! The loops are plain, and the compiler handles four terms (AVX2) or eight terms (AVX-512) at once.
//! Only packing the kept terms together needs an instruction of AVX-512 that plain code does not reach.

pub use super::own_loops::kept_terms::RandomPart;

use super::Isa;
use super::vector::{Kernel, Level};
use simtool_base::stable_hash::row_word;

impl RandomPart {
    /// Replaces `kept` by those of `terms` that belong to this random subset of all terms. Their order stays.
    pub fn keep(self, isa: Isa, terms: &[u64], kept: &mut Vec<u64>) {
        kept.clear();
        kept.resize(terms.len(), 0);
        let count = isa.run(KeepTerms { part: self, terms }, &mut kept[..]);
        kept.truncate(count);
    }

    /// Replaces `words` by one word for each term: the word with index `index` in the term's row of pseudorandom words.
    /// The word is 0 if the term does not belong to this random subset of all terms. Returns the number of terms that
    /// belong to it.
    pub fn row_words(self, isa: Isa, terms: &[u64], index: u32, words: &mut Vec<u64>) -> u64 {
        words.resize(terms.len(), 0);
        isa.run(KeptRowWords { part: self, terms, index }, &mut words[..])
    }

    /// Replaces `kept` by one weight for each term. The weight is taken from `weights`, or is 0 if the term does not
    /// belong to this random subset of all terms.
    ///
    /// # Panics
    ///
    /// There are more weights than terms, or fewer.
    pub fn weights(self, isa: Isa, terms: &[u64], weights: &[u32], kept: &mut Vec<u32>) {
        assert_eq!(terms.len(), weights.len(), "every term has a weight");
        kept.resize(terms.len(), 0);
        isa.run(KeptWeights { part: self, terms, weights }, &mut kept[..]);
    }
}

struct KeepTerms<'a> {
    part: RandomPart,
    terms: &'a [u64],
}

impl Kernel<&mut [u64]> for KeepTerms<'_> {
    type Result = usize;

    #[inline(always)]
    fn run<L: Level>(self, level: L, kept: &mut [u64]) -> usize {
        level.keep(self.part, self.terms, kept)
    }
}

struct KeptRowWords<'a> {
    part: RandomPart,
    terms: &'a [u64],
    index: u32,
}

impl Kernel<&mut [u64]> for KeptRowWords<'_> {
    type Result = u64;

    #[inline(always)]
    fn run<L: Level>(self, _: L, words: &mut [u64]) -> u64 {
        let Self { part, terms, index } = self;
        let mut count = 0;
        for (word, &term) in words.iter_mut().zip(terms) {
            let is_kept = u64::from(part.has(term));
            count += is_kept;
            *word = row_word(term, index) & is_kept.wrapping_neg();
        }
        count
    }
}

struct KeptWeights<'a> {
    part: RandomPart,
    terms: &'a [u64],
    weights: &'a [u32],
}

impl Kernel<&mut [u32]> for KeptWeights<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, kept: &mut [u32]) {
        let Self { part, terms, weights } = self;
        for ((kept, &term), weight) in kept.iter_mut().zip(terms).zip(weights) {
            *kept = weight & u32::from(part.has(term)).wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

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
