//! Distinguishes texts with equal sets of terms by their sequences of tokens.
//!
//! Verses in another order, or a phrase that is repeated 5 or 50 times, have the same set of shingles, and `a < b` and
//! `a > b` have the same words. The similarity of such texts is
//! [`ALMOST_ONE`](simtool_model::similarity::Similarity::ALMOST_ONE). Only texts that also have the same sequence of
//! tokens and symbols have the similarity 1.

use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;

/// Hashes of the sequences of tokens of all rows of one or two collections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSequences(Option<Sides<Vec<u64>>>);

impl RowSequences {
    /// Creates the value from one hash per row for each collection. The index of a hash is the number of its row.
    #[must_use]
    pub fn new(hashes: Sides<Vec<u64>>) -> Self {
        Self(Some(hashes))
    }

    /// Returns the hashes of the rows of each collection, or `None` if the closeness does not depend on sequences.
    #[must_use]
    pub fn hashes(&self) -> Option<&Sides<Vec<u64>>> {
        self.0.as_ref()
    }

    /// Returns the closeness of row `a` and row `b`. It differs from `of_sets`, the closeness of their sets, only if
    /// the rows have different sequences. `b` is a row of the second collection if there are two.
    #[must_use]
    pub fn closeness(&self, a: u32, b: u32, of_sets: Closeness) -> Closeness {
        let Some(hashes) = &self.0 else { return of_sets };
        let differ = hashes.first().get(a as usize) != hashes.second().get(b as usize);
        if differ { of_sets.below_one() } else { of_sets }
    }
}
