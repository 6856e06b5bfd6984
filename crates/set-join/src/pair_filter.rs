//! The restriction of a join of sets to some pairs of documents, for example those with near fingerprints.

use std::fmt::Debug;

/// Condition for the pairs of a join. A join with a filter finds only the similar pairs that the filter
/// lets pass, and returns them with their distances.
pub trait PairFilter: Debug + Sync {
    /// Returns the class of a document in a self-join. All documents of a class have distance 0. Equal
    /// sets form a group only if they are in the same class. `None` means that the document has no pairs.
    fn class(&self, row: u32) -> Option<u32>;

    /// Returns the distance of two documents, or `None` if the join must leave out their pair. `b` is a
    /// row of the second collection if there are two.
    fn distance(&self, a: u32, b: u32) -> Option<u32>;
}

/// A filter for the row numbers in a join, where the rows of a second collection begin at `second_from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinFilter<'a> {
    pub(super) filter: Option<&'a dyn PairFilter>,
    /// First row number of the second collection, or 0 if there is one collection.
    pub(super) second_from: u32,
}

impl JoinFilter<'_> {
    /// Whether the join takes the pair of two rows. `b` is the greater one.
    #[inline]
    pub(super) fn takes(self, a: u32, b: u32) -> bool {
        self.filter.is_none_or(|filter| filter.distance(a, b - self.second_from).is_some())
    }
}
