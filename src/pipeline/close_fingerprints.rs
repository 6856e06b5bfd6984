//! Fingerprints × a plan: the rows that are close, in groups of equal ones.

use super::join_fingerprints::{JoinConfig, groups_and_pairs};
use super::progress::Progress;
use super::workers::Workers;
use crate::close::{Close, ClosePair};
use crate::closeness::Closeness;
use crate::error::Result;
use crate::fingerprint_table::Lane;
use crate::matches::ValuePair;
use crate::resources::Resources;
use crate::rows_of_words::FingerprintRows;
use crate::search::bipartite_join::bipartite_join;
use crate::search::grouping::EqualGroups;
use crate::search::planner::{IndexName, Plan, Task, Workload};
use crate::search::{Rows, SearchLane};
use crate::sides::Sides;

pub(super) const SELF_JOINS: [IndexName; 2] = [IndexName::PartitionJoin, IndexName::SpilledJoin];
pub(super) const JOINS: [IndexName; 2] = [IndexName::BipartiteJoin, IndexName::StreamedQueries];

pub(super) fn close_rows(
    rows: Sides<&FingerprintRows<'static>>,
    distance: u32,
    resources: &Resources,
    workers: &Workers,
    progress: &dyn Progress,
) -> Result<Close> {
    let wide = |rows: &FingerprintRows<'static>| -> Vec<u128> {
        rows.words.chunks(2).map(|w| u128::from(w[1]) << 64 | u128::from(w[0])).collect()
    };
    if rows.first().shape.words() == 1 {
        let lanes = rows.map(|r| r.words.to_vec());
        joined(lanes, rows, distance, resources, workers, progress)
    } else {
        joined(rows.map(wide), rows, distance, resources, workers, progress)
    }
}

fn joined<L: SearchLane>(
    lanes: Sides<Vec<L>>,
    rows: Sides<&FingerprintRows<'static>>,
    distance: u32,
    resources: &Resources,
    workers: &Workers,
    progress: &dyn Progress,
) -> Result<Close> {
    let config = JoinConfig {
        max_distance: distance,
        index: None,
        memory: resources.memory,
        temporary_folder: resources.temporary_folder.clone(),
        threads: resources.threads,
        isa: resources.isa,
    };
    let task =
        if lanes.is_two() { Task::Batch { queries: lanes.first().len() } } else { Task::SelfJoin };
    let methods = if lanes.is_two() { &JOINS } else { &SELF_JOINS };
    let plan =
        Plan::among(Workload::of(task, &lanes.second()[..], distance, resources.memory), methods);
    progress.planned(&plan);
    let of_equal = Closeness::Distance(0);
    workers.run(|| {
        let side = |lanes: &'_ Vec<L>, rows: &'_ FingerprintRows<'static>| {
            (lanes.clone(), rows.validity.clone())
        };
        match (lanes.as_ref(), rows) {
            (Sides::One(lanes), Sides::One(rows)) => {
                let (lanes, validity) = side(lanes, rows);
                let (groups, pairs) = groups_and_pairs(
                    Rows { lanes: &lanes[..], validity: validity.as_ref() },
                    plan.index,
                    &config,
                )?;
                let pairs = named(&pairs, &groups, &groups, |a, b| (a.min(b), a.max(b)));
                Ok(Close { groups: Sides::One(repeated(&groups)), pairs, of_equal })
            }
            (Sides::Two(a, b), Sides::Two(ra, rb)) => {
                let join = bipartite_join(
                    Rows { lanes: &a[..], validity: ra.validity.as_ref() },
                    Rows { lanes: &b[..], validity: rb.validity.as_ref() },
                    distance,
                    resources.isa,
                );
                let pairs = named(&join.pairs, &join.queries, &join.corpus, |a, b| (a, b));
                Ok(Close {
                    groups: Sides::Two(repeated(&join.queries), repeated(&join.corpus)),
                    pairs,
                    of_equal,
                })
            }
            _ => unreachable!(),
        }
    })?
}

/// The groups of two rows and more, by their first row.
fn repeated<W: Lane>(groups: &EqualGroups<W>) -> Vec<Vec<u32>> {
    let mut repeated: Vec<_> = groups.repeated().map(|group| groups.rows(group).to_vec()).collect();
    repeated.sort_unstable_by_key(|group| group[0]);
    repeated
}

/// Pairs of groups by their first rows, as `order` puts them, ascending.
fn named<W: Lane>(
    pairs: &[ValuePair],
    of_a: &EqualGroups<W>,
    of_b: &EqualGroups<W>,
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
