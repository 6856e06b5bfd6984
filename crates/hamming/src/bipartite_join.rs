//! The bipartite join: finds the pairs of many queries and a corpus with the recursion of the
//! self-join.
//!
//! In every bucket, queries come first, because partitions keep the order of the records. A bucket with
//! queries only, or with rows of the corpus only, has no pairs.

use crate::Rows;
use crate::collect::{Collect, KeepPairs};
use crate::group_pairs::GroupPairs;
use crate::grouping::{EqualGroups, group};
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::on_demand::search_on_demand;
use crate::partners::Partners;
use crate::recursion::Recursion;
use crate::row_pairs::RowPairs;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::reserved;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::sides::Sides;

/// Finds all pairs of a query and a row of the corpus within the maximum distance of `work`. Reports
/// progress.
///
/// # Errors
///
/// Queries and corpus have 2³² or more different fingerprints together, or there is too little memory.
///
/// # Panics
///
/// Panics in the same cases as [`group`].
pub fn bipartite_join<L: Fingerprint>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    work: JoinWork<'_>,
) -> Result<GroupPairs> {
    let ledger = work.context.memory();
    let queries = group(queries, ledger)?;
    let corpus = group(corpus, ledger)?;
    let pairs = collect_bipartite(&queries, &corpus, work, &KeepPairs::new(work))?.into_sorted();
    Ok(GroupPairs { groups: Sides::Two(queries.groups, corpus.groups), pairs })
}

/// Joins the groups of queries with the groups of the corpus. Passes each pair of groups within the
/// maximum distance to `collect`. A group consists of all rows with the same fingerprint.
fn collect_bipartite<L: Fingerprint, C: Collect>(
    queries: &EqualGroups<L>,
    corpus: &EqualGroups<L>,
    work: JoinWork<'_>,
    collect: &C,
) -> Result<C::Part> {
    let boundary = boundary(queries.groups.len(), corpus.groups.len())?;
    if queries.groups.is_empty() || corpus.groups.is_empty() {
        return Ok(collect.part());
    }
    let sides = [queries.values(), corpus.values()];
    let mut values =
        reserved(sides.iter().map(|side| side.len()).sum(), "the fingerprints of both sides")?;
    for side in sides {
        values.extend_from_slice(side);
    }
    let renumbered = CorpusFromZero { collect, boundary };
    let join = Recursion::new(&values, work, &renumbered).with_boundary(boundary);
    join.run(&values, work.share)
}

/// Returns the number of the first group of the corpus in the join. It is the number of groups of
/// queries, because queries are numbered first. Fails if 32 bits are not enough to number all groups.
fn boundary(queries: usize, corpus: usize) -> Result<u32> {
    let rule = || {
        let what = format!("{queries} different queries and {corpus} different rows of the corpus");
        Error::limit(
            what,
            "a bipartite join takes fewer than 4294967296 together: search the queries in parts, or \
             with `index` streamed-queries",
        )
    };
    let all = queries.checked_add(corpus).and_then(|all| u32::try_from(all).ok());
    // The queries are not more than both sides together, so the cast is exact.
    all.map(|_| queries as u32).ok_or_else(rule)
}

/// Receiver that subtracts `boundary` from the second group number of each pair, and passes the pair on
/// to `collect`. During the join, groups of the corpus are numbered from `boundary` on. `collect`
/// expects numbers from 0 on.
struct CorpusFromZero<'a, C> {
    collect: &'a C,
    boundary: u32,
}

impl<C: Collect> Collect for CorpusFromZero<'_, C> {
    type Part = C::Part;

    fn part(&self) -> C::Part {
        self.collect.part()
    }

    #[inline]
    fn pair(&self, part: &mut C::Part, a: u32, b: u32, distance: u32) {
        self.collect.pair(part, a, b - self.boundary, distance);
    }

    fn merge(&self, part: &mut C::Part, later: C::Part) {
        self.collect.merge(part, later);
    }
}

/// The bipartite join as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It finds the near pairs
/// of many queries and a corpus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BipartiteJoin;

impl JoinKind for BipartiteJoin {
    fn name(&self) -> &'static str {
        "bipartite-join"
    }

    fn help(&self) -> &'static str {
        "Partitions queries and corpus together by blocks of bits: best for very many queries."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Votes, is_for_collections: true }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let queries = workload.query_count();
        let both = rows + queries;
        // Average number of rows that a row could form a pair with, which are the rows of the other
        // collection.
        let others = 2.0 * queries * rows / both.max(1.0);
        let join = JoinEstimate {
            nanoseconds: workload.recursion(both, others),
            bytes: both * (3.0 * workload.fingerprint_bytes() + 12.0),
        };
        join + workload.kept_pairs(workload.different(queries) * workload.different(rows))
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for BipartiteJoin {
    fn join(
        &self,
        queries: Rows<'_, L>,
        corpus: Rows<'_, L>,
        work: JoinWork<'_>,
    ) -> Result<GroupPairs> {
        bipartite_join(queries, corpus, work)
    }

    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let join = |work: JoinWork<'_>| bipartite_join(queries.rows(), corpus.rows(), work);
        match work.in_own_room(u64::MAX, join)? {
            Some(found) => Ok(Box::new(RowPairs::new(found, queries.fingerprints.len()))),
            None => search_on_demand(queries, corpus, work),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_groups_than_there_are_numbers_are_a_limit_that_is_met() {
        assert_eq!(boundary(7, u32::MAX as usize - 7).unwrap(), 7);
        for (queries, corpus) in [(1 << 31, 1 << 31), (1, u32::MAX as usize), (2, usize::MAX)] {
            let error = boundary(queries, corpus).unwrap_err();
            assert!(matches!(error.kind(), simtool_base::error::ErrorKind::Limit { .. }));
            assert!(error.to_string().contains("fewer than 4294967296 together"), "{error}");
        }
    }
}
