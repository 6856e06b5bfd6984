//! Results of a search: which document is how far from which.

use crate::similarity::Similarity;
use crate::unordered_map::UnorderedMap;

/// A corpus document within reach of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Number of differing bits.
    pub distance: u32,
    /// Row of the corpus, from 0.
    pub row: u32,
}

/// Two rows whose sets of terms are alike enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetPair {
    /// A row, from 0: of the queries, or in a self-join the smaller of the two.
    pub a: u32,
    /// The other row: of the corpus, or in a self-join the larger.
    pub b: u32,
    /// Their similarity.
    pub similarity: Similarity,
}

/// All that is alike within one collection, without a pair for every two equal sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlikeSets {
    /// Rows with equal sets: at least two each, ascending, by the first one.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of unequal sets, ascending by `a`, then `b`; the first row of a group stands for all
    /// of it.
    pub pairs: Vec<SetPair>,
}

impl AlikeSets {
    /// The number of pairs of rows, equal sets included.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let sizes: UnorderedMap<u32, u64> =
            self.groups.iter().map(|group| (group[0], group.len() as u64)).collect();
        let size = |row: &u32| sizes.get(row).copied().unwrap_or(1);
        let inside: u64 = (self.groups.iter().map(|group| group.len() as u64))
            .map(|size| size * (size - 1) / 2)
            .sum();
        inside + self.pairs.iter().map(|pair| size(&pair.a) * size(&pair.b)).sum::<u64>()
    }

    /// Calls `visit` with every pair of rows, ascending by `a`, then `b`.
    ///
    /// # Complexity
    /// O(p log p) for p pairs; the memory does not grow with p.
    pub fn for_each_pair(&self, mut visit: impl FnMut(SetPair)) {
        let mut group_of: UnorderedMap<u32, usize> = UnorderedMap::default();
        for (number, group) in self.groups.iter().enumerate() {
            group_of.extend(group.iter().map(|&row| (row, number)));
        }
        // For each row that stands in a pair, the other row and their similarity.
        let mut neighbours: Vec<(u32, u32, Similarity)> = (self.pairs.iter())
            .flat_map(|pair| [(pair.a, pair.b, pair.similarity), (pair.b, pair.a, pair.similarity)])
            .collect();
        neighbours.sort_unstable_by_key(|&(row, other, _)| (row, other));
        let mut rows: Vec<u32> = neighbours.iter().map(|&(row, ..)| row).collect();
        rows.extend(self.groups.iter().flatten());
        rows.sort_unstable();
        rows.dedup();
        let mut partners = Vec::new();
        for a in rows {
            let own = group_of.get(&a).map(|&number| &self.groups[number]);
            partners.extend(own.into_iter().flatten().map(|&b| (b, Similarity::ONE)));
            let first = own.map_or(a, |group| group[0]);
            let start = neighbours.partition_point(|&(row, ..)| row < first);
            for &(_, other, similarity) in
                neighbours[start..].iter().take_while(|&&(row, ..)| row == first)
            {
                match group_of.get(&other) {
                    Some(&number) => {
                        partners.extend(self.groups[number].iter().map(|&b| (b, similarity)));
                    }
                    None => partners.push((other, similarity)),
                }
            }
            partners.retain(|&(b, _)| b > a);
            partners.sort_unstable_by_key(|&(b, _)| b);
            for (b, similarity) in partners.drain(..) {
                visit(SetPair { a, b, similarity });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_pairs_expand_to_pairs_of_rows_in_order() {
        let half = Similarity { shared: 1, union: 2 };
        let third = Similarity { shared: 1, union: 3 };
        let alike = AlikeSets {
            groups: vec![vec![1, 4, 7], vec![3, 5]],
            pairs: vec![
                SetPair { a: 0, b: 9, similarity: third },
                SetPair { a: 1, b: 3, similarity: half },
                SetPair { a: 2, b: 3, similarity: third },
            ],
        };
        let mut found = Vec::new();
        alike.for_each_pair(|pair| found.push((pair.a, pair.b, pair.similarity)));
        let expected = [
            (0, 9, third),
            (1, 3, half),
            (1, 4, Similarity::ONE),
            (1, 5, half),
            (1, 7, Similarity::ONE),
            (2, 3, third),
            (2, 5, third),
            (3, 4, half),
            (3, 5, Similarity::ONE),
            (3, 7, half),
            (4, 5, half),
            (4, 7, Similarity::ONE),
            (5, 7, half),
        ];
        assert_eq!(found, expected);
        assert_eq!(alike.pair_count(), expected.len() as u64);
    }
}
