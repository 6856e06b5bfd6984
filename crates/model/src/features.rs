//! What a document is to a fingerprint: its terms, and how much each of them counts.

/// The terms of a document with their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Hashes of terms, or numbers of words: one per occurrence, in the order of the text, where
    /// there are no weights; the distinct ones, in any order, where there are.
    pub terms: &'a [u64],
    /// How much each term counts, 0 if it is not of the lexicon; 1 each if absent.
    pub weights: Option<&'a [u32]>,
}

impl<'a> Features<'a> {
    /// Terms that count 1 each, so that one counts as often as it occurs.
    #[must_use]
    pub fn occurrences(terms: &'a [u64]) -> Self {
        Self { terms, weights: None }
    }
}
