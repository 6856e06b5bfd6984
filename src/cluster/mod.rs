//! Decides which near-duplicate documents are kept, and which are removed in favour of a kept one.
//!
//! * [`keep`] removes a document only if it is close to a kept document.
//! * [`components`] keeps one document of each set of documents that chains of close pairs link.

pub mod components;
pub mod keep;

use simtool_model::closeness::Closeness;
use std::cmp::Ordering;
use std::num::NonZeroUsize;

/// A document to remove, and the document that is kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Row number of the removed document.
    pub row: u32,
    /// Row number of the document that is kept instead.
    pub kept: u32,
    /// Similarity or distance of the two documents, which proves the removal. `None` if the two documents were not
    /// compared, for example because only a chain of other documents links them.
    pub closeness: Option<Closeness>,
}

/// Returns the removals that remain if `count` documents of each cluster are kept instead of one: the kept document,
/// and the removed documents that `prefer` puts first. `prefer` compares two row numbers and returns `Less` if the
/// first row should rather be kept.
///
/// ```
/// use simtool::cluster::{Removal, keep_several};
/// use std::num::NonZeroUsize;
///
/// let removal = |row, kept| Removal { row, kept, closeness: None };
/// let removals = vec![removal(1, 0), removal(3, 2), removal(4, 0), removal(5, 0)];
/// let two = NonZeroUsize::new(2).unwrap();
/// let left = keep_several(removals, two, |a, b| a.cmp(&b));
/// assert_eq!(left, [removal(4, 0), removal(5, 0)]);
/// ```
#[must_use]
pub fn keep_several(
    removals: Vec<Removal>,
    count: NonZeroUsize,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Vec<Removal> {
    let more = count.get() - 1;
    if more == 0 {
        return removals;
    }
    // Sorting puts the documents of a cluster next to each other, with the preferred ones first.
    let mut clusters = removals;
    clusters.sort_unstable_by(|a, b| a.kept.cmp(&b.kept).then_with(|| prefer(a.row, b.row)));
    let of_one = clusters.chunk_by(|a, b| a.kept == b.kept);
    let mut left: Vec<Removal> =
        of_one.flat_map(|removed| removed.iter().skip(more).copied()).collect();
    left.sort_unstable_by_key(|removal| removal.row);
    left
}

/// A kept document and the documents that are removed in its favour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster<'r> {
    /// Row number of the kept document.
    pub kept: u32,
    /// Removals of the documents of the cluster, in ascending order of their row numbers. There is at least
    /// one. There may be millions, so they are not copied.
    pub removed: Vec<&'r Removal>,
}

impl Cluster<'_> {
    /// Returns the row numbers of all documents of the cluster: the removed ones, and then the kept one.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> {
        self.removed.iter().map(|removal| removal.row).chain([self.kept])
    }
}

/// Groups `removals` by the document that is kept. The clusters are sorted by the row number of this document.
///
/// ```
/// use simtool::cluster::{Removal, clusters};
///
/// let removal = |row, kept| Removal { row, kept, closeness: None };
/// let removals = [removal(1, 0), removal(3, 2), removal(4, 0)];
/// let found = clusters(&removals);
/// assert_eq!(found.len(), 2);
/// assert_eq!((found[0].kept, found[0].removed.len()), (0, 2));
/// ```
#[must_use]
pub fn clusters(removals: &[Removal]) -> Vec<Cluster<'_>> {
    // Places in `removals` take an eighth of the memory of a second list of removals.
    let mut places: Vec<u32> = (0..).zip(removals).map(|(place, _)| place).collect();
    let at = |place: u32| &removals[place as usize];
    places.sort_unstable_by_key(|&place| (at(place).kept, at(place).row));
    places
        .chunk_by(|&a, &b| at(a).kept == at(b).kept)
        .map(|places| Cluster {
            kept: at(places[0]).kept,
            removed: places.iter().map(|&place| at(place)).collect(),
        })
        .collect()
}
