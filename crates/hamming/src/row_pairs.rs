//! Groups of equal rows and pairs of groups, expanded to pairs of rows: one row at a time, so that
//! the pairs, of which there may be n², are never in memory together.

use crate::bipartite_join::Join;
use crate::grouping::Groups;
use crate::partition_join::SelfJoin;
use crate::partners::Partners;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::matches::{Match, ValuePair};

/// No group: a row without a fingerprint.
const NONE: u32 = u32::MAX;

/// The partners of each row.
#[derive(Debug)]
pub struct RowPairs {
    /// Groups whose rows are asked for.
    rows: Groups,
    /// Groups of the partners; in a self-join the same.
    partners: Option<Groups>,
    group_of: Vec<u32>,
    /// Groups that have neighbours: few, for most sets.
    social: Numbered,
    /// Where the neighbours of each of these start, and at the end their number.
    starts: Vec<usize>,
    /// Neighbouring groups, with their distances.
    neighbours: Vec<(u32, u32)>,
}

impl RowPairs {
    /// The pairs of a self-join of `row_count` rows.
    #[must_use]
    pub fn of_self_join(SelfJoin { groups, pairs }: SelfJoin, row_count: usize) -> Self {
        let reversed = |pair: &ValuePair| ValuePair { a: pair.b, b: pair.a, ..*pair };
        let both = || pairs.iter().copied().chain(pairs.iter().map(reversed));
        Self::new(groups, None, both, row_count)
    }

    /// The pairs of a join, for each of `query_count` queries.
    #[must_use]
    pub fn of_join(Join { queries, corpus, pairs }: Join, query_count: usize) -> Self {
        Self::new(queries, Some(corpus), || pairs.iter().copied(), query_count)
    }

    fn new<I: Iterator<Item = ValuePair>>(
        rows: Groups,
        partners: Option<Groups>,
        pairs: impl Fn() -> I,
        row_count: usize,
    ) -> Self {
        let mut group_of = vec![NONE; row_count];
        for group in 0..rows.len() as u32 {
            for &row in rows.rows(group) {
                group_of[row as usize] = group;
            }
        }
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
        // Each place has advanced to its group's end, which is the next one's start.
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
        if group == NONE {
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
        if group == NONE {
            return;
        }
        let is_self_join = self.partners.is_none();
        let mut take = |rows: &[u32], distance: u32| {
            let first = if is_self_join { rows.partition_point(|&r| r as usize <= row) } else { 0 };
            found.extend(rows[first..].iter().map(|&row| Match { distance, row }));
        };
        if is_self_join {
            take(self.rows.rows(group), 0);
        }
        for &(other, distance) in self.neighbours(group) {
            take(self.others().rows(other), distance);
        }
        found.sort_unstable_by_key(|found| found.row);
    }
}

/// Some numbers of a range, numbered among themselves: a bit and a half for each number of the range.
#[derive(Debug)]
struct Numbered {
    /// A bit for each number of the range, lowest first.
    words: Vec<u64>,
    /// How many there are before each word, and at the end in all.
    before: Vec<u32>,
}

impl Numbered {
    /// Those of the numbers below `end` that come in `some`, in any order.
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
        (word & bit != 0).then(|| (self.before[at] + (word & (bit - 1)).count_ones()) as usize)
    }
}
