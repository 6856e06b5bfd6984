//! Searches in an index over the rows of the corpus, one query after the other.

use crate::FingerprintIndex;
use crate::partners::{Partners, UNKNOWN_BOUND};
use crate::work::FixedRows;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;

/// Queries, and an index of the corpus. When the partners of a query are requested, the index finds the rows of the
/// corpus near it.
pub(super) struct IndexedSearch<'a, L: Fingerprint, I> {
    pub(super) queries: FixedRows<'a, L>,
    /// Index over the rows of the corpus that have a fingerprint.
    pub(super) index: I,
    /// The row number in the corpus of each row in the index. `None` if all rows of the corpus have a
    /// fingerprint, because the numbers are then equal.
    pub(super) corpus_rows: Option<Vec<u32>>,
}

impl<L: Fingerprint, I: FingerprintIndex<L>> Partners for IndexedSearch<'_, L, I> {
    fn rows(&self) -> usize {
        self.queries.fingerprints.len()
    }

    fn bound(&self, _row: usize) -> usize {
        UNKNOWN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let Some(query) = self.queries.rows().fingerprint(row) else { return };
        self.index.search(query, found);
        if let Some(rows) = &self.corpus_rows {
            for found in found {
                found.row = rows[found.row as usize];
            }
        }
    }
}
