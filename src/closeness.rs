//! How close two documents are, by whatever method found them, and all that is close in a
//! collection.

use crate::matches::AlikeSets;
use crate::similarity::Similarity;
use crate::unordered_map::UnorderedMap;
use std::cmp::Ordering;

/// How close two documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closeness {
    /// Jaccard similarity of their sets of terms.
    Similarity(Similarity),
    /// Number of bits in which their fingerprints differ.
    Distance(u32),
}

impl Closeness {
    /// Compares two of one kind: the closer is the greater.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Similarity(a), Self::Similarity(b)) => a.cmp(&b),
            (Self::Distance(a), Self::Distance(b)) => b.cmp(&a),
            // One run finds one kind.
            (Self::Similarity(_), Self::Distance(_)) => Ordering::Greater,
            (Self::Distance(_), Self::Similarity(_)) => Ordering::Less,
        }
    }

    /// The similarity, if that is what is known.
    #[must_use]
    pub fn similarity(self) -> Option<f64> {
        match self {
            Self::Similarity(s) => Some(f64::from(s.shared) / f64::from(s.union)),
            Self::Distance(_) => None,
        }
    }

    /// The distance, if that is what is known.
    #[must_use]
    pub fn distance(self) -> Option<u32> {
        match self {
            Self::Similarity(_) => None,
            Self::Distance(distance) => Some(distance),
        }
    }
}

/// Two rows that are close enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosePair {
    /// The first row in reading order, or a query.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// How close they are.
    pub closeness: Closeness,
}

/// All that is close within one collection, without a pair for every two rows that are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseRows {
    /// Rows that are equal to the method: at least two each, ascending.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of rows that are not equal, ascending; the first row of a group stands for all of it.
    pub pairs: Vec<ClosePair>,
    /// How close equal rows are.
    pub of_equal: Closeness,
}

impl From<AlikeSets> for CloseRows {
    fn from(alike: AlikeSets) -> Self {
        let pairs = alike.pairs.iter().map(|pair| ClosePair {
            a: pair.a,
            b: pair.b,
            closeness: Closeness::Similarity(pair.similarity),
        });
        let pairs = pairs.collect();
        Self { groups: alike.groups, pairs, of_equal: Closeness::Similarity(Similarity::ONE) }
    }
}

/// Groups of equal rows with the groups that are close to them; a row that equals no other and is
/// close to some is a group of its own.
#[derive(Debug)]
pub struct Neighbourhood {
    group_of: UnorderedMap<u32, u32>,
    groups: Vec<Vec<u32>>,
    neighbours: Vec<Vec<(u32, Closeness)>>,
}

impl Neighbourhood {
    /// The neighbourhood of what was found.
    #[must_use]
    pub fn new(close: &CloseRows) -> Self {
        let mut groups = close.groups.clone();
        let mut group_of = UnorderedMap::default();
        for (number, group) in groups.iter().enumerate() {
            group_of.extend(group.iter().map(|&row| (row, number as u32)));
        }
        let mut neighbours: Vec<Vec<(u32, Closeness)>> = vec![Vec::new(); groups.len()];
        for pair in &close.pairs {
            let [a, b] = [pair.a, pair.b].map(|row| {
                *group_of.entry(row).or_insert_with(|| {
                    groups.push(vec![row]);
                    neighbours.push(Vec::new());
                    groups.len() as u32 - 1
                })
            });
            neighbours[a as usize].push((b, pair.closeness));
            neighbours[b as usize].push((a, pair.closeness));
        }
        Self { group_of, groups, neighbours }
    }

    /// Number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The group of a row, if any other is close to it.
    #[must_use]
    pub fn group_of(&self, row: u32) -> Option<u32> {
        self.group_of.get(&row).copied()
    }

    /// The rows of a group, ascending.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    /// The groups close to a group.
    #[must_use]
    pub fn neighbours(&self, group: u32) -> &[(u32, Closeness)] {
        &self.neighbours[group as usize]
    }

    /// All rows that any other is close to, ascending.
    #[must_use]
    pub fn all_rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.groups.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows
    }
}

impl CloseRows {
    /// Number of pairs of rows, equal rows included.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let sizes: UnorderedMap<u32, u64> =
            self.groups.iter().map(|group| (group[0], group.len() as u64)).collect();
        let size = |row: &u32| sizes.get(row).copied().unwrap_or(1);
        let equal = self.groups.iter().map(|g| g.len() as u64 * (g.len() as u64 - 1) / 2);
        equal.sum::<u64>() + self.pairs.iter().map(|p| size(&p.a) * size(&p.b)).sum::<u64>()
    }

    /// Calls `visit` with every pair of rows, ascending by `a`, then `b`.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p pairs; memory for the partners of one row.
    pub fn for_each_pair<E>(
        &self,
        mut visit: impl FnMut(ClosePair) -> Result<(), E>,
    ) -> Result<(), E> {
        let around = Neighbourhood::new(self);
        let mut partners = Vec::new();
        for a in around.all_rows() {
            let Some(own) = around.group_of(a) else { continue };
            partners.clear();
            partners.extend(around.rows(own).iter().map(|&b| (b, self.of_equal)));
            for &(group, closeness) in around.neighbours(own) {
                partners.extend(around.rows(group).iter().map(|&b| (b, closeness)));
            }
            partners.retain(|&(b, _)| b > a);
            partners.sort_unstable_by_key(|&(b, _)| b);
            for &(b, closeness) in &partners {
                visit(ClosePair { a, b, closeness })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_pairs_expand_to_pairs_of_rows_in_order() {
        let pair = |a, b, distance| ClosePair { a, b, closeness: Closeness::Distance(distance) };
        let close = CloseRows {
            groups: vec![vec![1, 4, 7], vec![3, 5]],
            pairs: vec![pair(0, 9, 3), pair(1, 3, 1), pair(2, 3, 2)],
            of_equal: Closeness::Distance(0),
        };
        let mut found = Vec::new();
        close
            .for_each_pair(|p| {
                found.push((p.a, p.b, p.closeness.distance().unwrap()));
                Ok::<_, ()>(())
            })
            .unwrap();
        let expected = [
            (0, 9, 3),
            (1, 3, 1),
            (1, 4, 0),
            (1, 5, 1),
            (1, 7, 0),
            (2, 3, 2),
            (2, 5, 2),
            (3, 4, 1),
            (3, 5, 0),
            (3, 7, 1),
            (4, 5, 1),
            (4, 7, 0),
            (5, 7, 1),
        ];
        assert_eq!(found, expected);
        assert_eq!(close.pair_count(), expected.len() as u64);
    }

    #[test]
    fn the_closer_is_the_greater() {
        let similarity = |shared| Closeness::Similarity(Similarity { shared, union: 9 });
        assert_eq!(similarity(5).compare(similarity(4)), Ordering::Greater);
        assert_eq!(Closeness::Distance(1).compare(Closeness::Distance(2)), Ordering::Greater);
        assert_eq!(similarity(3).similarity(), Some(1.0 / 3.0));
    }
}
