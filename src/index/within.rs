//! Near rows among the rows that one call adds to an index.

use simtool_model::groups::NO_GROUP;

/// Groups of equal rows among the rows (fingerprints) that one call adds, and pairs of groups whose rows are near each
/// other.
pub(super) struct Within {
    pub(super) group_of: Vec<u32>,
    /// For each group, the index in `near` at which its pairs start. The last element is the length of
    /// `near`.
    pub(super) starts: Vec<usize>,
    /// Pairs of near groups as `(group, other group, distance)`, ascending. Each pair is listed twice, once
    /// for each of its groups.
    pub(super) near: Vec<(u32, u32, u32)>,
}

impl Within {
    /// Returns the number of groups of equal rows.
    pub(super) fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn group(&self, row: usize) -> Option<usize> {
        Some(self.group_of[row]).filter(|&group| group != NO_GROUP).map(|group| group as usize)
    }

    pub(super) fn near(&self, group: usize) -> impl Iterator<Item = (usize, u32)> {
        let near = &self.near[self.starts[group]..self.starts[group + 1]];
        near.iter().map(|&(_, other, distance)| (other as usize, distance))
    }
}
