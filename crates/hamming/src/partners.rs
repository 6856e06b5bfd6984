//! Rows that are asked for their partners, one after the other: there may be n² pairs, and they are never
//! in memory together.

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use simtool_base::progress::{Progress, Work};
use simtool_model::matches::{Match, ValuePair};
use std::ops::Range;

/// The [bound](Partners::bound) of a row whose partners can only be counted by a search: it makes tasks
/// of some hundred queries.
pub(super) const UNKNOWN_BOUND: usize = 1 << 10;

/// Approximate number of pairs of a task.
const TASK_PAIRS: usize = 1 << 18;

/// Rows that return their partners, in any order and to several threads.
pub trait Partners: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// An upper bound or an estimate of the number of partners of `row`.
    fn bound(&self, row: usize) -> usize;

    /// Replaces `found` by the partners of `row`, ascending.
    fn partners(&self, row: usize, found: &mut Vec<Match>);
}

/// Collects all pairs, ascending.
#[must_use]
pub fn collect(pairs: &dyn Partners) -> Vec<ValuePair> {
    let parts = tasks(pairs).into_par_iter().with_max_len(1).map(|rows| listed(pairs, rows));
    parts.collect::<Vec<_>>().concat()
}

/// Counts the pairs, without keeping them.
#[must_use]
pub fn count(pairs: &dyn Partners, progress: &dyn Progress) -> u64 {
    progress.begin("counting pairs", Work::Steps(pairs.rows() as u64));
    let counts = tasks(pairs).into_par_iter().with_max_len(1).map(|rows| {
        let mut found = Vec::new();
        let mut count = 0;
        for row in rows.clone() {
            pairs.partners(row, &mut found);
            count += found.len() as u64;
        }
        progress.advance(rows.len() as u64);
        count
    });
    counts.sum()
}

/// Lists the pairs of some rows, ascending.
#[must_use]
pub fn listed(pairs: &dyn Partners, rows: Range<usize>) -> Vec<ValuePair> {
    let mut list = Vec::new();
    for_each(pairs, rows, |pair| list.push(pair));
    list
}

/// Calls `visit` with each pair of some rows, ascending.
pub fn for_each(pairs: &dyn Partners, rows: Range<usize>, mut visit: impl FnMut(ValuePair)) {
    let mut found = Vec::new();
    for row in rows {
        pairs.partners(row, &mut found);
        for &Match { row: b, distance } in &found {
            visit(ValuePair { a: row as u32, b, distance });
        }
    }
}

/// Cuts the rows into ranges, calls `make` for the ranges in parallel, and `take` for the results in order.
/// Only a bounded number of results is in memory.
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
    // Four results for each thread: enough to keep all threads busy while the slowest of them ends.
    for tasks in tasks(pairs).chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<T> = tasks.par_iter().with_max_len(1).cloned().map(make).collect();
        parts.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Cuts the rows into ranges that have about the same number of pairs.
fn tasks(pairs: &dyn Partners) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut start, mut bound) = (0, 0);
    for row in 0..pairs.rows() {
        bound += pairs.bound(row) + 1;
        if bound >= TASK_PAIRS {
            tasks.push(start..row + 1);
            (start, bound) = (row + 1, 0);
        }
    }
    tasks.push(start..pairs.rows());
    tasks
}
