//! Groups of equal rows. A row is the index of a document. A join finds the groups, and later steps choose the rows
//! that are kept.

use simtool_base::large_buffer::LargeBuffer;
use std::ops::Range;

/// Value that [`Groups::group_of_rows`] returns for a row that is in no group.
pub const NO_GROUP: u32 = u32::MAX;

/// Groups of rows. A row is given by its index, and no row is in two groups. Groups are numbered from 0.
///
/// The rows of all groups are in one array, one group after the other, and a second array has the start of each group.
/// So a group takes 4 bytes in addition to its rows.
///
/// ```
/// use simtool_model::groups::Groups;
///
/// // Rows 1, 4 and 7 are equal, and so are rows 3 and 5.
/// let groups: Groups = [vec![1, 4, 7], vec![3, 5]].into_iter().collect();
/// assert_eq!(groups.len(), 2);
/// assert_eq!(groups.rows(1), [3, 5]);
/// assert_eq!(groups.size(0), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Groups {
    /// For each group, the index in `rows` at which it starts. The element after these starts is the number of all
    /// rows.
    starts: LargeBuffer<u32>,
    rows: LargeBuffer<u32>,
    /// Number of groups. It is stored because `starts` may have unused elements at its end.
    count: usize,
}

impl Groups {
    /// Creates groups. `rows` has the rows of one group after the other. The first `count` elements of `starts` are the
    /// indexes in `rows` at which the groups start. The element after them is the number of all rows.
    ///
    /// # Panics
    ///
    /// `starts` has fewer than `count + 1` elements.
    #[must_use]
    pub fn new(starts: LargeBuffer<u32>, rows: LargeBuffer<u32>, count: usize) -> Self {
        assert!(starts.len() > count, "a start for each group, and the end of the last");
        Self { starts, rows, count }
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn range(&self, group: u32) -> Range<usize> {
        let group = group as usize;
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// Returns the rows of group number `group`, in the order in which they were passed to [`Self::new`]. Joins create
    /// groups with ascending rows.
    ///
    /// # Panics
    ///
    /// There is no such group.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        &self.rows[self.range(group)]
    }

    /// Returns the number of rows of group number `group`.
    ///
    /// # Panics
    ///
    /// There is no such group.
    #[inline]
    #[must_use]
    pub fn size(&self, group: u32) -> u32 {
        self.starts[group as usize + 1] - self.starts[group as usize]
    }

    /// Returns the rows of every group, in the order of the groups.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count as u32).map(|group| self.rows(group))
    }

    /// Returns the numbers of the groups with at least two rows, in ascending order of the first row of each group.
    ///
    /// The order of the result does not depend on how the groups are numbered. They may be numbered in the order of
    /// their fingerprints.
    #[must_use]
    pub fn repeated(&self) -> Vec<u32> {
        let several = (0..self.count as u32).filter(|&group| self.size(group) > 1);
        let mut repeated: Vec<u32> = several.collect();
        repeated.sort_unstable_by_key(|&group| self.rows(group)[0]);
        repeated
    }

    /// Copies the groups with at least two rows, in ascending order of the first row of each group.
    #[must_use]
    pub fn several(&self) -> Self {
        self.repeated().into_iter().map(|group| self.rows(group)).collect()
    }

    /// Returns the number of the group of each row from 0 to `row_count` − 1, or [`NO_GROUP`] if the row is in no
    /// group.
    ///
    /// # Panics
    ///
    /// A row of a group is not below `row_count`.
    #[must_use]
    pub fn group_of_rows(&self, row_count: usize) -> Vec<u32> {
        let mut group_of = vec![NO_GROUP; row_count];
        for (group, rows) in (0..).zip(self.iter()) {
            for &row in rows {
                group_of[row as usize] = group;
            }
        }
        group_of
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(LargeBuffer::zeroed(1), LargeBuffer::zeroed(0), 0)
    }
}

impl<R: AsRef<[u32]>> FromIterator<R> for Groups {
    fn from_iter<I: IntoIterator<Item = R>>(groups: I) -> Self {
        let mut starts = vec![0];
        let mut rows = Vec::new();
        for group in groups {
            rows.extend_from_slice(group.as_ref());
            starts.push(rows.len() as u32);
        }
        Self::new(buffer_of(&starts), buffer_of(&rows), starts.len() - 1)
    }
}

fn buffer_of(numbers: &[u32]) -> LargeBuffer<u32> {
    let mut buffer = LargeBuffer::zeroed(numbers.len());
    buffer.copy_from_slice(numbers);
    buffer
}

impl PartialEq for Groups {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Groups {}

/// View of [`Groups`] in which the group of a row can be looked up. A row that is in no group can be added as a new
/// group of one row.
///
/// ```
/// use simtool_model::groups::{Groups, RowGroups};
///
/// let groups: Groups = [[1, 4]].into_iter().collect();
/// let mut of_rows = RowGroups::new(&groups);
/// assert_eq!(of_rows.group_of(4), Some(0));
/// assert_eq!(of_rows.group_of(9), None);
/// assert_eq!(of_rows.group_or_own(9), 1);
/// assert_eq!(of_rows.rows(1), [9]);
/// ```
#[derive(Clone, Debug)]
pub struct RowGroups<'g> {
    groups: &'g Groups,
    /// Rows that were added. Each of them is a group of one row. The numbers of these groups follow the numbers of
    /// `groups`.
    single: Vec<u32>,
    /// For each row, the number of its group, or [`NO_GROUP`] if the row is in no group. The list ends at the last row
    /// that is in a group.
    group_of: Vec<u32>,
}

impl<'g> RowGroups<'g> {
    /// Creates a view of `groups` to which no row was added yet.
    #[must_use]
    pub fn new(groups: &'g Groups) -> Self {
        let last = groups.rows.iter().max();
        let row_count = last.map_or(0, |&row| row as usize + 1);
        Self { groups, single: Vec::new(), group_of: groups.group_of_rows(row_count) }
    }

    /// Returns the number of the group of `row`, or `None` if the row is in no group.
    #[must_use]
    pub fn group_of(&self, row: u32) -> Option<u32> {
        self.group_of.get(row as usize).copied().filter(|&group| group != NO_GROUP)
    }

    /// Returns the number of the group of `row`. If `row` is in no group, adds a new group of this row to the view.
    pub fn group_or_own(&mut self, row: u32) -> u32 {
        if let Some(group) = self.group_of(row) {
            return group;
        }
        let group = self.len() as u32;
        self.single.push(row);
        if self.group_of.len() <= row as usize {
            self.group_of.resize(row as usize + 1, NO_GROUP);
        }
        self.group_of[row as usize] = group;
        group
    }

    /// Returns the number of groups, including the added groups of one row.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len() + self.single.len()
    }

    /// Returns whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows of group number `group`.
    ///
    /// # Panics
    ///
    /// There is no such group.
    #[must_use]
    pub fn rows(&self, group: u32) -> &[u32] {
        match (group as usize).checked_sub(self.groups.len()) {
            None => self.groups.rows(group),
            Some(single) => std::slice::from_ref(&self.single[single]),
        }
    }

    /// Returns the rows of every group, in the order of the groups.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.groups.iter().chain(self.single.iter().map(std::slice::from_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_give_back_the_rows_of_which_they_were_made() {
        for lists in [vec![], vec![vec![3, 5]], vec![vec![9, 11], vec![], vec![2], vec![0, 1, 7]]] {
            let groups: Groups = lists.iter().collect();
            assert!(groups.iter().eq(lists.iter().map(Vec::as_slice)));
            assert_eq!((groups.len(), groups.is_empty()), (lists.len(), lists.is_empty()));
            let mut repeated: Vec<_> = lists.iter().filter(|rows| rows.len() > 1).collect();
            repeated.sort();
            assert!(
                groups
                    .repeated()
                    .iter()
                    .map(|&group| groups.rows(group))
                    .eq(repeated.iter().copied())
            );
            assert_eq!(groups.several(), repeated.into_iter().collect());
            for (group, rows) in (0..).zip(&lists) {
                assert_eq!(groups.size(group) as usize, rows.len());
                for row in rows {
                    assert_eq!(groups.group_of_rows(12)[*row as usize], group);
                    assert_eq!(RowGroups::new(&groups).group_of(*row), Some(group));
                }
            }
            assert_eq!(groups, groups.clone());
        }
        assert_eq!(Groups::default(), std::iter::empty::<[u32; 1]>().collect());
        let [one, other] = [vec![1, 2], vec![1, 3]].map(|rows| Groups::from_iter([rows]));
        assert_ne!(one, other);
    }

    #[test]
    fn rows_of_no_group_become_groups_of_one() {
        let groups: Groups = [[0, 6], [2, 4]].into_iter().collect();
        let mut of_rows = RowGroups::new(&groups);
        assert_eq!([4, 9, 1, 9].map(|row| of_rows.group_or_own(row)), [1, 2, 3, 2]);
        let expected: [&[u32]; 4] = [&[0, 6], &[2, 4], &[9], &[1]];
        assert!(of_rows.iter().eq(expected));
        assert_eq!(of_rows.len(), 4);
        assert_eq!((of_rows.group_of(3), of_rows.group_of(100)), (None, None));
    }
}
