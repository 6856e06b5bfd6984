//! Keeps documents greedily, so that every removal is proven.
//!
//! Documents are visited in the order of preference. If a document is close to documents that were kept
//! before, it is removed in favour of the closest of them. Otherwise it is kept. So no two kept documents are
//! close, and no document is removed because a chain of other documents links it to a kept one.

use super::Removal;
use simtool_model::closeness::Closeness;
use simtool_set_join::close::Neighbourhood;
use std::cmp::Ordering;

/// Returns the rows (documents) to remove, in reading order. `prefer` compares two row numbers and returns `Less` if
/// the first row should rather be kept. Rows are visited in this order of preference. A row is kept if no row that was
/// kept before is close to it. Otherwise it is removed in favour of the closest kept row.
///
/// If several kept rows are equally close to a removed row, it is removed in favour of the first of them in
/// reading order.
///
/// # Complexity
///
/// O(r log r + k · d) for r rows that are close to another row. Of these rows, k are kept, and each kept row
/// is close to d groups of equal rows.
#[must_use]
pub fn keep_preferred(
    around: &Neighbourhood<'_>,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Vec<Removal> {
    keep_preferred_if(around, prefer, |_| true)
}

/// Returns the rows (documents) that [`keep_preferred`] would remove under a stricter limit. Under this limit, only
/// pairs whose closeness satisfies `is_close` count as close. Equal rows always count as close.
///
/// # Complexity
///
/// The same as [`keep_preferred`].
#[must_use]
pub(crate) fn keep_preferred_if(
    around: &Neighbourhood<'_>,
    prefer: impl Fn(u32, u32) -> Ordering,
    is_close: impl Fn(Closeness) -> bool,
) -> Vec<Removal> {
    let mut rows = around.all_rows();
    rows.sort_by(|&a, &b| prefer(a, b));
    // The rows of a group are equal, so at most one row of a group is kept.
    let mut kept_of_group: Vec<Option<u32>> = vec![None; around.group_count()];
    // For each group, the closest row that is kept so far. A kept row updates this for its neighbours.
    // Dense neighbourhoods have few kept rows, so this visits far fewer pairs than if every row
    // searched its own neighbours.
    let mut closest: Vec<Option<(u32, Closeness)>> = vec![None; around.group_count()];
    let mut removals = Vec::new();
    for row in rows {
        let Some(group) = around.group_of(row) else { continue };
        let equal = kept_of_group[group as usize].map(|kept| (kept, around.of_equal()));
        if let Some((kept, closeness)) = equal.or(closest[group as usize]) {
            let closeness = around.of_rows(row, kept, closeness);
            removals.push(Removal { row, kept, closeness: Some(closeness) });
            continue;
        }
        kept_of_group[group as usize] = Some(row);
        for neighbour in around.neighbours(group) {
            if kept_of_group[neighbour.group as usize].is_some() {
                continue;
            }
            let closeness = around.closeness(neighbour);
            if !is_close(closeness) {
                continue;
            }
            let closest = &mut closest[neighbour.group as usize];
            let is_closer = |(kept, to_kept): (u32, Closeness)| {
                closeness.compare(to_kept).then(kept.cmp(&row)).is_gt()
            };
            if closest.is_none_or(is_closer) {
                *closest = Some((row, closeness));
            }
        }
    }
    removals.sort_unstable_by_key(|removal| removal.row);
    removals
}

/// Returns the number of rows (documents) that [`keep_preferred`] would remove under a stricter limit. Under this
/// limit, only pairs whose closeness satisfies `is_close` count as close. Equal rows always count as close.
///
/// # Complexity
///
/// The same as [`keep_preferred`].
#[must_use]
pub(crate) fn count_removed(
    around: &Neighbourhood<'_>,
    prefer: impl Fn(u32, u32) -> Ordering,
    is_close: impl Fn(Closeness) -> bool,
) -> u64 {
    let mut rows = around.all_rows();
    rows.sort_by(|&a, &b| prefer(a, b));
    let mut is_kept = vec![false; around.group_count()];
    let mut is_near_kept = is_kept.clone();
    let mut removed = 0;
    // The same order of visits as in `keep_preferred`, but without looking for the closest kept row.
    for group in rows.into_iter().filter_map(|row| around.group_of(row)) {
        if is_kept[group as usize] || is_near_kept[group as usize] {
            removed += 1;
            continue;
        }
        is_kept[group as usize] = true;
        for neighbour in around.neighbours(group) {
            let other = neighbour.group as usize;
            if !is_kept[other] && !is_near_kept[other] {
                is_near_kept[other] = is_close(around.closeness(neighbour));
            }
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_model::sides::Sides;
    use simtool_set_join::close::{Close, ClosePair};

    fn close(groups: &[&[u32]], pairs: &[(u32, u32, u32)]) -> Close {
        Close::new(
            Sides::One(groups.iter().collect()),
            pairs
                .iter()
                .map(|&(a, b, d)| ClosePair { a, b, closeness: Closeness::Distance(d) })
                .collect::<Vec<_>>()
                .into(),
            Closeness::Distance(0),
        )
    }

    fn removed(close: &Close, prefer: impl Fn(u32, u32) -> Ordering) -> Vec<(u32, u32)> {
        keep_preferred(&Neighbourhood::new(close), prefer)
            .iter()
            .map(|removal| (removal.row, removal.kept))
            .collect()
    }

    #[test]
    fn a_chain_keeps_both_of_its_ends() {
        let chain = close(&[], &[(0, 1, 1), (1, 2, 1)]);
        assert_eq!(removed(&chain, |a, b| a.cmp(&b)), [(1, 0)]);
        assert_eq!(removed(&chain, |a, b| b.cmp(&a)), [(1, 2)]);
        let middle_first = |a: u32, b: u32| (a != 1).cmp(&(b != 1)).then(a.cmp(&b));
        assert_eq!(removed(&chain, middle_first), [(0, 1), (2, 1)]);
    }

    #[test]
    fn the_closest_kept_one_stands_for_a_removed_one_and_the_earlier_of_equals() {
        let star = close(&[], &[(0, 3, 2), (1, 3, 1), (2, 3, 1)]);
        assert_eq!(removed(&star, |a, b| a.cmp(&b)), [(3, 1)]);
        let equal = close(&[&[2, 5]], &[(0, 2, 3), (1, 2, 3)]);
        assert_eq!(removed(&equal, |a, b| a.cmp(&b)), [(2, 0), (5, 0)]);
        assert_eq!(removed(&equal, |a, b| b.cmp(&a)), [(0, 5), (1, 5), (2, 5)]);
    }

    proptest! {
        #[test]
        fn every_removal_is_proven_and_no_two_kept_are_close(
            pairs in proptest::collection::btree_map((0u32..12, 0u32..12), 1u32..4, 0..30),
        ) {
            let pairs: Vec<_> = pairs
                .into_iter()
                .filter(|((a, b), _)| a < b)
                .map(|((a, b), distance)| (a, b, distance))
                .collect();
            let close = close(&[], &pairs);
            let prefer = |a: u32, b: u32| (a * 7 % 13).cmp(&(b * 7 % 13));
            let removals = keep_preferred(&Neighbourhood::new(&close), prefer);
            for most in 0..4 {
                let is_close = |c: Closeness| c.distance().is_some_and(|d| d <= most);
                let pairs: Vec<_> = close.pairs.iter().filter(|p| is_close(p.closeness)).collect();
                let stricter = Close { pairs: pairs.into(), ..close.clone() };
                let expected = keep_preferred(&Neighbourhood::new(&stricter), prefer).len() as u64;
                let count = count_removed(&Neighbourhood::new(&close), prefer, is_close);
                prop_assert_eq!(count, expected);
                let removals = keep_preferred_if(&Neighbourhood::new(&close), prefer, is_close);
                prop_assert_eq!(removals.len() as u64, expected);
            }
            let distance = |a: u32, b: u32| {
                pairs.iter().find(|p| (p.0, p.1) == (a.min(b), a.max(b))).map(|p| p.2)
            };
            let is_removed = |row| removals.iter().any(|removal| removal.row == row);
            for removal in &removals {
                prop_assert!(!is_removed(removal.kept));
                let proof = distance(removal.row, removal.kept).map(Closeness::Distance);
                prop_assert_eq!(removal.closeness, proof);
                prop_assert!(proof.is_some());
            }
            for &(a, b, _) in &pairs {
                prop_assert!(is_removed(a) || is_removed(b));
            }
        }
    }
}
