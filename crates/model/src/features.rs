//! The input of a fingerprint: the terms of a document and their weights.

/// Terms of a document, and optionally their weights, as the input of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Hashes of the terms, or row numbers of the table for a SimHash with a table of random bits. Without weights,
    /// each occurrence of a term is an element, in the order of the text. With weights, each term is one element, in
    /// any order.
    pub terms: &'a [u64],
    /// Weight of each term, in the order of `terms`. A weight of 0 means that the term is ignored.
    /// `None` means that every occurrence has weight 1.
    pub weights: Option<&'a [u32]>,
}

impl<'a> Features<'a> {
    /// Creates features without weights. A term that occurs twice then counts twice.
    #[must_use]
    pub fn occurrences(terms: &'a [u64]) -> Self {
        Self { terms, weights: None }
    }
}
