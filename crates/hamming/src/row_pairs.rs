//! Expands the result of a join, which is groups of equal rows and pairs of groups, to pairs of rows.
//!
//! The pairs of one row are computed at a time. There may be n² pairs, and they are never in memory
//! together.

use crate::group_pairs::GroupPairs;
use crate::partners::Partners;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::groups::{Groups, NO_GROUP};
use simtool_model::matches::{Match, ValuePair};
use simtool_model::sides::Sides;

/// The groups of equal rows and the pairs of near groups that a join has found. They are expanded to pairs of rows, for
/// one row at a time.
#[derive(Debug)]
pub(crate) struct RowPairs {
    /// Groups of equal rows. In a self-join, they contain all rows, and in a search, the queries.
    rows: Groups,
    /// In a search, the groups of equal rows of the corpus. `None` in a self-join, where the partners of a row (the
    /// rows near it) are in `rows`.
    partners: Option<Groups>,
    group_of: Vec<u32>,
    /// The numbers of the groups that have at least one near group. In most collections, there are few.
    social: Numbered,
    /// For each group in `social`, the index in `neighbours` where its near groups start. The last
    /// element is the length of `neighbours`.
    starts: Vec<usize>,
    /// For each group in `social`, the number and the distance of each group near it, one group after the other.
    neighbours: Vec<(u32, u32)>,
}

impl RowPairs {
    /// Prepares the pairs of rows from the result of a join. `row_count` is the number of rows in a
    /// self-join, and otherwise the number of queries.
    #[must_use]
    pub(crate) fn new(found: GroupPairs, row_count: usize) -> Self {
        let GroupPairs { groups, pairs } = found;
        match groups {
            Sides::One(groups) => {
                // In a self-join, each group of a pair has the other one as a neighbour.
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
        // First count the neighbours of each group that has any, then compute their positions, then
        // store them. This is a counting sort, and needs no copy of the pairs.
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
        // Each start has advanced to the end of its group, which is the start of the next group.
        starts.copy_within(..social.len(), 1);
        starts[0] = 0;
        Self { rows, partners, group_of, social, starts, neighbours }
    }

    /// Returns the groups of the rows that may be partners of a row: in a search, the groups of the corpus, otherwise
    /// the groups of all rows.
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

    /// Replaces `found` by the partners of `row`, in ascending order of their row numbers. In a self-join, these are
    /// only later rows.
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

/// A set of numbers below a limit. Its members have ranks: the smallest member has rank 0, the next one
/// rank 1, and so on. The set takes 1.5 bits for each number below the limit.
#[derive(Debug)]
struct Numbered {
    /// One bit for each number below the limit, set if the number is in the set.
    words: Vec<u64>,
    /// For each element of `words`, the number of members in the words before it. The last element is
    /// the number of all members.
    before: Vec<u32>,
}

impl Numbered {
    /// Creates the set of the numbers in `some`, which are below `end` and may be in any order.
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

    /// Returns the rank of `number`, which is the number of smaller members. Returns `None` if `number`
    /// is not a member.
    #[inline]
    fn number(&self, number: u32) -> Option<usize> {
        let (at, bit) = (number as usize / 64, 1u64 << (number % 64));
        let word = self.words[at];
        // The members in earlier words, and the smaller members in the same word.
        (word & bit != 0).then(|| (self.before[at] + (word & (bit - 1)).count_ones()) as usize)
    }
}
