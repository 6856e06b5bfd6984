//! Results of a search: pairs of fingerprints and their distances.

/// A fingerprint of the corpus that is within the maximum distance of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Distance to the query: the number of differing bits, or another unit of the fingerprints'
    /// metric.
    pub distance: u32,
    /// Number of the fingerprint in the corpus, from 0.
    pub row: u32,
}

/// Two different fingerprints within the maximum distance of each other. Documents with equal
/// fingerprints form a group, and `a` and `b` are the numbers of two groups.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(C)]
pub struct ValuePair {
    /// Group of the first fingerprint. If queries are joined with a corpus, this is the query's
    /// group.
    pub a: u32,
    /// Group of the second fingerprint. If queries are joined with a corpus, this is the group in
    /// the corpus.
    pub b: u32,
    /// Distance of the two fingerprints: the number of differing bits, or another unit of their
    /// metric.
    pub distance: u32,
}
