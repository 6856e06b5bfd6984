//! Results of a search: which document is how far from which.

/// A corpus document within reach of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Number of differing bits.
    pub distance: u32,
    /// Row of the corpus, from 0.
    pub row: u32,
}

/// Two different fingerprints within reach of each other, by the numbers of their groups of equal
/// rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValuePair {
    /// The first group; the query's, where queries are joined with a corpus.
    pub a: u32,
    /// The second group.
    pub b: u32,
    /// Number of differing bits.
    pub distance: u32,
}
