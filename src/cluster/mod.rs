//! Decides which of the close documents are kept and which are removed for them.
//!
//! * [`keep`] removes a document only if it is close to a kept one.
//! * [`components`] keeps one document of everything that chains of close pairs link.

pub mod components;
pub mod keep;

use simtool_model::closeness::Closeness;

/// A row that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The removed row.
    pub row: u32,
    /// The row that is kept in its place.
    pub kept: u32,
    /// The similarity or distance that proves the removal. `None` if only a chain of other rows links
    /// the two.
    pub closeness: Option<Closeness>,
}

/// A kept row and the rows that are removed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The row that is kept.
    pub kept: u32,
    /// The removed rows, ascending; at least one.
    pub removed: Vec<Removal>,
}

/// Groups removals by their kept row. Clusters are sorted by their kept row.
///
/// ```
/// use simtool::cluster::{Removal, clusters};
///
/// let removal = |row, kept| Removal { row, kept, closeness: None };
/// let found = clusters(&[removal(1, 0), removal(3, 2), removal(4, 0)]);
/// assert_eq!(found.len(), 2);
/// assert_eq!((found[0].kept, found[0].removed.len()), (0, 2));
/// ```
#[must_use]
pub fn clusters(removals: &[Removal]) -> Vec<Cluster> {
    let mut sorted = removals.to_vec();
    sorted.sort_unstable_by_key(|removal| (removal.kept, removal.row));
    sorted
        .chunk_by(|a, b| a.kept == b.kept)
        .map(|removed| Cluster { kept: removed[0].kept, removed: removed.to_vec() })
        .collect()
}
