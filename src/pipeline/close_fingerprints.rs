//! Joins fingerprints: finds the pairs of fingerprints within a distance. Rows with equal fingerprints are
//! stored as a group.

use super::row_scope::RowScope;
use crate::method::{Criterion, Method};
use simtool_base::error::{Error, Result};
use simtool_base::quantity::bytes;
use simtool_compute::context::Context;
use simtool_compute::threads::Threads;
use simtool_hamming::door::{band_join_if_fits, join_if_fits};
use simtool_hamming::group_pairs::GroupPairs;
use simtool_hamming::layout::Layout;
use simtool_hamming::planner::JoinPlan;
use simtool_hamming::workload::{JoinTask, Workload};
use simtool_model::closeness::Closeness;
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_set_join::close::{Close, ClosePairs};

/// Bytes of memory for each pair of close documents: the pair, and a copy of it while the pairs are sorted.
const BYTES_A_PAIR: u64 = 2 * size_of::<ValuePair>() as u64;
/// Number of pairs that a join may always find, even if the memory is too small for them.
const FEW_PAIRS: u64 = 1 << 16;

/// Settings of a join of fingerprints: the pairs that it finds, and the resources that it may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowJoin<'j> {
    /// Maximum number of positions in which the fingerprints of a pair differ.
    pub(super) distance: u32,
    /// Minimum fraction of the pairs at exactly the maximum distance that the join must find. If it is set, the join
    /// uses LSH bands and may miss pairs. `None` if the join must find all pairs.
    pub(super) recall: Option<Threshold>,
    /// Selects the documents that are compared with each other. `None` if all documents are compared.
    pub(super) scope: Option<&'j RowScope>,
    /// Maximum number of pairs of different fingerprints. If there are more, the join ends early and returns no pairs.
    /// The caller then searches only for the pairs that decide which documents are kept.
    pub(super) most: u64,
    pub(super) context: &'j Context<'j>,
}

impl RowJoin<'_> {
    /// Finds all pairs of fingerprints that differ in at most `distance` positions, in one collection or between two,
    /// by the cheapest join. Returns `None` if the pairs do not fit in memory, or if there are more than
    /// [`Self::most`].
    ///
    /// # Errors
    ///
    /// The distance is so large that all fingerprints are near each other, the threads cannot be started, a
    /// temporary file fails, or the memory is too little.
    pub(super) fn find(&self, rows: Sides<&FingerprintRows<'_>>) -> Result<Option<Close>> {
        let found = self.group_pairs(rows)?;
        Ok(found.map(|found| closed(found, self.context.threads())))
    }

    /// Finds the groups of equal fingerprints, and the pairs of groups whose fingerprints differ in at most `distance`
    /// positions. Returns `None` if the pairs do not fit in memory, or if there are more than [`Self::most`].
    ///
    /// # Errors
    ///
    /// The same errors as [`Self::find`].
    pub(super) fn group_pairs(
        &self,
        rows: Sides<&FingerprintRows<'_>>,
    ) -> Result<Option<GroupPairs>> {
        let Self { distance, most, context, .. } = *self;
        let found = if let Some(layout) = self.layout(rows.second().shape) {
            let join = || band_join_if_fits(rows, &layout, distance, most, context);
            context.threads().run(join)??
        } else {
            let plan = plan(rows, distance, context.memory().limit())?;
            context.progress().planned(&plan);
            context.threads().run(|| join_if_fits(rows, &plan, most, context))??
        };
        // A cancelled join ends early, and its incomplete result must not be used.
        context.check_cancelled()?;
        let (Some(found), Some(scope)) = (&found, self.scope) else { return Ok(found) };
        // A pair of groups may become many pairs of documents, so their number is limited again.
        let most = context.memory().free() / BYTES_A_PAIR;
        Ok(scope.divide(found, most.max(FEW_PAIRS)))
    }

    /// Returns the LSH bands of the join. `None` if the join finds all pairs.
    pub(super) fn layout(&self, shape: Shape) -> Option<Layout> {
        self.recall.and_then(|recall| Layout::with_recall(shape, self.distance, recall))
    }

    /// Returns the error for pairs that do not fit in memory.
    pub(super) fn too_many_pairs(&self) -> Error {
        let rule = format!(
            "do not fit in the {} that `max_memory` leaves for them; `pairs`, `cluster` components and \
             matches need all of them; a smaller `max_distance` leaves fewer",
            bytes(self.context.memory().free())
        );
        Error::limit("the pairs of near-duplicates", rule)
    }
}

fn plan(rows: Sides<&FingerprintRows<'_>>, distance: u32, memory: u64) -> Result<JoinPlan> {
    let task = JoinTask::for_rows(rows.map(FingerprintRows::len));
    JoinPlan::for_collections(Workload::of(task, rows.second(), distance, memory))
}

/// Returns the plan of the join of fingerprints that `method` needs, before the fingerprints are made. `rows` has the
/// number of documents of each collection. `sampled` has the fingerprints of some documents of the corpus, if there are
/// any. `memory` is the memory limit in bytes.
///
/// Returns `None` if the method compares no fingerprints, or joins them by LSH bands.
pub(crate) fn plan_ahead(
    rows: Sides<usize>,
    sampled: Option<&FingerprintRows<'_>>,
    method: &Method,
    memory: u64,
) -> Option<JoinPlan> {
    let Criterion::Distance(max_distance) = method.close() else { return None };
    let shape = method.recipe().sketch()?.shape();
    let recall = method.recall();
    if recall.is_some_and(|recall| Layout::with_recall(shape, max_distance, recall).is_some()) {
        return None;
    }
    let task = JoinTask::for_rows(rows);
    let rows = *rows.second();
    let workload = match sampled {
        // Two rows are the fewest that can differ.
        Some(sampled) if sampled.len() > 1 => {
            Workload { rows, ..Workload::of(task, sampled, max_distance, memory) }
        }
        _ => Workload { task, rows, shape, effective_bits: shape.units(), max_distance, memory },
    };
    JoinPlan::for_collections(workload).ok()
}

/// Converts the result of a join. The join numbers the groups of equal fingerprints. The returned pairs name
/// each group by the number of its first row instead.
fn closed(found: GroupPairs, threads: &Threads) -> Close {
    let GroupPairs { groups, pairs } = found;
    // The join numbers groups by their fingerprints. Names by first rows do not depend on the kind of join.
    let pairs = match &groups {
        Sides::One(groups) => named(pairs, [groups, groups], threads, |a, b| (a.min(b), a.max(b))),
        Sides::Two(queries, corpus) => named(pairs, [queries, corpus], threads, |a, b| (a, b)),
    };
    let groups = groups.map(|groups| groups.several());
    let pairs = ClosePairs::of_distances(pairs);
    Close::new(groups, pairs, Closeness::Distance(0))
}

/// Replaces each group number in `pairs` by the number of the first row of the group, and sorts the pairs.
/// `order` puts the two rows of a pair in order.
fn named(
    mut pairs: Vec<ValuePair>,
    [of_a, of_b]: [&Groups; 2],
    threads: &Threads,
    order: impl Fn(u32, u32) -> (u32, u32),
) -> Vec<ValuePair> {
    for pair in &mut pairs {
        (pair.a, pair.b) = order(of_a.rows(pair.a)[0], of_b.rows(pair.b)[0]);
    }
    threads.sort_by_key(&mut pairs, |pair| (pair.a, pair.b));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_hamming::door::join;
    use simtool_hamming::planner::JoinCost;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use simtool_set_join::close::Neighbourhood;

    /// Returns fingerprints that differ in few bits from one of a few centres. Each seventh row has no
    /// fingerprint.
    fn rows(from: u64, count: u64) -> FingerprintRows<'static> {
        let lane = |row: u64| mix(row % 20) ^ 1 << (mix(row) % 8) ^ 1 << (mix(row + 1) % 3);
        let mut rows = RowsBuilder::new(Shape::bits(64));
        for row in from..from + count {
            rows.push((!(row - from).is_multiple_of(7)).then_some(&[lane(row)]));
        }
        rows.finish()
    }

    #[test]
    fn every_method_finds_the_same_pairs() {
        let queries = rows(0, 100);
        let corpus = rows(77, 300);
        // With the least memory, every method must still find all pairs.
        let context = Context::default().with_memory(1);
        for rows in [Sides::One(&corpus), Sides::Two(&queries, &corpus)] {
            let planned = plan(rows, 2, 1).unwrap();
            let find = |cost: &JoinCost| {
                let plan = JoinPlan { join: cost.join, ..planned.clone() };
                let close = closed(join(rows, &plan, &context).unwrap(), context.threads());
                let mut pairs = Vec::new();
                Neighbourhood::new(&close).visit_rows(|a, partners| {
                    pairs.extend(partners.iter().map(|&(b, closeness)| (a, b, closeness)));
                });
                assert_eq!(close.pair_count(), pairs.len() as u64);
                pairs
            };
            let first = find(&planned.costs[0]);
            assert!(first.len() > 100 && planned.costs.len() > 1);
            assert!(planned.costs.iter().all(|cost| find(cost) == first));
        }
    }

    #[test]
    fn with_too_little_memory_the_join_that_needs_least_is_chosen() {
        let queries = rows(0, 10);
        let rows = rows(0, 1000);
        let within = |memory| plan(Sides::One(&rows), 2, memory).unwrap().join.name();
        assert_eq!(within(1), "spilled-join");
        assert_eq!(within(u64::MAX), "partition-join");
        let across = plan(Sides::Two(&queries, &rows), 2, 1).unwrap();
        assert_eq!(across.join.name(), "streamed-queries");
    }
}
