//! Shingles: sequences of consecutive tokens, each hashed to one 64-bit term.

use simtool_kernels::Isa;
use simtool_kernels::shingle_terms::shingle_terms;
use std::num::NonZeroUsize;

/// Converts the token hashes of a document to the hashes of its shingles. A shingle is a sequence of s consecutive
/// tokens.
///
/// The hash of a shingle of one token is the hash of the token. The hash of a longer shingle is computed from a
/// polynomial over the hashes of its tokens, so each token is hashed only once for any s.
///
/// A document with fewer than s tokens has a single shingle of all its tokens, so that equal short texts are found. A
/// document without tokens has no shingle.
///
/// ```
/// use simtool_terms::extract::shingles::Shingles;
/// use simtool_kernels::Isa;
/// use std::num::NonZeroUsize;
///
/// let shingles = Shingles::new(Isa::detected(), NonZeroUsize::MIN.saturating_add(1));
/// let mut terms = Vec::new();
/// shingles.extract(&[1, 2, 3], &mut terms);
/// assert_eq!(terms.len(), 2);
/// ```
///
/// # References
/// A. Broder. On the resemblance and containment of documents. SEQUENCES 1997.
#[derive(Clone, Copy, Debug)]
pub struct Shingles {
    isa: Isa,
    length: NonZeroUsize,
}

impl Shingles {
    /// Creates a value that makes shingles of `length` tokens.
    #[must_use]
    pub fn new(isa: Isa, length: NonZeroUsize) -> Self {
        Self { isa, length }
    }

    /// Returns the number of tokens of a shingle.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length.get()
    }

    /// Appends the hash of each shingle of a document to `terms`, in order and with repetitions.
    /// `tokens` has the hashes of all tokens of the document.
    ///
    /// # Complexity
    /// O(tokens).
    pub fn extract(&self, tokens: &[u64], terms: &mut Vec<u64>) {
        let length = self.length.get().min(tokens.len());
        match length {
            0 => {}
            // If s is more than 1, even a document of one token gets the value of a polynomial. So
            // it never has the same term as a shingle of one token.
            1 if self.length.get() == 1 => terms.extend_from_slice(tokens),
            _ => shingle_terms(self.isa, tokens, length, terms),
        }
    }

    /// Replaces the hashes of all tokens of a document by the hashes of its shingles, which are the same as those of
    /// [`Self::extract`]. This takes half the memory of two lists, and a little more time.
    pub fn replace(&self, tokens: &mut Vec<u64>) {
        let length = self.length.get().min(tokens.len());
        if length == 0 || self.length.get() == 1 {
            return;
        }
        let count = tokens.len() + 1 - length;
        let mut terms = Vec::new();
        // The shingles at the end of a block need tokens of the next block, which are replaced later.
        for start in (0..count).step_by(REPLACED) {
            let end = count.min(start + REPLACED);
            terms.clear();
            shingle_terms(self.isa, &tokens[start..end + length - 1], length, &mut terms);
            tokens[start..end].copy_from_slice(&terms);
        }
        tokens.truncate(count);
    }
}

/// Number of tokens that [`Shingles::replace`] replaces at once.
const REPLACED: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::{hash, mix};

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
    fn tokens_are_replaced_by_the_terms_that_are_found() {
        let tokens: Vec<u64> = (0..2 * REPLACED as u64 + 9).map(mix).collect();
        for isa in [Isa::detected(), Isa::PORTABLE] {
            for (length, count) in
                [(1, 7), (3, 0), (3, 2), (3, 3), (5, tokens.len()), (40, tokens.len())]
            {
                let shingles = Shingles::new(isa, NonZeroUsize::new(length).unwrap());
                let mut expected = Vec::new();
                shingles.extract(&tokens[..count], &mut expected);
                let mut replaced = tokens[..count].to_vec();
                shingles.replace(&mut replaced);
                assert!(replaced == expected, "{length} {count}");
            }
        }
    }

    #[test]
    fn a_short_document_is_one_shingle() {
        assert_eq!(terms("a rose is", 5), terms("a rose is", 3));
        assert_eq!(terms("a", 5), [mix(hash(b"a"))]);
        assert!(terms("", 5).is_empty());
    }
}
