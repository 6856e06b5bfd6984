//! Counts how many documents would be removed if the limit on similarity or distance were stricter. The
//! counts are exact and need no other run.
//!
//! The pairs within a stricter limit are some of the pairs that were already found. So the choice of kept
//! documents is repeated with these pairs only.

use super::config::{ClusterRule, KeepCount};
use super::plan::Plan;
use super::shard_summary::CollectionSummary;
use crate::cluster::{components, keep, keep_several};
use crate::method::Criterion;
use crate::write::summary::{Closest, LimitLevel};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_set_join::close::{Close, Neighbourhood};

/// Minimum similarities, in tenths. For each one that is stricter than the limit of the run, the documents that it
/// would remove are counted.
const TENTHS: [u32; 4] = [10, 9, 8, 7];
/// Maximum number of distances below the limit of the run. For each of them, the documents that it would remove are
/// counted.
const DISTANCES: u32 = 4;

/// Result of a search. From it, the documents that a run with a stricter limit would remove are counted.
pub(super) struct FinishedSearch<'f> {
    pub(super) read: &'f Sides<CollectionSummary>,
    pub(super) close: &'f Close,
    /// For each document, the documents that are close to it. It is made from `close`.
    pub(super) around: &'f Neighbourhood<'f>,
    pub(super) plan: &'f Plan,
}

/// Returns the final limit on the closeness of pairs. If the method verifies pairs by their sets of terms, this is the
/// minimum similarity of the sets. Otherwise it is the limit by which pairs are found.
pub(super) fn limit(plan: &Plan) -> Criterion {
    plan.method().verify().map_or_else(|| plan.method().close(), Criterion::Similarity)
}

/// Appends the limit of the run and `removed`, the number of documents that the run removed, to the levels of
/// `stricter` limits. Returns all levels. Returns none if the method decides by coverage.
pub(super) fn levels(plan: &Plan, mut stricter: Vec<LimitLevel>, removed: u64) -> Vec<LimitLevel> {
    let least = match limit(plan) {
        Criterion::Similarity(threshold) => Closest::Similarity(threshold.ratio()),
        Criterion::Distance(most) => Closest::Distance(most),
        // The limit of coverage is a number of words, and others give other kept documents.
        Criterion::Coverage => return Vec::new(),
    };
    stricter.push(LimitLevel { least, removed });
    stricter
}

/// Counts the documents that would be removed at several limits stricter than the limit of the run. The
/// strictest limit comes first.
///
/// # Complexity
///
/// Each limit takes less time than choosing the kept documents took in the run.
pub(super) fn stricter_levels(found: &FinishedSearch<'_>) -> Vec<LimitLevel> {
    match limit(found.plan) {
        Criterion::Similarity(threshold) => {
            let stricter = TENTHS.iter().filter_map(|&tenths| {
                let stricter = Threshold::new(tenths, 10).ok()?.of(threshold.measure());
                (stricter.ratio() > threshold.ratio()).then_some(stricter)
            });
            let stricter: Vec<Threshold> = stricter.collect();
            let level = |limit: Threshold| {
                let holds = |similarity| limit.holds(similarity);
                let is_close =
                    |closeness: Closeness| closeness.exact_similarity().is_some_and(holds);
                let are_sequences_equal = found.close.sequences.hashes().is_none();
                let removed = if holds(Similarity::ALMOST_ONE) || are_sequences_equal {
                    removed_if(found, is_close)
                } else if found.read.is_two() {
                    matched_if(found.around, is_close)
                } else {
                    let close = &found.close.without_other_sequences(limit);
                    let around = &Neighbourhood::new(close);
                    removed_if(&FinishedSearch { close, around, ..*found }, is_close)
                };
                LimitLevel { least: Closest::Similarity(limit.ratio()), removed }
            };
            stricter.into_par_iter().map(level).collect()
        }
        Criterion::Distance(most) => {
            // The step keeps the number of levels small, however large the distance of the run is.
            let step = most.div_ceil(DISTANCES).max(1);
            let stricter: Vec<u32> = (0..most).step_by(step as usize).collect();
            let level = |least: u32| {
                let is_near = |distance| distance <= least;
                let removed =
                    removed_if(found, |closeness| closeness.distance().is_some_and(is_near));
                LimitLevel { least: Closest::Distance(least), removed }
            };
            stricter.into_par_iter().map(level).collect()
        }
        Criterion::Coverage => Vec::new(),
    }
}

/// Returns the number of queries that have a match whose closeness satisfies `is_close`. `around` has the matches of
/// each query. The closeness of a match depends also on the order of the tokens, not only on the sets of terms.
fn matched_if(around: &Neighbourhood<'_>, is_close: impl Fn(Closeness) -> bool) -> u64 {
    let mut matched = 0;
    around.visit_rows(|_, partners| {
        matched += u64::from(partners.iter().any(|&(_, closeness)| is_close(closeness)));
    });
    matched
}

/// Returns the number of documents that would be removed if only pairs whose closeness satisfies `is_close` counted as
/// close. Equal documents always count as close.
fn removed_if(found: &FinishedSearch<'_>, is_close: impl Fn(Closeness) -> bool) -> u64 {
    let around = found.around;
    let Sides::One(read) = found.read else {
        // A query is removed if it has any match.
        let has_match = |group: &u32| {
            around.neighbours(*group).any(|neighbour| is_close(around.closeness(neighbour)))
        };
        let groups = (0..around.group_count() as u32).filter(has_match);
        return groups.map(|group| around.rows(group).len() as u64).sum();
    };
    let prefer = |a: u32, b: u32| read.prefer(found.plan.keep(), a, b);
    let count = found.plan.keep_count();
    // Counting is faster than listing the removals. But if several documents of a cluster are kept, the size of each
    // cluster is needed, and only the list of removals has it.
    let removals = match (found.plan.clusters(), count == KeepCount::ONE) {
        (ClusterRule::Proven, true) => return keep::count_removed(around, prefer, is_close),
        (ClusterRule::Components, true) => return components::count_removed(around, is_close),
        (ClusterRule::Proven, false) => keep::keep_preferred_if(around, prefer, is_close),
        (ClusterRule::Components, false) => components::keep_one_each_if(around, prefer, is_close),
    };
    keep_several(removals, count.0, prefer).len() as u64
}
