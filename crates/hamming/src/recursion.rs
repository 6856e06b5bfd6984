//! The recursion under the self-join and the bipartite join.
//!
//! A bucket of records that agree in the blocks of a path is partitioned by the rest of the last
//! block; where it is still big, by one more block (see [`split`](super::split)); and compared
//! pair by pair where that is cheaper. Partitions may be as coarse as one likes, since every
//! candidate is checked against the whole path.
//!
//! # A path and its masks
//!
//! Rows of 64 bits at k = 3: four groups of free bits, of which the third is the first that agrees;
//! then, as the bucket is still big, one difference is left for the bits that are still free, so of
//! two groups of these one agrees, here the second.
//!
//! ```text
//!                0 ........ 15 16 ....... 31 32 ....... 47 48 ....... 63
//! root           free          free          free          free            k = 3 differences left
//!                   │ split_free: 4 groups, child 2
//!                   ▼
//! child 2        ≠ unequal     ≠ unequal     = block       free            1 left for the free bits
//!                                            │ partition by the block's hash: 8 bits at a time,
//!                                            │ `used` says how many of them so far
//!                   ┌────────────────────────┘
//!                   │ bucket: all agree in 32 .. 47; split_free: 2 groups, child 1
//!                   ▼
//! child 1        ≠ unequal     ≠ unequal     = equal       ≠ unequal│= block   none left
//!                                            │ partition by the hash of the new block
//!                                            ▼
//! leaf           every pair of the bucket: folds to 32 or 64 bits first, then the whole rows:
//!                no more than k differences, none under `equal`, one at least under each `unequal`
//! ```
//!
//! * A *fold* is the XOR of a row's words. It is linear and never has more bits set than the row,
//!   so two rows whose folds are farther apart than k are so themselves.
//! * *Numbers* say which row of the caller's a record is. At the root nothing was moved yet, and
//!   they are 0, 1, 2 and so on without being written down ([`Numbers::FromZero`]).
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, for
//! the blocks. J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018, for uneven budgets
//! and groups of bits that follow the data.

use crate::collect::Collect;
use crate::parallel_partition::{Records, partition};
use crate::split::{BitWeights, Costs, Node, Path};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::progress::Share;
use simtool_kernels::Isa;
use simtool_kernels::hamming_accept::{PairTest, accept};
use simtool_kernels::hamming_pairs::{Candidates, near_pairs_32, near_pairs_64};
use simtool_kernels::partition::{BlockHash, Parts, count, scatter};
use simtool_model::fingerprint_table::{Lane, Reach, Wide};
use simtool_model::validity::Validity;
use std::mem::take;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Records for which the bits are weighed anew.
const WEIGH_RECORDS: usize = 4096;
/// Records from which several threads share a bucket, at least.
const LARGE_RECORDS: usize = 1 << 15;
/// The share of all records from which several threads share a bucket.
const LARGE_SHARE: usize = 128;
/// Bits of a partition in the caches, and of one that several threads share.
pub(super) const SMALL_BITS: u32 = 10;
pub(super) const LARGE_BITS: u32 = 8;
/// Rows of a leaf that one task compares; a multiple of the kernel's tile.
const LEAF_ROWS: usize = 1024;
/// What the memory is for that grows with the records.
pub(super) const RECORDS: &str = "the partitions of the fingerprints";
/// The largest distance for which folds to 32 bits are selective.
pub(super) const FOLD_DISTANCE: u32 = 6;

/// What moves in place of a row of many words: the key of its block, and its fold (see
/// [`first_level`](super::first_level)).
pub(super) type Sketch = Wide<2>;

/// One join: what is looked for, and memory that its threads lend each other.
pub(super) struct Join<'a, W, C> {
    pub(super) reach: Reach,
    pub(super) isa: Isa,
    /// Records below this number are queries and meet only the others; 0 in a self-join.
    pub(super) boundary: u32,
    pub(super) collect: &'a C,
    short_words: bool,
    pub(super) costs: Costs,
    pub(super) large_records: usize,
    scratch: Mutex<Vec<Scratch<W>>>,
    buffers: Mutex<Vec<Buffer<W>>>,
}

/// The numbers of a bucket's records.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    /// 0, 1, 2 and so on: nothing was moved yet.
    FromZero,
    /// The same, of which only those that have a value are records.
    Valid(&'a Validity),
    Given(&'a [u32]),
}

impl Numbers<'_> {
    /// Hands the records of `values`, with their numbers, to `work`.
    fn with<W: Lane, T>(self, values: &[W], work: impl FnOnce(Records<'_, W>) -> T) -> T {
        match self {
            Self::FromZero => {
                let numbers: Vec<u32> = (0..values.len() as u32).collect();
                work(Records { values, numbers: &numbers })
            }
            Self::Valid(valid) => {
                let all = values.iter().copied().zip(0u32..);
                let (values, numbers): (Vec<W>, Vec<u32>) =
                    all.filter(|&(_, number)| valid.has_value(number as usize)).unzip();
                work(Records { values: &values, numbers: &numbers })
            }
            Self::Given(numbers) => work(Records { values, numbers }),
        }
    }
}

type Buffer<W> = (LargeBuffer<W>, LargeBuffer<u32>);

/// Memory for as many records as a join begins with.
///
/// # Errors
///
/// It cannot be had.
pub(super) fn new_buffer<W: Lane>(records: usize) -> Result<Buffer<W>> {
    let values = LargeBuffer::try_zeroed(records, RECORDS)?;
    Ok((values, LargeBuffer::try_zeroed(records, RECORDS)?))
}

/// Memory of one thread.
pub(super) struct Scratch<W> {
    levels: Vec<Level<W>>,
    words_32: Vec<u32>,
    pub(super) words_64: Vec<u64>,
    pub(super) candidates: Candidates,
    pub(super) sketches: Level<Sketch>,
    /// Pairs of rows by number, of which the sketches do not say that they are too far apart.
    pub(super) likely: Vec<(u32, u32)>,
}

/// Memory of one level of one thread's recursion: a partition of records.
pub(super) struct Level<W> {
    values: Vec<W>,
    numbers: Vec<u32>,
    /// Where the next record of each part goes; at last, where the part ends.
    next: Vec<u32>,
}

impl<W: Lane> Level<W> {
    /// Counts the records of each part, and returns the length of the largest part.
    pub(super) fn count(&mut self, records: Records<'_, W>, hash: &BlockHash<W>) -> usize {
        self.next.clear();
        self.next.resize(hash.parts(), 0);
        count(records.values, hash, &mut self.next);
        let (mut place, mut largest) = (0, 0);
        for next in &mut self.next {
            largest = largest.max(*next);
            place += std::mem::replace(next, place);
        }
        largest as usize
    }

    /// Copies the records that were [counted](Self::count) part by part.
    pub(super) fn scatter(&mut self, records: Records<'_, W>, hash: &BlockHash<W>) {
        let length = records.len();
        if self.values.len() < length {
            self.values.resize(length, W::ZERO);
            self.numbers.resize(length, 0);
        }
        let (values, numbers) = (&mut self.values[..length], &mut self.numbers[..length]);
        scatter(records.values, records.numbers, hash, &mut self.next, values, numbers);
    }

    /// The parts of two records and more.
    pub(super) fn buckets(&self) -> impl Iterator<Item = Records<'_, W>> {
        let all = Records { values: &self.values, numbers: &self.numbers };
        let starts = std::iter::once(0).chain(self.next.iter().copied());
        let parts = starts.zip(&self.next).map(|(start, &end)| start as usize..end as usize);
        parts.filter(|part| part.len() > 1).map(move |part| all.slice(part))
    }
}

impl<W> Default for Level<W> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: Vec::new(), next: Vec::new() }
    }
}

impl<W> Default for Scratch<W> {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            words_32: Vec::new(),
            words_64: Vec::new(),
            candidates: Candidates::default(),
            sketches: Level::default(),
            likely: Vec::new(),
        }
    }
}

impl<'a, W: Lane, C: Collect> Join<'a, W, C> {
    /// A join of `values`; those before `boundary` are queries.
    pub(super) fn new(
        values: &[W],
        boundary: u32,
        reach: Reach,
        isa: Isa,
        collect: &'a C,
        spare: Option<Buffer<W>>,
    ) -> Self {
        let bits = values.iter().fold(W::ZERO, |all, &value| all | value);
        let is_short = bits & !W::lowest_bits(32) == W::ZERO;
        let short_words = reach.most_bits() <= FOLD_DISTANCE || is_short;
        Self {
            reach,
            isa,
            boundary,
            collect,
            short_words,
            costs: Costs::of(isa, W::WORDS, reach, short_words),
            large_records: LARGE_RECORDS.max(values.len() / LARGE_SHARE),
            scratch: Mutex::new(Vec::new()),
            buffers: Mutex::new(spare.into_iter().collect()),
        }
    }

    /// The pairs of a bucket of a path, whose records agree in `used` bits of the hash of its block.
    pub(super) fn run_bucket(
        &self,
        records: Records<'_, W>,
        path: &Path<W>,
        used: u32,
        share: Share<'_>,
    ) -> C::Part {
        let node =
            Node::new(path.clone(), Arc::new(BitWeights::of(records.values, self.reach.shape)));
        self.large(
            records.values,
            Numbers::Given(records.numbers),
            &node,
            used.min(node.width),
            share,
        )
    }

    /// The pairs of a bucket that agree in `used` bits of the hash of the path's last block: by
    /// several threads, if the bucket is large. `share` is what it is of the whole join; a join that
    /// is no longer wanted finds nothing more.
    pub(super) fn large(
        &self,
        values: &[W],
        numbers: Numbers<'_>,
        node: &Node<W>,
        used: u32,
        share: Share<'_>,
    ) -> C::Part {
        if share.is_cancelled() {
            return self.collect.part();
        }
        if values.len() < self.large_records {
            let part = self.with_scratch(|scratch| {
                let mut part = self.collect.part();
                numbers.with(values, |records| {
                    self.small(records, node, used, 0, scratch, &mut part);
                });
                part
            });
            share.done();
            return part;
        }
        if used < node.width {
            return self.partition_large(values, numbers, node, used, share);
        }
        let compares = match numbers {
            Numbers::Given(numbers) => self.compares(numbers).1,
            Numbers::FromZero | Numbers::Valid(_) => self.compares_of(values.len()),
        };
        if compares == 0.0 {
            share.done();
            return self.collect.part();
        }
        let node = node.weighed(BitWeights::of(values, self.reach.shape));
        match node.split(self.reach.max_distance, values.len(), compares, self.costs) {
            Some(children) => {
                let mut part = self.collect.part();
                let share = share.part(1, children.len());
                for child in children {
                    self.collect.merge(&mut part, self.large(values, numbers, child, 0, share));
                }
                part
            }
            None => numbers.with(values, |records| self.leaf_large(records, &node.path, share)),
        }
    }

    /// [`Self::large`] of each part of the next bits of the block's hash.
    fn partition_large(
        &self,
        values: &[W],
        numbers: Numbers<'_>,
        node: &Node<W>,
        used: u32,
        share: Share<'_>,
    ) -> C::Part {
        let bits = LARGE_BITS.min(node.width - used);
        let hash = BlockHash::new(node.path.block, used, bits);
        let (mut part_values, mut part_numbers) = self.buffer(values.len());
        let starts = match numbers {
            Numbers::FromZero => {
                let records = |range: Range<usize>| {
                    values[range.clone()].iter().copied().zip(range.start as u32..)
                };
                partition(values.len(), records, &hash, &mut part_values, &mut part_numbers)
            }
            Numbers::Valid(valid) => {
                let records = |range: Range<usize>| {
                    let all = values[range.clone()].iter().copied().zip(range.start as u32..);
                    all.filter(|&(_, number)| valid.has_value(number as usize))
                };
                partition(values.len(), records, &hash, &mut part_values, &mut part_numbers)
            }
            Numbers::Given(numbers) => {
                let records = |range: Range<usize>| {
                    values[range.clone()].iter().copied().zip(numbers[range].iter().copied())
                };
                partition(values.len(), records, &hash, &mut part_values, &mut part_numbers)
            }
        };
        let parts: Vec<C::Part> = (0..hash.parts())
            .into_par_iter()
            .with_max_len(1)
            .map(|i| {
                let range = starts[i]..starts[i + 1];
                let numbers = Numbers::Given(&part_numbers[range.clone()]);
                let share = share.part(range.len(), values.len());
                self.large(&part_values[range], numbers, node, used + bits, share)
            })
            .collect();
        self.give_back((part_values, part_numbers));
        self.merged(parts)
    }

    /// [`Self::large`] by one thread.
    pub(super) fn small(
        &self,
        records: Records<'_, W>,
        node: &Node<W>,
        used: u32,
        depth: usize,
        scratch: &mut Scratch<W>,
        part: &mut C::Part,
    ) {
        let length = records.len();
        let (queries, compares) = self.compares(records.numbers);
        if compares == 0.0 {
            return;
        }
        if length <= self.costs.leaf_records() {
            return self.leaf(records, queries, &node.path, scratch, part);
        }
        if used < node.width {
            return self.partition_small(records, node, used, depth, scratch, part);
        }
        let weighed;
        let node = if length < WEIGH_RECORDS {
            node
        } else {
            weighed = node.weighed(BitWeights::of(records.values, self.reach.shape));
            &weighed
        };
        match node.split(self.reach.max_distance, length, compares, self.costs) {
            Some(children) => {
                for child in children {
                    self.small(records, child, 0, depth, scratch, part);
                }
            }
            None => self.leaf(records, queries, &node.path, scratch, part),
        }
    }

    /// [`Self::small`] of each part of the next bits of the block's hash.
    fn partition_small(
        &self,
        records: Records<'_, W>,
        node: &Node<W>,
        used: u32,
        depth: usize,
        scratch: &mut Scratch<W>,
        part: &mut C::Part,
    ) {
        let length = records.len();
        let rest = node.width - used;
        let bits = (length * 2 / self.costs.leaf_records()).ilog2().clamp(1, SMALL_BITS).min(rest);
        let hash = BlockHash::new(node.path.block, used, bits);
        if scratch.levels.len() <= depth {
            scratch.levels.resize_with(depth + 1, Level::default);
        }
        let mut level = take(&mut scratch.levels[depth]);
        if level.count(records, &hash) == length {
            scratch.levels[depth] = level;
            return self.small(records, node, used + bits, depth, scratch, part);
        }
        level.scatter(records, &hash);
        for child in level.buckets() {
            self.small(child, node, used + bits, depth + 1, scratch, part);
        }
        scratch.levels[depth] = level;
    }

    /// Compares all pairs.
    fn leaf(
        &self,
        records: Records<'_, W>,
        queries: usize,
        path: &Path<W>,
        scratch: &mut Scratch<W>,
        part: &mut C::Part,
    ) {
        let rows = 0..if self.boundary == 0 { records.len() } else { queries };
        let Scratch { words_32, words_64, candidates, .. } = scratch;
        if self.short_words {
            words_32.clear();
            words_32.extend(records.values.iter().map(|value| value.fold32()));
        } else {
            words_64.clear();
            words_64.extend(records.values.iter().map(|value| value.fold64()));
        }
        self.compare(records, words_32, words_64, rows, queries, path, candidates, part);
    }

    /// [`Self::leaf`] by several threads.
    fn leaf_large(&self, records: Records<'_, W>, path: &Path<W>, share: Share<'_>) -> C::Part {
        let queries = self.compares(records.numbers).0;
        let rows = if self.boundary == 0 { records.len() } else { queries };
        let (mut words_32, mut words_64) = (Vec::new(), Vec::new());
        if self.short_words {
            words_32.extend(records.values.iter().map(|value| value.fold32()));
        } else {
            words_64.extend(records.values.iter().map(|value| value.fold64()));
        }
        let tasks = rows.div_ceil(LEAF_ROWS);
        let parts: Vec<C::Part> = (0..tasks)
            .into_par_iter()
            .with_max_len(1)
            .map(|i| {
                if share.is_cancelled() {
                    return self.collect.part();
                }
                let rows = i * LEAF_ROWS..rows.min((i + 1) * LEAF_ROWS);
                self.with_scratch(|scratch| {
                    let mut part = self.collect.part();
                    let candidates = &mut scratch.candidates;
                    self.compare(
                        records, &words_32, &words_64, rows, queries, path, candidates, &mut part,
                    );
                    share.part(1, tasks).done();
                    part
                })
            })
            .collect();
        self.merged(parts)
    }

    /// What several threads collected, as one.
    pub(super) fn merged(&self, parts: Vec<C::Part>) -> C::Part {
        let mut merged = self.collect.part();
        for part in parts {
            self.collect.merge(&mut merged, part);
        }
        merged
    }

    /// Compares `rows` with the columns behind them that are no queries.
    #[expect(clippy::too_many_arguments, reason = "the arrays of a leaf")]
    fn compare(
        &self,
        records: Records<'_, W>,
        words_32: &[u32],
        words_64: &[u64],
        rows: Range<usize>,
        first_column: usize,
        path: &Path<W>,
        candidates: &mut Candidates,
        part: &mut C::Part,
    ) {
        let Records { values, numbers } = records;
        let (isa, limit) = (self.isa, self.reach.most_bits());
        let test = self.test(path);
        let mut sink = |rows: &[u32], columns: &[u32]| {
            accept(values, rows, columns, &test, isa, &mut |row, column, distance| {
                let (a, b) = (numbers[row as usize], numbers[column as usize]);
                self.collect.pair(part, a, b, distance);
            });
        };
        if self.short_words {
            near_pairs_32(words_32, rows, first_column, limit, isa, candidates, &mut sink);
        } else {
            near_pairs_64(words_64, rows, first_column, limit, isa, candidates, &mut sink);
        }
    }

    /// What a pair of a path must be.
    pub(super) fn test<'p>(&self, path: &'p Path<W>) -> PairTest<'p, W> {
        PairTest { reach: self.reach, equal: path.equal, unequal: &path.unequal }
    }

    /// Memory for `records` records.
    fn buffer(&self, records: usize) -> Buffer<W> {
        let kept = self.kept_buffer(records);
        kept.unwrap_or_else(|| (LargeBuffer::zeroed(records), LargeBuffer::zeroed(records)))
    }

    /// Asks for the first and largest of the buffers, which costs nothing if it is never touched.
    ///
    /// # Errors
    ///
    /// The memory cannot be had.
    pub(super) fn reserve_buffer(&self, records: usize) -> Result<()> {
        let buffer = self.kept_buffer(records).map_or_else(|| new_buffer(records), Ok)?;
        self.give_back(buffer);
        Ok(())
    }

    /// Memory for `records` records that was needed before.
    fn kept_buffer(&self, records: usize) -> Option<Buffer<W>> {
        let mut buffers = self.buffers.lock().ok()?;
        let fitting = buffers.iter().position(|buffer| buffer.0.len() >= records)?;
        Some(buffers.swap_remove(fitting))
    }

    fn give_back(&self, buffer: Buffer<W>) {
        if let Ok(mut buffers) = self.buffers.lock() {
            buffers.push(buffer);
        }
    }

    /// Runs `work` with memory of its own.
    pub(super) fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch<W>) -> T) -> T {
        let idle = self.scratch.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = idle.unwrap_or_default();
        let result = work(&mut scratch);
        if let Ok(mut idle) = self.scratch.lock() {
            idle.push(scratch);
        }
        result
    }

    /// Number of queries among records in the order of their numbers, and of pairs to compare.
    pub(super) fn compares(&self, numbers: &[u32]) -> (usize, f64) {
        let records = numbers.len() as f64;
        if self.boundary == 0 {
            return (0, records * (records - 1.0) / 2.0);
        }
        let queries = numbers.partition_point(|&number| number < self.boundary);
        (queries, queries as f64 * (records - queries as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::KeepPairs;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;
    use simtool_model::matches::ValuePair;

    /// Joins with splits wherever bits are left, against comparing everything.
    fn check<W: Lane>(values: &[W], shape: Shape, boundary: u32, max_distance: u32) {
        let reach = Reach { shape, max_distance };
        for large_records in [500, usize::MAX] {
            let isa = Isa::detected();
            let mut join = Join::new(values, boundary, reach, isa, &KeepPairs, None);
            join.costs = Costs::of_tests();
            join.large_records = large_records;
            let found = join.run(values, Share::untold()).unwrap().into_sorted();
            let mut expected = Vec::new();
            for (a, &first) in values.iter().enumerate() {
                let behind = values.iter().enumerate().skip((a + 1).max(boundary as usize));
                for (b, &second) in behind {
                    if boundary > 0 && a >= boundary as usize {
                        break;
                    }
                    if let Some(distance) = reach.distance(first ^ second) {
                        expected.push(ValuePair { a: a as u32, b: b as u32, distance });
                    }
                }
            }
            assert!(
                found == expected,
                "{shape}, boundary {boundary}, k = {max_distance}, {large_records}"
            );
        }
    }

    #[test]
    fn deep_splits_find_every_pair_once() {
        let mut state = 1u64;
        // Twenty centres in 24 bits, with flips: many pairs at every distance.
        let values: Vec<u64> = (0..1500)
            .map(|row| {
                state =
                    state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                let centre = (row % 20) * 0x0012_3457;
                centre ^ 1 << (state >> 59) ^ 1 << (state >> 54 & 31) ^ 1 << (state >> 49 & 31)
            })
            .collect();
        for max_distance in 0..5 {
            check(&values, Shape::bits(64), 0, max_distance);
            check(&values, Shape::bits(64), 700, max_distance);
        }
        // The same in wider rows, whose words agree where nothing varies; and lanes.
        let spread = |&value: &u64| Wide([value & 0xFFF, 7, value >> 12, 0]);
        let wide: Vec<Wide<4>> = values.iter().map(spread).collect();
        for max_distance in [0, 2, 4] {
            check(&wide, Shape::bits(256), 0, max_distance);
            check(&wide, Shape::bits(200), 700, max_distance);
            check(&wide, Shape::lanes(16, 16), 0, max_distance);
            check(&values, Shape::lanes(16, 4), 700, max_distance);
        }
    }
}
