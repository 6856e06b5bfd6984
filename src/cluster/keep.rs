//! Clusters that do not lie: whatever is removed is alike to what is kept in its place.
//!
//! Rows are taken in the order of preference; each is kept unless it is alike to one that was kept
//! before it. What is removed is attached to the kept row that it is most alike to (equal: the
//! earlier in reading order) among those kept before it. So no two kept rows are alike, and a chain
//! of alike rows never removes one that is alike to no kept one.

use crate::matches::AlikeSets;
use crate::similarity::Similarity;
use crate::unordered_map::UnorderedMap;
use std::collections::BTreeSet;

/// A row that is removed, for which one, and how alike they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal<S = Similarity> {
    /// The row that is removed.
    pub removed: u32,
    /// The row that is kept in its place.
    pub kept: u32,
    /// How alike the two are: more is greater.
    pub closeness: S,
}

/// The removals from pairs of alike rows `(a, b, closeness)`, ascending by removed row; rows that
/// stand in no pair are kept. `rank(row)` orders rows by preference, the most preferred first;
/// rows of equal rank come in reading order.
///
/// # Complexity
/// O(p log p) for p pairs.
#[must_use]
pub fn removals<S: Copy + Ord, R: Ord>(
    pairs: impl IntoIterator<Item = (u32, u32, S)>,
    rank: impl Fn(u32) -> R,
) -> Vec<Removal<S>> {
    // (row that comes later in the order of preference, one before it, closeness)
    let order = |row: u32| (rank(row), row);
    let mut later: Vec<(u32, u32, S)> = (pairs.into_iter())
        .filter(|&(a, b, _)| a != b)
        .map(|(a, b, close)| if order(a) < order(b) { (b, a, close) } else { (a, b, close) })
        .collect();
    later.sort_by(|left, right| {
        order(left.0).cmp(&order(right.0)).then_with(|| left.1.cmp(&right.1))
    });
    // Only rows that may be removed stand here; all others are kept.
    let mut is_removed = BTreeSet::new();
    let mut removals = Vec::new();
    for pairs in later.chunk_by(|left, right| left.0 == right.0) {
        let removed = pairs[0].0;
        let kept = pairs.iter().filter(|(_, before, _)| !is_removed.contains(before));
        // Of equally close ones the first: `before` ascends.
        let closest = kept.copied().reduce(|best, next| if next.2 > best.2 { next } else { best });
        if let Some((_, kept, closeness)) = closest {
            is_removed.insert(removed);
            removals.push(Removal { removed, kept, closeness });
        }
    }
    removals.sort_unstable_by_key(|removal| removal.removed);
    removals
}

/// The removals from alike sets, without a pair for every two equal ones.
///
/// Rows with equal sets are alike to the same rows. So of a group at most the most preferred row is
/// kept, and if it is, the others are removed for it, or for nothing closer: they are equal to it.
/// If it is removed for a kept row, the others are removed too: for a kept row of their own choice
/// among those alike to the group, which may have been kept after the first one was removed.
///
/// # Complexity
/// O(p g log(p g)) for p pairs of groups, where g is the number of members of a group's removed
/// rows: never a pair for every two members.
#[must_use]
pub fn removals_of_sets<R: Ord>(
    alike: &AlikeSets,
    rank: impl Fn(u32) -> R,
) -> Vec<Removal<Similarity>> {
    let order = |row: u32| (rank(row), row);
    let mut group_of: UnorderedMap<u32, usize> = UnorderedMap::default();
    let mut best = Vec::with_capacity(alike.groups.len());
    for (number, group) in alike.groups.iter().enumerate() {
        group_of.insert(group[0], number);
        best.push(group.iter().copied().min_by_key(|&row| order(row)).unwrap_or(group[0]));
    }
    // Only the most preferred row of a group can be kept, so the rows among which all is decided
    // are these and the rows outside groups.
    let best_of = |row: u32| group_of.get(&row).map_or(row, |&number| best[number]);
    let pairs = alike.pairs.iter();
    let between: Vec<(u32, u32, Similarity)> =
        pairs.map(|pair| (best_of(pair.a), best_of(pair.b), pair.similarity)).collect();
    let mut decided = removals(between.iter().copied(), &rank);

    let removed: BTreeSet<u32> = decided.iter().map(|removal| removal.removed).collect();
    let mut neighbours: Vec<(u32, u32, Similarity)> = (between.iter())
        .flat_map(|&(a, b, similarity)| [(a, b, similarity), (b, a, similarity)])
        .filter(|(_, other, _)| !removed.contains(other))
        .collect();
    neighbours.sort_unstable_by_key(|&(row, other, _)| (row, other));
    for (group, &best) in alike.groups.iter().zip(&best) {
        let others = group.iter().copied().filter(|&row| row != best);
        if !removed.contains(&best) {
            let closeness = Similarity::ONE;
            decided.extend(others.map(|removed| Removal { removed, kept: best, closeness }));
            continue;
        }
        let start = neighbours.partition_point(|&(row, ..)| row < best);
        let kept: Vec<_> =
            neighbours[start..].iter().take_while(|&&(row, ..)| row == best).collect();
        for row in others {
            // At least the one that removed the best row came before it, and so before this one.
            let before = kept.iter().filter(|(_, kept, _)| order(*kept) < order(row));
            let closest =
                before.copied().reduce(|best, next| if next.2 > best.2 { next } else { best });
            if let Some(&(_, kept, closeness)) = closest {
                decided.push(Removal { removed: row, kept, closeness });
            }
        }
    }
    decided.sort_unstable_by_key(|removal| removal.removed);
    decided
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::SetPair;
    use proptest::prelude::*;

    /// The rule, word for word, over all rows.
    fn slowly(rows: u32, pairs: &[SetPair], rank: &[u32]) -> Vec<Removal> {
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_by_key(|&row| (rank[row as usize], row));
        let mut kept: Vec<u32> = Vec::new();
        let mut removals = Vec::new();
        for row in order {
            let closeness = |other: u32| {
                let same = |pair: &&SetPair| (pair.a, pair.b) == (row.min(other), row.max(other));
                pairs.iter().find(same).map(|pair| pair.similarity)
            };
            let mut candidates: Vec<(Similarity, u32)> =
                kept.iter().filter_map(|&other| Some((closeness(other)?, other))).collect();
            candidates.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            match candidates.first() {
                Some(&(closeness, kept)) => {
                    removals.push(Removal { removed: row, kept, closeness });
                }
                None => kept.push(row),
            }
        }
        removals.sort_by_key(|removal| removal.removed);
        removals
    }

    const ROWS: u32 = 16;

    /// Classes of equal sets, and how alike classes are: consistent for all members.
    fn alike() -> impl Strategy<Value = AlikeSets> {
        let classes = prop::collection::vec(0..8_u32, ROWS as usize);
        let links = prop::collection::btree_map((0..8_u32, 0..8_u32), 1..6_u32, 0..14);
        (classes, links).prop_map(|(classes, links)| {
            let members = |class: u32| -> Vec<u32> {
                (0..ROWS).filter(|&row| classes[row as usize] == class).collect()
            };
            let groups: Vec<Vec<u32>> =
                (0..8).map(members).filter(|group| !group.is_empty()).collect();
            let mut pairs: Vec<SetPair> = (links.iter())
                .filter(|((left, right), _)| left < right)
                .filter_map(|((left, right), &shared)| {
                    let (left, right) = (*members(*left).first()?, *members(*right).first()?);
                    let similarity = Similarity { shared, union: 7 };
                    Some(SetPair { a: left.min(right), b: left.max(right), similarity })
                })
                .collect();
            pairs.sort_by_key(|pair| (pair.a, pair.b));
            let mut groups: Vec<Vec<u32>> = groups.into_iter().filter(|g| g.len() > 1).collect();
            groups.sort();
            AlikeSets { groups, pairs }
        })
    }

    proptest! {
        #[test]
        fn the_fast_ways_follow_the_rule(
            alike in alike(),
            rank in prop::collection::vec(0..5_u32, ROWS as usize),
        ) {
            let mut pairs = Vec::new();
            alike.for_each_pair(|pair| pairs.push(pair));
            let expected = slowly(ROWS, &pairs, &rank);
            let of = |row: u32| rank[row as usize];
            let triples = pairs.iter().map(|pair| (pair.b, pair.a, pair.similarity));
            prop_assert_eq!(&removals(triples, of), &expected);
            prop_assert_eq!(&removals_of_sets(&alike, of), &expected);
        }
    }

    #[test]
    fn a_chain_keeps_both_ends() {
        let pairs = [(0, 1, 8), (1, 2, 9)];
        let removal = |removed, kept, closeness| Removal { removed, kept, closeness };
        assert_eq!(removals(pairs, |row| row), [removal(1, 0, 8)]);
        assert_eq!(
            removals(pairs, |row| i32::from(row != 1)),
            [removal(0, 1, 8), removal(2, 1, 9),]
        );
    }
}
