//! Finds partners when they are requested, for joins whose pairs do not fit in memory.

use crate::block_index::BlockIndexJoin;
use crate::bucket_table::building_bytes;
use crate::join::JoinFixedRows;
use crate::linear_scan::{LinearScanJoin, later_partners};
use crate::partners::{Partners, count};
use crate::row_pairs::RowPairs;
use crate::work::{FixedRows, JoinWork};
use simtool_base::error::Result;
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;

/// Minimum number of rows for which an index is built. With fewer rows, a row is compared with all others. That is
/// faster if many documents are made from one template, because an index compares their rows once for each block of
/// bits. Tests use a smaller number, because they have fewer rows.
const INDEXED_ROWS: usize = if cfg!(test) { 1 << 9 } else { 1 << 17 };

/// Returns an object that finds the partners of a query when they are requested: the rows of the corpus within the
/// maximum distance. It keeps no pairs.
///
/// # Errors
///
/// There is too little memory.
pub(super) fn search_on_demand<'a, L: Fingerprint>(
    queries: FixedRows<'a, L>,
    corpus: FixedRows<'a, L>,
    work: JoinWork<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    let corpus_rows = corpus.fingerprints.len();
    let found = if is_index_better(corpus_rows, work) {
        BlockIndexJoin.partners(queries, corpus, work)?
    } else {
        LinearScanJoin.partners(queries, corpus, work)?
    };
    Ok(OnDemand::boxed(found, corpus_rows, false))
}

/// Returns an object that finds the partners of a row: the later rows within the maximum distance. The method `join`
/// finds these pairs. If they do not fit in memory, the object searches the partners of a row when they are requested.
///
/// # Errors
///
/// The join fails, or there is too little memory.
pub(super) fn self_partners<'a, L: Fingerprint, J: JoinFixedRows<L> + ?Sized>(
    join: &J,
    rows: FixedRows<'a, L>,
    work: JoinWork<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    if let Some(found) = join.self_partners(rows.clone(), work) {
        return Ok(found);
    }
    match work.in_own_room(u64::MAX, |work| join.self_join(rows.rows(), work))? {
        Some(found) => Ok(Box::new(RowPairs::new(found, rows.fingerprints.len()))),
        None => self_join_on_demand(rows, work),
    }
}

/// Counts the pairs of `rows` within the maximum distance of `work`. The method `join` finds them.
///
/// # Errors
///
/// The same errors as [`self_partners`].
pub(super) fn count_pairs<L: Fingerprint, J: JoinFixedRows<L> + ?Sized>(
    join: &J,
    rows: FixedRows<'_, L>,
    work: JoinWork<'_>,
) -> Result<u64> {
    match join.count_pairs(rows.clone(), work)? {
        Some(pairs) => Ok(pairs),
        None => Ok(count(&*self_partners(join, rows, work)?, work.context.progress())),
    }
}

/// Returns an object that finds the partners of a row when they are requested: the later rows within the maximum
/// distance. It keeps no pairs.
///
/// # Errors
///
/// There is too little memory.
fn self_join_on_demand<'a, L: Fingerprint>(
    rows: FixedRows<'a, L>,
    work: JoinWork<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    let corpus_rows = rows.fingerprints.len();
    let found = if is_index_better(corpus_rows, work) {
        BlockIndexJoin.partners(rows.clone(), rows, work)?
    } else {
        later_partners(rows, work)
    };
    Ok(OnDemand::boxed(found, corpus_rows, true))
}

/// Whether an index of blocks is better than a linear scan. There must be many rows, the index must fit in
/// memory, and its blocks must be long enough to exclude most unrelated rows.
fn is_index_better(corpus_rows: usize, work: JoinWork<'_>) -> bool {
    let shape = work.reach.shape;
    let can_have_blocks = matches!(shape.metric(), Metric::Bits | Metric::Lanes { .. });
    let blocks = u64::from(work.reach.max_distance) + 1;
    let (units, unit_bits) = shape.parts();
    let block_bits = f64::from(units) / blocks as f64 * f64::from(unit_bits);
    let is_selective = blocks as f64 * (-block_bits).exp2() < 1.0;
    let bytes = blocks.saturating_mul((corpus_rows * building_bytes(corpus_rows)) as u64);
    let is_large = corpus_rows >= INDEXED_ROWS;
    is_large && can_have_blocks && is_selective && bytes <= work.context.memory().free()
}

/// A search in which the number of partners is not known in advance. Any number of rows may be partners of a row.
pub(super) struct OnDemand<'a> {
    found: Box<dyn Partners + 'a>,
    /// Number of rows that may be partners of a row, because partners are searched among them.
    corpus_rows: usize,
    /// Whether only later rows are partners.
    is_self_join: bool,
}

impl<'a> OnDemand<'a> {
    /// Wraps `found`, which searches `corpus_rows` rows. In a self-join, only later rows are returned as partners.
    pub(super) fn boxed(
        found: Box<dyn Partners + 'a>,
        corpus_rows: usize,
        is_self_join: bool,
    ) -> Box<dyn Partners + 'a> {
        Box::new(Self { found, corpus_rows, is_self_join })
    }
}

impl Partners for OnDemand<'_> {
    fn rows(&self) -> usize {
        self.found.rows()
    }

    /// Returns the number of all rows that may be partners of `row`. This bound surely holds, so that the partners of
    /// one task fit in memory.
    fn bound(&self, row: usize) -> usize {
        if self.is_self_join { self.corpus_rows - row - 1 } else { self.corpus_rows }
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        self.found.partners(row, found);
        if self.is_self_join {
            found.retain(|found| found.row as usize > row);
        }
    }
}
