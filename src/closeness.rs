//! How close two documents are, by whatever method found them, and all that is close in a
//! collection.

use crate::matches::{AlikeSets, SetPair};
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
    /// Both: their fingerprints are close, and then their sets of terms were compared.
    Verified(Similarity, u32),
}

impl Closeness {
    /// Compares two of one kind: the closer is the greater.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Similarity(a), Self::Similarity(b)) => a.cmp(&b),
            (Self::Distance(a), Self::Distance(b)) => b.cmp(&a),
            (Self::Verified(a, to_a), Self::Verified(b, to_b)) => a.cmp(&b).then(to_b.cmp(&to_a)),
            // One run finds one kind.
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    fn kind(self) -> u8 {
        match self {
            Self::Distance(_) => 0,
            Self::Similarity(_) => 1,
            Self::Verified(..) => 2,
        }
    }

    /// The similarity, if that is what is known.
    #[must_use]
    pub fn similarity(self) -> Option<f64> {
        match self {
            Self::Similarity(s) | Self::Verified(s, _) => Some(s.ratio()),
            Self::Distance(_) => None,
        }
    }

    /// The distance, if that is what is known.
    #[must_use]
    pub fn distance(self) -> Option<u32> {
        match self {
            Self::Similarity(_) => None,
            Self::Distance(distance) | Self::Verified(_, distance) => Some(distance),
        }
    }
}

/// The Jaccard similarity that two sets of equal size have when the fingerprints of SimHash of
/// their elements, of `bits` bits, differ in `distance`: on average, since a distance is a sample of
/// the angle between the two.
///
/// Each bit differs with probability θ / π for an angle of θ, whose cosine is 2J / (1 + J).
///
/// # References
///
/// M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
#[must_use]
pub fn similarity_at(distance: u32, bits: u32) -> f64 {
    let cosine = cosine_at(distance, bits);
    cosine / (2.0 - cosine)
}

/// The cosine of the angle that two vectors have on average when their fingerprints of SimHash, of
/// `bits` bits, differ in `distance`; 0 for what is further apart than a right angle.
#[must_use]
pub fn cosine_at(distance: u32, bits: u32) -> f64 {
    (std::f64::consts::PI * f64::from(distance) / f64::from(bits)).cos().max(0.0)
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
        let pairs = alike.pairs.iter().map(ClosePair::from).collect();
        Self { groups: alike.groups, pairs, of_equal: Closeness::Similarity(Similarity::ONE) }
    }
}

/// Groups of equal rows, and the group of each row.
#[derive(Clone, Debug, Default)]
pub struct RowGroups {
    groups: Vec<Vec<u32>>,
    group_of: UnorderedMap<u32, u32>,
}

impl RowGroups {
    /// The given groups.
    #[must_use]
    pub fn new(groups: Vec<Vec<u32>>) -> Self {
        let mut group_of = UnorderedMap::default();
        for (number, group) in groups.iter().enumerate() {
            group_of.extend(group.iter().map(|&row| (row, number as u32)));
        }
        Self { groups, group_of }
    }

    /// The number of a row's group; a row that is in none becomes one of its own.
    pub fn group_or_own(&mut self, row: u32) -> u32 {
        *self.group_of.entry(row).or_insert_with(|| {
            self.groups.push(vec![row]);
            self.groups.len() as u32 - 1
        })
    }

    /// The rows of each group.
    #[must_use]
    pub fn groups(&self) -> &[Vec<u32>] {
        &self.groups
    }
}

/// Groups of equal rows with the groups that are close to them; a row that equals no other and is
/// close to some is a group of its own.
#[derive(Debug)]
pub struct Neighbourhood {
    groups: RowGroups,
    neighbours: Vec<Vec<(u32, Closeness)>>,
}

impl Neighbourhood {
    /// The neighbourhood of what was found.
    #[must_use]
    pub fn new(close: &CloseRows) -> Self {
        let mut groups = RowGroups::new(close.groups.clone());
        let mut neighbours: Vec<Vec<(u32, Closeness)>> = Vec::new();
        for pair in &close.pairs {
            let [a, b] = [pair.a, pair.b].map(|row| groups.group_or_own(row));
            neighbours.resize(groups.groups.len(), Vec::new());
            neighbours[a as usize].push((b, pair.closeness));
            neighbours[b as usize].push((a, pair.closeness));
        }
        neighbours.resize(groups.groups.len(), Vec::new());
        Self { groups, neighbours }
    }

    /// Number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.groups.len()
    }

    /// The group of a row, if any other is close to it.
    #[must_use]
    pub fn group_of(&self, row: u32) -> Option<u32> {
        self.groups.group_of.get(&row).copied()
    }

    /// The rows of a group, ascending.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        &self.groups.groups[group as usize]
    }

    /// The groups close to a group.
    #[must_use]
    pub fn neighbours(&self, group: u32) -> &[(u32, Closeness)] {
        &self.neighbours[group as usize]
    }

    /// All rows that any other is close to, ascending.
    #[must_use]
    pub fn all_rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.groups.groups.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows
    }
}

/// All that is close between two collections, without a pair for every two rows that are equal to
/// others of their collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloseAcross {
    /// Rows of the first and of the second collection that are equal to the method: at least two
    /// each, ascending.
    pub groups: [Vec<Vec<u32>>; 2],
    /// Pairs of a row of the first and one of the second collection, ascending; the first row of a
    /// group stands for all of it.
    pub pairs: Vec<ClosePair>,
}

impl CloseAcross {
    /// Number of pairs of rows.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let [of_a, of_b] = self.groups.each_ref().map(|groups| sizes(groups));
        self.pairs.iter().map(|p| size(&of_a, p.a) * size(&of_b, p.b)).sum()
    }

    /// Calls `visit` with every row of the first collection that is close to any of the second, and
    /// its partners, ascending.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p pairs; memory for the partners of one row.
    pub fn for_each_row<E>(
        &self,
        mut visit: impl FnMut(u32, &[(u32, Closeness)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let [mut of_a, mut of_b] = self.groups.clone().map(RowGroups::new);
        let mut neighbours: Vec<Vec<(u32, Closeness)>> = Vec::new();
        for pair in &self.pairs {
            let (a, b) = (of_a.group_or_own(pair.a), of_b.group_or_own(pair.b));
            neighbours.resize(of_a.groups.len(), Vec::new());
            neighbours[a as usize].push((b, pair.closeness));
        }
        let groups = of_a.groups.iter().zip(&neighbours).filter(|(_, close)| !close.is_empty());
        let mut rows: Vec<_> =
            groups.flat_map(|(rows, close)| rows.iter().map(move |&row| (row, close))).collect();
        rows.sort_unstable_by_key(|&(row, _)| row);
        let mut partners = Vec::new();
        for (row, close) in rows {
            partners.clear();
            for &(group, closeness) in close {
                let rows = of_b.groups[group as usize].iter();
                partners.extend(rows.map(|&b| (b, closeness)));
            }
            partners.sort_unstable_by_key(|&(b, _)| b);
            visit(row, &partners)?;
        }
        Ok(())
    }
}

impl From<Vec<SetPair>> for CloseAcross {
    fn from(pairs: Vec<SetPair>) -> Self {
        Self { pairs: pairs.iter().map(ClosePair::from).collect(), ..Self::default() }
    }
}

impl From<&SetPair> for ClosePair {
    fn from(pair: &SetPair) -> Self {
        Self { a: pair.a, b: pair.b, closeness: Closeness::Similarity(pair.similarity) }
    }
}

/// Sizes of groups by their first row.
fn sizes(groups: &[Vec<u32>]) -> UnorderedMap<u32, u64> {
    groups.iter().map(|group| (group[0], group.len() as u64)).collect()
}

/// Rows that a row stands for.
fn size(sizes: &UnorderedMap<u32, u64>, row: u32) -> u64 {
    sizes.get(&row).copied().unwrap_or(1)
}

impl CloseRows {
    /// Number of pairs of rows, equal rows included.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let sizes = sizes(&self.groups);
        let equal = self.groups.iter().map(|g| g.len() as u64 * (g.len() as u64 - 1) / 2);
        let near = self.pairs.iter().map(|p| size(&sizes, p.a) * size(&sizes, p.b));
        equal.sum::<u64>() + near.sum::<u64>()
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
    fn a_distance_means_a_similarity() {
        // The distances that sets of these similarities have on average are 17.1, 9.7, 4.6 and 2.9.
        for (distance, similarity) in [(17, 0.5), (9, 0.8), (4, 0.95), (2, 0.98)] {
            let range = similarity_at(distance + 1, 64)..similarity_at(distance, 64);
            assert!(range.contains(&similarity), "{range:?}");
            assert!(range.contains(&similarity_at(2 * distance + 1, 128)), "{range:?}");
        }
        let ends = [0, 32, 40].map(|distance| format!("{:.6}", similarity_at(distance, 64)));
        assert_eq!(ends, ["1.000000", "0.000000", "0.000000"]);
    }

    #[test]
    fn the_closer_is_the_greater() {
        let similarity = |shared| Closeness::Similarity(Similarity { shared, union: 9 });
        assert_eq!(similarity(5).compare(similarity(4)), Ordering::Greater);
        assert_eq!(Closeness::Distance(1).compare(Closeness::Distance(2)), Ordering::Greater);
        assert_eq!(similarity(3).similarity(), Some(1.0 / 3.0));
        let verified = |shared, d| Closeness::Verified(Similarity { shared, union: 9 }, d);
        assert_eq!(verified(5, 3).compare(verified(4, 1)), Ordering::Greater);
        assert_eq!(verified(5, 3).compare(verified(5, 1)), Ordering::Less);
        assert_eq!((verified(9, 2).similarity(), verified(9, 2).distance()), (Some(1.0), Some(2)));
    }
}
