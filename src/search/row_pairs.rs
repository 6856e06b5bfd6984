//! Groups of equal rows and pairs of groups, expanded to pairs of rows: one row at a time, so that
//! the pairs, of which there may be n², are never in memory together.

use crate::fingerprint_table::Lane;
use crate::matches::{Match, ValuePair};
use crate::search::grouping::EqualGroups;

/// No group: a row without a fingerprint.
const NONE: u32 = u32::MAX;

/// The partners of each row.
#[derive(Debug)]
pub struct RowPairs<'a, W> {
    /// Groups whose rows are asked for.
    rows: &'a EqualGroups<W>,
    /// Groups of the partners.
    partners: &'a EqualGroups<W>,
    group_of: Vec<u32>,
    /// Where each group's neighbours start, and at the end their number.
    starts: Vec<usize>,
    /// Neighbouring groups, with their distances.
    neighbours: Vec<(u32, u32)>,
    is_self_join: bool,
}

impl<'a, W: Lane> RowPairs<'a, W> {
    /// The pairs of a self-join of `row_count` rows.
    pub fn of_self_join(groups: &'a EqualGroups<W>, pairs: &[ValuePair], row_count: usize) -> Self {
        let reversed = |pair: &ValuePair| ValuePair { a: pair.b, b: pair.a, ..*pair };
        let both = || pairs.iter().copied().chain(pairs.iter().map(reversed));
        Self::new(groups, groups, both, row_count, true)
    }

    /// The pairs of a bipartite join, for each of `query_count` queries.
    pub fn of_bipartite_join(
        queries: &'a EqualGroups<W>,
        corpus: &'a EqualGroups<W>,
        pairs: &[ValuePair],
        query_count: usize,
    ) -> Self {
        Self::new(queries, corpus, || pairs.iter().copied(), query_count, false)
    }

    fn new<I: Iterator<Item = ValuePair>>(
        rows: &'a EqualGroups<W>,
        partners: &'a EqualGroups<W>,
        pairs: impl Fn() -> I,
        row_count: usize,
        is_self_join: bool,
    ) -> Self {
        let mut group_of = vec![NONE; row_count];
        for group in 0..rows.len() as u32 {
            for &row in rows.rows(group) {
                group_of[row as usize] = group;
            }
        }
        let mut starts = vec![0; rows.len() + 1];
        for pair in pairs() {
            starts[pair.a as usize] += 1;
        }
        let mut place = 0;
        for start in &mut starts {
            place += std::mem::replace(start, place);
        }
        let mut neighbours = vec![(0, 0); place];
        for pair in pairs() {
            let place = &mut starts[pair.a as usize];
            neighbours[*place] = (pair.b, pair.distance);
            *place += 1;
        }
        // Each place has advanced to its group's end, which is the next one's start.
        starts.copy_within(..rows.len(), 1);
        starts[0] = 0;
        Self { rows, partners, group_of, starts, neighbours, is_self_join }
    }

    /// Number of rows that can be asked for.
    pub fn len(&self) -> usize {
        self.group_of.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.group_of.is_empty()
    }

    /// At most how many partners [`Self::partners`] finds for `row`.
    pub fn bound(&self, row: usize) -> usize {
        let group = self.group_of[row];
        if group == NONE {
            return 0;
        }
        let own = if self.is_self_join { self.rows.size(group) as usize } else { 0 };
        let near = self.neighbours(group).iter();
        own + near.map(|&(other, _)| self.partners.size(other) as usize).sum::<usize>()
    }

    fn neighbours(&self, group: u32) -> &[(u32, u32)] {
        &self.neighbours[self.starts[group as usize]..self.starts[group as usize + 1]]
    }

    /// Replaces `found` by the partners of `row`, ascending; in a self-join only those behind it.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p partners.
    pub fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let group = self.group_of[row];
        if group == NONE {
            return;
        }
        let mut take = |rows: &[u32], distance: u32| {
            let first =
                if self.is_self_join { rows.partition_point(|&r| r as usize <= row) } else { 0 };
            found.extend(rows[first..].iter().map(|&row| Match { distance, row }));
        };
        if self.is_self_join {
            take(self.rows.rows(group), 0);
        }
        for &(other, distance) in self.neighbours(group) {
            take(self.partners.rows(other), distance);
        }
        found.sort_unstable_by_key(|found| found.row);
    }
}
