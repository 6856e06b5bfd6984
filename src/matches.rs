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

/// All that is alike within one collection, without a pair for every two equal sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlikeSets {
    /// Rows with equal sets: at least two each, ascending, by the first one.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of unequal sets, ascending by `a`, then `b`; the first row of a group stands for all
    /// of it.
    pub pairs: Vec<SetPair>,
}
