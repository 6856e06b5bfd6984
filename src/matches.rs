//! Results of a search: which document is how far from which.

use crate::similarity::Similarity;

/// A corpus document within reach of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Number of differing bits.
    pub distance: u32,
    /// Row of the corpus, from 0.
    pub row: u32,
}

/// Two rows whose sets of terms are alike enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetPair {
    /// A row, from 0: of the queries, or in a self-join the smaller of the two.
    pub a: u32,
    /// The other row: of the corpus, or in a self-join the larger.
    pub b: u32,
    /// Their similarity.
    pub similarity: Similarity,
}
