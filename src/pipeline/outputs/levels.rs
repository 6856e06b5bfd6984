//! What stricter settings would remove: told exactly, from the pairs that are there.
//!
//! A stricter limit leaves some of the pairs, and which of them is known. So the same choice of what
//! is kept, over the pairs that are left, is what a run with that limit would do.

use super::findings::Findings;
use crate::close::Close;
use crate::closeness::Closeness;
use crate::pipeline::method::Criterion;
use crate::pipeline::near_duplicates::removals;
use crate::similarity::Threshold;
use crate::write::summary::{Closest, Level};

/// Tenths of similarity at which it is told.
const TENTHS: [u32; 4] = [10, 9, 8, 7];
/// Distances of which it is told beside that of the run, at the most.
const DISTANCES: u32 = 4;

/// What would be removed at round limits that are stricter than that of the run, strictest first,
/// and what is removed at that.
///
/// # Complexity
///
/// A few times that of choosing what is removed.
pub(super) fn levels(findings: &Findings<'_>) -> Vec<Level> {
    let method = findings.plan.method();
    let own = findings.removals.len() as u64;
    let threshold = match (method.verify(), method.close()) {
        (Some(threshold), _) | (None, Criterion::Similarity(threshold)) => threshold,
        (None, Criterion::Distance(most)) => return by_distance(findings, most, own),
    };
    let mut levels = Vec::new();
    for tenths in TENTHS {
        let Ok(stricter) = Threshold::new(tenths, 10) else { continue };
        if stricter.ratio() > threshold.ratio() {
            let removed = removed_if(findings, |closeness| match closeness {
                Closeness::Similarity(s) | Closeness::Verified(s, _) => stricter.holds(s),
                Closeness::Distance(_) => false,
            });
            levels.push(Level { least: Closest::Similarity(stricter.ratio()), removed });
        }
    }
    levels.push(Level { least: Closest::Similarity(threshold.ratio()), removed: own });
    levels
}

fn by_distance(findings: &Findings<'_>, most: u32, own: u64) -> Vec<Level> {
    let step = most.div_ceil(DISTANCES).max(1);
    let stricter = (0..most).step_by(step as usize).map(|least| {
        let removed = removed_if(findings, |closeness| {
            closeness.distance().is_some_and(|distance| distance <= least)
        });
        Level { least: Closest::Distance(least), removed }
    });
    let own = Level { least: Closest::Distance(most), removed: own };
    stricter.chain([own]).collect()
}

/// How many are removed if only these pairs are close.
fn removed_if(findings: &Findings<'_>, is_close: impl Fn(Closeness) -> bool) -> u64 {
    let close = findings.close;
    let pairs = close.pairs.iter().filter(|pair| is_close(pair.closeness)).copied().collect();
    // Equal documents are close at any limit.
    let close = Close { groups: close.groups.clone(), pairs, of_equal: close.of_equal };
    removals(findings.read, &close, findings.plan).len() as u64
}
