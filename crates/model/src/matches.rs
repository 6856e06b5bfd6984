//! Results of a search: pairs of fingerprints and their distances.

/// A result for one query: a fingerprint of the corpus within the maximum distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Distance to the query in the unit of the fingerprints' metric, for example the number of differing bits.
    pub distance: u32,
    /// Index of the fingerprint in the corpus, from 0.
    pub row: u32,
}

/// Two different fingerprints within the maximum distance of each other. All documents with the same fingerprint form a
/// group. A fingerprint is given by the number of its group.
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
    /// Number of the group with the first fingerprint. If queries are joined with a corpus, it is a group of the
    /// queries.
    pub a: u32,
    /// Number of the group with the second fingerprint. If queries are joined with a corpus, it is a group of the
    /// corpus.
    pub b: u32,
    /// Distance of the two fingerprints in the unit of their metric, for example the number of differing bits.
    pub distance: u32,
}
