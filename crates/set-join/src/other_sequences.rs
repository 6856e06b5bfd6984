//! Leaves out pairs of documents whose sets of terms are equal and whose sequences of tokens are different.

use crate::close::{Close, ClosePair};
use crate::row_sequences::RowSequences;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use std::collections::BTreeMap;

impl Close {
    /// Returns the same result with `sequences`, the hashes of the token sequences of all rows. If all rows with equal
    /// sets have equal sequences, the result stores no sequences, which saves memory.
    #[must_use]
    pub fn with_sequences(self, sequences: RowSequences) -> Self {
        let close = Self { sequences, ..self };
        if close.has_different_sequences() {
            close
        } else {
            Self { sequences: RowSequences::default(), ..close }
        }
    }

    /// Returns whether any two rows with equal sets have different token sequences.
    fn has_different_sequences(&self) -> bool {
        let Some(hashes) = self.sequences.hashes() else { return false };
        for (groups, hashes) in self.groups.iter().zip(hashes.iter()) {
            for rows in groups.iter() {
                let first = hashes.get(rows[0] as usize);
                if rows.iter().any(|&row| hashes.get(row as usize) != first) {
                    return true;
                }
            }
        }
        self.pairs.iter().any(|ClosePair { a, b, closeness }| {
            self.sequences.closeness(a, b, closeness) != closeness
        })
    }

    /// Returns the pairs whose similarity reaches `limit`, without the pairs of rows whose sets are equal and whose
    /// sequences differ. Groups are divided, so that all rows of a group have the same sequence. The new result stores
    /// no sequences.
    ///
    /// # Complexity
    ///
    /// O(n log n) for n rows in groups and pairs with the similarity 1. If the limit is below 1, a pair of two groups
    /// becomes several pairs: each part of one group with each part of the other. A part has the rows of a group with
    /// the same sequence.
    #[must_use]
    pub fn without_other_sequences(&self, limit: Threshold) -> Self {
        let hashes = self.sequences.hashes();
        let hashes = [hashes.map(Sides::first), hashes.map(Sides::second)];
        let sequence_of = |side: usize, row: u32| {
            hashes[side].and_then(|hashes| hashes.get(row as usize)).copied().unwrap_or(0)
        };
        let mut side = 0..2;
        let parts = self.groups.as_ref().map(|groups| {
            let side = side.next().unwrap_or(0);
            GroupParts::new(groups, &|row| sequence_of(side, row))
        });
        let mut pairs = Vec::new();
        for pair in self.pairs.iter() {
            let Some(similarity) = pair.closeness.exact_similarity() else { continue };
            if !limit.holds(similarity) {
                continue;
            }
            let of_a = parts.first().of_row(pair.a, sequence_of(0, pair.a));
            let second = usize::from(parts.is_two());
            let of_b = parts.second().of_row(pair.b, sequence_of(second, pair.b));
            for (sequences, a) in &of_a {
                for (_, b) in of_b
                    .iter()
                    .filter(|(other, _)| similarity != Similarity::ONE || sequences == other)
                {
                    let (a, b) = if parts.is_two() { (*a, *b) } else { (*a.min(b), *a.max(b)) };
                    pairs.push(ClosePair { a, b, closeness: pair.closeness });
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        let groups = parts.map(GroupParts::into_groups);
        let Self { of_equal, is_complete, .. } = *self;
        Self {
            groups,
            pairs: pairs.into(),
            of_equal,
            is_complete,
            sequences: RowSequences::default(),
        }
    }
}

/// Groups of rows with equal sets. Each group is divided into parts, and all rows of a part have the same token
/// sequence.
struct GroupParts {
    /// For the first row of each group, the rows of each part of the group, by the hash of their token sequence.
    of_first: BTreeMap<u32, BTreeMap<u64, Vec<u32>>>,
}

impl GroupParts {
    fn new(groups: &Groups, sequence_of: &dyn Fn(u32) -> u64) -> Self {
        let of_group = |rows: &[u32]| {
            let mut parts: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for &row in rows {
                parts.entry(sequence_of(row)).or_default().push(row);
            }
            (rows[0], parts)
        };
        Self { of_first: groups.iter().map(of_group).collect() }
    }

    /// Returns the hash of the token sequence and the first row of each part of the group that begins with `row`. If
    /// `row` is in no group, returns only its own hash, `own`, and `row` itself.
    fn of_row(&self, row: u32, own: u64) -> Vec<(u64, u32)> {
        self.of_first.get(&row).map_or_else(
            || vec![(own, row)],
            |parts| parts.iter().map(|(&sequences, rows)| (sequences, rows[0])).collect(),
        )
    }

    /// Returns each part with at least two rows as a group. The rows of such a group have equal token sequences.
    fn into_groups(self) -> Groups {
        let parts = self.of_first.into_values().flat_map(BTreeMap::into_values);
        parts.collect::<Groups>().several()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least() -> Threshold {
        Threshold::new(1, 9).unwrap()
    }

    /// Returns the pairs whose similarity `is_one_of` accepts.
    fn pairs(close: &Close, is_one_of: impl Fn(Similarity) -> bool) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let taken = close.for_each_pair(|pair| {
            if pair.closeness.exact_similarity().is_some_and(&is_one_of) {
                found.push((pair.a, pair.b));
            }
            Ok::<_, ()>(())
        });
        assert_eq!(taken, Ok(()));
        found
    }

    /// Checks that the pairs in `equal` have the similarity 1, and that the other pairs stay.
    #[track_caller]
    fn check(close: Close, equal: &[(u32, u32)]) {
        let without = close.without_other_sequences(least());
        let is_one = |similarity| similarity == Similarity::ONE;
        assert_eq!(pairs(&close, is_one), equal);
        assert_eq!(pairs(&without, is_one), equal);
        let rest = pairs(&close, |similarity| similarity != Similarity::ALMOST_ONE);
        assert_eq!(pairs(&without, |_| true), rest);
        assert_eq!(without.pair_count(), rest.len() as u64);
        let without = close.with_sequences(RowSequences::default());
        let all = pairs(&without, |_| true);
        assert_eq!(pairs(&without.without_other_sequences(least()), |_| true), all);
    }

    #[test]
    fn only_rows_with_equal_sequences_have_similarity_one() {
        let groups = Sides::One([vec![0, 2, 4, 6], vec![1, 3]].into_iter().collect());
        let pair = |a, b, shared| ClosePair::similar(a, b, Similarity { shared, union: 9 });
        // The sets of rows 1 and 5 are equal, but their fingerprints differ, so they are in no group.
        let pairs = vec![pair(0, 1, 8), pair(0, 7, 9), pair(1, 5, 9)];
        let sequences = RowSequences::new(Sides::One(vec![7, 0, 8, 1, 7, 1, 8, 8]));
        let close = Close::sets(groups, pairs.into()).with_sequences(sequences);
        check(close, &[(0, 4), (2, 6), (2, 7), (3, 5), (6, 7)]);
    }

    #[test]
    fn rows_of_two_collections_are_compared_with_each_other() {
        let groups =
            Sides::Two([vec![0, 1]].into_iter().collect(), [vec![2, 3]].into_iter().collect());
        let pair = |a, b| ClosePair::similar(a, b, Similarity::ONE);
        let sequences = RowSequences::new(Sides::Two(vec![5, 6, 0], vec![0, 1, 6, 5]));
        let close = Close::sets(groups, vec![pair(0, 2), pair(2, 0), pair(2, 1)].into());
        check(close.with_sequences(sequences), &[(0, 3), (1, 2), (2, 0)]);
    }
}
