//! A search for similar pairs, and the order in which documents are preferred.

use crate::pair_order::RowPair;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;

/// Number of pairs above which only some pairs are found, if the caller needs only the pairs that decide which
/// documents are kept. More than 8 million pairs come from documents that are all similar, such as 5000 pages of one
/// template. The number of pairs, and so the time, grows with the square of the number of documents.
pub const MANY_PAIRS: u64 = 1 << 23;
/// Number of pairs per document above which only some pairs are found. So many pairs come from pages of one template.
/// Finding all of them takes several times as long as finding the pairs that decide which documents are kept.
const MANY_PAIRS_A_DOCUMENT: u64 = 64;
/// If there are at most this many pairs, all of them are found. This takes less than a second.
const FEW_PAIRS: u64 = 1 << 20;
/// Number of documents in the first batch. Documents are compared batch by batch. If all documents are similar, one
/// document of the first batch is kept, and all later documents are removed without any comparison among themselves.
pub(crate) const FIRST_BATCH: usize = 512;
/// Factor by which a batch is larger than the batch before it, as long as batches have few pairs. The number of pairs
/// grows with the square of this factor.
pub(crate) const GROWTH: usize = 4;
/// Value for a missing index, and for a document without a place in the order of preference.
pub(crate) const NONE: u32 = u32::MAX;

/// Returns a limit for the number of similar pairs among `documents` documents. Up to this limit, a comparison of
/// sketches finds all pairs. If there are more pairs, it finds only the pairs that decide which documents are kept,
/// unless the caller needs all pairs.
///
/// ```
/// use simtool_set_join::kept_pairs::many_pairs;
///
/// assert_eq!([100, 20_000, 1_000_000].map(many_pairs), [1 << 20, 1_280_000, 1 << 23]);
/// ```
#[must_use]
pub fn many_pairs(documents: u64) -> u64 {
    documents.saturating_mul(MANY_PAIRS_A_DOCUMENT).clamp(FEW_PAIRS, MANY_PAIRS)
}

/// Condition for documents. Its argument is the row number of a document.
pub type RowFilter<'f> = dyn Fn(u32) -> bool + 'f;

/// Receiver of similar pairs. Its arguments are some pairs and a function that returns the closeness of
/// a pair. It returns the number of pairs that it keeps in memory.
pub type FoundPairs<'f, P> = dyn FnMut(&[P], &dyn Fn(&P) -> Closeness) -> Result<u64> + 'f;

/// Pairs of documents, in several lists.
pub type PairLists<P> = Vec<LargeBuffer<P>>;

/// A search for the similar pairs among some documents. [`deciding_pairs`](crate::kept_pairs::deciding_pairs) uses it
/// to decide which documents are kept.
pub trait PairSearch {
    /// Two row numbers and a number from which the closeness of the two documents follows.
    type Pair: RowPair;

    /// Returns the row numbers of the documents that may have similar ones. Equal documents are
    /// represented by the first of them.
    fn documents(&self) -> Vec<u32>;

    /// Finds the similar pairs among the documents for which `is_one` is true. Returns `None` if there are more than
    /// `most`. The caller holds `held` other pairs in memory, which leave less memory for the search.
    ///
    /// # Errors
    /// The documents cannot be read, or there is not enough memory.
    fn within(
        &mut self,
        is_one: &RowFilter<'_>,
        most: u64,
        held: u64,
    ) -> Result<Option<PairLists<Self::Pair>>>;

    /// Finds the similar pairs between two sets of documents, which have no document in common. The first condition of
    /// `sides` is true for the documents of the first set, and the second condition for those of the second set. Calls
    /// `found` several times, each time with some of the pairs. The rows of a pair can be in any order.
    ///
    /// # Errors
    /// The documents cannot be read, `found` fails, or there is not enough memory.
    fn across(
        &mut self,
        sides: [&RowFilter<'_>; 2],
        found: &mut FoundPairs<'_, Self::Pair>,
    ) -> Result<()>;

    /// Returns the closeness of the documents of a pair that was found.
    fn closeness(&self, pair: &Self::Pair) -> Closeness;

    /// Returns the error with the message that `pairs` pairs do not fit in memory.
    fn too_many_pairs(&self, pairs: u64) -> Error;
}

/// The turn of each document, which is its position in the order of preference. Equal documents are
/// represented by the one with the smallest row number.
#[derive(Debug)]
pub struct Turns {
    /// Row numbers of all documents, in the order of preference.
    pub(crate) rows: Vec<u32>,
    /// For each row, the first and the last turn of the equal documents that it represents. A row that
    /// represents no other has its own turn twice.
    pub(crate) of_row: Vec<[u32; 2]>,
}

impl Turns {
    /// Creates the turns, which are positions in the order of preference. `rows` are all row numbers in this order.
    /// `equal` has the groups of equal documents. The first row of a group represents the group, so it gets the first
    /// and the last turn of all documents of the group.
    #[must_use]
    pub fn new(rows: Vec<u32>, equal: &Groups) -> Self {
        let mut of_row = vec![[NONE; 2]; rows.len()];
        for (turn, &row) in (0..).zip(&rows) {
            of_row[row as usize] = [turn; 2];
        }
        for group in equal.iter() {
            let representative = group[0] as usize;
            for &other in &group[1..] {
                // Only the representative is compared with others, so it must know the turns of
                // all.
                let [turn, _] = of_row[other as usize];
                let [first, last] = &mut of_row[representative];
                (*first, *last) = (turn.min(*first), turn.max(*last));
            }
        }
        Self { rows, of_row }
    }

    /// Returns the number of documents.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the first position in the order of preference of the equal documents that `row` represents.
    pub(crate) fn first(&self, row: u32) -> u32 {
        self.of_row[row as usize][0]
    }

    pub(crate) fn last(&self, row: u32) -> u32 {
        self.of_row[row as usize][1]
    }

    /// Returns the row that is kept if the documents represented by `row` are kept. It is the one that
    /// comes first in the order of preference.
    pub(crate) fn kept_row(&self, row: u32) -> u32 {
        self.rows[self.first(row) as usize]
    }
}
