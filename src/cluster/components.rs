//! Keeps one row (document) of each connected component of the graph of close pairs.
//!
//! Other tools remove documents in this way. A removed row may be far from the kept row of its component, if
//! only a chain of other rows links the two. Such a removal has no proof.

use super::Removal;
use simtool_model::closeness::Closeness;
use simtool_set_join::close::Neighbourhood;
use simtool_set_join::disjoint_sets::DisjointSets;
use std::cmp::Ordering;

/// Returns the rows (documents) to remove, in reading order, if one row of each connected component is kept. Two rows
/// are in the same component if a chain of close rows links them. `prefer` chooses the kept row: it compares two row
/// numbers and returns `Less` if the first row should rather be kept.
///
/// # Complexity
///
/// O(p α(p)) for p pairs and α the inverse of Ackermann's function.
#[must_use]
pub fn keep_one_each(
    around: &Neighbourhood<'_>,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Vec<Removal> {
    keep_one_each_if(around, prefer, |_| true)
}

/// Returns the rows (documents) that [`keep_one_each`] would remove under a stricter limit. Under this limit, only
/// pairs whose closeness satisfies `is_close` count as close. Equal rows always count as close.
///
/// # Complexity
///
/// The same as [`keep_one_each`].
#[must_use]
pub(crate) fn keep_one_each_if(
    around: &Neighbourhood<'_>,
    prefer: impl Fn(u32, u32) -> Ordering,
    is_close: impl Fn(Closeness) -> bool,
) -> Vec<Removal> {
    let mut sets = linked(around, is_close);
    let mut preferred: Vec<Option<u32>> = vec![None; around.group_count()];
    let rows = around.all_rows();
    let component = |row: u32, sets: &mut DisjointSets| {
        around.group_of(row).map_or(0, |group| sets.smallest(group)) as usize
    };
    // A component is numbered by its smallest group. First pass: the preferred row of each component.
    for &row in &rows {
        let best = &mut preferred[component(row, &mut sets)];
        if best.is_none_or(|best| prefer(row, best).is_lt()) {
            *best = Some(row);
        }
    }
    // Second pass: every other row of the component is removed in favour of the preferred one.
    let mut removals = Vec::new();
    for &row in &rows {
        let kept = preferred[component(row, &mut sets)].unwrap_or(row);
        if kept == row {
            continue;
        }
        let closeness = match (around.group_of(row), around.group_of(kept)) {
            (Some(own), Some(other)) if own == other => Some(around.of_equal()),
            (Some(own), Some(other)) => {
                let mut neighbours = around.neighbours(own);
                neighbours
                    .find(|neighbour| neighbour.group == other)
                    .map(|neighbour| around.closeness(neighbour))
            }
            _ => None,
        };
        let closeness = closeness.map(|closeness| around.of_rows(row, kept, closeness));
        removals.push(Removal { row, kept, closeness });
    }
    removals
}

/// Returns the number of rows (documents) that [`keep_one_each`] would remove under a stricter limit. Under this limit,
/// only pairs whose closeness satisfies `is_close` count as close. Equal rows always count as close.
///
/// # Complexity
///
/// The same as [`keep_one_each`].
#[must_use]
pub(crate) fn count_removed(
    around: &Neighbourhood<'_>,
    is_close: impl Fn(Closeness) -> bool,
) -> u64 {
    let mut sets = linked(around, is_close);
    let groups = 0..around.group_count() as u32;
    let components = groups.filter(|&group| sets.smallest(group) == group).count();
    (around.all_rows().len() - components) as u64
}

/// Returns the connected components of a graph. Its nodes are groups of equal rows. An edge joins two groups
/// that are close, if their closeness satisfies `is_close`.
fn linked(around: &Neighbourhood<'_>, is_close: impl Fn(Closeness) -> bool) -> DisjointSets {
    let mut sets = DisjointSets::new(around.group_count() as u32);
    for group in 0..around.group_count() as u32 {
        for neighbour in around.neighbours_behind(group) {
            if is_close(around.closeness(neighbour)) {
                sets.join(group, neighbour.group);
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::sides::Sides;
    use simtool_set_join::close::{Close, ClosePair};

    #[test]
    fn a_chain_is_one_component_and_its_far_end_has_no_proof() {
        let pair = |a, b| ClosePair { a, b, closeness: Closeness::Distance(1) };
        let close = Close::new(
            Sides::One([[2, 9]].iter().collect()),
            vec![pair(0, 1), pair(1, 2), pair(4, 5)].into(),
            Closeness::Distance(0),
        );
        let around = Neighbourhood::new(&close);
        let removals = keep_one_each(&around, |a, b| a.cmp(&b));
        let found: Vec<_> =
            removals.iter().map(|r| (r.row, r.kept, r.closeness.is_some())).collect();
        assert_eq!(found, [(1, 0, true), (2, 0, false), (5, 4, true), (9, 0, false)]);
        assert_eq!(count_removed(&around, |_| true), 4);
        // Equal rows stay together.
        assert_eq!(count_removed(&around, |_| false), 1);
        let stricter = keep_one_each_if(&around, |a, b| a.cmp(&b), |_| false);
        assert_eq!(stricter, [Removal { row: 9, kept: 2, closeness: Some(around.of_equal()) }]);
    }
}
