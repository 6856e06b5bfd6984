//! The first level of the recursion. For short fingerprints, it is like every other level. Long
//! fingerprints, of many 64-bit words, are expensive to move, so their sketches are moved instead.
//!
//! A sketch has two words. The first word is the hash of the block of bits by which the rows are
//! partitioned. The second word is the XOR of all words of the fingerprint. Fingerprints that are equal
//! in the block have the same hash, so the two words exclude nearly all pairs of a small bucket. Only
//! the fingerprints of the other pairs are read in full. If a bucket stays large, its fingerprints are
//! copied together, and it is split like every other bucket.

use crate::collect::Collect;
use crate::parallel_partition::{NumberedValues, partition};
use crate::recursion::{BucketPlace, LARGE_BITS, Numbers, Recursion, SMALL_BITS};
use crate::recursion_memory::{Buffer, RECORDS, RecursionScratch, Sketch, new_buffer};
use crate::split::{BitWeights, Node, Path};
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::progress::Share;
use simtool_compute::tasks;
use simtool_kernels::block_keys::block_keys;
use simtool_kernels::hamming_accept::PairTest;
use simtool_kernels::hamming_pairs::{PairSearch, near_pairs_64};
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::{Fingerprint, Wide};
use simtool_model::validity::Validity;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// Minimum number of 64-bit words of a fingerprint for which a partition moves sketches instead of whole fingerprints.
/// A sketch has two words: a hash of some bits of the fingerprint, and the XOR of all its words.
pub(super) const SKETCHED_WORDS: usize = 4;
/// Number of children of the recursion's root whose hashes are computed in one pass over the rows. Each child
/// partitions the rows by a hash of another block of bits.
const KEYS_AT_ONCE: usize = 4;
/// Number of pairs with near sketches that are collected before the first of them is compared in full. Meanwhile, their
/// fingerprints are prefetched.
const LIKELY_AT_ONCE: usize = 32;
/// Number of rows for which one task of a thread computes hashes.
const TASK_ROWS: usize = 1 << 14;
/// Mask of the first word of a sketch. This word is the hash by which sketches are partitioned, and the second word is
/// the XOR of a fingerprint's words.
const KEY: Sketch = Wide([u64::MAX, 0]);

impl<W: Fingerprint, C: Collect> Recursion<'_, W, C> {
    /// Finds all near pairs among `values`, which are different fingerprints. A pair consists of the indices of its two
    /// values. `share` reports the progress of this work.
    ///
    /// # Errors
    ///
    /// There is too little memory for a copy of the values.
    pub(super) fn run(&self, values: &[W], share: Share<'_>) -> Result<C::Part> {
        self.run_numbered(values, Numbers::FromZero, share)
    }

    /// Finds the near pairs among the rows of `values` that `valid` marks. A pair consists of the indices of its two
    /// rows in `values`. The fingerprints must have fewer than [`SKETCHED_WORDS`] words. `share` reports the progress
    /// of this work.
    ///
    /// # Errors
    ///
    /// The same errors as [`Self::run`].
    pub(super) fn run_valid(
        &self,
        values: &[W],
        valid: &Validity,
        share: Share<'_>,
    ) -> Result<C::Part> {
        debug_assert!(W::WORDS < SKETCHED_WORDS, "sketches are made of all rows");
        self.run_numbered(values, Numbers::Valid(valid), share)
    }

    fn run_numbered(
        &self,
        values: &[W],
        numbers: Numbers<'_>,
        share: Share<'_>,
    ) -> Result<C::Part> {
        let shape = self.reach.shape;
        let root = Node::new(Path::root(shape), Arc::new(BitWeights::of(values, shape)));
        if values.len() >= self.large_records {
            if W::WORDS >= SKETCHED_WORDS {
                return self.run_sketched(values, &root, share);
            }
            self.pool.reserve_buffer(values.len())?;
        }
        Ok(self.large(values, numbers, &root, 0, share))
    }

    /// Finds all near pairs of `values`, like [`Self::large`]. `root` is the start of the recursion, at which all
    /// values are in one bucket. If `root` is split, partitions move sketches instead of fingerprints. A sketch has two
    /// words: a hash, and the XOR of the words of a fingerprint.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    fn run_sketched(&self, values: &[W], root: &Node<W>, share: Share<'_>) -> Result<C::Part> {
        let mut part = self.collect.part();
        let compares = self.compares_of(values.len());
        let children = root.split(self.reach.max_distance, values.len(), compares, self.costs);
        let Some(children) = children else {
            return Ok(self.large(values, Numbers::FromZero, root, 0, share));
        };
        // The XOR of all words is the same for all children, so it is computed once.
        let share = share.part(1, children.len());
        let folds = LargeBuffer::<u64>::try_zeroed(values.len(), RECORDS)?;
        let mut folds = folds.entered_in(&self.pool.ledger);
        let chunks = folds.chunks_mut(TASK_ROWS).zip(values.chunks(TASK_ROWS));
        tasks::map_items(chunks.collect(), |(folds, values)| {
            folds.iter_mut().zip(values).for_each(|(fold, value)| *fold = value.fold64());
        });
        let of_keys = children.iter().take(KEYS_AT_ONCE);
        let of_keys = of_keys.map(|_| {
            let keys = LargeBuffer::try_zeroed(values.len(), RECORDS)?;
            Ok(keys.entered_in(&self.pool.ledger))
        });
        let mut keys: Vec<LargeBuffer<u64>> = of_keys.collect::<Result<_>>()?;
        let mut moved = new_buffer(values.len(), &self.pool.ledger)?;
        for children in children.chunks(KEYS_AT_ONCE) {
            self.make_keys(values, children, &mut keys);
            for (child, keys) in children.iter().zip(&keys) {
                let later = if child.width == 0 {
                    self.large(values, Numbers::FromZero, child, 0, share)
                } else {
                    self.partition_sketches(values, [keys, &folds], child, &mut moved, share)
                };
                self.collect.merge(&mut part, later);
            }
        }
        Ok(part)
    }

    /// Returns the number of pairs that `records` records form. In a self-join, these are all pairs. In
    /// a search, these are the pairs of a query and a row of the corpus.
    pub(super) fn compares_of(&self, records: usize) -> f64 {
        let (all, queries) = (records as f64, f64::from(self.boundary));
        if self.boundary == 0 { all * (all - 1.0) / 2.0 } else { queries * (all - queries) }
    }

    /// Computes the hashes of all rows for each child of the recursion's root. `keys[i]` receives the hashes of the
    /// bits in the block of `children[i]`. One pass over the rows serves all children.
    fn make_keys(&self, values: &[W], children: &[Node<W>], keys: &mut [LargeBuffer<u64>]) {
        // For each chunk of rows, the slices of every child's hashes that its task writes.
        let mut chunks: Vec<Vec<&mut [u64]>> = Vec::new();
        chunks.resize_with(values.len().div_ceil(TASK_ROWS), Vec::new);
        for keys in keys.iter_mut().take(children.len()) {
            for (chunk, keys) in chunks.iter_mut().zip(keys.chunks_mut(TASK_ROWS)) {
                chunk.push(keys);
            }
        }
        let chunks = values.chunks(TASK_ROWS).zip(chunks);
        tasks::map_items(chunks.collect(), |(values, mut chunk)| {
            // The rows are divided into pieces of 256. A piece stays in the caches while it is hashed
            // for all blocks.
            for first in (0..values.len()).step_by(256) {
                let rows = first..values.len().min(first + 256);
                for (child, keys) in children.iter().zip(&mut chunk) {
                    let keys = &mut keys[rows.clone()];
                    block_keys(&values[rows.clone()], child.path.block, self.isa, keys);
                }
            }
        });
    }

    /// Partitions the sketches of `values` by their hashes, and finds the near pairs of each part. A sketch consists of
    /// a hash in `keys` and the XOR of the fingerprint's words in `folds`. `node` has the conditions that pairs must
    /// meet. `moved` is a buffer, and `share` reports the progress.
    fn partition_sketches(
        &self,
        values: &[W],
        [keys, folds]: [&[u64]; 2],
        node: &Node<W>,
        moved: &mut Buffer<Sketch>,
        share: Share<'_>,
    ) -> C::Part {
        let bits = LARGE_BITS.min(node.width);
        let hash = BlockHash::new(KEY, 0, bits);
        let records = |range: Range<usize>| {
            let sketches = keys[range.clone()].iter().zip(&folds[range.clone()]);
            sketches.map(|(&key, &fold)| Wide([key, fold])).zip(range.start as u32..)
        };
        let (sketches, numbers) = moved;
        let starts = partition(values.len(), records, &hash, sketches, numbers);
        let (sketches, numbers): (&[Sketch], &[u32]) = (sketches, numbers);
        let parts = tasks::map(hash.parts(), |i| {
            let range = starts[i]..starts[i + 1];
            let numbers = &numbers[range.clone()];
            let share = share.part(range.len(), values.len());
            if share.is_cancelled() {
                return self.collect.part();
            }
            if numbers.len() >= self.large_records {
                let gathered = gather(values, numbers);
                return self.large(&gathered, Numbers::Given(numbers), node, 0, share);
            }
            let part = self.pool.with_scratch(|scratch| {
                let mut part = self.collect.part();
                let records = NumberedValues { values: &sketches[range], numbers };
                self.small_sketches(values, records, node, bits, scratch, &mut part);
                self.settle(values, &self.test(&node.path), &mut scratch.likely, &mut part);
                part
            });
            share.done();
            part
        });
        self.merged(parts)
    }

    /// Finds the near pairs of a bucket of sketches. The bucket was already partitioned by the first `used` bits of the
    /// hash in each sketch. A large bucket is first partitioned by the next bits of this hash.
    fn small_sketches(
        &self,
        values: &[W],
        records: NumberedValues<'_, Sketch>,
        node: &Node<W>,
        used: u32,
        scratch: &mut RecursionScratch<W>,
        part: &mut C::Part,
    ) {
        let (length, leaf) = (records.len(), self.costs.leaf_records());
        if length <= leaf || used >= node.width {
            return self.end_of_keys(values, records, node, scratch, part);
        }
        let bits = (length * 2 / leaf).ilog2().clamp(1, SMALL_BITS).min(node.width - used);
        let hash = BlockHash::new(KEY, used, bits);
        let mut level = take(&mut scratch.sketches);
        level.count(records, &hash);
        level.scatter(records, &hash);
        for bucket in level.buckets() {
            self.end_of_keys(values, bucket, node, scratch, part);
        }
        scratch.sketches = level;
    }

    /// Finds the near pairs of a bucket of sketches that is not partitioned again by their hashes. In a small bucket,
    /// compares the sketches first, and later the fingerprints of the pairs whose sketches are near. For a large
    /// bucket, copies the whole fingerprints and continues the recursion with them.
    fn end_of_keys(
        &self,
        values: &[W],
        records: NumberedValues<'_, Sketch>,
        node: &Node<W>,
        scratch: &mut RecursionScratch<W>,
        part: &mut C::Part,
    ) {
        let NumberedValues { values: sketches, numbers } = records;
        let (queries, compares) = self.compares(numbers);
        if compares == 0.0 {
            return;
        }
        // In a large bucket, each fingerprint is compared often. Then it pays to copy the fingerprints
        // together.
        if records.len() > 4 * self.costs.leaf_records() {
            let gathered = gather(values, numbers);
            let records = NumberedValues { values: &gathered, numbers };
            return self.small(records, node, BucketPlace::new(0), scratch, part);
        }
        let rows = 0..if self.boundary == 0 { records.len() } else { queries };
        let (isa, limit) = (self.isa, self.reach.most_bits());
        let test = self.test(&node.path);
        let RecursionScratch { folds, candidates, likely, .. } = scratch;
        let words = &mut folds.words_64;
        words.clear();
        words.extend(sketches.iter().map(|sketch| sketch.0[1]));
        let mut sink = |rows: &[u32], columns: &[u32]| {
            for (&row, &column) in rows.iter().zip(columns) {
                let (row, column) = (row as usize, column as usize);
                // Different hashes mean different blocks, even if the second words are near.
                if sketches[row].0[0] != sketches[column].0[0] {
                    continue;
                }
                let (a, b) = (numbers[row], numbers[column]);
                // Rows are in random order, so they are prefetched and compared later.
                prefetch(values, a as usize);
                prefetch(values, b as usize);
                likely.push((a, b));
                if likely.len() == LIKELY_AT_ONCE {
                    self.settle(values, &test, likely, part);
                }
            }
        };
        let search = PairSearch { words, rows, first_column: queries, max_distance: limit };
        near_pairs_64(search, isa, candidates, &mut sink);
    }

    /// Compares the whole fingerprints of the pairs in `likely`, whose sketches are near. Collects the near pairs in
    /// `part`, and empties `likely`.
    fn settle(
        &self,
        values: &[W],
        test: &PairTest<'_, W>,
        likely: &mut Vec<(u32, u32)>,
        part: &mut C::Part,
    ) {
        for (a, b) in likely.drain(..) {
            let difference = values[a as usize] ^ values[b as usize];
            if let Some(distance) = test.distance(difference) {
                self.collect.pair(part, a, b, distance);
            }
        }
    }
}

/// Copies the fingerprint `values[number]` for each number in `numbers`.
fn gather<W: Fingerprint>(values: &[W], numbers: &[u32]) -> Vec<W> {
    numbers.iter().map(|&number| values[number as usize]).collect()
}
