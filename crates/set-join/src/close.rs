//! The result of a join: groups of equal documents, and pairs of similar ones. Equal documents are
//! stored as groups, because they would form too many pairs. A row is the number of a document.

pub use crate::close_pairs::{ClosePair, ClosePairs, SetPair};
use crate::row_sequences::RowSequences;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::closeness::Closeness;
use simtool_model::groups::{Groups, RowGroups};
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use std::convert::Infallible;
use std::ops::Range;

/// All equal and similar documents that a join has found, as row numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Groups of equal documents in each collection. A group has at least two row numbers, in ascending order.
    pub groups: Sides<Groups>,
    /// Pairs of similar rows, in ascending order. From each group of equal rows, only the first row is
    /// in pairs. In a join of two collections, a row of the first and an equal row of the second
    /// collection form a pair, too.
    pub pairs: ClosePairs,
    /// The closeness (similarity or distance) of two equal rows.
    pub of_equal: Closeness,
    /// Whether the result has all pairs. If it has not, its pairs are enough for two decisions: which
    /// rows are kept, and which kept row causes the removal of each other row.
    pub is_complete: bool,
    /// Hashes of the token sequences of the rows. There are none if the similarity does not depend on sequences.
    /// Otherwise, rows with different sequences do not have the similarity 1 even if their sets are equal.
    pub sequences: RowSequences,
}

impl Close {
    /// Creates the result of a join of sets that has found all pairs. Two equal sets have the similarity 1.
    #[must_use]
    pub fn sets(groups: Sides<Groups>, pairs: ClosePairs) -> Self {
        let of_equal = Closeness::Similarity(Similarity::ONE);
        Self::new(groups, pairs, of_equal)
    }

    /// Creates a result that has all pairs and no token sequences. Each argument becomes the field of the same name.
    #[must_use]
    pub fn new(groups: Sides<Groups>, pairs: ClosePairs, of_equal: Closeness) -> Self {
        Self { groups, pairs, of_equal, is_complete: true, sequences: RowSequences::default() }
    }

    /// Returns the number of pairs of similar rows. Every row of a group counts, not only the first. In a join of one
    /// collection, pairs of equal rows count, too.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let sizes = self.groups.as_ref().map(sizes);
        // A pair of representatives means that each row of one group is similar to each row of the
        // other.
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

    /// Calls `visit` for each row of the first collection that has partners, which are equal or similar rows. The
    /// arguments are the row, and its partners with their closeness. Rows are visited in ascending order, and the
    /// partners of a row are in ascending order, too. In a join of two collections, partners are rows of the second
    /// collection. In a join of one collection, partners are rows with a higher number.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p pairs. Memory for the partners of one row.
    pub(crate) fn for_each_row<E>(
        &self,
        visit: impl FnMut(u32, &[(u32, Closeness)]) -> Result<(), E>,
    ) -> Result<(), E> {
        Neighbourhood::new(self).for_each_row(visit)
    }

    /// Calls `visit` with every pair of rows. Pairs are sorted by `a`, and pairs with the same `a` by
    /// `b`.
    ///
    /// # Errors
    ///
    /// The first error of `visit`.
    ///
    /// # Complexity
    ///
    /// The same as for `for_each_row`.
    pub fn for_each_pair<E>(
        &self,
        mut visit: impl FnMut(ClosePair) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_row(|a, partners| {
            partners.iter().try_for_each(|&(b, closeness)| visit(ClosePair { a, b, closeness }))
        })
    }
}

/// Returns a list that is indexed by row number. Its element at the first row of a group is the number of rows in the
/// group. All other elements are 0.
fn sizes(groups: &Groups) -> Vec<u32> {
    let mut sizes = vec![0; groups.iter().map(|group| group[0] as usize + 1).max().unwrap_or(0)];
    for group in groups.iter() {
        sizes[group[0] as usize] = group.len() as u32;
    }
    sizes
}

/// Returns the element of `elements` at index `group`. If the list is too short, it is first extended with copies of
/// `none`.
fn at<T: Clone>(elements: &mut Vec<T>, group: u32, none: T) -> &mut T {
    if elements.len() <= group as usize {
        elements.resize(group as usize + 1, none);
    }
    &mut elements[group as usize]
}

/// Returns the number of equal rows that `row` represents. It is 1 if `row` is in no group. `sizes` is
/// the result of the function [`sizes`].
fn size(sizes: &[u32], row: u32) -> u64 {
    u64::from(sizes.get(row as usize).copied().unwrap_or(0).max(1))
}

/// Groups of equal rows, and for each group its neighbours, which are the groups that are similar to
/// it. A row that has similar rows but no equal row is a group of its own.
///
/// In one collection, the neighbour relation is symmetric. Between two collections, groups of the first
/// have neighbours in the second.
#[derive(Debug)]
pub struct Neighbourhood<'c> {
    groups: Sides<RowGroups<'c>>,
    /// For each group of the first collection, the indices in `pairs` of the pairs whose first row is in the group.
    begun: Vec<Range<usize>>,
    /// For each group, the index in `before` of the first pair whose second row is in the group. The last element is
    /// the length of `before`. In a join of two collections, all elements are 0.
    starts: Vec<usize>,
    /// The pairs again, sorted by the group of their second row. Each pair is stored as two numbers:
    /// the group of its first row, and its index among the pairs that begin with that group.
    before: LargeBuffer<[u32; 2]>,
    pairs: &'c ClosePairs,
    of_equal: Closeness,
    sequences: &'c RowSequences,
}

/// A group that is similar to another group.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Number of the similar group.
    pub group: u32,
    pair: PairPlace,
}

/// Reference to the pair that connects a group and its neighbour. The pair has the closeness of the two groups.
#[derive(Clone, Copy, Debug)]
enum PairPlace {
    /// Index of the pair in `pairs`. The pair begins with the group and ends with the neighbour.
    Of(usize),
    /// The pair begins with the neighbour and ends with the group. The number is its index among the
    /// pairs that begin with the neighbour.
    OfNeighbour(u32),
}

impl<'c> Neighbourhood<'c> {
    /// Finds the neighbours of each group of equal rows in the result of a join. Neighbours are the groups that are
    /// similar to it.
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
            // Pairs are in ascending order, so all pairs that begin with a row are next to each
            // other.
            let own = groups.first_mut().group_or_own(row);
            let mut end = start;
            while end < pairs.len() && pairs.rows(end)[0] == row {
                let other = groups.second_mut().group_or_own(pairs.rows(end)[1]);
                // In a join of two collections, only neighbours in the second one are needed.
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
        let Close { of_equal, sequences, .. } = close;
        Self { groups, begun, starts, before, pairs, of_equal: *of_equal, sequences }
    }

    /// Returns the closeness of the sets of any two rows in the same group.
    #[must_use]
    pub fn of_equal(&self) -> Closeness {
        self.of_equal
    }

    /// Returns the closeness of row `a` and row `b`. It differs from `of_groups`, the closeness of their groups, only
    /// if the rows have different token sequences. `b` is a row of the second collection if there are two.
    #[must_use]
    pub fn of_rows(&self, a: u32, b: u32, of_groups: Closeness) -> Closeness {
        self.sequences.closeness(a, b, of_groups)
    }

    /// Returns the number of groups in the first collection.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.first().len()
    }

    /// Returns the number of the group of a row of the first collection, or `None` if it has no
    /// equal and no similar row.
    #[must_use]
    pub fn group_of(&self, row: u32) -> Option<u32> {
        self.groups.first().group_of(row)
    }

    /// Returns the rows of a group of the first collection, in ascending order.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        self.groups.first().rows(group)
    }

    /// Returns the rows of a similar group, in ascending order. `group` is the [`Neighbour::group`] of a neighbour that
    /// [`Self::neighbours`] has returned.
    #[must_use]
    pub(crate) fn partner_rows(&self, group: u32) -> &[u32] {
        self.groups.second().rows(group)
    }

    /// Returns the groups that are similar to group number `group` of the first collection. First come the groups whose
    /// first row is below the first row of `group`, and then the other groups. Each of these two parts is in ascending
    /// order.
    pub fn neighbours(&self, group: u32) -> impl Iterator<Item = Neighbour> {
        let before = self.starts[group as usize]..self.starts[group as usize + 1];
        let before = self.before[before]
            .iter()
            .map(|&[group, place]| Neighbour { group, pair: PairPlace::OfNeighbour(place) });
        before.chain(self.neighbours_behind(group))
    }

    /// Returns the groups that are similar to group number `group`, and whose first row has a larger number than the
    /// first row of `group`. In a join of two collections, returns all similar groups, which belong to the second
    /// collection.
    pub fn neighbours_behind(&self, group: u32) -> impl Iterator<Item = Neighbour> {
        self.begun[group as usize].clone().filter_map(|number| {
            let group = self.groups.second().group_of(self.pairs.rows(number)[1])?;
            Some(Neighbour { group, pair: PairPlace::Of(number) })
        })
    }

    /// Returns the closeness of the sets of two groups: `neighbour`, and the group for which [`Self::neighbours`] has
    /// returned `neighbour`.
    #[must_use]
    pub fn closeness(&self, neighbour: Neighbour) -> Closeness {
        let number = match neighbour.pair {
            PairPlace::Of(number) => number,
            PairPlace::OfNeighbour(place) => {
                self.begun[neighbour.group as usize].start + place as usize
            }
        };
        self.pairs.closeness(number)
    }

    /// Calls `visit` for each row of the first collection that has partners, which are equal or similar rows. The
    /// arguments are the row, and its partners with their closeness. Rows and partners have the same order as in
    /// [`Close::for_each_row`].
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
                let equal = self.rows(own).iter();
                partners
                    .extend(equal.map(|&other| (other, self.of_rows(row, other, self.of_equal))));
            }
            for neighbour in self.neighbours(own) {
                let rows = self.partner_rows(neighbour.group);
                // Most groups with a smaller first row have no row above this one.
                if is_within && rows.last().is_some_and(|&last| last < row) {
                    continue;
                }
                let closeness = self.closeness(neighbour);
                let near = rows.iter();
                partners.extend(near.map(|&other| (other, self.of_rows(row, other, closeness))));
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

    /// Calls `visit` for each row of the first collection that has partners, which are equal or similar rows. The
    /// arguments are the row, and its partners with their closeness. All rows are in ascending order.
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

    /// Returns all rows that are in groups of the first collection, in ascending order.
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
        let close = Close::new(
            Sides::One([vec![1, 4, 7], vec![3, 5]].into_iter().collect()),
            vec![pair(0, 9, 3), pair(1, 3, 1), pair(2, 3, 2)].into(),
            Closeness::Distance(0),
        );
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
        let close = Close::new(
            Sides::Two([[1, 2]].into_iter().collect(), [[0, 5], [3, 4]].into_iter().collect()),
            vec![pair(0, 0, 1), pair(1, 0, 2), pair(1, 7, 3)].into(),
            Closeness::Distance(0),
        );
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
