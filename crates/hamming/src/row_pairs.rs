//! Groups of equal rows and pairs of groups, expanded to pairs of rows.
//!
//! Rows are expanded one at a time: there may be n² pairs, and they are never in memory together.

use crate::group_pairs::GroupPairs;
use crate::partners::Partners;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::groups::{Groups, NO_GROUP};
use simtool_model::matches::{Match, ValuePair};
use simtool_model::sides::Sides;

/// The partners of each row.
#[derive(Debug)]
pub(crate) struct RowPairs {
    /// The groups of the rows that ask for partners.
    rows: Groups,
    /// The groups of the partners; `None` in a self-join, where they are the same.
    partners: Option<Groups>,
    group_of: Vec<u32>,
    /// The groups that have neighbours, which are few in most corpora.
    social: Numbered,
    /// The start of the neighbours of each of these groups, and at the end the number of neighbours.
    starts: Vec<usize>,
    /// Neighbouring groups, with their distances.
    neighbours: Vec<(u32, u32)>,
}

impl RowPairs {
    /// Expands the result of a join for each of `row_count` rows of the corpus in a self-join, or of
    /// `row_count` queries.
    #[must_use]
    pub(crate) fn new(found: GroupPairs, row_count: usize) -> Self {
        let GroupPairs { groups, pairs } = found;
        match groups {
            Sides::One(groups) => {
                // Both groups of a pair ask for the other.
                let reversed = |pair: &ValuePair| ValuePair { a: pair.b, b: pair.a, ..*pair };
                let both = || pairs.iter().copied().chain(pairs.iter().map(reversed));
                Self::of_pairs(groups, None, both, row_count)
            }
            Sides::Two(queries, corpus) => {
                Self::of_pairs(queries, Some(corpus), || pairs.iter().copied(), row_count)
            }
        }
    }

    fn of_pairs<I: Iterator<Item = ValuePair>>(
        rows: Groups,
        partners: Option<Groups>,
        pairs: impl Fn() -> I,
        row_count: usize,
    ) -> Self {
        let group_of = rows.group_of_rows(row_count);
        // First the number of neighbours of each group that has any, then their places, then themselves: a
        // counting sort that needs no copy of the pairs.
        let social = Numbered::new(rows.len(), pairs().map(|pair| pair.a));
        let mut starts = vec![0; social.len() + 1];
        for number in pairs().filter_map(|pair| social.number(pair.a)) {
            starts[number] += 1;
        }
        let place = counts_to_starts(&mut starts, 0);
        let mut neighbours = vec![(0, 0); place];
        for (number, pair) in pairs().filter_map(|pair| Some((social.number(pair.a)?, pair))) {
            let place = &mut starts[number];
            neighbours[*place] = (pair.b, pair.distance);
            *place += 1;
        }
        // Each place has advanced to the end of its group, which is the start of the next group.
        starts.copy_within(..social.len(), 1);
        starts[0] = 0;
        Self { rows, partners, group_of, social, starts, neighbours }
    }

    /// The groups of the partners.
    fn others(&self) -> &Groups {
        self.partners.as_ref().unwrap_or(&self.rows)
    }

    fn neighbours(&self, group: u32) -> &[(u32, u32)] {
        let Some(number) = self.social.number(group) else { return &[] };
        &self.neighbours[self.starts[number]..self.starts[number + 1]]
    }
}

impl Partners for RowPairs {
    fn rows(&self) -> usize {
        self.group_of.len()
    }

    fn bound(&self, row: usize) -> usize {
        let group = self.group_of[row];
        if group == NO_GROUP {
            return 0;
        }
        let own = if self.partners.is_none() { self.rows.size(group) as usize } else { 0 };
        let near = self.neighbours(group).iter();
        own + near.map(|&(other, _)| self.others().size(other) as usize).sum::<usize>()
    }

    /// In a self-join only the partners behind the row.
    ///
    /// # Complexity
    ///
    /// O(p log p) for p partners.
    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let group = self.group_of[row];
        if group == NO_GROUP {
            return;
        }
        let is_self_join = self.partners.is_none();
        let mut take = |rows: &[u32], distance: u32| {
            let first = if is_self_join { rows.partition_point(|&r| r as usize <= row) } else { 0 };
            found.extend(rows[first..].iter().map(|&row| Match { distance, row }));
        };
        // The rows of the same group are partners, too, at distance 0.
        if is_self_join {
            take(self.rows.rows(group), 0);
        }
        for &(other, distance) in self.neighbours(group) {
            take(self.others().rows(other), distance);
        }
        found.sort_unstable_by_key(|found| found.row);
    }
}

/// A set of numbers of a range, each with its place in the set: 1.5 bits for each number of the range.
#[derive(Debug)]
struct Numbered {
    /// A bit for each number of the range, lowest first.
    words: Vec<u64>,
    /// The number of members before each word, and at the end the number of all members.
    before: Vec<u32>,
}

impl Numbered {
    /// Numbers the members of `some`, which are below `end` and in any order.
    fn new(end: usize, some: impl Iterator<Item = u32>) -> Self {
        let mut words = vec![0u64; end.div_ceil(64)];
        for number in some {
            words[number as usize / 64] |= 1 << (number % 64);
        }
        let mut count = 0;
        let mut before = vec![0];
        before.extend(words.iter().map(|word| {
            count += word.count_ones();
            count
        }));
        Self { words, before }
    }

    fn len(&self) -> usize {
        self.before.last().map_or(0, |&count| count as usize)
    }

    /// The place of `number` among them, if it is one of them.
    #[inline]
    fn number(&self, number: u32) -> Option<usize> {
        let (at, bit) = (number as usize / 64, 1u64 << (number % 64));
        let word = self.words[at];
        // The members before the word, and those below the bit in the word.
        (word & bit != 0).then(|| (self.before[at] + (word & (bit - 1)).count_ones()) as usize)
    }
}
