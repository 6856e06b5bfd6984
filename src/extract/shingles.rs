//! Shingles: runs of consecutive tokens as terms.

use crate::kernels::Isa;
use crate::kernels::shingle_terms::shingle_terms;
use std::num::NonZeroUsize;

/// Makes terms of runs of s tokens.
///
/// A shingle of one token is the token's hash; a longer one is the mixed value of a polynomial
/// over its tokens' hashes, so that each token is hashed once, whatever s. A document of fewer
/// than s tokens has one shingle, the whole of it, so that short equal texts are found; a document
/// without tokens has none.
///
/// # References
/// A. Broder. On the resemblance and containment of documents. SEQUENCES 1997.
#[derive(Clone, Copy, Debug)]
pub struct Shingles {
    isa: Isa,
    length: NonZeroUsize,
}

impl Shingles {
    /// Shingles of `length` tokens.
    #[must_use]
    pub fn new(isa: Isa, length: NonZeroUsize) -> Self {
        Self { isa, length }
    }

    /// Appends the terms of a document, one per occurrence, in order.
    ///
    /// # Complexity
    /// O(tokens).
    pub fn extract(&self, tokens: &[u64], terms: &mut Vec<u64>) {
        let length = self.length.get().min(tokens.len());
        match length {
            0 => {}
            // The whole of a short document is never a bare token hash unless s is 1: a text of
            // one token is a polynomial of one token.
            1 if self.length.get() == 1 => terms.extend_from_slice(tokens),
            _ => shingle_terms(self.isa, tokens, length, terms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::{hash, mix};

    fn terms(words: &str, length: usize) -> Vec<u64> {
        let tokens: Vec<u64> = words.split_whitespace().map(|w| hash(w.as_bytes())).collect();
        let mut found: Option<Vec<u64>> = None;
        for &isa in Isa::available() {
            let mut terms = Vec::new();
            Shingles::new(isa, NonZeroUsize::new(length).unwrap()).extract(&tokens, &mut terms);
            assert_eq!(*found.get_or_insert_with(|| terms.clone()), terms);
        }
        found.unwrap()
    }

    #[test]
    fn shingles_have_their_frozen_values() {
        assert_eq!(terms("a rose is", 3), [0x4c74_1509_de90_538c]);
        assert_eq!(terms("is a", 2), [0x3716_91f8_cec3_b315]);
        assert_eq!(terms("a rose", 1), [hash(b"a"), hash(b"rose")]);
    }

    #[test]
    fn the_rose_text_has_five_shingles_three_of_them_distinct() {
        let mut all = terms("a rose is a rose is a rose", 4);
        assert_eq!(all.len(), 5);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn a_short_document_is_one_shingle() {
        assert_eq!(terms("a rose is", 5), terms("a rose is", 3));
        assert_eq!(terms("a", 5), [mix(hash(b"a"))]);
        assert!(terms("", 5).is_empty());
    }
}
