//! What stricter settings would remove: told exactly, from the pairs that are there.
//!
//! A stricter limit leaves some of the pairs, and which of them is known. So the same choice of what
//! is kept, over the pairs that are left, is what a run with that limit would do.

use super::config::ClusterRule;
use super::method::Criterion;
use super::plan::Plan;
use super::shard_summary::CollectionSummary;
use crate::close::Neighbourhood;
use crate::closeness::Closeness;
use crate::cluster::{components, keep};
use crate::sides::Sides;
use crate::similarity::Threshold;
use crate::write::summary::{Closest, Level};

/// Tenths of similarity at which it is told.
const TENTHS: [u32; 4] = [10, 9, 8, 7];
/// Distances of which it is told beside that of the run, at the most.
const DISTANCES: u32 = 4;

/// What was found, and by what.
pub(super) struct Found<'f> {
    pub(super) read: &'f Sides<CollectionSummary>,
    pub(super) around: &'f Neighbourhood<'f>,
    pub(super) plan: &'f Plan,
    /// How many are removed.
    pub(super) removed: u64,
}

/// What would be removed at round limits that are stricter than that of the run, strictest first,
/// and what is removed at that.
///
/// # Complexity
///
/// A part of that of choosing what is removed.
pub(super) fn levels(found: &Found<'_>) -> Vec<Level> {
    let (method, own) = (found.plan.method(), found.removed);
    let threshold = match (method.verify(), method.close()) {
        (Some(threshold), _) | (None, Criterion::Similarity(threshold)) => threshold,
        (None, Criterion::Distance(most)) => return by_distance(found, most),
    };
    let mut levels = Vec::new();
    for tenths in TENTHS {
        let Ok(stricter) = Threshold::new(tenths, 10) else { continue };
        let stricter = stricter.of(threshold.measure());
        if stricter.ratio() > threshold.ratio() {
            let removed = removed_if(found, |closeness| match closeness {
                Closeness::Similarity(s) | Closeness::Verified(s, _) => stricter.holds(s),
                Closeness::Distance(_) => false,
            });
            levels.push(Level { least: Closest::Similarity(stricter.ratio()), removed });
        }
    }
    levels.push(Level { least: Closest::Similarity(threshold.ratio()), removed: own });
    levels
}

fn by_distance(found: &Found<'_>, most: u32) -> Vec<Level> {
    let step = most.div_ceil(DISTANCES).max(1);
    let stricter = (0..most).step_by(step as usize).map(|least| {
        let removed = removed_if(found, |closeness| {
            closeness.distance().is_some_and(|distance| distance <= least)
        });
        Level { least: Closest::Distance(least), removed }
    });
    let own = Level { least: Closest::Distance(most), removed: found.removed };
    stricter.chain([own]).collect()
}

/// How many are removed if only this is close, beside what is equal.
fn removed_if(found: &Found<'_>, is_close: impl Fn(Closeness) -> bool) -> u64 {
    let around = found.around;
    let Sides::One(read) = found.read else {
        // Of queries, what has a match.
        let has_match = |group: &u32| {
            around.neighbours(*group).any(|(_, place)| is_close(around.closeness(place)))
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
