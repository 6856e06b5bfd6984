//! What a document is to a fingerprint: its terms, and how much each of them counts.

/// The terms of a document with their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Hashes of terms, or numbers of words; in the order of the text, one per occurrence, where
    /// there are no weights.
    pub terms: &'a [u64],
    /// How much each term counts; 1 each if absent.
    pub weights: Option<&'a [u32]>,
}

impl<'a> Features<'a> {
    /// Terms that count 1 each, so that one counts as often as it occurs.
    #[must_use]
    pub fn occurrences(terms: &'a [u64]) -> Self {
        Self { terms, weights: None }
    }
}
