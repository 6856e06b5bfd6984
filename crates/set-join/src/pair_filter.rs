//! The restriction of a join of sets to some pairs of documents, for example those with near fingerprints.

use std::fmt::Debug;

/// Condition for the pairs of a join. A join with a filter finds only the similar pairs that the filter
/// lets pass.
pub trait PairFilter: Debug + Sync {
    /// Returns a number for document `row` in a self-join, which is called its class. Two documents of the same class
    /// always pass the filter, and their distance is 0. For example, documents with equal fingerprints have the same
    /// class. Documents with equal sets form a group only if they are in the same class. `None` means that the document
    /// has no pairs.
    fn class(&self, row: u32) -> Option<u64>;

    /// Returns whether the pair of the documents with row numbers `a` and `b` passes the filter. `b` is a row of the
    /// second collection if there are two.
    fn takes(&self, a: u32, b: u32) -> bool;

    /// Returns the distance of two documents that pass the filter together, or `None` if the filter measures no
    /// distances.
    fn distance(&self, _a: u32, _b: u32) -> Option<u32> {
        None
    }

    /// Returns whether the filter measures distances. Then the join returns its pairs with their distances.
    fn has_distances(&self) -> bool {
        false
    }
}

/// A filter for row numbers as they are during a join. In a join of two collections, the rows of the second begin at
/// `second_from`, and not at 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinFilter<'a> {
    pub(super) filter: Option<&'a dyn PairFilter>,
    /// First row number of the second collection, or 0 if there is one collection.
    pub(super) second_from: u32,
}

impl JoinFilter<'_> {
    /// Returns whether the pair of two rows passes the filter. `b` is the greater row number. Without a filter, all
    /// pairs pass.
    #[inline]
    pub(super) fn takes(self, a: u32, b: u32) -> bool {
        self.filter.is_none_or(|filter| filter.takes(a, b - self.second_from))
    }
}
