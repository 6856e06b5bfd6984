//! Distinguishes texts with equal sets of terms by their symbols.
//!
//! Most tokenizers leave symbols out, so `a < b` and `a > b` have the same set of words. The similarity of such
//! texts is [`ALMOST_ONE`](simtool_model::similarity::Similarity::ALMOST_ONE). Only texts that also have the same symbols
//! have the similarity 1.

use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;

/// Hashes of the symbols of all rows of one or two collections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSymbols(Option<Sides<Vec<u64>>>);

impl RowSymbols {
    /// Creates the value from the hashes of the rows of each collection.
    #[must_use]
    pub fn new(hashes: Sides<Vec<u64>>) -> Self {
        Self(Some(hashes))
    }

    /// Returns the hashes of the rows of each collection, or `None` if symbols do not count.
    #[must_use]
    pub fn hashes(&self) -> Option<&Sides<Vec<u64>>> {
        self.0.as_ref()
    }

    /// Returns the closeness of two rows, given the closeness of their sets. `b` is a row of the second
    /// collection if there are two.
    #[must_use]
    pub fn closeness(&self, a: u32, b: u32, of_sets: Closeness) -> Closeness {
        let Some(hashes) = &self.0 else { return of_sets };
        let differ = hashes.first().get(a as usize) != hashes.second().get(b as usize);
        if differ { of_sets.below_one() } else { of_sets }
    }
}
