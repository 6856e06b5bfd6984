//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::error::Result;
use crate::fingerprint_table::Lane;
use crate::matches::{Match, ValuePair};
use crate::search::row_pairs::RowPairs;
use crate::write::pair_table;
use rayon::prelude::*;
use std::ops::Range;

/// Pairs of a task, about.
const TASK_PAIRS: usize = 1 << 18;

/// In which form pairs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutput {
    /// Their number alone.
    Count,
    /// A line with tabs for each: `a`, `b`, `distance`.
    Tsv,
    /// An array of shape n × 3.
    Numpy,
    /// A Parquet file with the columns `a`, `b` and `distance`.
    Parquet,
    /// Groups of equal rows, and pairs of groups.
    Groups,
}

/// Rows that can be asked, in any order and by several threads, for their partners.
pub trait Partners: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// At most, or about, how many partners `row` has.
    fn bound(&self, row: usize) -> usize;

    /// Replaces `found` by the partners of `row`, ascending.
    fn partners(&self, row: usize, found: &mut Vec<Match>);
}

impl<W: Lane> Partners for RowPairs<'_, W> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn bound(&self, row: usize) -> usize {
        RowPairs::bound(self, row)
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        RowPairs::partners(self, row, found);
    }
}

/// Writes all pairs to `sink`.
///
/// # Errors
///
/// The sink fails, or this build cannot write Parquet.
pub fn emit(
    pairs: &dyn Partners,
    output: PairOutput,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let push = match output {
        PairOutput::Count => return sink(format!("{}\n", count(pairs)).as_bytes()),
        PairOutput::Parquet => return emit_columns(pairs, sink),
        PairOutput::Tsv | PairOutput::Groups => pair_table::push_tsv,
        PairOutput::Numpy => {
            sink(&pair_table::numpy_header(count(pairs)))?;
            pair_table::push_numpy
        }
    };
    let bytes = |rows: Range<usize>| {
        let mut out = Vec::new();
        for_each(pairs, rows, |pair| push(pair.a, pair.b, pair.distance, &mut out));
        out
    };
    in_order(pairs, bytes, |part| if part.is_empty() { Ok(()) } else { sink(&part) })
}

#[cfg(feature = "parquet")]
fn emit_columns(pairs: &dyn Partners, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut file = crate::write::pair_columns::PairColumns::new()?;
    in_order(pairs, |rows| listed(pairs, rows), |part| sink(&file.write(&part)?))?;
    sink(&file.finish()?)
}

#[cfg(not(feature = "parquet"))]
fn emit_columns(_: &dyn Partners, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    Err(crate::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}

/// All pairs, ascending.
pub(super) fn collect(pairs: &dyn Partners) -> Vec<ValuePair> {
    let parts = tasks(pairs).into_par_iter().with_max_len(1).map(|rows| listed(pairs, rows));
    parts.collect::<Vec<_>>().concat()
}

fn listed(pairs: &dyn Partners, rows: Range<usize>) -> Vec<ValuePair> {
    let mut list = Vec::new();
    for_each(pairs, rows, |pair| list.push(pair));
    list
}

fn for_each(pairs: &dyn Partners, rows: Range<usize>, mut visit: impl FnMut(ValuePair)) {
    let mut found = Vec::new();
    for row in rows {
        pairs.partners(row, &mut found);
        for &Match { row: b, distance } in &found {
            visit(ValuePair { a: row as u32, b, distance });
        }
    }
}

/// Makes a part of each task's rows, some at the same time, and takes them in order.
fn in_order<T: Send>(
    pairs: &dyn Partners,
    make: impl Fn(Range<usize>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    for tasks in tasks(pairs).chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<T> = tasks.par_iter().with_max_len(1).cloned().map(&make).collect();
        parts.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

fn count(pairs: &dyn Partners) -> u64 {
    let counts = tasks(pairs).into_par_iter().with_max_len(1).map(|rows| {
        let mut found = Vec::new();
        let mut count = 0;
        for row in rows {
            pairs.partners(row, &mut found);
            count += found.len() as u64;
        }
        count
    });
    counts.sum()
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
