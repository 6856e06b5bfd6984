//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::error::Result;
use crate::fingerprint_table::Lane;
use crate::matches::Match;
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
    /// Groups of equal rows, and pairs of groups (self-joins only).
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
/// The sink fails.
pub fn emit(
    pairs: &dyn Partners,
    output: PairOutput,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let push = match output {
        PairOutput::Count => return sink(format!("{}\n", count(pairs)).as_bytes()),
        PairOutput::Tsv | PairOutput::Groups => pair_table::push_tsv,
        PairOutput::Numpy => {
            sink(&pair_table::numpy_header(count(pairs)))?;
            pair_table::push_numpy
        }
    };
    let bytes = |rows: Range<usize>| {
        let (mut found, mut out) = (Vec::new(), Vec::new());
        for row in rows {
            pairs.partners(row, &mut found);
            for found in &found {
                push(row as u32, found.row, found.distance, &mut out);
            }
        }
        out
    };
    for tasks in tasks(pairs).chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<Vec<u8>> = tasks.par_iter().with_max_len(1).cloned().map(bytes).collect();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            sink(part)?;
        }
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
