//! Counts the documents that stricter limits would remove, exactly and without another run.
//!
//! The pairs within a stricter limit are a subset of the pairs that were found. So the choice of kept
//! documents is repeated over these pairs only.

use super::config::ClusterRule;
use super::plan::Plan;
use super::shard_summary::CollectionSummary;
use crate::cluster::{components, keep};
use crate::method::Criterion;
use crate::write::summary::{Closest, Level};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_set_join::close::Neighbourhood;

/// Similarities that are counted, in tenths.
const TENTHS: [u32; 4] = [10, 9, 8, 7];
/// Most distances that are counted, in addition to the distance of the run.
const DISTANCES: u32 = 4;

/// The data that levels are counted from.
pub(super) struct Found<'f> {
    pub(super) read: &'f Sides<CollectionSummary>,
    pub(super) around: &'f Neighbourhood<'f>,
    pub(super) plan: &'f Plan,
}

/// Returns the limit of a run. If distances are verified, it is the similarity that is verified.
fn limit(plan: &Plan) -> Criterion {
    plan.method().verify().map_or_else(|| plan.method().close(), Criterion::Similarity)
}

/// Appends the limit of the run and the number of removed documents to the `stricter` levels.
pub(super) fn levels(plan: &Plan, mut stricter: Vec<Level>, removed: u64) -> Vec<Level> {
    let least = match limit(plan) {
        Criterion::Similarity(threshold) => Closest::Similarity(threshold.ratio()),
        Criterion::Distance(most) => Closest::Distance(most),
    };
    stricter.push(Level { least, removed });
    stricter
}

/// Counts the documents that would be removed at round limits stricter than the limit of the run, strictest
/// first.
///
/// # Complexity
///
/// For each limit, less than the time of choosing the kept documents.
pub(super) fn stricter_levels(found: &Found<'_>) -> Vec<Level> {
    match limit(found.plan) {
        Criterion::Similarity(threshold) => {
            let stricter = TENTHS.iter().filter_map(|&tenths| {
                let stricter = Threshold::new(tenths, 10).ok()?.of(threshold.measure());
                (stricter.ratio() > threshold.ratio()).then_some(stricter)
            });
            let stricter: Vec<Threshold> = stricter.collect();
            let level = |limit: Threshold| {
                let holds = |similarity| limit.holds(similarity);
                let removed =
                    removed_if(found, |closeness| closeness.exact_similarity().is_some_and(holds));
                Level { least: Closest::Similarity(limit.ratio()), removed }
            };
            stricter.into_par_iter().map(level).collect()
        }
        Criterion::Distance(most) => {
            // The step keeps the number of levels small for any distance.
            let step = most.div_ceil(DISTANCES).max(1);
            let stricter: Vec<u32> = (0..most).step_by(step as usize).collect();
            let level = |least: u32| {
                let is_near = |distance| distance <= least;
                let removed =
                    removed_if(found, |closeness| closeness.distance().is_some_and(is_near));
                Level { least: Closest::Distance(least), removed }
            };
            stricter.into_par_iter().map(level).collect()
        }
    }
}

/// Counts the documents that are removed if only pairs with `is_close` are close. Equal documents are
/// always close.
fn removed_if(found: &Found<'_>, is_close: impl Fn(Closeness) -> bool) -> u64 {
    let around = found.around;
    let Sides::One(read) = found.read else {
        // A query is removed if it has any match.
        let has_match = |group: &u32| {
            around.neighbours(*group).any(|neighbour| is_close(around.closeness(neighbour)))
        };
        let groups = (0..around.group_count() as u32).filter(has_match);
        return groups.map(|group| around.rows(group).len() as u64).sum();
    };
    match found.plan.clusters() {
        ClusterRule::Proven => {
            let prefer = |a: u32, b: u32| read.prefer(found.plan.keep(), a, b);
            keep::count_removed(around, prefer, is_close)
        }
        ClusterRule::Components => components::count_removed(around, is_close),
    }
}
