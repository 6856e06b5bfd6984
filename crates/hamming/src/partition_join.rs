//! The recursive self-join in memory. Finds the groups of equal fingerprints and all near pairs of
//! different fingerprints.

use crate::Rows;
use crate::collect::{Collect, CountRows, KeepPairs};
use crate::first_level::SKETCHED_WORDS;
use crate::first_rows::{CountFirst, first_rows};
use crate::group_pairs::GroupPairs;
use crate::grouping::{EqualGroups, equal_pairs, group};
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::recursion::Recursion;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::Result;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::sides::Sides;

/// Minimum number of rows for which pairs are counted without a copy of the different fingerprints. A
/// copy of so many rows would take new memory, which the system must clear first. A copy of fewer rows
/// stays in the caches.
const MANY_ROWS: usize = 1 << 15;

/// Finds all pairs of rows within the maximum distance of `work`. Reports progress.
///
/// # Errors
///
/// The same errors as [`group`].
///
/// # Panics
///
/// Panics in the same cases as [`group`].
///
/// # Complexity
///
/// For small k and up to some hundred million rows, about k + 1 partitions of the n different
/// fingerprints of f bits. The number of comparisons grows with n² / 2^(f / (k + 1)) or less, because
/// big buckets are divided further.
pub fn self_join<L: Fingerprint>(rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
    let mut groups = group(rows, work.context.memory())?;
    let pairs = collect_value_pairs(&mut groups, work, &KeepPairs::new(work))?.into_sorted();
    Ok(GroupPairs { groups: Sides::One(groups.groups), pairs })
}

/// Counts the pairs of rows within the maximum distance of `work`, which [`self_join`] finds, without keeping them in
/// memory.
///
/// # Errors
///
/// The same errors as [`group`].
///
/// # Panics
///
/// Panics in the same cases as [`group`].
pub fn count_pairs<L: Fingerprint>(rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<u64> {
    if L::WORDS < SKETCHED_WORDS && rows.fingerprints.len() >= MANY_ROWS {
        let (first_rows, spare) = first_rows(rows, work.context.memory())?;
        let counting = CountFirst(&first_rows);
        let join = Recursion::new(rows.fingerprints, work, &counting).with_spare(Some(spare));
        let pairs =
            counting.total(join.run_valid(rows.fingerprints, &first_rows.first, work.share)?);
        return Ok(first_rows.equal_pairs() + pairs);
    }
    let mut groups = group(rows, work.context.memory())?;
    let spare = groups.spare.take();
    let counting = CountRows { groups: (&groups.groups, &groups.groups) };
    let values = groups.values();
    let join = Recursion::new(values, work, &counting).with_spare(spare);
    let pairs = join.run(values, work.share)?;
    Ok(equal_pairs(&groups.groups) + pairs)
}

/// Finds all pairs of groups within the maximum distance of `work`, and passes each pair to `collect`.
///
/// The order of the pairs does not depend on the number of threads.
///
/// # Errors
///
/// There is too little memory.
pub(crate) fn collect_value_pairs<L: Fingerprint, C: Collect>(
    groups: &mut EqualGroups<L>,
    work: JoinWork<'_>,
    collect: &C,
) -> Result<C::Part> {
    let spare = groups.spare.take();
    let values = groups.values();
    Recursion::new(values, work, collect).with_spare(spare).run(values, work.share)
}

/// The recursive self-join as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It finds all near
/// pairs of a collection in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionJoin;

impl JoinKind for PartitionJoin {
    fn name(&self) -> &'static str {
        "partition-join"
    }

    fn help(&self) -> &'static str {
        "Partitions the rows by blocks of bits, again and again, in memory: best for small k."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::SelfJoins, rows: RowKind::Votes, is_for_collections: true }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        // Long fingerprints are moved as sketches of two words.
        let sketch = if workload.fingerprint_words() > 2.0 { 60.0 } else { 0.0 };
        let join = JoinEstimate {
            nanoseconds: workload.recursion(rows, rows),
            bytes: rows * (2.0 * workload.fingerprint_bytes() + 12.0 + sketch),
        };
        join + workload.kept_pairs(workload.different_pairs())
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for PartitionJoin {
    fn self_join(&self, rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
        self_join(rows, work)
    }

    fn count_pairs(&self, rows: FixedRows<'_, L>, work: JoinWork<'_>) -> Result<Option<u64>> {
        count_pairs(rows.rows(), work).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_compute::context::Context;
    use simtool_model::fingerprint_table::Reach;

    #[test]
    fn pairs_groups_and_limit() {
        let fingerprints = [0u64, 0b111, 0b1111, 0, 0b111 << 60, u64::MAX];
        let context = Context::default();
        let work = JoinWork::new(Reach::bits(64, 3), &context);
        let found = self_join(Rows::all(&fingerprints), work).unwrap();
        assert_eq!(found.groups.first().len(), 5);
        let mut rows: Vec<_> = found
            .pairs
            .iter()
            .map(|p| {
                let [a, b] = [p.a, p.b].map(|g| found.groups.first().rows(g).to_vec());
                (a.clone().min(b.clone()), a.max(b), p.distance)
            })
            .collect();
        rows.sort();
        assert_eq!(
            rows,
            [(vec![0, 3], vec![1], 3), (vec![0, 3], vec![4], 3), (vec![1], vec![2], 1)]
        );
        assert_eq!(count_pairs(Rows::all(&fingerprints), work).unwrap(), 6);
    }
}
