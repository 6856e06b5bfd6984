//! Rows that are asked for their partners, one after the other: so that the pairs, of which there
//! may be n², are never in memory together.

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use simtool_base::progress::{Progress, Work};
use simtool_model::matches::{Match, ValuePair};
use std::ops::Range;

/// Pairs of a task, about.
const TASK_PAIRS: usize = 1 << 18;

/// Rows that can be asked, in any order and by several threads, for their partners.
pub trait Partners: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// At most, or about, how many partners `row` has.
    fn bound(&self, row: usize) -> usize;

    /// Replaces `found` by the partners of `row`, ascending.
    fn partners(&self, row: usize, found: &mut Vec<Match>);
}

/// All pairs, ascending.
#[must_use]
pub fn collect(pairs: &dyn Partners) -> Vec<ValuePair> {
    let parts = tasks(pairs).into_par_iter().with_max_len(1).map(|rows| listed(pairs, rows));
    parts.collect::<Vec<_>>().concat()
}

/// The number of pairs.
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

/// The pairs of some rows, ascending.
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

/// Makes something of each of the ranges into which the rows are cut, a bounded number of them at
/// the same time, and takes them in order.
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
    for tasks in tasks(pairs).chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<T> = tasks.par_iter().with_max_len(1).cloned().map(make).collect();
        parts.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// All rows, cut so that each range has about the same number of pairs.
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
