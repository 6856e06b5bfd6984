//! The input of a fingerprint: the terms of a document and their weights.

/// The terms of a document with their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Hashes of terms, or numbers of words. Without weights, there is one for each occurrence, in the
    /// order of the text. With weights, each term is there once, in any order.
    pub terms: &'a [u64],
    /// Weight of each term; 0 if the term is not in the lexicon. If absent, every term has weight 1.
    pub weights: Option<&'a [u32]>,
}

impl<'a> Features<'a> {
    /// Creates features without weights. A term that occurs twice then counts twice.
    #[must_use]
    pub fn occurrences(terms: &'a [u64]) -> Self {
        Self { terms, weights: None }
    }
}
