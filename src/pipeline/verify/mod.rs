//! Verifies pairs of documents with close fingerprints: keeps the pairs whose sets of terms are similar
//! enough.
//!
//! A group of n equal fingerprints has about n² / 2 pairs. So documents of a group with equal sets are first
//! merged into a class, and only the different sets are compared. If there are many sets, the exact join of
//! sets compares them. If there are few sets, each set is compared with the sets whose size permits enough
//! similarity.
//!
//! Groups are divided into blocks, so that the sets of any two blocks fit in memory. Work is divided by pairs
//! of sets, so that one large group keeps all threads busy.

mod cost;
mod text_classes;
mod verifier;

pub use verifier::Verifier;

pub(crate) use cost::verify_cost;
pub(crate) use text_classes::RowTexts;

use crate::method::DocumentTerms;
use simtool_base::error::Result;
use simtool_base::progress::Share;
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::groups::{Groups, RowGroups};
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_set_join::close::{Close, ClosePair, ClosePairs};
use simtool_set_join::{SetJoin, shared_if_enough, shared_weight_if_enough};
use std::ops::Range;
use text_classes::{Class, ClassTerms, Classes};

/// Approximate number of pairs of sets of terms that a thread compares in one step.
const PIECE_PAIRS: usize = 4096;
/// Maximum number of pairs of sets for which a task (the comparison of two groups) counts as small. One
/// thread does several small tasks in one step.
const FEW_PAIRS: usize = 64;
/// Number of pairs per set above which a task (the comparison of two groups) is done by the exact join of
/// sets. With fewer pairs, comparing each pair is faster.
const JOINED_PAIRS_A_SET: usize = 64;
/// Bytes of memory for each pair of documents that is verified. A pair is stored in a list of comparisons first, and
/// then in two lists of results.
const BYTES_A_PAIR: u64 = 128;
/// Minimum number of terms of two groups for which all threads work on one join of the groups. One thread
/// alone joins groups with fewer terms.
const SHARED_JOIN_TERMS: usize = 1 << 18;
/// Approximate maximum number of blocks into which the groups of a collection are divided. For each pair of
/// blocks, texts are read again. So if the memory is far too small, blocks are larger than the memory allows.
const MOST_BLOCKS: u64 = 16;
/// Minimum number of bytes of memory that a join of sets gets for each term. With less memory, the join would
/// need many rounds.
const JOIN_BYTES_A_TERM: u64 = 8;

/// A task: the comparison of all sets of group `a` with all sets of group `b`. The documents of a group have equal
/// fingerprints, and `distance` is the distance between the fingerprints of the two groups.
#[derive(Clone, Copy, Debug)]
struct GroupTask {
    a: u32,
    b: u32,
    distance: u32,
}

/// Groups of documents of one collection, divided into blocks. The sets of terms of two blocks fit in memory together.
struct BlockedGroups<'t> {
    texts: &'t RowTexts<'t>,
    groups: &'t RowGroups<'t>,
    /// For each group, the number of the block that contains the group. The numbers ascend.
    blocks: Vec<u32>,
}

/// Result of comparing sets of terms: pairs of documents whose sets of terms are similar enough, and groups of
/// documents with equal sets.
#[derive(Default)]
struct Verified {
    pairs: Vec<ClosePair>,
    /// Groups of documents with equal sets, for each collection. If there is one collection, the second list
    /// is empty.
    repeated: [Vec<Vec<u32>>; 2],
}

/// Reads the texts of the pairs in `close` again. Returns the pairs whose sets of terms have at least the
/// similarity [`Verifying::threshold`].
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
        let own = |group| GroupTask { a: group, b: group, distance: 0 };
        tasks.extend((0..groups.len() as u32).map(own));
    }
    let grouped = texts.as_ref().zip(groups.as_ref());
    let Verified { pairs, repeated: [first, second] } = verifying.verify(grouped, tasks)?;
    let [first, second] =
        [first, second].map(|groups| groups.into_iter().collect::<Groups>().several());
    let groups = if groups.is_two() { Sides::Two(first, second) } else { Sides::One(first) };
    Ok(Close::new(groups, pairs.into(), Closeness::Verified(Similarity::ONE, 0)))
}

/// Returns whether the exact join of sets finds the similar pairs of `close` better than [`verify`], because
/// there are many pairs for each document, or because they do not fit in `memory` bytes.
pub(crate) fn is_better_joined(close: &Close, memory: u64) -> bool {
    let mut is_linked: Vec<bool> = Vec::new();
    for row in (0..close.pairs.len()).flat_map(|pair| close.pairs.rows(pair)) {
        if row as usize >= is_linked.len() {
            is_linked.resize(row as usize + 1, false);
        }
        is_linked[row as usize] = true;
    }
    let rows = is_linked.iter().filter(|&&is_linked| is_linked).count();
    close.pairs.len() > rows * JOINED_PAIRS_A_SET
        || close.pair_count().saturating_mul(BYTES_A_PAIR) > memory
}

/// Converts each pair of documents to a task that compares the groups of the two documents. `groups` returns the
/// numbers of these groups for a pair.
fn group_pairs(
    pairs: &ClosePairs,
    mut groups: impl FnMut(ClosePair) -> (u32, u32),
) -> Vec<GroupTask> {
    let with_distance = pairs.iter().map(|pair| {
        let (a, b) = groups(pair);
        GroupTask { a, b, distance: pair.closeness.distance().unwrap_or(0) }
    });
    with_distance.collect()
}

/// The texts of a collection, and the documents of each of its groups.
type Grouped<'t> = (&'t RowTexts<'t>, &'t RowGroups<'t>);

impl<'t> BlockedGroups<'t> {
    /// Divides the groups of a collection into blocks. The sets of a block take at most `most` bytes. A group
    /// that takes more bytes is a block of its own.
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

/// Swaps the groups of each task, if necessary, so that `a` is in the block with the smaller number. Each pair of
/// blocks is then visited once. All groups belong to one collection.
fn put_smaller_block_first(tasks: &mut [GroupTask], side: &BlockedGroups<'_>) {
    for task in tasks {
        if side.block(task.a) > side.block(task.b) {
            (task.a, task.b) = (task.b, task.a);
        }
    }
}

/// Reads the texts of the second group (`b`) of each task. Returns the classes of these groups. A class has the
/// documents of a group with equal sets of terms. Other groups are not read, because reading costs more than comparing.
fn classes_of_tasks(side: &BlockedGroups<'_>, tasks: &[GroupTask]) -> Result<Classes> {
    let mut wanted: Vec<u32> = tasks.iter().map(|task| task.b).collect();
    wanted.sort_unstable();
    side.classes(|group| wanted.binary_search(&group).is_ok())
}

/// Settings of verifying: minimum similarity of sets, approximate number of bytes that sets may take, and the
/// context of the run.
pub(crate) struct Verifying<'p> {
    pub(crate) threshold: Threshold,
    pub(crate) memory: u64,
    pub(crate) context: &'p Context<'p>,
}

impl Verifying<'_> {
    /// Compares the sets of terms of the two groups of each task, within one collection or between two. `grouped` has
    /// the texts and the groups of each collection.
    fn verify(&self, grouped: Sides<Grouped<'_>>, mut tasks: Vec<GroupTask>) -> Result<Verified> {
        let most = self.most_bytes_a_block(&grouped);
        let sides = grouped.map(|grouped| BlockedGroups::new(grouped, most));
        let a = sides.first();
        let other = sides.second();
        let is_within = !sides.is_two();
        if is_within {
            put_smaller_block_first(&mut tasks, a);
        }
        let blocks = |task: &GroupTask| (a.block(task.a), other.block(task.b));
        // After sorting, the tasks of two blocks follow each other. They are found by binary search below.
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
                    // Each block is read completely once, in order to find its equal sets.
                    let of_b = other.classes(|group| other.block(group) == second)?;
                    verified.repeated[1].extend(of_b.repeated());
                    self.pairs(a, both, [&of_a, &of_b], false)?
                } else if both.is_empty() {
                    continue;
                } else {
                    let of_b = classes_of_tasks(other, both)?;
                    self.pairs(a, both, [&of_a, &of_b], is_within)?
                };
                verified.pairs.extend(pairs);
            }
        }
        verified.pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        Ok(verified)
    }

    /// Returns the maximum number of bytes that the sets of a block take.
    fn most_bytes_a_block(&self, grouped: &Sides<Grouped<'_>>) -> u64 {
        let bytes = |(texts, groups): Grouped<'_>| -> u64 {
            groups.iter().map(|rows| texts.bytes_of_sets(rows)).sum()
        };
        let total: u64 = grouped.iter().copied().map(bytes).sum();
        if total <= self.memory {
            return u64::MAX;
        }
        // Two blocks are in memory at the same time, so each block may take half of the memory.
        (self.memory / 2).max(total / MOST_BLOCKS)
    }

    /// Compares the sets of terms in the groups of documents that `tasks` name, and returns the pairs of sets that are
    /// similar but not equal, in any order. Documents can have equal sets, so a pair names each set by the first
    /// document that has it. `of_a` and `of_b` have the sets of the first and second groups of the tasks.
    fn pairs(
        &self,
        side: &BlockedGroups<'_>,
        tasks: &[GroupTask],
        [of_a, of_b]: [&Classes; 2],
        is_within: bool,
    ) -> Result<Vec<ClosePair>> {
        let threshold = self.threshold;
        let comparison = |task: usize| {
            let GroupTask { a, b, distance } = tasks[task];
            let is_same = is_within && a == b;
            let a = of_a.of_group(a);
            let b = of_b.of_group(b);
            let terms = side.texts.terms;
            GroupComparison { a, b, terms, distance, is_within, is_same }
        };
        let Pieces { pieces, shared } = Pieces::of(tasks.len(), comparison, threshold);
        let threads = self.context.threads();
        // A thread that joins alone gets its share of the memory, so that all threads together stay within
        // it.
        let alone = &self.context.for_part(self.memory);
        let together = &alone.with_threads_of(self.context);
        let share =
            Share::begin("comparing", self.context.progress()).part(1, pieces.len() + shared.len());
        let of_pieces = threads.map(pieces, |piece| {
            self.context.check_cancelled()?;
            let mut found = Vec::new();
            match piece {
                WorkPiece::Tasks(tasks) => {
                    for comparison in tasks.map(comparison) {
                        comparison.merge(0..comparison.a.len(), threshold, &mut found);
                    }
                }
                WorkPiece::Part(task, range) => {
                    comparison(task).merge(range, threshold, &mut found);
                }
                WorkPiece::Join(task) => comparison(task).join(threshold, alone, &mut found)?,
            }
            share.done();
            Ok(found)
        });
        let mut found = of_pieces.into_iter().collect::<Result<Vec<_>>>()?.concat();
        // Large joins run one after the other, because each uses all threads and all the memory.
        for task in shared {
            comparison(task).join(threshold, together, &mut found)?;
            share.done();
        }
        Ok(found)
    }
}

/// Two groups of documents whose sets of terms are compared. Each group is given as a list of classes, which are
/// documents of the group with equal sets.
#[derive(Clone, Copy)]
struct GroupComparison<'c> {
    a: &'c [Class],
    b: &'c [Class],
    /// Settings by which the terms of the sets were found, and which give the weight of each term.
    terms: &'c DocumentTerms,
    distance: u32,
    /// Whether both groups belong to one collection.
    is_within: bool,
    /// Whether a group is compared with itself. Then each pair of its classes is compared only once.
    is_same: bool,
}

impl GroupComparison<'_> {
    fn sets(&self) -> usize {
        self.a.len() + if self.is_same { 0 } else { self.b.len() }
    }

    fn terms(&self) -> usize {
        let terms =
            |classes: &[Class]| classes.iter().map(|class| class.terms.len()).sum::<usize>();
        terms(self.a) + if self.is_same { 0 } else { terms(self.b) }
    }

    /// Returns the range of the classes of `b` (documents with equal sets) that may be similar enough to class number
    /// `first` of `a`. Only the weights of their sets are compared.
    fn candidates(&self, first: usize, threshold: Threshold) -> Range<usize> {
        let weight = self.a[first].weight;
        let smallest = threshold.min_weight(weight);
        let start = self.b.partition_point(|other| other.weight < smallest.max(1));
        // Within one group, only the classes before `first` are candidates, so that each pair is compared
        // once. Classes are sorted by weight, so none of these weighs more than `first`.
        let end = if self.is_same {
            first
        } else {
            self.b.partition_point(|other| threshold.min_weight(other.weight) <= weight)
        };
        start..end.max(start)
    }

    /// Returns the number of pairs of a class of `a` and a class of `b` that may be similar enough. Only the
    /// weights of their sets are compared.
    fn pairs(&self, threshold: Threshold) -> usize {
        (0..self.a.len()).map(|first| self.candidates(first, threshold).len()).sum()
    }

    /// Compares the classes of `a` in `range` with each of their candidates by merging their sorted terms. Adds similar
    /// pairs to `found`.
    fn merge(&self, range: Range<usize>, threshold: Threshold, found: &mut Vec<ClosePair>) {
        for first in range {
            let a = &self.a[first];
            for b in &self.b[self.candidates(first, threshold)] {
                let similarity = similarity_if_enough(a, b, threshold);
                found.extend(similarity.map(|similarity| self.pair(a, b, similarity)));
            }
        }
    }

    /// Finds the similar pairs of classes by the exact join of sets, and adds them to `found`.
    fn join(
        &self,
        threshold: Threshold,
        context: &Context<'_>,
        found: &mut Vec<ClosePair>,
    ) -> Result<()> {
        let least = self.terms() as u64 * JOIN_BYTES_A_TERM;
        // With too little memory, a join needs many rounds. It is better to exceed the memory a little.
        let context = &context.with_memory(context.memory().limit().max(least));
        let join = SetJoin::new(threshold, context);
        let of_terms = |classes| ClassTerms { classes, terms: self.terms };
        let similar = if self.is_same {
            join.self_join(&of_terms(self.a))?
        } else {
            join.query(&of_terms(self.a), &of_terms(self.b))?
        };
        found.extend(similar.pairs.iter().filter_map(|pair| {
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

/// Returns the similarity of the sets of two classes, or `None` if it is below the threshold.
fn similarity_if_enough(a: &Class, b: &Class, threshold: Threshold) -> Option<Similarity> {
    if a.weights.is_empty() {
        // The casts lose no bits, because texts are shorter than 4 GiB.
        let needed = threshold.min_shared(a.weight as u32, b.weight as u32) as usize;
        let shared = shared_if_enough(&a.terms, &b.terms, needed)?;
        return Some(threshold.similarity(shared as u64, a.weight, b.weight));
    }
    let needed = threshold.min_shared_weight(a.weight, b.weight);
    let [left, right] = [a, b].map(|class| class.terms.iter().zip(class.weights.iter().copied()));
    let shared = shared_weight_if_enough(left, right, [a.weight, b.weight], needed)?;
    threshold.reached(shared, a.weight, b.weight)
}

/// Work that one thread does in one step. A task (the comparison of two groups) is named by its position in
/// the list of tasks.
enum WorkPiece {
    /// Does all tasks in this range. Each task has few pairs of sets.
    Tasks(Range<usize>),
    /// Does a part of a large task: compares a range of the classes of its first group with its second group.
    Part(usize, Range<usize>),
    /// Does this task by the exact join of sets.
    Join(usize),
}

/// The work on a list of tasks, divided into steps for threads.
#[derive(Default)]
struct Pieces {
    /// Steps that one thread does alone. Except for joins, all steps have about the same number of pairs of
    /// sets.
    pieces: Vec<WorkPiece>,
    /// Tasks that all threads do together, one after the other, by the exact join of sets.
    shared: Vec<usize>,
}

impl Pieces {
    fn of<'c>(
        tasks: usize,
        comparison: impl Fn(usize) -> GroupComparison<'c>,
        threshold: Threshold,
    ) -> Self {
        let mut work = Self::default();
        // First task of the small tasks that are collected for the next step, and their number of pairs.
        let mut first = 0;
        let mut pairs = 0;
        for task in 0..tasks {
            let comparison = comparison(task);
            let most = comparison.a.len() * comparison.b.len();
            if most <= FEW_PAIRS {
                pairs += most.max(1);
                if pairs >= PIECE_PAIRS {
                    work.pieces.push(WorkPiece::Tasks(first..task + 1));
                    (first, pairs) = (task + 1, 0);
                }
                continue;
            }
            if first < task {
                work.pieces.push(WorkPiece::Tasks(first..task));
            }
            (first, pairs) = (task + 1, 0);
            if comparison.pairs(threshold) <= comparison.sets() * JOINED_PAIRS_A_SET {
                work.cut(task, comparison, threshold);
            } else if comparison.terms() < SHARED_JOIN_TERMS {
                work.pieces.push(WorkPiece::Join(task));
            } else {
                work.shared.push(task);
            }
        }
        if first < tasks {
            work.pieces.push(WorkPiece::Tasks(first..tasks));
        }
        work
    }

    /// Divides the task number `task` into steps. Each step compares a range of the classes of the first group and has
    /// about [`PIECE_PAIRS`] pairs.
    fn cut(&mut self, task: usize, comparison: GroupComparison<'_>, threshold: Threshold) {
        let mut start = 0;
        let mut pairs = 0;
        for at in 0..comparison.a.len() {
            pairs += comparison.candidates(at, threshold).len();
            if pairs >= PIECE_PAIRS || at + 1 == comparison.a.len() {
                self.pieces.push(WorkPiece::Part(task, start..at + 1));
                (start, pairs) = (at + 1, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
