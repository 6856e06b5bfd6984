//! All that is close in a collection, or between two, without a pair for every two rows that are
//! equal.

pub use crate::close_pairs::{ClosePair, ClosePairs, SetPair};
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::closeness::Closeness;
use simtool_model::groups::{Groups, RowGroups};
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use std::convert::Infallible;
use std::ops::Range;

/// All that is close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Groups of equal rows of each side: at least two rows each, ascending.
    pub groups: Sides<Groups>,
    /// Pairs of rows that are not equal, or of two sides, ascending. The first row of a group
    /// represents the whole group.
    pub pairs: ClosePairs,
    /// The closeness of equal rows of one side.
    pub of_equal: Closeness,
    /// Whether these are all pairs. If not, they are the pairs that decide which rows are
    /// kept, and for which of these the others are removed.
    pub is_complete: bool,
}

impl Close {
    /// Creates the result of a join of sets.
    #[must_use]
    pub fn sets(groups: Sides<Groups>, pairs: ClosePairs) -> Self {
        let of_equal = Closeness::Similarity(Similarity::ONE);
        Self { groups, pairs, of_equal, is_complete: true }
    }

    /// Number of pairs of rows, equal rows of one collection included.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let sizes = self.groups.as_ref().map(sizes);
        // A pair of representatives is a pair for every two rows of their groups.
        let near = |number: usize| {
            let [a, b] = self.pairs.rows(number);
            size(sizes.first(), a) * size(sizes.second(), b)
        };
        let near: u64 = (0..self.pairs.len()).map(near).sum();
        let equal = match &self.groups {
            Sides::One(groups) => {
                groups.iter().map(|g| g.len() as u64 * (g.len() as u64 - 1) / 2).sum()
            }
            Sides::Two(..) => 0,
        };
        near + equal
    }

    /// Calls `visit` with every row of the first side that has partners, ascending, and these,
    /// ascending: rows of the second side, or in one collection the rows behind it.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p pairs; memory for the partners of one row.
    pub(crate) fn for_each_row<E>(
        &self,
        visit: impl FnMut(u32, &[(u32, Closeness)]) -> Result<(), E>,
    ) -> Result<(), E> {
        Neighbourhood::new(self).for_each_row(visit)
    }

    /// Calls `visit` with every pair of rows, ascending by `a`, then `b`.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// As [`Self::for_each_row`].
    pub fn for_each_pair<E>(
        &self,
        mut visit: impl FnMut(ClosePair) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_row(|a, partners| {
            partners.iter().try_for_each(|&(b, closeness)| visit(ClosePair { a, b, closeness }))
        })
    }
}

/// Sizes of groups at their first rows, and 0 elsewhere.
fn sizes(groups: &Groups) -> Vec<u32> {
    let mut sizes = vec![0; groups.iter().map(|group| group[0] as usize + 1).max().unwrap_or(0)];
    for group in groups.iter() {
        sizes[group[0] as usize] = group.len() as u32;
    }
    sizes
}

/// The element of a group, up to which the others are `none` if they are not there.
fn at<T: Clone>(elements: &mut Vec<T>, group: u32, none: T) -> &mut T {
    if elements.len() <= group as usize {
        elements.resize(group as usize + 1, none);
    }
    &mut elements[group as usize]
}

/// Rows that a row stands for.
fn size(sizes: &[u32], row: u32) -> u64 {
    u64::from(sizes.get(row as usize).copied().unwrap_or(0).max(1))
}

/// Groups of equal rows with the groups that are close to them; a row that equals no other and is
/// close to some is a group of its own.
///
/// In one collection a group is a neighbour of its neighbours; between two, groups of the first side
/// have neighbours among those of the second.
#[derive(Debug)]
pub struct Neighbourhood<'c> {
    groups: Sides<RowGroups<'c>>,
    /// The pairs that begin with each group of the first side.
    begun: Vec<Range<usize>>,
    /// Where the pairs that end with each group of one collection begin, and where the last one's end.
    starts: Vec<usize>,
    /// For each of these pairs, the group that it begins with, and its place among the pairs of
    /// that group.
    before: LargeBuffer<[u32; 2]>,
    pairs: &'c ClosePairs,
    of_equal: Closeness,
}

/// A group that is close to another one.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Its number.
    pub group: u32,
    told_by: TellingPair,
}

/// The pair that has the closeness of a neighbour.
#[derive(Clone, Copy, Debug)]
enum TellingPair {
    /// The number of the pair. It begins with the group whose neighbour this is.
    Of(usize),
    /// The place of the pair among the pairs that begin with the neighbour.
    OfNeighbour(u32),
}

impl<'c> Neighbourhood<'c> {
    /// Builds the neighbourhood of the rows of `close`.
    #[must_use]
    pub fn new(close: &'c Close) -> Self {
        let pairs = &close.pairs;
        let mut groups = close.groups.as_ref().map(RowGroups::new);
        let is_within = !groups.is_two();
        let mut begun = Vec::new();
        let mut starts = Vec::new();
        let mut start = 0;
        while start < pairs.len() {
            let [row, _] = pairs.rows(start);
            // Pairs ascend, so all pairs that begin with a row come one after the other.
            let own = groups.first_mut().group_or_own(row);
            let mut end = start;
            while end < pairs.len() && pairs.rows(end)[0] == row {
                let other = groups.second_mut().group_or_own(pairs.rows(end)[1]);
                // Between two sides, no group is asked for the neighbours before it.
                if is_within {
                    *at(&mut starts, other, 0) += 1;
                }
                end += 1;
            }
            *at(&mut begun, own, 0..0) = start..end;
            start = end;
        }
        let count = groups.first().len();
        begun.resize(count, 0..0);
        starts.resize(count + 1, 0);
        // The pairs that end with a group are next to each other, in the order of the pairs.
        let mut before = LargeBuffer::zeroed(counts_to_starts(&mut starts, 0));
        if is_within {
            let groups = groups.first();
            let mut next = starts.clone();
            let mut number = 0;
            while number < pairs.len() {
                // Every row of a pair has got a group above, so the loop does not end here.
                let Some(own) = groups.group_of(pairs.rows(number)[0]) else { break };
                for (place, pair) in (0..).zip(begun[own as usize].clone()) {
                    if let Some(other) = groups.group_of(pairs.rows(pair)[1]) {
                        let next = &mut next[other as usize];
                        before[*next] = [own, place];
                        *next += 1;
                    }
                }
                number = begun[own as usize].end;
            }
        }
        Self { groups, begun, starts, before, pairs, of_equal: close.of_equal }
    }

    /// Returns the closeness of the rows of a group.
    #[must_use]
    pub fn of_equal(&self) -> Closeness {
        self.of_equal
    }

    /// Number of groups of the first side.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.first().len()
    }

    /// The group of a row of the first side, if it is in one.
    #[must_use]
    pub fn group_of(&self, row: u32) -> Option<u32> {
        self.groups.first().group_of(row)
    }

    /// The rows of a group of the first side, ascending.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        self.groups.first().rows(group)
    }

    /// The rows of a group that is a neighbour, ascending.
    #[must_use]
    pub(crate) fn partner_rows(&self, group: u32) -> &[u32] {
        self.groups.second().rows(group)
    }

    /// The groups close to a group of the first side: those whose first row is before its own, then
    /// the others, ascending by these rows.
    pub fn neighbours(&self, group: u32) -> impl Iterator<Item = Neighbour> {
        let before = self.starts[group as usize]..self.starts[group as usize + 1];
        let before = self.before[before]
            .iter()
            .map(|&[group, place]| Neighbour { group, told_by: TellingPair::OfNeighbour(place) });
        before.chain(self.neighbours_behind(group))
    }

    /// Returns the neighbours whose first row is behind the first row of the group, or which are of
    /// the second side.
    pub fn neighbours_behind(&self, group: u32) -> impl Iterator<Item = Neighbour> {
        self.begun[group as usize].clone().filter_map(|number| {
            let group = self.groups.second().group_of(self.pairs.rows(number)[1])?;
            Some(Neighbour { group, told_by: TellingPair::Of(number) })
        })
    }

    /// Returns the closeness of a neighbour.
    #[must_use]
    pub fn closeness(&self, neighbour: Neighbour) -> Closeness {
        let number = match neighbour.told_by {
            TellingPair::Of(number) => number,
            TellingPair::OfNeighbour(place) => {
                self.begun[neighbour.group as usize].start + place as usize
            }
        };
        self.pairs.closeness(number)
    }

    /// Does the work of [`Close::for_each_row`].
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    pub(crate) fn for_each_row<E>(
        &self,
        mut visit: impl FnMut(u32, &[(u32, Closeness)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_within = !self.groups.is_two();
        let mut partners = Vec::new();
        for row in self.all_rows() {
            let Some(own) = self.group_of(row) else { continue };
            partners.clear();
            if is_within {
                partners.extend(self.rows(own).iter().map(|&other| (other, self.of_equal)));
            }
            for neighbour in self.neighbours(own) {
                let rows = self.partner_rows(neighbour.group);
                // Most of those before have none behind this row.
                if is_within && rows.last().is_some_and(|&last| last < row) {
                    continue;
                }
                let closeness = self.closeness(neighbour);
                partners.extend(rows.iter().map(|&other| (other, closeness)));
            }
            if is_within {
                // A pair belongs to its smaller row. Otherwise it would be visited twice.
                partners.retain(|&(other, _)| other > row);
            }
            partners.sort_unstable_by_key(|&(other, _)| other);
            if !partners.is_empty() {
                visit(row, &partners)?;
            }
        }
        Ok(())
    }

    /// The same, where `visit` cannot fail.
    pub fn visit_rows(&self, mut visit: impl FnMut(u32, &[(u32, Closeness)])) {
        let done = self.for_each_row(|row, partners| {
            visit(row, partners);
            Ok::<_, Infallible>(())
        });
        match done {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// All rows of the groups of the first side, ascending.
    #[must_use]
    pub fn all_rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.groups.first().iter().flatten().copied().collect();
        rows.sort_unstable();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: u32, b: u32, distance: u32) -> ClosePair {
        ClosePair { a, b, closeness: Closeness::Distance(distance) }
    }

    fn expanded(close: &Close) -> Vec<(u32, u32, u32)> {
        let mut found = Vec::new();
        let taken = close.for_each_pair(|p| {
            found.push((p.a, p.b, p.closeness.distance().unwrap()));
            Ok::<_, ()>(())
        });
        assert_eq!((taken, close.pair_count()), (Ok(()), found.len() as u64));
        found
    }

    #[test]
    fn groups_and_pairs_expand_to_pairs_of_rows_in_order() {
        let close = Close {
            groups: Sides::One([vec![1, 4, 7], vec![3, 5]].into_iter().collect()),
            pairs: vec![pair(0, 9, 3), pair(1, 3, 1), pair(2, 3, 2)].into(),
            of_equal: Closeness::Distance(0),
            is_complete: true,
        };
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
        assert_eq!(expanded(&close), expected);
    }

    #[test]
    fn rows_of_two_sides_are_no_partners_within_their_own() {
        let close = Close {
            groups: Sides::Two(
                [[1, 2]].into_iter().collect(),
                [[0, 5], [3, 4]].into_iter().collect(),
            ),
            pairs: vec![pair(0, 0, 1), pair(1, 0, 2), pair(1, 7, 3)].into(),
            of_equal: Closeness::Distance(0),
            is_complete: true,
        };
        let expected = [
            (0, 0, 1),
            (0, 5, 1),
            (1, 0, 2),
            (1, 5, 2),
            (1, 7, 3),
            (2, 0, 2),
            (2, 5, 2),
            (2, 7, 3),
        ];
        assert_eq!(expanded(&close), expected);
    }
}
