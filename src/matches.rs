//! Results of a search: which document is how far from which.

/// A corpus document within reach of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Number of differing bits.
    pub distance: u32,
    /// Row of the corpus, from 0.
    pub row: u32,
}
