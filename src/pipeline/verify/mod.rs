//! Compares the texts behind close fingerprints, and keeps the pairs whose sets of terms are similar
//! enough.
//!
//! A group of n equal fingerprints has about n² / 2 pairs. So rows with equal sets are first merged into
//! classes, and only different sets are compared. Many sets are compared by the exact join of sets. Of few
//! sets, each is compared with the sets whose size permits enough similarity.
//!
//! The groups are cut into blocks, so that the sets of any two blocks fit in memory. Work is divided by
//! pairs of sets, so that one large group keeps all workers busy.

mod text_classes;
mod verifier;

pub use verifier::Verifier;

pub(crate) use text_classes::RowTexts;

use crate::method::DocumentTerms;
use simtool_base::error::Result;
use simtool_base::progress::Share;
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::groups::RowGroups;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_set_join::close::{Close, ClosePair, ClosePairs};
use simtool_set_join::{SetJoin, shared_if_enough, shared_weight_if_enough};
use std::ops::Range;
use text_classes::{Class, ClassTerms, Classes};

/// Approximate number of pairs of sets that a worker compares at a time.
const PIECE_PAIRS: usize = 4096;
/// Maximum number of pairs of a task that is not worth cutting.
const FEW_PAIRS: usize = 64;
/// Number of pairs per set from which on a join is faster than comparing every pair.
const JOINED_PAIRS_A_SET: usize = 64;
/// Number of terms from which on all workers join one group together.
const SHARED_JOIN_TERMS: usize = 1 << 18;
/// Maximum number of blocks, because every two of them take a reading. With far too little memory,
/// blocks are larger than the memory allows.
const MOST_BLOCKS: u64 = 16;
/// Minimum bytes of memory of a join for each term. With this much, the join needs few rounds.
const JOIN_BYTES_A_TERM: u64 = 8;

/// Two groups to compare, and the distance of their fingerprints.
#[derive(Clone, Copy, Debug)]
struct Task {
    a: u32,
    b: u32,
    distance: u32,
}

/// The groups of a collection, in blocks.
struct Side<'t> {
    texts: &'t RowTexts<'t>,
    groups: &'t RowGroups<'t>,
    /// The block of each group, ascending.
    blocks: Vec<u32>,
}

/// The pairs that are similar enough, and the rows with equal sets.
#[derive(Default)]
struct Verified {
    pairs: Vec<ClosePair>,
    /// Groups of rows with equal sets, for each side.
    repeated: [Vec<Vec<u32>>; 2],
}

/// Keeps the pairs of `close` whose sets of terms are similar enough.
///
/// # Errors
///
/// A collection cannot be read again, or the system lacks memory.
pub(crate) fn verify(
    close: &Close,
    texts: &Sides<RowTexts<'_>>,
    verifying: &Verifying<'_>,
) -> Result<Close> {
    let mut groups = close.groups.as_ref().map(RowGroups::new);
    let mut tasks = group_pairs(&close.pairs, |pair| match &mut groups {
        Sides::One(groups) => (groups.group_or_own(pair.a), groups.group_or_own(pair.b)),
        Sides::Two(first, second) => (first.group_or_own(pair.a), second.group_or_own(pair.b)),
    });
    if let Sides::One(groups) = &groups {
        let own = |group| Task { a: group, b: group, distance: 0 };
        tasks.extend((0..groups.len() as u32).map(own));
    }
    let grouped = texts.as_ref().zip(groups.as_ref());
    let Verified { pairs, repeated: [first, second] } = verifying.of(grouped, tasks)?;
    let [first, second] = [first, second].map(|groups| groups.into_iter().collect());
    let groups = if groups.is_two() { Sides::Two(first, second) } else { Sides::One(first) };
    Ok(Close {
        groups,
        pairs: pairs.into(),
        of_equal: Closeness::Verified(Similarity::ONE, 0),
        is_complete: true,
    })
}

/// Turns pairs of rows into pairs of groups with their distances.
fn group_pairs(pairs: &ClosePairs, mut groups: impl FnMut(ClosePair) -> (u32, u32)) -> Vec<Task> {
    let with_distance = pairs.iter().map(|pair| {
        let (a, b) = groups(pair);
        Task { a, b, distance: pair.closeness.distance().unwrap_or(0) }
    });
    with_distance.collect()
}

/// Texts and their groups.
type Grouped<'t> = (&'t RowTexts<'t>, &'t RowGroups<'t>);

impl<'t> Side<'t> {
    /// Cuts the groups into blocks whose sets take at most `most` bytes. A larger group is a block
    /// of its own.
    fn new((texts, groups): Grouped<'t>, most: u64) -> Self {
        let mut block = 0;
        let mut inside = 0;
        let block_of = |rows: &[u32]| {
            let bytes = texts.bytes_of_sets(rows);
            if inside > 0 && inside + bytes > most {
                (block, inside) = (block + 1, 0);
            }
            inside += bytes;
            block
        };
        let blocks = groups.iter().map(block_of).collect();
        Self { texts, groups, blocks }
    }

    fn block(&self, group: u32) -> u32 {
        self.blocks[group as usize]
    }

    fn block_count(&self) -> u32 {
        self.blocks.last().map_or(1, |last| last + 1)
    }

    fn classes(&self, wanted: impl Fn(u32) -> bool) -> Result<Classes> {
        self.texts.classes(self.groups, wanted)
    }
}

/// The required similarity of sets, and the approximate bytes that the sets may take.
pub(crate) struct Verifying<'p> {
    pub(crate) threshold: Threshold,
    pub(crate) memory: u64,
    pub(crate) context: &'p Context<'p>,
}

impl Verifying<'_> {
    /// Compares the groups of the tasks, within one collection or between two.
    fn of(&self, grouped: Sides<Grouped<'_>>, mut tasks: Vec<Task>) -> Result<Verified> {
        let bytes = |(texts, groups): Grouped<'_>| -> u64 {
            groups.iter().map(|rows| texts.bytes_of_sets(rows)).sum()
        };
        let total: u64 = grouped.iter().copied().map(bytes).sum();
        let most = if total <= self.memory {
            u64::MAX
        } else {
            // Two blocks are in memory at the same time, so each may take half of it.
            (self.memory / 2).max(total / MOST_BLOCKS)
        };
        let sides = grouped.map(|grouped| Side::new(grouped, most));
        let a = sides.first();
        let other = sides.second();
        let is_within = !sides.is_two();
        // Within one collection, the smaller block of each task comes first. So each pair of blocks
        // is visited once.
        if is_within {
            for task in &mut tasks {
                if a.block(task.a) > a.block(task.b) {
                    (task.a, task.b) = (task.b, task.a);
                }
            }
        }
        let blocks = |task: &Task| (a.block(task.a), other.block(task.b));
        // The tasks of two blocks follow each other, and are found by binary search below.
        tasks.sort_by_key(blocks);

        let mut verified = Verified::default();
        for first in 0..a.block_count() {
            let of_a = a.classes(|group| a.block(group) == first)?;
            verified.repeated[0].extend(of_a.repeated());
            let start = tasks.partition_point(|task| blocks(task) < (first, 0));
            for second in 0..other.block_count() {
                let from = tasks[start..].partition_point(|task| blocks(task) < (first, second));
                let behind = &tasks[start + from..];
                let both =
                    &behind[..behind.partition_point(|task| blocks(task) == (first, second))];
                let pairs = if is_within && first == second {
                    self.pairs(a, both, [&of_a, &of_a], true)?
                } else if !is_within && first == 0 {
                    // Each block is read as a whole once, to find its equal sets.
                    let of_b = other.classes(|group| other.block(group) == second)?;
                    verified.repeated[1].extend(of_b.repeated());
                    self.pairs(a, both, [&of_a, &of_b], false)?
                } else if both.is_empty() {
                    continue;
                } else {
                    // Only groups that have a task are read again, since reading costs more than
                    // comparing.
                    let mut wanted: Vec<u32> = both.iter().map(|task| task.b).collect();
                    wanted.sort_unstable();
                    let of_b = other.classes(|group| wanted.binary_search(&group).is_ok())?;
                    self.pairs(a, both, [&of_a, &of_b], is_within)?
                };
                verified.pairs.extend(pairs);
            }
        }
        verified.pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        for repeated in &mut verified.repeated {
            repeated.sort_unstable_by_key(|rows| rows[0]);
        }
        Ok(verified)
    }

    /// Returns the similar pairs of classes, named by their first rows, in no particular order.
    fn pairs(
        &self,
        side: &Side<'_>,
        tasks: &[Task],
        [of_a, of_b]: [&Classes; 2],
        is_within: bool,
    ) -> Result<Vec<ClosePair>> {
        let threshold = self.threshold;
        let comparison = |task: usize| {
            let Task { a, b, distance } = tasks[task];
            let is_same = is_within && a == b;
            let a = of_a.of_group(a);
            let b = of_b.of_group(b);
            let terms = side.texts.terms;
            Comparison { a, b, terms, distance, is_within, is_same }
        };
        let Pieces { pieces, shared } = Pieces::of(tasks.len(), comparison, threshold);
        let threads = self.context.threads();
        // A worker that joins alone gets its part of the memory, so that all workers together stay
        // within it.
        let alone = &self.context.for_part(self.memory);
        let together = &alone.with_threads_of(self.context);
        let share =
            Share::begin("comparing", self.context.progress()).part(1, pieces.len() + shared.len());
        let of_pieces = threads.map(pieces, |piece| {
            self.context.check_cancelled()?;
            let mut found = Vec::new();
            match piece {
                Piece::Tasks(tasks) => {
                    for comparison in tasks.map(comparison) {
                        comparison.merge(0..comparison.a.len(), threshold, &mut found);
                    }
                }
                Piece::Part(task, range) => comparison(task).merge(range, threshold, &mut found),
                Piece::Join(task) => comparison(task).join(threshold, alone, &mut found)?,
            }
            share.done();
            Ok(found)
        });
        let mut found = of_pieces.into_iter().collect::<Result<Vec<_>>>()?.concat();
        // Large joins follow each other, because each one uses all threads and all the memory.
        for task in shared {
            comparison(task).join(threshold, together, &mut found)?;
            share.done();
        }
        Ok(found)
    }
}

/// The classes of two groups that are compared.
#[derive(Clone, Copy)]
struct Comparison<'c> {
    a: &'c [Class],
    b: &'c [Class],
    /// The kind of terms in the sets, with their weights.
    terms: &'c DocumentTerms,
    distance: u32,
    /// Whether both groups belong to one collection.
    is_within: bool,
    /// Whether both are the same group. Then every two of its classes are compared once.
    is_same: bool,
}

impl Comparison<'_> {
    fn sets(&self) -> usize {
        self.a.len() + if self.is_same { 0 } else { self.b.len() }
    }

    fn terms(&self) -> usize {
        let terms =
            |classes: &[Class]| classes.iter().map(|class| class.terms.len()).sum::<usize>();
        terms(self.a) + if self.is_same { 0 } else { terms(self.b) }
    }

    /// Returns the range of classes of `b` whose weight permits enough similarity to class `first`
    /// of `a`.
    fn candidates(&self, first: usize, threshold: Threshold) -> Range<usize> {
        let weight = self.a[first].weight;
        let smallest = threshold.min_weight(weight);
        let start = self.b.partition_point(|other| other.weight < smallest.max(1));
        // Within one group, only the classes before `first` are candidates, so that each pair is
        // compared once. The classes are sorted by weight, so none of these is heavier than
        // `first`.
        let end = if self.is_same {
            first
        } else {
            self.b.partition_point(|other| threshold.min_weight(other.weight) <= weight)
        };
        start..end.max(start)
    }

    /// Counts the pairs of classes whose weights permit enough similarity.
    fn pairs(&self, threshold: Threshold) -> usize {
        (0..self.a.len()).map(|first| self.candidates(first, threshold).len()).sum()
    }

    /// Compares some classes of the first group with each of their candidates.
    fn merge(&self, range: Range<usize>, threshold: Threshold, found: &mut Vec<ClosePair>) {
        for first in range {
            let a = &self.a[first];
            for b in &self.b[self.candidates(first, threshold)] {
                let similarity = similarity_if_enough(a, b, threshold);
                found.extend(similarity.map(|similarity| self.pair(a, b, similarity)));
            }
        }
    }

    /// Finds the similar pairs by a join of sets.
    fn join(
        &self,
        threshold: Threshold,
        context: &Context<'_>,
        found: &mut Vec<ClosePair>,
    ) -> Result<()> {
        let least = self.terms() as u64 * JOIN_BYTES_A_TERM;
        // With too little memory, a join needs many rounds. Exceeding the budget a little is
        // better.
        let context = &context.with_memory(context.memory().limit().max(least));
        let join = SetJoin::new(threshold, context);
        let of_terms = |classes| ClassTerms { classes, terms: self.terms };
        let alike = if self.is_same {
            join.self_join(&of_terms(self.a))?
        } else {
            join.query(&of_terms(self.a), &of_terms(self.b))?
        };
        found.extend(alike.pairs.iter().filter_map(|pair| {
            let similarity = pair.closeness.exact_similarity()?;
            Some(self.pair(&self.a[pair.a as usize], &self.b[pair.b as usize], similarity))
        }));
        Ok(())
    }

    fn pair(&self, a: &Class, b: &Class, similarity: Similarity) -> ClosePair {
        let a = a.rows[0];
        let b = b.rows[0];
        ClosePair {
            a: if self.is_within { a.min(b) } else { a },
            b: if self.is_within { a.max(b) } else { b },
            closeness: Closeness::Verified(similarity, self.distance),
        }
    }
}

/// Returns the similarity of two sets if it reaches the threshold.
fn similarity_if_enough(a: &Class, b: &Class, threshold: Threshold) -> Option<Similarity> {
    if a.weights.is_empty() {
        // The casts lose nothing, because texts are shorter than 4 GiB.
        let needed = threshold.min_shared(a.weight as u32, b.weight as u32) as usize;
        let shared = shared_if_enough(&a.terms, &b.terms, needed)?;
        return Some(threshold.similarity(shared as u64, a.weight, b.weight));
    }
    let needed = threshold.min_shared_weight(a.weight, b.weight);
    let [left, right] = [a, b].map(|class| class.terms.iter().zip(class.weights.iter().copied()));
    let shared = shared_weight_if_enough(left, right, [a.weight, b.weight], needed)?;
    threshold.reached(shared, a.weight, b.weight)
}

/// A unit of work for one worker.
enum Piece {
    /// A range of tasks with few pairs each.
    Tasks(Range<usize>),
    /// A range of classes of the first group of a task.
    Part(usize, Range<usize>),
    /// A task that one worker solves by a join.
    Join(usize),
}

/// All work on some tasks.
#[derive(Default)]
struct Pieces {
    /// Pieces with about the same number of pairs.
    pieces: Vec<Piece>,
    /// Tasks that all workers join together.
    shared: Vec<usize>,
}

impl Pieces {
    fn of<'c>(
        tasks: usize,
        comparison: impl Fn(usize) -> Comparison<'c>,
        threshold: Threshold,
    ) -> Self {
        let mut work = Self::default();
        // First task and number of pairs of the present run of small tasks.
        let mut first = 0;
        let mut pairs = 0;
        for task in 0..tasks {
            let comparison = comparison(task);
            let most = comparison.a.len() * comparison.b.len();
            if most <= FEW_PAIRS {
                pairs += most.max(1);
                if pairs >= PIECE_PAIRS {
                    work.pieces.push(Piece::Tasks(first..task + 1));
                    (first, pairs) = (task + 1, 0);
                }
                continue;
            }
            if first < task {
                work.pieces.push(Piece::Tasks(first..task));
            }
            (first, pairs) = (task + 1, 0);
            if comparison.pairs(threshold) <= comparison.sets() * JOINED_PAIRS_A_SET {
                work.cut(task, comparison, threshold);
            } else if comparison.terms() < SHARED_JOIN_TERMS {
                work.pieces.push(Piece::Join(task));
            } else {
                work.shared.push(task);
            }
        }
        if first < tasks {
            work.pieces.push(Piece::Tasks(first..tasks));
        }
        work
    }

    /// Cuts a task into ranges of about `PIECE_PAIRS` pairs.
    fn cut(&mut self, task: usize, comparison: Comparison<'_>, threshold: Threshold) {
        let mut start = 0;
        let mut pairs = 0;
        for at in 0..comparison.a.len() {
            pairs += comparison.candidates(at, threshold).len();
            if pairs >= PIECE_PAIRS || at + 1 == comparison.a.len() {
                self.pieces.push(Piece::Part(task, start..at + 1));
                (start, pairs) = (at + 1, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
