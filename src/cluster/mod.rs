//! What is close → who is kept, and who repeats whom.

pub mod components;
pub mod keep;

use simtool_model::closeness::Closeness;

/// A row that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The row.
    pub row: u32,
    /// The row that is kept in its place.
    pub kept: u32,
    /// How close the two are: the proof. `None` if only a chain of others links them.
    pub closeness: Option<Closeness>,
}

/// A kept row with those that are removed for it, both in reading order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The row that is kept.
    pub kept: u32,
    /// The rows that are removed, ascending; at least one.
    pub removed: Vec<Removal>,
}

/// Puts removals together by the row that is kept, in reading order.
#[must_use]
pub fn clusters(removals: &[Removal]) -> Vec<Cluster> {
    let mut sorted = removals.to_vec();
    sorted.sort_unstable_by_key(|removal| (removal.kept, removal.row));
    sorted
        .chunk_by(|a, b| a.kept == b.kept)
        .map(|removed| Cluster { kept: removed[0].kept, removed: removed.to_vec() })
        .collect()
}
