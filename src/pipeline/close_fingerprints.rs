//! Fingerprints × a plan: the rows that are close, in groups of equal ones.

use super::join_fingerprints::{JoinConfig, groups_and_pairs, with_lanes};
use crate::closeness::{CloseAcross, ClosePair, CloseRows, Closeness};
use crate::error::Result;
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::fingerprint_table::Lane;
use crate::matches::ValuePair;
use crate::search::bipartite_join::bipartite_join;
use crate::search::grouping::EqualGroups;
use crate::search::planner::{IndexName, Plan, Task, Workload};
use crate::search::streamed_queries::StreamedQueries;
use crate::search::{Rows, SearchLane};

/// The plan of a self-join whose equal rows stay together.
pub(super) fn plan_within(rows: &FingerprintRows<'_>, config: &JoinConfig) -> Plan {
    plan(Task::SelfJoin, rows, config, &[IndexName::PartitionJoin, IndexName::SpilledJoin])
}

/// The plan of a join of queries and corpus.
pub(super) fn plan_across(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    config: &JoinConfig,
) -> Plan {
    let task = Task::Batch { queries: queries.lanes.len() };
    plan(task, corpus, config, &[IndexName::BipartiteJoin, IndexName::StreamedQueries])
}

fn plan(
    task: Task,
    corpus: &FingerprintRows<'_>,
    config: &JoinConfig,
    methods: &[IndexName],
) -> Plan {
    let (distance, memory) = (config.max_distance, config.memory);
    with_lanes!(corpus, |lanes| {
        Plan::among(Workload::of(task, &lanes[..], distance, memory), methods)
    })
}

/// All rows within the distance of each other, by the method `index`; in the threads of the caller's
/// pool.
///
/// # Errors
///
/// A temporary file fails.
pub(super) fn close_within(
    rows: &FingerprintRows<'_>,
    index: IndexName,
    config: &JoinConfig,
) -> Result<CloseRows> {
    let validity = rows.validity.as_ref();
    with_lanes!(rows, |lanes| {
        let (groups, pairs) =
            groups_and_pairs(Rows { lanes: &lanes[..], validity }, index, config)?;
        let pairs = named(&pairs, &groups, &groups, |a, b| (a.min(b), a.max(b)));
        Ok(CloseRows { groups: repeated(&groups), pairs, of_equal: Closeness::Distance(0) })
    })
}

/// All pairs of a query and a corpus row within the distance, by the method `index`; in the threads
/// of the caller's pool. Queries and corpus are of one width; else nothing is close.
pub(super) fn close_across(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    index: IndexName,
    config: &JoinConfig,
) -> CloseAcross {
    macro_rules! across {
        ($queries:expr, $corpus:expr) => {
            across_lanes(
                Rows { lanes: &$queries[..], validity: queries.validity.as_ref() },
                Rows { lanes: &$corpus[..], validity: corpus.validity.as_ref() },
                index,
                config,
            )
        };
    }
    match (&queries.lanes, &corpus.lanes) {
        (Lanes::Bits16(queries), Lanes::Bits16(corpus)) => across!(queries, corpus),
        (Lanes::Bits32(queries), Lanes::Bits32(corpus)) => across!(queries, corpus),
        (Lanes::Bits64(queries), Lanes::Bits64(corpus)) => across!(queries, corpus),
        (Lanes::Bits128(queries), Lanes::Bits128(corpus)) => across!(queries, corpus),
        _ => CloseAcross::default(),
    }
}

fn across_lanes<L: SearchLane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    index: IndexName,
    config: &JoinConfig,
) -> CloseAcross {
    let max_distance = config.max_distance;
    if index == IndexName::StreamedQueries {
        // Little memory: one scan of the corpus.
        let all = queries.lanes.iter().zip(0u32..);
        let valid = all.filter(|&(_, row)| queries.has_fingerprint(row as usize));
        let (lanes, rows): (Vec<L>, Vec<u32>) = valid.map(|(&lane, row)| (lane, row)).unzip();
        let found = StreamedQueries::new(&lanes, max_distance, config.isa).scan(corpus);
        let pair = |pair: &ValuePair| ClosePair {
            a: rows[pair.a as usize],
            b: pair.b,
            closeness: Closeness::Distance(pair.distance),
        };
        let pairs = found.iter().map(pair).collect();
        return CloseAcross { pairs, ..CloseAcross::default() };
    }
    let join = bipartite_join(queries, corpus, max_distance, config.isa);
    let pairs = named(&join.pairs, &join.queries, &join.corpus, |a, b| (a, b));
    CloseAcross { groups: [repeated(&join.queries), repeated(&join.corpus)], pairs }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::stable_hash::mix;
    use crate::validity::Validity;
    use std::borrow::Cow;

    /// Fingerprints near a few centres; each seventh row has none.
    fn rows(from: u64, count: u64) -> FingerprintRows<'static> {
        let lane = |row: u64| mix(row % 20) ^ 1 << (mix(row) % 8) ^ 1 << (mix(row + 1) % 3);
        let mut validity = Validity::all(count as usize);
        (0..count as usize).step_by(7).for_each(|row| validity.clear(row));
        FingerprintRows {
            lanes: Lanes::Bits64(Cow::Owned((from..from + count).map(lane).collect())),
            bits: 64,
            validity: Some(validity),
            recipe: None,
        }
    }

    fn config() -> JoinConfig {
        JoinConfig {
            max_distance: 2,
            index: None,
            memory: 1,
            temporary_folder: std::env::temp_dir(),
            threads: 1,
            isa: Isa::detected(),
        }
    }

    #[test]
    fn every_method_finds_the_same_pairs() {
        let (queries, corpus, config) = (rows(0, 100), rows(77, 300), config());
        let across = [IndexName::BipartiteJoin, IndexName::StreamedQueries].map(|index| {
            let close = close_across(&queries, &corpus, index, &config);
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
        let within = [IndexName::PartitionJoin, IndexName::SpilledJoin]
            .map(|index| close_within(&corpus, index, &config).unwrap());
        assert!(within[0].groups.len() > 10 && within[0].pairs.len() > 100);
        assert_eq!(within[0], within[1]);
    }

    #[test]
    fn too_little_memory_takes_the_methods_that_need_least() {
        let (queries, rows, config) = (rows(0, 10), rows(0, 1000), config());
        assert_eq!(plan_within(&rows, &config).index, IndexName::SpilledJoin);
        assert_eq!(plan_across(&queries, &rows, &config).index, IndexName::StreamedQueries);
        let config = JoinConfig { memory: u64::MAX, ..config };
        assert_eq!(plan_within(&rows, &config).index, IndexName::PartitionJoin);
    }
}
