//! Leaves out pairs of documents whose sets of terms are equal and whose symbols differ.

use crate::close::{Close, ClosePair};
use crate::row_symbols::RowSymbols;
use simtool_model::groups::{Groups, RowGroups};
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use std::collections::BTreeMap;

impl Close {
    /// Returns the same result with the symbols of all rows.
    #[must_use]
    pub fn with_symbols(self, symbols: RowSymbols) -> Self {
        Self { symbols, ..self }
    }

    /// Returns the same result, but without the pairs of rows whose sets are equal and whose symbols differ. In
    /// the new result, symbols do not count.
    ///
    /// # Complexity
    ///
    /// O(n log n) for n rows in groups and pairs, if all pairs have the similarity 1.
    #[must_use]
    pub fn without_other_symbols(&self) -> Self {
        let mut groups = self.groups.as_ref().map(RowGroups::new);
        // Every row of a pair gets a group, so that all rows are found by their groups.
        for number in 0..self.pairs.len() {
            let [a, b] = self.pairs.rows(number);
            groups.first_mut().group_or_own(a);
            groups.second_mut().group_or_own(b);
        }
        let parts = match (&groups, self.symbols.hashes()) {
            (Sides::One(groups), Some(hashes)) => Sides::One(parts(groups, hashes.first())),
            (Sides::Two(first, second), Some(hashes)) => {
                Sides::Two(parts(first, hashes.first()), parts(second, hashes.second()))
            }
            (Sides::One(groups), None) => Sides::One(parts(groups, &[])),
            (Sides::Two(first, second), None) => Sides::Two(parts(first, &[]), parts(second, &[])),
        };
        let mut pairs = Vec::new();
        for pair in self.pairs.iter() {
            let of_row = |groups: &RowGroups<'_>, row| groups.group_of(row).unwrap_or(0) as usize;
            let of_a = &parts.first()[of_row(groups.first(), pair.a)];
            let of_b = &parts.second()[of_row(groups.second(), pair.b)];
            let mut push = |a: &[u32], b: &[u32]| {
                let [a, b] = [a[0], b[0]];
                let (a, b) = if parts.is_two() { (a, b) } else { (a.min(b), a.max(b)) };
                pairs.push(ClosePair { a, b, closeness: pair.closeness });
            };
            let are_equal = pair.closeness.exact_similarity() == Some(Similarity::ONE);
            for (symbols, a) in of_a {
                match of_b.get(symbols) {
                    Some(b) if are_equal => push(a, b),
                    None if are_equal => {}
                    _ => of_b.values().for_each(|b| push(a, b)),
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        let groups = parts.map(|parts| {
            let mut parts: Vec<Vec<u32>> =
                parts.into_iter().flat_map(BTreeMap::into_values).collect();
            parts.sort_unstable();
            parts.into_iter().collect::<Groups>().several()
        });
        let Self { of_equal, is_complete, .. } = *self;
        Self { groups, pairs: pairs.into(), of_equal, is_complete, symbols: RowSymbols::default() }
    }
}

/// Divides each group into its rows with the same symbols.
fn parts(groups: &RowGroups<'_>, symbols: &[u64]) -> Vec<BTreeMap<u64, Vec<u32>>> {
    let of_group = |rows: &[u32]| {
        let mut parts: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for &row in rows {
            parts.entry(symbols.get(row as usize).copied().unwrap_or(0)).or_default().push(row);
        }
        parts
    };
    groups.iter().map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let without = close.without_other_symbols();
        let is_one = |similarity| similarity == Similarity::ONE;
        assert_eq!(pairs(&close, is_one), equal);
        assert_eq!(pairs(&without, is_one), equal);
        let rest = pairs(&close, |similarity| similarity != Similarity::ALMOST_ONE);
        assert_eq!(pairs(&without, |_| true), rest);
        assert_eq!(without.pair_count(), rest.len() as u64);
        let without_symbols = close.with_symbols(RowSymbols::default());
        let all = pairs(&without_symbols, |_| true);
        assert_eq!(pairs(&without_symbols.without_other_symbols(), |_| true), all);
    }

    #[test]
    fn only_rows_with_equal_symbols_have_similarity_one() {
        let groups = Sides::One([vec![0, 2, 4, 6], vec![1, 3]].into_iter().collect());
        let pair = |a, b, shared| ClosePair::similar(a, b, Similarity { shared, union: 9 });
        // The sets of rows 1 and 5 are equal, but their fingerprints differ, so they are in no group.
        let pairs = vec![pair(0, 1, 8), pair(0, 7, 9), pair(1, 5, 9)];
        let symbols = RowSymbols::new(Sides::One(vec![7, 0, 8, 1, 7, 1, 8, 8]));
        let close = Close::sets(groups, pairs.into()).with_symbols(symbols);
        check(close, &[(0, 4), (2, 6), (2, 7), (3, 5), (6, 7)]);
    }

    #[test]
    fn rows_of_two_collections_are_compared_with_each_other() {
        let groups =
            Sides::Two([vec![0, 1]].into_iter().collect(), [vec![2, 3]].into_iter().collect());
        let pair = |a, b| ClosePair::similar(a, b, Similarity::ONE);
        let symbols = RowSymbols::new(Sides::Two(vec![5, 6, 0], vec![0, 1, 6, 5]));
        let close = Close::sets(groups, vec![pair(0, 2), pair(2, 0), pair(2, 1)].into());
        check(close.with_symbols(symbols), &[(0, 3), (1, 2), (2, 0)]);
    }
}
