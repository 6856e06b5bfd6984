//! The recursion that the self-join and the bipartite join use.
//!
//! The fingerprints in a bucket are equal in some blocks of bits. The sequence of these blocks is
//! called a path. A bucket is partitioned by a hash of the last block, some hash bits at a time. If it
//! is still big, it is partitioned by another block (see [`split`](super::split)). If comparing all of
//! its pairs is cheaper, they are compared (see [`leaf`](super::leaf)). Every candidate pair is checked
//! against the whole path, so a partition may put fingerprints into one bucket that are not equal in
//! the block.
//!
//! # A path and its masks
//!
//! This example has fingerprints of 64 bits and k = 3, so the bits form four groups. Here the third
//! group is the first one in which the pair is equal, so two differences are in the groups before it.
//! The bucket is still big, and one difference is left for the free bits. They form two groups, and the
//! pair is equal in one of them, here the second.
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
//!                at most k differences, none under `equal`, at least one under each `unequal`
//! ```
//!
//! * A *fold* is the XOR of a fingerprint's words. The folds of two fingerprints never differ in more
//!   bits than the fingerprints. So if two folds differ in more than k bits, the fingerprints do so as well.
//! * *Numbers* identify the caller's rows. Before the first partition, nothing was moved, so the
//!   numbers are 0, 1, 2 and so on, and need no memory ([`Numbers::FromZero`]).
//!
//! # Buckets that do not shrink
//!
//! A split is worthwhile if each child has much smaller buckets. The weights of the bits predict how
//! much smaller. For similar fingerprints the prediction is wrong: they are equal in nearly all bits,
//! whatever the weights say. If such a bucket were split again and again, the recursion would visit
//! every path, and there are more than 2^k of them. So each bucket is compared with its prediction, the
//! [`Promise`]. If it is larger, its bits are weighed anew. If it is still larger after a split by its
//! own weights, its pairs are compared. So depth and memory are bounded by the logarithm of the number
//! of fingerprints.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, for
//! the blocks. J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018, for uneven budgets
//! and groups of bits that follow the data.

use crate::collect::Collect;
use crate::parallel_partition::{NumberedValues, partition};
use crate::recursion_memory::{Buffer, Pool, RecursionLevel, RecursionScratch};
use crate::split::{BitWeights, Node, Path, SplitCosts};
use crate::work::JoinWork;
use simtool_base::progress::Share;
use simtool_compute::tasks;
use simtool_kernels::Isa;
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::validity::Validity;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// Minimum number of records of a bucket for which new bit weights are always computed before the bucket is split. The
/// weights say how well each bit distinguishes records. For fewer records, computing them takes about as long as a
/// partition.
const WEIGH_RECORDS: usize = 4096;
/// Minimum number of records of a bucket for which several threads partition the bucket together. A record is a
/// fingerprint with its row number.
const LARGE_RECORDS: usize = 1 << 15;
/// Several threads partition a bucket together only if the bucket has at least 1/`LARGE_SHARE` of all
/// records of the join. In addition, it must have [`LARGE_RECORDS`] records.
const LARGE_SHARE: usize = 128;
/// Maximum number of hash bits by which one thread partitions a bucket at once. With b bits, there are
/// 2^b parts. The ends of so many parts stay in the caches while they are filled.
pub(super) const SMALL_BITS: u32 = 10;
/// Maximum number of hash bits by which several threads together partition a bucket at once.
pub(super) const LARGE_BITS: u32 = 8;
/// Maximum distance up to which comparing folds of 32 bits excludes most pairs. A fold is the XOR of a
/// fingerprint's words. For greater distances, folds of 64 bits are compared.
pub(super) const FOLD_DISTANCE: u32 = 6;

/// One recursive join: its input, its settings and its memory.
pub(super) struct Recursion<'a, W, C> {
    pub(super) reach: Reach,
    pub(super) isa: Isa,
    /// Number of queries, or 0 in a self-join. Records with numbers below it are queries. Queries are
    /// compared only with records that are not queries.
    pub(super) boundary: u32,
    pub(super) collect: &'a C,
    /// Whether leaves, which are buckets whose pairs are all compared, compare folds of 32 bits instead of 64 bits. A
    /// fold is the XOR of a fingerprint's words.
    pub(super) has_short_folds: bool,
    pub(super) costs: SplitCosts,
    pub(super) large_records: usize,
    pub(super) pool: Pool<W>,
}

/// The row numbers of the records of a bucket. A record is a fingerprint with its number.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    /// The records are all rows, numbered 0, 1, 2 and so on. This is the case before the first
    /// partition.
    FromZero,
    /// The records are the rows that have a fingerprint, which this value marks. All rows are numbered 0, 1, 2 and so
    /// on, including rows without a fingerprint.
    Valid(&'a Validity),
    /// Element i is the number of record i.
    Given(&'a [u32]),
}

impl Numbers<'_> {
    /// Calls `work` with the records, which consist of `values` and their numbers. Returns the result
    /// of `work`.
    fn with<W: Fingerprint, T>(
        self,
        values: &[W],
        work: impl FnOnce(NumberedValues<'_, W>) -> T,
    ) -> T {
        match self {
            Self::FromZero => {
                let numbers: Vec<u32> = (0..values.len() as u32).collect();
                work(NumberedValues { values, numbers: &numbers })
            }
            Self::Valid(valid) => {
                let all = values.iter().copied().zip(0u32..);
                let (values, numbers): (Vec<W>, Vec<u32>) =
                    all.filter(|&(_, number)| valid.has_value(number as usize)).unzip();
                work(NumberedValues { values: &values, numbers: &numbers })
            }
            Self::Given(numbers) => work(NumberedValues { values, numbers }),
        }
    }
}

/// The position of a bucket in the recursion of one thread.
#[derive(Clone, Copy)]
pub(super) struct BucketPlace {
    /// Number of hash bits by which the bucket's records were partitioned so far. The hash is computed from the block
    /// of bits that the last split added to the bits in which pairs must be equal.
    used: u32,
    /// Index in [`RecursionScratch::levels`] of the buffer in which this bucket can be partitioned. The buffers
    /// at smaller indices hold the larger buckets that contain this bucket.
    depth: usize,
    promise: Promise,
}

/// Prediction of the size of buckets after a split. If a bucket is larger, the split did not help.
#[derive(Clone, Copy)]
struct Promise {
    /// Size limit, in records, for each bucket that the split creates. A bucket with more records shows
    /// that the split did not pay off. If all new buckets have this size, they have as many pairs
    /// together as the bucket that was split.
    most: usize,
    /// Whether the bit weights for the split were computed from the records of the bucket that was split. If not, they
    /// come from a larger bucket that contains it. The weights say how well each bit distinguishes records.
    is_by_own_weights: bool,
}

impl BucketPlace {
    /// Creates the position of a bucket at which one thread begins its recursion. There is no
    /// prediction of its size. `used` is the number of hash bits by which the bucket was partitioned.
    pub(super) fn new(used: u32) -> Self {
        Self { used, depth: 0, promise: Promise { most: usize::MAX, is_by_own_weights: false } }
    }
}

impl Promise {
    /// Predicts the size of buckets after a split of a bucket with `records` records into `children` children.
    /// `is_by_own_weights` says whether the split used bit weights that were computed from the records of this bucket.
    fn of(records: usize, children: usize, is_by_own_weights: bool) -> Self {
        // Pairs grow with the square of the records, so c buckets of n / √c records have as many pairs
        // as one bucket of n records.
        let most = (records * records / children.max(1)).isqrt();
        Self { most, is_by_own_weights }
    }
}

impl<'a, W: Fingerprint, C: Collect> Recursion<'a, W, C> {
    /// Prepares a self-join of `values`. `collect` receives the pairs.
    pub(super) fn new(values: &[W], work: JoinWork<'_>, collect: &'a C) -> Self {
        let reach = work.reach;
        let isa = work.isa();
        let bits = values.iter().fold(W::ZERO, |all, &value| all | value);
        let is_short = bits & !W::lowest_bits(32) == W::ZERO;
        let has_short_folds = reach.most_bits() <= FOLD_DISTANCE || is_short;
        Self {
            reach,
            isa,
            boundary: 0,
            collect,
            has_short_folds,
            costs: SplitCosts::of(isa, W::WORDS, reach, has_short_folds),
            large_records: LARGE_RECORDS.max(values.len() / LARGE_SHARE),
            pool: Pool::new(None, work.context.memory().clone()),
        }
    }

    /// Turns the self-join into a search. The values before index `boundary` are queries, and are
    /// compared with the values from `boundary` on.
    pub(super) fn with_boundary(self, boundary: u32) -> Self {
        Self { boundary, ..self }
    }

    /// Lets the join use `spare` before it allocates new memory. `spare` is a buffer that an earlier step no longer
    /// needs, or `None`.
    pub(super) fn with_spare(self, spare: Option<Buffer<W>>) -> Self {
        Self { pool: Pool::new(spare, self.pool.ledger.clone()), ..self }
    }

    /// Finds the near pairs of a bucket with the given `records`. `path` has the conditions that pairs of the bucket
    /// must meet. The bucket was already partitioned by `used` bits of a hash of the last block of bits in `path`.
    /// `share` reports the progress.
    pub(super) fn run_bucket(
        &self,
        records: NumberedValues<'_, W>,
        path: &Path<W>,
        used: u32,
        share: Share<'_>,
    ) -> C::Part {
        let weights = BitWeights::of(records.values, self.reach.shape);
        let node = Node::new(path.clone(), Arc::new(weights));
        let used = used.min(node.width);
        self.large(records.values, Numbers::Given(records.numbers), &node, used, share)
    }

    /// Finds the near pairs of a bucket, with several threads if the bucket is large. `node` has the path of the
    /// bucket, which is a list of conditions. The bucket was already partitioned by `used` bits of a hash of the path's
    /// last block of bits.
    ///
    /// `share` is the fraction of the whole join's progress that this bucket counts for. If the join
    /// was cancelled, no more pairs are found.
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
            let mut part = self.collect.part();
            self.pool.with_scratch(|scratch| {
                numbers.with(values, |records| {
                    self.small(records, node, BucketPlace::new(used), scratch, &mut part);
                });
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

    /// Partitions a bucket with several threads, and calls [`Self::large`] for each part. `used` bits of a hash have
    /// already selected the records of this bucket. The following bits of the hash determine the part. The hash is
    /// computed from the last block of bits in the path of `node`.
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
        let mut buffer = self.pool.buffer(values.len());
        let starts = scatter_all(values, numbers, &hash, &mut buffer);
        let (part_values, part_numbers) = &buffer;
        let parts = tasks::map(hash.parts(), |part| {
            let range = starts[part]..starts[part + 1];
            let numbers = Numbers::Given(&part_numbers[range.clone()]);
            let share = share.part(range.len(), values.len());
            self.large(&part_values[range], numbers, node, used + bits, share)
        });
        self.pool.give_back(buffer);
        self.merged(parts)
    }

    /// Finds the near pairs of a bucket with the given `records`, with one thread. Collects the pairs in `part`. `node`
    /// has the conditions of the bucket's path, `place` its position in the recursion, and `scratch` the buffers of the
    /// thread.
    pub(super) fn small(
        &self,
        records: NumberedValues<'_, W>,
        node: &Node<W>,
        place: BucketPlace,
        scratch: &mut RecursionScratch<W>,
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
        if place.used < node.width {
            return self.partition_small(records, node, place, scratch, part);
        }
        let is_large = length >= WEIGH_RECORDS;
        let has_shrunk = length <= place.promise.most;
        if !has_shrunk && !is_large && place.promise.is_by_own_weights {
            // The bits of these fingerprints depend on each other, so no weights can predict the effect
            // of a split.
            return self.leaf(records, queries, &node.path, scratch, part);
        }
        let is_weighed = is_large || !has_shrunk;
        let weighed;
        let node = if is_weighed {
            weighed = node.weighed(BitWeights::of(records.values, self.reach.shape));
            &weighed
        } else {
            node
        };
        match node.split(self.reach.max_distance, length, compares, self.costs) {
            Some(children) => {
                let promise = Promise::of(length, children.len(), is_weighed);
                for child in children {
                    let place = BucketPlace { used: 0, promise, ..place };
                    self.small(records, child, place, scratch, part);
                }
            }
            None => self.leaf(records, queries, &node.path, scratch, part),
        }
    }

    /// Partitions a bucket with one thread, and calls [`Self::small`] for each part. The bits of a hash that follow the
    /// bits in `place` determine the part. The hash is computed from the last block of bits in the path of `node`.
    fn partition_small(
        &self,
        records: NumberedValues<'_, W>,
        node: &Node<W>,
        place: BucketPlace,
        scratch: &mut RecursionScratch<W>,
        part: &mut C::Part,
    ) {
        let BucketPlace { used, depth, .. } = place;
        let length = records.len();
        let rest = node.width - used;
        let bits = (length * 2 / self.costs.leaf_records()).ilog2().clamp(1, SMALL_BITS).min(rest);
        let hash = BlockHash::new(node.path.block, used, bits);
        if scratch.levels.len() <= depth {
            scratch.levels.resize_with(depth + 1, RecursionLevel::default);
        }
        // The level is taken out of the buffers while the recursion uses the deeper levels.
        let mut level = take(&mut scratch.levels[depth]);
        let used = used + bits;
        if level.count(records, &hash) == length {
            // All records are in one part, so there is nothing to copy.
            scratch.levels[depth] = level;
            return self.small(records, node, BucketPlace { used, ..place }, scratch, part);
        }
        level.scatter(records, &hash);
        for child in level.buckets() {
            let place = BucketPlace { used, depth: depth + 1, ..place };
            self.small(child, node, place, scratch, part);
        }
        scratch.levels[depth] = level;
    }

    /// Merges the results of several parts of the join into one result, in the order of `parts`.
    pub(super) fn merged(&self, parts: Vec<C::Part>) -> C::Part {
        let mut merged = self.collect.part();
        for part in parts {
            self.collect.merge(&mut merged, part);
        }
        merged
    }

    /// Returns two numbers for a bucket: how many of its records are queries, which is 0 in a self-join, and how many
    /// pairs are compared. `numbers` are the numbers of the bucket's records, in ascending order.
    pub(super) fn compares(&self, numbers: &[u32]) -> (usize, f64) {
        let records = numbers.len() as f64;
        if self.boundary == 0 {
            return (0, records * (records - 1.0) / 2.0);
        }
        let queries = numbers.partition_point(|&number| number < self.boundary);
        (queries, queries as f64 * (records - queries as f64))
    }
}

/// Partitions the records of a bucket by `hash`, with all threads, and writes them to the given buffer. Returns the
/// index of the first record of each part, followed by the total number of records as last element.
fn scatter_all<W: Fingerprint>(
    values: &[W],
    numbers: Numbers<'_>,
    hash: &BlockHash<W>,
    (part_values, part_numbers): &mut Buffer<W>,
) -> Vec<usize> {
    match numbers {
        Numbers::FromZero => {
            let records = |range: Range<usize>| {
                values[range.clone()].iter().copied().zip(range.start as u32..)
            };
            partition(values.len(), records, hash, part_values, part_numbers)
        }
        Numbers::Valid(valid) => {
            let records = |range: Range<usize>| {
                let all = values[range.clone()].iter().copied().zip(range.start as u32..);
                all.filter(|&(_, number)| valid.has_value(number as usize))
            };
            partition(values.len(), records, hash, part_values, part_numbers)
        }
        Numbers::Given(numbers) => {
            let records = |range: Range<usize>| {
                values[range.clone()].iter().copied().zip(numbers[range].iter().copied())
            };
            partition(values.len(), records, hash, part_values, part_numbers)
        }
    }
}

#[cfg(test)]
mod tests;
