//! Joins fingerprints: finds the pairs of fingerprints within a distance. Rows with equal fingerprints are
//! stored as a group.

use crate::method::{Criterion, Method};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_hamming::door::{band_join, join};
use simtool_hamming::group_pairs::GroupPairs;
use simtool_hamming::layout::Layout;
use simtool_hamming::planner::JoinPlan;
use simtool_hamming::workload::{JoinTask, Workload};
use simtool_model::closeness::Closeness;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_set_join::close::{Close, ClosePair};

/// Finds all pairs of fingerprints that differ in at most `distance` positions, in one collection or between
/// two, by the cheapest join. With `recall`, the join uses LSH bands and may miss pairs. It then finds at
/// least the fraction `recall` of the pairs at exactly this distance.
///
/// # Errors
///
/// The distance is so large that all fingerprints are near each other, the threads cannot be started, a
/// temporary file fails, or the memory is too little.
pub(super) fn close_rows(
    rows: Sides<&FingerprintRows<'_>>,
    distance: u32,
    recall: Option<Threshold>,
    context: &Context<'_>,
) -> Result<Close> {
    let shape = rows.second().shape;
    let layout = recall.and_then(|recall| Layout::with_recall(shape, distance, recall));
    let close = if let Some(layout) = layout {
        let join = || band_join(rows, &layout, distance, context);
        closed(context.threads().run(join)??)
    } else {
        let plan = plan(rows, distance, context.memory().limit())?;
        context.progress().planned(&plan);
        closed(context.threads().run(|| join(rows, &plan, context))??)
    };
    // A cancelled join ends early, and its incomplete result must not be used.
    context.check_cancelled()?;
    Ok(close)
}

fn plan(rows: Sides<&FingerprintRows<'_>>, distance: u32, memory: u64) -> Result<JoinPlan> {
    let task = JoinTask::for_rows(rows.map(FingerprintRows::len));
    JoinPlan::for_collections(Workload::of(task, rows.second(), distance, memory))
}

/// Plans the join that `method` needs, before the fingerprints are made. `rows` has the number of documents of
/// each collection. `sampled` has the fingerprints of some documents of the corpus, if there are any.
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
fn closed(found: GroupPairs) -> Close {
    let GroupPairs { groups, pairs } = found;
    // The join numbers groups by their fingerprints. Names by first rows do not depend on the kind of join.
    let pairs = match &groups {
        Sides::One(groups) => named(&pairs, groups, groups, |a, b| (a.min(b), a.max(b))),
        Sides::Two(queries, corpus) => named(&pairs, queries, corpus, |a, b| (a, b)),
    };
    let groups = groups.map(|groups| groups.several());
    Close { groups, pairs: pairs.into(), of_equal: Closeness::Distance(0), is_complete: true }
}

/// Replaces each group number in `pairs` by the number of the first row of the group, and sorts the pairs.
/// `order` puts the two rows of a pair in order.
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
    use simtool_base::stable_hash::mix;
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
                let close = closed(join(rows, &plan, &context).unwrap());
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
