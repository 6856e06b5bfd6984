//! A source of pairs that returns the partners of one row at a time. There may be n² pairs, and they
//! are never in memory together.

use crate::collect::{Collect, KeepPairs};
use simtool_base::progress::{Progress, Share, Work};
use simtool_compute::tasks;
use simtool_model::matches::{Match, ValuePair};
use std::ops::Range;

/// The [bound](Partners::bound) that a method reports for each row if it cannot estimate the number of partners. With
/// this number, a task has about sixty queries.
pub(super) const UNKNOWN_BOUND: usize = 1 << 10;

/// Approximate number of pairs that one task finds. Rows are divided into such tasks for the threads.
const TASK_PAIRS: usize = 1 << 16;

/// Rows, and a way to find the partners of each row. Partners are the rows within the maximum distance.
/// Several threads can request partners in any order.
pub trait Partners: Sync {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns an upper bound or an estimate of the number of partners of `row`, which are the rows within the maximum
    /// distance.
    fn bound(&self, row: usize) -> usize;

    /// Replaces `found` by the partners of `row`, which are the rows within the maximum distance, in ascending order of
    /// their row numbers.
    fn partners(&self, row: usize, found: &mut Vec<Match>);
}

/// Finds the partners of all rows, and returns the pairs in ascending order.
#[must_use]
pub fn collect(pairs: &dyn Partners) -> Vec<ValuePair> {
    collect_in_room(pairs, &KeepPairs::all(), Share::silent())
}

/// Finds the partners of all rows, and returns the pairs in ascending order. `share` reports the progress of this work.
/// `keep` may leave out pairs that do not fit in memory. If the work is cancelled, pairs are missing.
#[must_use]
pub(crate) fn collect_in_room(
    pairs: &dyn Partners,
    keep: &KeepPairs<'_>,
    share: Share<'_>,
) -> Vec<ValuePair> {
    let parts = tasks::map_items(ranges(pairs), |rows| {
        let mut part = keep.part();
        // Once pairs were left out, the result is dropped, and the other pairs may be very many.
        if share.is_cancelled() || keep.is_full() {
            return part;
        }
        let share = share.part(rows.len(), pairs.rows());
        for_each(pairs, rows, |pair| keep.pair(&mut part, pair.a, pair.b, pair.distance));
        share.done();
        part
    });
    let mut all = keep.part();
    for part in parts {
        keep.merge(&mut all, part);
    }
    all.into_sorted()
}

/// Finds the partners of all rows, and counts the pairs without keeping them in memory.
#[must_use]
pub fn count(pairs: &dyn Partners, progress: &dyn Progress) -> u64 {
    progress.begin("counting pairs", Work::Steps(pairs.rows() as u64));
    let counts = tasks::map_items(ranges(pairs), |rows| {
        let mut found = Vec::new();
        let mut count = 0;
        for row in rows.clone() {
            pairs.partners(row, &mut found);
            count += found.len() as u64;
        }
        progress.advance(rows.len() as u64);
        count
    });
    counts.iter().sum()
}

/// Returns the pairs whose first row is in `rows`, in ascending order.
#[must_use]
pub fn listed(pairs: &dyn Partners, rows: Range<usize>) -> Vec<ValuePair> {
    let mut list = Vec::new();
    for_each(pairs, rows, |pair| list.push(pair));
    list
}

/// Calls `visit` with each pair whose first row is in `rows`, in ascending order.
pub fn for_each(pairs: &dyn Partners, rows: Range<usize>, mut visit: impl FnMut(ValuePair)) {
    let mut found = Vec::new();
    for row in rows {
        pairs.partners(row, &mut found);
        for &Match { row: b, distance } in &found {
            visit(ValuePair { a: row as u32, b, distance });
        }
    }
}

/// Divides the rows into ranges. Calls `make` for each range in parallel, and then `take` with each result of `make`,
/// in the order of the ranges. Only a limited number of results is in memory at a time.
///
/// # Errors
///
/// The first error of `take`.
pub fn in_order<T: Send, E>(
    pairs: &dyn Partners,
    progress: &dyn Progress,
    make: impl Fn(Range<usize>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    progress.begin("listing pairs", Work::Steps(pairs.rows() as u64));
    let make = |rows: Range<usize>| {
        let steps = rows.len() as u64;
        let made = make(rows);
        progress.advance(steps);
        made
    };
    // Four results for each thread are enough to keep all threads busy until the slowest one ends.
    for ranges in ranges(pairs).chunks(4 * rayon::current_num_threads()) {
        let parts = tasks::map_items(ranges.to_vec(), make);
        parts.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Divides the rows into ranges that have about the same number of pairs, estimated by [`Partners::bound`].
fn ranges(pairs: &dyn Partners) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut bound) = (0, 0);
    for row in 0..pairs.rows() {
        bound += pairs.bound(row) + 1;
        if bound >= TASK_PAIRS {
            ranges.push(start..row + 1);
            (start, bound) = (row + 1, 0);
        }
    }
    ranges.push(start..pairs.rows());
    ranges
}
