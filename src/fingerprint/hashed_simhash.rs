//! Simhash over hashed terms, 64 or 128 bits.
//!
//! Bit i of a fingerprint is 1 where more than half of the terms' rows have bit i; an exact half
//! gives 0. Word 0 of a term's row is the term, word 1 is `mix(term + GAMMA)`: the 64-bit
//! fingerprint is the lower half of the 128-bit one. A term that occurs twice counts twice, so
//! occurrences need not be counted first.
//!
//! # References
//! M. Charikar. Similarity estimation techniques from rounding algorithms. STOC 2002.
//! G. Manku, A. Jain, A. Das Sarma. Detecting near-duplicates for web crawling. WWW 2007.

use crate::kernels::Isa;
use crate::kernels::bit_majority::BitCounts;
use crate::stable_hash::row_word;

/// Makes simhash fingerprints of terms.
#[derive(Clone, Copy, Debug)]
pub struct HashedSimhash {
    isa: Isa,
    /// A document with fewer terms has no fingerprint.
    min_features: usize,
}

impl HashedSimhash {
    /// Fingerprints for documents of at least `min_features` terms (and at least one).
    #[must_use]
    pub fn new(isa: Isa, min_features: usize) -> Self {
        Self { isa, min_features: min_features.max(1) }
    }

    /// The 64-bit fingerprint of the terms' occurrences.
    ///
    /// # Complexity
    /// O(terms).
    #[must_use]
    pub fn fingerprint_64(&self, terms: &[u64]) -> Option<u64> {
        (terms.len() >= self.min_features).then(|| self.majority(terms))
    }

    /// The 128-bit fingerprint of the terms' occurrences.
    ///
    /// # Complexity
    /// O(terms).
    #[must_use]
    pub fn fingerprint_128(&self, terms: &[u64]) -> Option<u128> {
        let lower = self.fingerprint_64(terms)?;
        let mut counts = BitCounts::default();
        let mut words = [0; 256];
        for block in terms.chunks(words.len()) {
            for (word, &term) in words.iter_mut().zip(block) {
                *word = row_word(term, 1);
            }
            counts.add(self.isa, &words[..block.len()]);
        }
        Some(u128::from(counts.take_majority()) << 64 | u128::from(lower))
    }

    fn majority(&self, rows: &[u64]) -> u64 {
        let mut counts = BitCounts::default();
        counts.add(self.isa, rows);
        counts.take_majority()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::{SHINGLE_BASE, hash, mix};

    const ROSE: &str = "a rose is a rose is a rose";

    fn tokens() -> Vec<u64> {
        ROSE.split(' ').map(|word| hash(word.as_bytes())).collect()
    }

    fn shingles() -> Vec<u64> {
        let sum = |run: &[u64]| {
            run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
        };
        tokens().windows(3).map(|run| mix(sum(run))).collect()
    }

    fn each_isa(check: impl Fn(HashedSimhash)) {
        Isa::available().iter().for_each(|&isa| check(HashedSimhash::new(isa, 0)));
    }

    #[test]
    fn fingerprints_have_their_frozen_values() {
        let mut set = shingles();
        set.sort_unstable();
        set.dedup();
        each_isa(|simhash| {
            let expected = 0xeb65_1c17_5e0f_c248_c6ee_3282_0a12_4caf;
            assert_eq!(simhash.fingerprint_128(&tokens()), Some(expected));
            assert_eq!(simhash.fingerprint_64(&tokens()), Some(expected as u64));
            assert_eq!(simhash.fingerprint_64(&shingles()), Some(0xcc71_252b_5aa7_6984));
            assert_eq!(simhash.fingerprint_64(&set), Some(0xcc71_252b_5aa7_6984));
        });
    }

    #[test]
    fn two_terms_are_a_bitwise_and() {
        let terms = [13_352_372_148_217_134_600, 5_020_219_685_658_847_592];
        each_isa(|simhash| {
            assert_eq!(simhash.fingerprint_64(&terms), Some(74_633_958_390_507_528));
        });
    }

    #[test]
    fn too_few_terms_have_no_fingerprint() {
        each_isa(|simhash| assert_eq!(simhash.fingerprint_128(&[]), None));
        let simhash = HashedSimhash::new(Isa::Portable, 3);
        assert_eq!(simhash.fingerprint_64(&[1, 2]), None);
        assert_eq!(simhash.fingerprint_64(&[1, 1, 3]), Some(1));
    }

    #[test]
    fn long_documents_agree_on_all_instruction_sets() {
        let terms: Vec<u64> = (0..3000).map(mix).collect();
        let expected = HashedSimhash::new(Isa::Portable, 1).fingerprint_128(&terms);
        each_isa(|simhash| assert_eq!(simhash.fingerprint_128(&terms), expected));
    }
}
