//! The linear scan: compares every pair. Tests compare all other methods with it, and it is the fastest
//! method for few rows.

use crate::Rows;
use crate::collect::KeepPairs;
use crate::group_pairs::GroupPairs;
use crate::grouping::group;
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::partners::{Partners, UNKNOWN_BOUND, collect_in_room};
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, JoinTask, Workload};
use simtool_base::error::Result;
use simtool_kernels::{Isa, hamming_scan};
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::matches::Match;
use simtool_model::sides::Sides;

/// Number of rows that are compared with a query before their matches are stored. The matches of so few
/// rows stay in the cache.
const STEP_ROWS: usize = 1 << 16;

/// Number of partners that a scan reports as the estimate for every row. Rows are divided into tasks by these
/// estimates, and with this number a task has about sixteen rows. The number is large because a scan takes long even if
/// it finds few partners.
pub(super) const SCAN_BOUND: usize = 1 << 12;

/// Appends to `found` every row of `corpus` within the maximum distance of `query`, in ascending order
/// of row numbers.
///
/// ```
/// use simtool_model::fingerprint_table::Reach;
/// use simtool_hamming::linear_scan::scan;
/// use simtool_kernels::Isa;
/// use simtool_model::matches::Match;
///
/// let mut found = Vec::new();
/// scan(&[0b0111_u64, 0b1111, 0], 0, Reach::bits(64, 3), Isa::detected(), &mut found);
/// assert_eq!(found, [Match { distance: 3, row: 0 }, Match { distance: 0, row: 2 }]);
/// ```
///
/// # Complexity
///
/// O(n) for n rows. If the corpus is larger than the cache, memory bandwidth limits the speed.
pub fn scan<L: Fingerprint>(
    corpus: &[L],
    query: L,
    reach: Reach,
    isa: Isa,
    found: &mut Vec<Match>,
) {
    let mut hits = Vec::new();
    for (step, rows) in corpus.chunks(STEP_ROWS).enumerate() {
        let first = (step * STEP_ROWS) as u32;
        hamming_scan::scan(rows, query, reach, isa, &mut hits);
        // The kernel packs a hit into one number: the row number in the upper 32 bits, the distance in
        // the lower.
        let matches = hits
            .drain(..)
            .map(|hit| Match { distance: hit as u32, row: first + (hit >> 32) as u32 });
        found.extend(matches);
    }
}

/// The linear scan as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It compares every pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearScanJoin;

impl JoinKind for LinearScanJoin {
    fn name(&self) -> &'static str {
        "linear-scan"
    }

    fn help(&self) -> &'static str {
        "Compares everything: best for few rows, and serves rows of every kind."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::All, rows: RowKind::Any, is_for_collections: false }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let words = workload.fingerprint_words();
        // A scan reads whole fingerprints. The other methods compare the XOR of the words first.
        let compare = workload.compare() * if words > 2.0 { words } else { 1.0 };
        match workload.task {
            JoinTask::SelfJoin => {
                JoinEstimate { nanoseconds: rows * rows / 2.0 * compare, bytes: rows * 4.0 }
            }
            JoinTask::Search { queries } => {
                let query = rows * 2.0 * compare + 100.0;
                JoinEstimate { nanoseconds: queries as f64 * query, bytes: 0.0 }
            }
        }
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for LinearScanJoin {
    fn self_join(&self, rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
        let equal = group(rows, work.context.memory())?;
        let behind = ScanBehind { rows: FixedRows::all(equal.values()), work };
        let pairs = collect_in_room(&behind, &KeepPairs::new(work), work.share);
        Ok(GroupPairs { groups: Sides::One(equal.groups), pairs })
    }

    fn self_partners<'a>(
        &self,
        rows: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Option<Box<dyn Partners + 'a>> {
        Some(later_partners(rows, work))
    }

    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        // The rows without a fingerprint are not removed, because that would cost more than scanning
        // them.
        Ok(Box::new(ScanAll { queries, corpus, work }))
    }
}

/// Returns an object that compares a row with all later rows when the partners of the row are requested.
pub(crate) fn later_partners<'a, L: Fingerprint>(
    rows: FixedRows<'a, L>,
    work: JoinWork<'a>,
) -> Box<dyn Partners + 'a> {
    Box::new(ScanBehind { rows, work })
}

/// A self-join that compares each row with all later rows.
struct ScanBehind<'a, L: Fingerprint> {
    rows: FixedRows<'a, L>,
    work: JoinWork<'a>,
}

impl<L: Fingerprint> Partners for ScanBehind<'_, L> {
    fn rows(&self) -> usize {
        self.rows.fingerprints.len()
    }

    fn bound(&self, _row: usize) -> usize {
        SCAN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let rows = self.rows.rows();
        if !rows.has_fingerprint(row) {
            return;
        }
        let first = row + 1;
        scan(
            &rows.fingerprints[first..],
            rows.fingerprints[row],
            self.work.reach,
            self.work.isa(),
            found,
        );
        for found in &mut *found {
            found.row += first as u32;
        }
        found.retain(|found| rows.has_fingerprint(found.row as usize));
    }
}

/// A search that compares each query with all rows of the corpus.
struct ScanAll<'a, L: Fingerprint> {
    queries: FixedRows<'a, L>,
    corpus: FixedRows<'a, L>,
    work: JoinWork<'a>,
}

impl<L: Fingerprint> Partners for ScanAll<'_, L> {
    fn rows(&self) -> usize {
        self.queries.fingerprints.len()
    }

    fn bound(&self, _row: usize) -> usize {
        UNKNOWN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if let Some(query) = self.queries.rows().fingerprint(row) {
            let corpus = self.corpus.rows();
            scan(corpus.fingerprints, query, self.work.reach, self.work.isa(), found);
            found.retain(|found| corpus.has_fingerprint(found.row as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_come_in_row_order_across_steps_and_the_limit_is_inclusive() {
        let mut corpus = vec![u64::MAX; STEP_ROWS + 3];
        corpus[2] = 0b111;
        corpus[5] = 0b1111;
        corpus[STEP_ROWS + 1] = 0;
        let mut found = Vec::new();
        scan(&corpus, 0, Reach::bits(64, 3), Isa::detected(), &mut found);
        let expected =
            [Match { distance: 3, row: 2 }, Match { distance: 0, row: STEP_ROWS as u32 + 1 }];
        assert_eq!(found, expected);
    }
}
