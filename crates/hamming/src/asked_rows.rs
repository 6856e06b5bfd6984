//! Rows that are asked one after the other, by each way to find their partners.

use crate::lane_rows::{LaneRows, Work};
use crate::linear_scan;
use crate::partners::Partners;
use crate::wide_scan::{SCAN_BOUND, WideRows};
use crate::{FingerprintIndex, Searcher};
use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::{Match, ValuePair};

/// A self-join by comparing each row with all behind it.
pub(super) struct ScanBehind<'a, L: Lane> {
    pub(super) rows: LaneRows<'a, L>,
    pub(super) work: Work<'a>,
}

impl<L: Lane> Partners for ScanBehind<'_, L> {
    fn rows(&self) -> usize {
        self.rows.rows().lanes.len()
    }

    fn bound(&self, _row: usize) -> usize {
        SCAN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let rows = self.rows.rows();
        if rows.has_fingerprint(row) {
            let (behind, query) = (&rows.lanes[row + 1..], rows.lanes[row]);
            linear_scan::scan(behind, query, self.work.reach, self.work.resources.isa, found);
            for found in &mut *found {
                found.row += row as u32 + 1;
            }
            found.retain(|found| rows.has_fingerprint(found.row as usize));
        }
    }
}

/// Rows that are compared with a query, all of them.
pub(super) struct Scanned<'a, L: Lane> {
    pub(super) corpus: LaneRows<'a, L>,
    pub(super) work: Work<'a>,
}

impl<L: Lane> Searcher for Scanned<'_, L> {
    fn search(&self, query: &[u64], found: &mut Vec<Match>) {
        found.clear();
        let (corpus, work) = (self.corpus.rows(), &self.work);
        let query = L::from_words(query);
        linear_scan::scan(corpus.lanes, query, work.reach, work.resources.isa, found);
        found.retain(|found| corpus.has_fingerprint(found.row as usize));
    }
}

/// An index over the rows that have a fingerprint.
pub(super) struct Indexed<'a, L> {
    pub(super) index: Box<dyn FingerprintIndex<L> + 'a>,
    /// The numbers of these rows, where there are others.
    pub(super) rows: Option<Vec<u32>>,
}

impl<L: Lane> Searcher for Indexed<'_, L> {
    fn search(&self, query: &[u64], found: &mut Vec<Match>) {
        self.index.search(L::from_words(query), found);
        if let Some(rows) = &self.rows {
            for found in found {
                found.row = rows[found.row as usize];
            }
        }
    }
}

/// Queries that can be asked for one after the other.
pub(super) trait Queries: Sync {
    fn count(&self) -> usize;

    /// The words of a query, if it has a fingerprint.
    fn words(&self, row: usize) -> Option<&[u64]>;
}

impl<L: Lane> Queries for LaneRows<'_, L> {
    fn count(&self) -> usize {
        self.rows().lanes.len()
    }

    fn words(&self, row: usize) -> Option<&[u64]> {
        let rows = self.rows();
        rows.has_fingerprint(row).then(|| rows.lanes[row].words())
    }
}

impl Queries for WideRows<'_> {
    fn count(&self) -> usize {
        self.len()
    }

    fn words(&self, row: usize) -> Option<&[u64]> {
        self.row(row)
    }
}

/// Queries that a searcher answers.
pub(super) struct Searched<'a, Q> {
    pub(super) searcher: Box<dyn Searcher + 'a>,
    pub(super) queries: Q,
}

impl<Q: Queries> Partners for Searched<'_, Q> {
    fn rows(&self) -> usize {
        self.queries.count()
    }

    fn bound(&self, _row: usize) -> usize {
        // Unknown before; some hundred queries to a task.
        1 << 10
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if let Some(words) = self.queries.words(row) {
            self.searcher.search(words, found);
        }
    }
}

/// Pairs of a query, by its place among those with a fingerprint, and a row of the corpus.
pub(super) struct Streamed {
    pub(super) found: Vec<ValuePair>,
    /// The numbers of these queries, where there are others.
    pub(super) query_rows: Option<Vec<u32>>,
    pub(super) query_count: usize,
}

impl Streamed {
    fn pairs(&self, row: usize) -> &[ValuePair] {
        let place = match &self.query_rows {
            None => row,
            Some(rows) => match rows.binary_search(&(row as u32)) {
                Ok(place) => place,
                Err(_) => return &[],
            },
        };
        let first = self.found.partition_point(|pair| (pair.a as usize) < place);
        let rest = &self.found[first..];
        &rest[..rest.partition_point(|pair| pair.a as usize == place)]
    }
}

impl Partners for Streamed {
    fn rows(&self) -> usize {
        self.query_count
    }

    fn bound(&self, row: usize) -> usize {
        self.pairs(row).len()
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let pairs = self.pairs(row).iter();
        found.extend(pairs.map(|pair| Match { distance: pair.distance, row: pair.b }));
    }
}
