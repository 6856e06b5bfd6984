//! Fingerprints × a plan: the rows that are close, in groups of equal ones.

use crate::closeness::{CloseAcross, ClosePair, CloseRows, Closeness};
use crate::error::Result;
use crate::matches::ValuePair;
use crate::resources::Resources;
use crate::rows_of_words::FingerprintRows;
use crate::search::door::{Join, SelfJoin, join, self_join};
use crate::search::grouping::Groups;
use crate::search::planner::{IndexName, Plan, Task, Workload};

/// The plan of a self-join whose equal rows stay together.
///
/// # Errors
///
/// All rows are within the distance.
pub(super) fn plan_within(
    rows: &FingerprintRows<'_>,
    max_distance: u32,
    memory: u64,
) -> Result<Plan> {
    let methods = [IndexName::PartitionJoin, IndexName::SpilledJoin];
    Plan::among(Workload::of(Task::SelfJoin, rows, max_distance, memory), &methods)
}

/// The plan of a join of queries and corpus.
///
/// # Errors
///
/// All rows are within the distance.
pub(super) fn plan_across(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    max_distance: u32,
    memory: u64,
) -> Result<Plan> {
    let task = Task::Batch { queries: queries.len() };
    let methods = [IndexName::BipartiteJoin, IndexName::StreamedQueries];
    Plan::among(Workload::of(task, corpus, max_distance, memory), &methods)
}

/// All rows within the distance of each other, by the method of `plan`; in the threads of the
/// caller's pool.
///
/// # Errors
///
/// A temporary file fails.
pub(super) fn close_within(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
) -> Result<CloseRows> {
    let SelfJoin { groups, pairs } = self_join(rows, plan, resources)?;
    let pairs = named(&pairs, &groups, &groups, |a, b| (a.min(b), a.max(b)));
    Ok(CloseRows { groups: repeated(&groups), pairs, of_equal: Closeness::Distance(0) })
}

/// All pairs of a query and a corpus row within the distance, by the method of `plan`; in the
/// threads of the caller's pool.
///
/// # Errors
///
/// Queries and corpus do not compare, or are too many.
pub(super) fn close_across(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
) -> Result<CloseAcross> {
    let Join { queries, corpus, pairs } = join(queries, corpus, plan, resources)?;
    let pairs = named(&pairs, &queries, &corpus, |a, b| (a, b));
    Ok(CloseAcross { groups: [repeated(&queries), repeated(&corpus)], pairs })
}

/// The groups of two rows and more, by their first row.
fn repeated(groups: &Groups) -> Vec<Vec<u32>> {
    let mut repeated: Vec<_> = groups.repeated().map(|group| groups.rows(group).to_vec()).collect();
    repeated.sort_unstable_by_key(|group| group[0]);
    repeated
}

/// Pairs of groups by their first rows, as `order` puts them, ascending.
fn named(
    pairs: &[ValuePair],
    of_a: &Groups,
    of_b: &Groups,
    order: impl Fn(u32, u32) -> (u32, u32),
) -> Vec<ClosePair> {
    let named = pairs.iter().map(|pair| {
        let (a, b) = order(of_a.rows(pair.a)[0], of_b.rows(pair.b)[0]);
        ClosePair { a, b, closeness: Closeness::Distance(pair.distance) }
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable_by_key(|pair| (pair.a, pair.b));
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows_of_words::{RowsBuilder, Shape};
    use crate::stable_hash::mix;

    /// Fingerprints near a few centres; each seventh row has none.
    fn rows(from: u64, count: u64) -> FingerprintRows<'static> {
        let lane = |row: u64| mix(row % 20) ^ 1 << (mix(row) % 8) ^ 1 << (mix(row + 1) % 3);
        let mut rows = RowsBuilder::new(Shape::bits(64));
        for row in from..from + count {
            rows.push((!(row - from).is_multiple_of(7)).then_some(&[lane(row)]));
        }
        rows.finish()
    }

    /// As little memory as can be.
    fn little() -> Resources {
        Resources { memory: 1, threads: 1, ..Resources::default() }
    }

    #[test]
    fn every_method_finds_the_same_pairs() {
        let (queries, corpus, resources) = (rows(0, 100), rows(77, 300), little());
        let plan = plan_across(&queries, &corpus, 2, 1).unwrap();
        let across = [IndexName::BipartiteJoin, IndexName::StreamedQueries].map(|index| {
            let plan = Plan { index, ..plan.clone() };
            let close = close_across(&queries, &corpus, &plan, &resources).unwrap();
            let mut found = Vec::new();
            let taken = close.for_each_row(|a, partners| {
                found.extend(partners.iter().map(|&(b, closeness)| (a, b, closeness)));
                Ok::<_, ()>(())
            });
            assert_eq!((taken, close.pair_count()), (Ok(()), found.len() as u64));
            found
        });
        assert!(across[0].len() > 100);
        assert_eq!(across[0], across[1]);
        let plan = plan_within(&corpus, 2, 1).unwrap();
        let within = [IndexName::PartitionJoin, IndexName::SpilledJoin].map(|index| {
            let plan = Plan { index, ..plan.clone() };
            close_within(&corpus, &plan, &resources).unwrap()
        });
        assert!(within[0].groups.len() > 10 && within[0].pairs.len() > 100);
        assert_eq!(within[0], within[1]);
    }

    #[test]
    fn too_little_memory_takes_the_methods_that_need_least() {
        let (queries, rows) = (rows(0, 10), rows(0, 1000));
        let within = |memory| plan_within(&rows, 2, memory).unwrap().index;
        assert_eq!(within(1), IndexName::SpilledJoin);
        assert_eq!(within(u64::MAX), IndexName::PartitionJoin);
        let across = plan_across(&queries, &rows, 2, 1).unwrap();
        assert_eq!(across.index, IndexName::StreamedQueries);
    }
}
