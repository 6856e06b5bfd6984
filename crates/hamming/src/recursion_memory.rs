//! The memory of a recursive join, which is shared by its threads. It is allocated once and used again
//! for every bucket.

use crate::parallel_partition::NumberedValues;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::Ledger;
use simtool_kernels::hamming_pairs::Candidates;
use simtool_kernels::partition::{BlockHash, Parts, count, scatter};
use simtool_model::fingerprint_table::{Fingerprint, Wide};
use std::sync::Mutex;

/// Description of the memory for records. Out-of-memory messages contain it.
pub(super) const RECORDS: &str = "the partitions of the fingerprints";

/// Two words that are moved instead of a long fingerprint: a hash of some of its bits, and the XOR of
/// its words. [`first_level`](super::first_level) describes them.
pub(super) type Sketch = Wide<2>;

/// Memory for records: an array of fingerprints, and an array of their row or group numbers.
pub(super) type Buffer<W> = (LargeBuffer<W>, LargeBuffer<u32>);

/// Allocates a buffer for `records` records.
///
/// # Errors
///
/// There is too little memory.
pub(super) fn new_buffer<W: Fingerprint>(records: usize, ledger: &Ledger) -> Result<Buffer<W>> {
    let values = LargeBuffer::try_zeroed(records, RECORDS)?.entered_in(ledger);
    let numbers = LargeBuffer::try_zeroed(records, RECORDS)?.entered_in(ledger);
    Ok((values, numbers))
}

/// The idle buffers of a join, which no thread uses at the moment. A buffer is taken from the pool and put back after
/// use.
pub(super) struct Pool<W> {
    scratch: Mutex<Vec<RecursionScratch<W>>>,
    buffers: Mutex<Vec<Buffer<W>>>,
    /// Counts the memory of the buffers.
    pub(super) ledger: Ledger,
}

impl<W: Fingerprint> Pool<W> {
    /// Creates a pool with the buffer `spare` from an earlier step. With `None`, the pool is empty.
    pub(super) fn new(spare: Option<Buffer<W>>, ledger: Ledger) -> Self {
        let buffers = Mutex::new(spare.into_iter().collect());
        Self { scratch: Mutex::new(Vec::new()), buffers, ledger }
    }

    /// Calls `work` with scratch memory that no other thread uses, and returns the result of `work`.
    pub(super) fn with_scratch<T>(&self, work: impl FnOnce(&mut RecursionScratch<W>) -> T) -> T {
        let idle = self.scratch.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = idle.unwrap_or_default();
        let result = work(&mut scratch);
        if let Ok(mut idle) = self.scratch.lock() {
            idle.push(scratch);
        }
        result
    }

    /// Returns a buffer with room for `records` records. It is taken from the pool or allocated.
    pub(super) fn buffer(&self, records: usize) -> Buffer<W> {
        let idle = self.idle_buffer(records);
        idle.unwrap_or_else(|| {
            let values = LargeBuffer::zeroed(records).entered_in(&self.ledger);
            let numbers = LargeBuffer::zeroed(records).entered_in(&self.ledger);
            (values, numbers)
        })
    }

    /// Puts a buffer for `records` records into the pool. This is the first and largest buffer of a
    /// join, so a join with too little memory fails at its start. The operating system provides the
    /// memory pages only when they are written.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub(super) fn reserve_buffer(&self, records: usize) -> Result<()> {
        let buffer =
            self.idle_buffer(records).map_or_else(|| new_buffer(records, &self.ledger), Ok)?;
        self.give_back(buffer);
        Ok(())
    }

    /// Takes a buffer with room for `records` records from the pool, or returns `None` if there is
    /// none.
    fn idle_buffer(&self, records: usize) -> Option<Buffer<W>> {
        let mut buffers = self.buffers.lock().ok()?;
        let fitting = buffers.iter().position(|buffer| buffer.0.len() >= records)?;
        Some(buffers.swap_remove(fitting))
    }

    /// Puts a buffer back into the pool, so that another step can use it.
    pub(super) fn give_back(&self, buffer: Buffer<W>) {
        if let Ok(mut buffers) = self.buffers.lock() {
            buffers.push(buffer);
        }
    }
}

/// Buffers that one thread of a recursive join uses again for every bucket.
pub(super) struct RecursionScratch<W> {
    /// For each depth of the recursion, the buffers in which a bucket of this depth is partitioned.
    pub(super) levels: Vec<RecursionLevel<W>>,
    pub(super) folds: Folds,
    pub(super) candidates: Candidates,
    pub(super) sketches: RecursionLevel<Sketch>,
    /// Pairs of row numbers whose sketches, which are summaries of two words, are near. Their fingerprints are not
    /// compared yet.
    pub(super) likely: Vec<(u32, u32)>,
}

/// The folds of the fingerprints in a leaf, which is a bucket whose pairs are all compared. A fold is
/// the XOR of a fingerprint's words. It has 32 or 64 bits, and only the list for this length is filled.
#[derive(Default)]
pub(super) struct Folds {
    pub(super) words_32: Vec<u32>,
    pub(super) words_64: Vec<u64>,
}

impl Folds {
    /// Replaces the folds by the XOR of the words of each of `values`, of 32 bits if `is_short` is true, otherwise of
    /// 64 bits.
    pub(super) fn fill<W: Fingerprint>(&mut self, values: &[W], is_short: bool) {
        if is_short {
            self.words_32.clear();
            self.words_32.extend(values.iter().map(|value| value.fold32()));
        } else {
            self.words_64.clear();
            self.words_64.extend(values.iter().map(|value| value.fold64()));
        }
    }
}

/// Memory for one depth of a thread's recursion. It holds the records of one bucket, partitioned into
/// smaller buckets.
pub(super) struct RecursionLevel<W> {
    values: Vec<W>,
    numbers: Vec<u32>,
    /// For each part of the partition, the index at which its next record is written. After [`Self::scatter`], the end
    /// index of the part.
    next: Vec<u32>,
}

impl<W: Fingerprint> RecursionLevel<W> {
    /// Counts the records that `hash` assigns to each part of the partition. Returns the number of records in the
    /// largest part.
    pub(super) fn count(&mut self, records: NumberedValues<'_, W>, hash: &BlockHash<W>) -> usize {
        self.next.clear();
        self.next.resize(hash.parts(), 0);
        count(records.values, hash, &mut self.next);
        let mut place = 0;
        let mut largest = 0;
        // Each count becomes the index where its part starts.
        for next in &mut self.next {
            largest = largest.max(*next);
            place += std::mem::replace(next, place);
        }
        largest as usize
    }

    /// Copies the records so that the records of each part of the partition are adjacent. Call [`Self::count`] with the
    /// same records first.
    pub(super) fn scatter(&mut self, records: NumberedValues<'_, W>, hash: &BlockHash<W>) {
        let length = records.len();
        // The arrays only grow, because clearing them for each bucket would take longer than filling
        // them.
        if self.values.len() < length {
            self.values.resize(length, W::ZERO);
            self.numbers.resize(length, 0);
        }
        let values = &mut self.values[..length];
        let numbers = &mut self.numbers[..length];
        scatter(records.values, records.numbers, hash, &mut self.next, values, numbers);
    }

    /// Returns the parts of the partition that have at least two records, so that they may have pairs.
    pub(super) fn buckets(&self) -> impl Iterator<Item = NumberedValues<'_, W>> {
        let all = NumberedValues { values: &self.values, numbers: &self.numbers };
        let starts = std::iter::once(0).chain(self.next.iter().copied());
        let parts = starts.zip(&self.next).map(|(start, &end)| start as usize..end as usize);
        parts.filter(|part| part.len() > 1).map(move |part| all.slice(part))
    }
}

impl<W> Default for RecursionLevel<W> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: Vec::new(), next: Vec::new() }
    }
}

impl<W> Default for RecursionScratch<W> {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            folds: Folds::default(),
            candidates: Candidates::default(),
            sketches: RecursionLevel::default(),
            likely: Vec::new(),
        }
    }
}
