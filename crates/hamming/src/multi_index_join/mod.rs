//! The self-join by multi-index hashing. The bits of fingerprints are divided into a few blocks. For each block, rows
//! are sorted into buckets by a key, which consists of some bits of the block. Each bucket is compared with the buckets
//! whose keys differ in few bits.
//!
//! The recursive join needs a block of bits in which a pair is equal. This join needs a block in which
//! the pair differs in few bits. So its blocks are longer and fewer, and for larger distances it
//! compares far fewer pairs.
//!
//! A pair may be near in several blocks. It is reported for the first of them only.
//!
//! # References
//!
//! M. Norouzi, A. Punjani, D. J. Fleet, "Fast exact search in Hamming space with multi-index hashing",
//! IEEE TPAMI 36(6), 2014, for keys that differ. J. Qin et al., "GPH: similarity search in Hamming
//! space", ICDE 2018, for the radii.

use crate::Rows;
use crate::collect::{Collect, CountRows, KeepPairs};
use crate::group_pairs::GroupPairs;
use crate::grouping::{cut, equal_pairs, group};
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::key_blocks::{COPIED, KeyBlock, KeyPlan, are_crowded};
use crate::parallel_partition::partition;
use crate::recursion::{FOLD_DISTANCE, Recursion};
use crate::recursion_memory::{Buffer, RECORDS, new_buffer};
use crate::split::BitWeights;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{GROUPING, JoinEstimate, Workload};
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::Ledger;
use simtool_base::progress::Share;
use simtool_compute::tasks;
use simtool_kernels::Isa;
use simtool_kernels::hamming_pairs::{Candidates, PairSearch, near_pairs_32, near_pairs_64};
use simtool_kernels::partition::{count, scatter};
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::sides::Sides;
use std::ops::Range;

/// Number of upper bits of a key by which all threads together partition the rows. A key is a range of bits of a
/// fingerprint. One thread then sorts each part of the partition by the lower bits of the key.
const FIRST_BITS: u32 = 8;
/// Maximum number of rows of other buckets that a bucket is compared with at once. The folds of these rows fit into the
/// first-level cache. A fold is the XOR of the words of a fingerprint.
const COLUMNS: usize = 2048;
/// Maximum number of tasks in which the buckets of one block are compared. A bucket has the rows with the same key in
/// this block. The threads share these tasks.
const TASKS: usize = 256;

/// Finds all pairs of rows within the maximum distance of `work`.
///
/// # Errors
///
/// There is too little memory.
///
/// # Panics
///
/// Panics in the same cases as [`group`], or if the distance does not count bits.
///
/// # Complexity
///
/// For each of m blocks, one partition of the n different fingerprints, and n² / 2 comparisons times
/// the fraction of keys within the radius of the block.
pub fn self_join<L: Fingerprint>(rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
    let mut groups = group(rows, work.context.memory())?;
    let spare = groups.spare.take();
    let pairs = value_pairs(groups.values(), spare, work, &KeepPairs::new(work))?.into_sorted();
    Ok(GroupPairs { groups: Sides::One(groups.groups), pairs })
}

/// Counts the pairs of rows within the maximum distance of `work`, which [`self_join`] finds, without keeping them in
/// memory.
///
/// # Errors
///
/// The same errors as [`self_join`].
///
/// # Panics
///
/// Panics in the same cases as [`self_join`].
pub fn count_pairs<L: Fingerprint>(rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<u64> {
    let mut groups = group(rows, work.context.memory())?;
    let spare = groups.spare.take();
    let counting = CountRows { groups: (&groups.groups, &groups.groups) };
    let pairs = value_pairs(groups.values(), spare, work, &counting)?;
    Ok(equal_pairs(&groups.groups) + pairs)
}

/// Finds the near pairs of `values`, which are different fingerprints, and passes them to `collect`. `spare` is a
/// buffer of an earlier step that can be used again.
///
/// If the bits of the fingerprints depend on each other, a few keys (values of a block of bits) may have most of the
/// rows. In this case, the recursive join is used instead, because it chooses its masks by the data.
fn value_pairs<L: Fingerprint, C: Collect>(
    values: &[L],
    spare: Option<Buffer<L>>,
    work: JoinWork<'_>,
    collect: &C,
) -> Result<C::Part> {
    let JoinWork { reach, share, .. } = work;
    let row_bits = reach.shape.row_bits();
    let max_distance = reach.max_distance.min(row_bits);
    let weights = BitWeights::of(values, reach.shape);
    let effective_bits = weights.effective_bits(reach.shape);
    let rows = values.len() as f64;
    let (plan, _) = KeyPlan::cheapest(rows, row_bits, effective_bits, max_distance);
    let blocks = plan.cut(&weights, row_bits, max_distance);
    if are_crowded(&blocks, values, f64::from(effective_bits) / f64::from(row_bits)) {
        return Recursion::new(values, work, collect).with_spare(spare).run(values, share);
    }
    let short_words = reach.most_bits() <= FOLD_DISTANCE;
    let ledger = work.context.memory();
    let join = KeyJoin { values, reach, isa: work.isa(), ledger, collect, short_words, blocks };
    join.run(spare, share)
}

struct KeyJoin<'a, L, C> {
    values: &'a [L],
    reach: Reach,
    isa: Isa,
    /// Ledger that counts the memory of the tables.
    ledger: &'a Ledger,
    collect: &'a C,
    short_words: bool,
    blocks: Vec<KeyBlock>,
}

/// All rows, sorted by the key of one block, which is a range of bits of each fingerprint.
struct KeyTable<L> {
    /// Index in [`KeyJoin::blocks`] of the block whose key the rows are sorted by.
    block: usize,
    /// The fingerprints in sorted order, followed by room for [`COPIED`] more.
    values: LargeBuffer<L>,
    numbers: LargeBuffer<u32>,
    /// Index of the first row of each key, followed by the number of rows as last element.
    starts: Vec<u32>,
}

/// A bucket and other buckets that it is compared with. A bucket has all rows with the same key, and is given as a
/// range of the table's rows.
#[derive(Clone, Copy)]
struct ComparedBuckets<'b> {
    bucket: &'b Range<u32>,
    /// Buckets that `bucket` is compared with.
    others: &'b [Range<u32>],
    /// Whether the rows of `bucket` are also compared with each other.
    with_itself: bool,
}

/// Buffers in which one thread compares buckets. The thread reuses them from task to task.
#[derive(Default)]
struct JoinScratch {
    words_32: Vec<u32>,
    words_64: Vec<u64>,
    /// The buckets whose keys are near the key of the bucket that is being compared. Each is a range of
    /// rows of the table.
    near: Vec<Range<u32>>,
    /// The fingerprints of all compared buckets are listed one bucket after the other. For each bucket, this is the
    /// index behind its last fingerprint in that list.
    ends: Vec<u32>,
    candidates: Candidates,
}

impl<L: Fingerprint, C: Collect> KeyJoin<'_, L, C> {
    fn run(&self, spare: Option<Buffer<L>>, share: Share<'_>) -> Result<C::Part> {
        let rows = self.values.len();
        let mut moved = match spare {
            Some(spare) if spare.0.len() >= rows => spare,
            _ => new_buffer(rows, self.ledger)?,
        };
        let mut table = KeyTable {
            block: 0,
            values: LargeBuffer::try_zeroed(rows + COPIED, RECORDS)?.entered_in(self.ledger),
            numbers: LargeBuffer::try_zeroed(rows, RECORDS)?.entered_in(self.ledger),
            starts: Vec::new(),
        };
        let mut all = self.collect.part();
        // Only one table exists at a time. Its memory is used again for the next block.
        for (number, block) in self.blocks.iter().enumerate() {
            table.block = number;
            table.fill(self.values, block, &mut moved);
            let flips = block.flips();
            let keys = 1usize << block.bits;
            let count = keys.min(TASKS);
            let parts = tasks::map(count, |task| {
                let (mut part, mut scratch) = (self.collect.part(), JoinScratch::default());
                if share.is_cancelled() {
                    return part;
                }
                for key in keys * task / count..keys * (task + 1) / count {
                    self.bucket(&table, key, &flips, &mut scratch, &mut part);
                }
                share.part(1, self.blocks.len() * count).done();
                part
            });
            for part in parts {
                self.collect.merge(&mut all, part);
            }
        }
        Ok(all)
    }

    /// Finds the near pairs inside the bucket of `key`, and the near pairs of this bucket with buckets of greater keys.
    /// `flips` has the XOR of a key with each near key, as [`KeyBlock::flips`] returns it for the block of the table.
    fn bucket(
        &self,
        table: &KeyTable<L>,
        key: usize,
        flips: &[Vec<u32>],
        scratch: &mut JoinScratch,
        part: &mut C::Part,
    ) {
        let bucket = table.bucket(key);
        if bucket.is_empty() {
            return;
        }
        // The list is taken out of the buffers while the rest of them is borrowed.
        let mut near = std::mem::take(&mut scratch.near);
        near.clear();
        for (bit, flips) in flips.iter().enumerate() {
            // If the highest flipped bit is set in the key, the other key is smaller. Then its own
            // bucket has found these pairs.
            if key >> bit & 1 == 1 {
                continue;
            }
            for &flip in flips {
                let other = table.bucket(key ^ flip as usize);
                prefetch(&table.values, other.start as usize);
                if !other.is_empty() {
                    near.push(other);
                }
            }
        }
        // The near buckets are compared in portions that fit into the first-level cache.
        let mut others = &near[..];
        let mut is_first = true;
        while is_first || !others.is_empty() {
            let mut columns = 0;
            let fits = |other: &&Range<u32>| {
                columns += other.len();
                columns <= COLUMNS
            };
            let taken = others.iter().take_while(fits).count().max(1).min(others.len());
            let (now, later) = others.split_at(taken);
            let buckets = ComparedBuckets { bucket: &bucket, others: now, with_itself: is_first };
            self.compare(table, buckets, scratch, part);
            (others, is_first) = (later, false);
        }
        scratch.near = near;
    }

    /// Compares the rows of a bucket with the rows of other buckets and, if `with_itself` is true, with each other.
    /// Collects the near pairs in `part`.
    fn compare(
        &self,
        table: &KeyTable<L>,
        buckets: ComparedBuckets<'_>,
        scratch: &mut JoinScratch,
        part: &mut C::Part,
    ) {
        let ComparedBuckets { bucket, others, with_itself } = buckets;
        let JoinScratch { words_32, words_64, ends, candidates, .. } = scratch;
        let rows = bucket.len();
        let all = std::iter::once(bucket).chain(others);
        ends.clear();
        ends.extend(all.clone().scan(0, |end, range| {
            *end += range.end - range.start;
            Some(*end)
        }));
        let mut sink = |rows: &[u32], columns: &[u32]| {
            for (&row, &column) in rows.iter().zip(columns) {
                let range = ends.partition_point(|&end| end <= column);
                // The first range is the bucket itself.
                let end = if range == 0 { bucket.end } else { others[range - 1].end };
                let place = end - (ends[range] - column);
                self.candidate(table, bucket.start + row, place, part);
            }
        };
        // The columns start with the bucket itself, which is skipped if it was compared before.
        let first_column = if with_itself { 0 } else { rows };
        let max_distance = self.reach.max_distance;
        let isa = self.isa;
        if self.short_words {
            let words = copied(&table.values, all, L::fold32, words_32);
            let search = PairSearch { words, rows: 0..rows, first_column, max_distance };
            near_pairs_32(search, isa, candidates, &mut sink);
        } else {
            let words = copied(&table.values, all, L::fold64, words_64);
            let search = PairSearch { words, rows: 0..rows, first_column, max_distance };
            near_pairs_64(search, isa, candidates, &mut sink);
        }
    }

    /// Collects the pair of the rows with indices `a` and `b` of the table, if it is within the maximum distance. Skips
    /// pairs that an earlier block has already found.
    fn candidate(&self, table: &KeyTable<L>, a: u32, b: u32, part: &mut C::Part) {
        let (a, b) = (a as usize, b as usize);
        let difference = table.values[a] ^ table.values[b];
        let Some(distance) = self.reach.distance(difference) else { return };
        // A pair that an earlier block found is not collected again.
        let earlier = &self.blocks[..table.block];
        let is_near =
            |block: &KeyBlock| (difference & block.mask::<L>()).count_ones() <= block.radius;
        if earlier.iter().any(is_near) {
            return;
        }
        let (a, b) = (table.numbers[a], table.numbers[b]);
        self.collect.pair(part, a.min(b), a.max(b), distance);
    }
}

impl<L: Fingerprint> KeyTable<L> {
    /// Fills the table with `values`, sorted by the key of `block`. The values are numbered from 0.
    /// `moved` is a buffer.
    fn fill(&mut self, values: &[L], block: &KeyBlock, moved: &mut Buffer<L>) {
        // All threads partition by the upper bits of the key, then one thread sorts each part.
        let first_bits = block.bits.min(FIRST_BITS);
        let rest = block.bits - first_bits;
        let rows = values.len();
        let (moved_values, moved_numbers) = (&mut moved.0[..rows], &mut moved.1[..rows]);
        let records =
            |range: Range<usize>| values[range.clone()].iter().copied().zip(range.start as u32..);
        let first = block.window(rest, first_bits);
        let parts = partition(rows, records, &first, moved_values, moved_numbers);
        let window = block.window(0, rest);
        self.starts.clear();
        self.starts.resize((1 << block.bits) + 1, rows as u32);
        let (moved_values, moved_numbers) = (&*moved_values, &*moved_numbers);
        let of_parts = cut(&mut self.values, &parts)
            .into_iter()
            .zip(cut(&mut self.numbers, &parts))
            .zip(self.starts.chunks_mut(1 << rest))
            .zip(&parts);
        tasks::map_items(of_parts.collect(), |(((values, numbers), starts), &start)| {
            let part = start..start + values.len();
            let mut next = vec![0; 1 << rest];
            count(&moved_values[part.clone()], &window, &mut next);
            // Counts become positions in the part, and starts in the table.
            let mut place = 0;
            for (next, start_of_key) in next.iter_mut().zip(starts) {
                *start_of_key = start as u32 + place;
                place += std::mem::replace(next, place);
            }
            let (from, of) = (&moved_values[part.clone()], &moved_numbers[part]);
            scatter(from, of, &window, &mut next, values, numbers);
        });
    }

    /// Returns the range of the table's rows whose key is `key`.
    #[inline]
    fn bucket(&self, key: usize) -> Range<u32> {
        self.starts[key]..self.starts[key + 1]
    }
}

/// Replaces `words` by the folds of all values in `ranges`, one range after the other. A fold is the
/// XOR of a fingerprint's words, which `fold` computes. Behind each range, `values` must have
/// [`COPIED`] more values.
#[inline]
fn copied<'w, 'r, L: Fingerprint, W: Copy + Default>(
    values: &[L],
    ranges: impl Iterator<Item = &'r Range<u32>> + Clone,
    fold: impl Fn(L) -> W,
    words: &'w mut Vec<W>,
) -> &'w [W] {
    let all: usize = ranges.clone().map(Range::len).sum();
    if words.len() < all + COPIED {
        words.resize(all + COPIED, W::default());
    }
    let mut end = 0;
    for range in ranges {
        let (mut to, from) = (end, range.start as usize);
        end += range.len();
        // Copying whole chunks is fastest. This writes beyond the end of a range, and the next range
        // overwrites the excess.
        for values in values[from..].as_chunks::<COPIED>().0 {
            if let Some(words) = words[to..].first_chunk_mut::<COPIED>() {
                *words = values.map(&fold);
            }
            to += COPIED;
            if to >= end {
                break;
            }
        }
    }
    &words[..all]
}

/// Multi-index hashing as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It is a self-join that
/// compares buckets of near keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiIndexJoin;

impl JoinKind for MultiIndexJoin {
    fn name(&self) -> &'static str {
        "multi-index-join"
    }

    fn help(&self) -> &'static str {
        "Compares buckets whose keys are near, in a few long blocks of bits: best for larger k."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::SelfJoins, rows: RowKind::Bits, is_for_collections: true }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let bits = workload.shape.row_bits();
        let (plan, time) =
            KeyPlan::cheapest(rows, bits, workload.effective_bits, workload.max_distance);
        let join = JoinEstimate {
            nanoseconds: rows * GROUPING + time,
            bytes: rows * (2.0 * workload.fingerprint_bytes() + 12.0) + plan.table_bytes(),
        };
        join + workload.kept_pairs(workload.different_pairs())
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for MultiIndexJoin {
    fn self_join(&self, rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
        self_join(rows, work)
    }

    fn count_pairs(&self, rows: FixedRows<'_, L>, work: JoinWork<'_>) -> Result<Option<u64>> {
        count_pairs(rows.rows(), work).map(Some)
    }
}

#[cfg(test)]
mod tests;
