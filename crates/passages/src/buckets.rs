//! Buckets that several threads fill at the same time.

use simtool_base::error::Result;
use simtool_base::large_buffer;
use simtool_base::memory_ledger::{Ledger, Reservation};
use std::sync::{Mutex, PoisonError};

/// Number of items for which the first block of a bucket has room. A block is a list that one thread fills.
const FEWEST_IN_BLOCK: usize = 32;
/// Maximum number of items of a block. Each block that a thread fills is twice as large as the one before, up to
/// this size.
const MOST_IN_BLOCK: usize = 256;

/// A fixed number of lists, called buckets, that several threads fill at the same time. The order of the items in a
/// bucket depends on the threads, so the reader of a bucket must sort its items.
///
/// A bucket is a list of blocks, so items are not copied when it grows.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    buckets: Vec<Mutex<Bucket<T>>>,
    /// Description of the items, for example "the runs of windows". Out-of-memory messages contain it.
    name: &'static str,
}

/// One bucket, and the bytes of memory that are counted for it in the ledger.
#[derive(Debug)]
struct Bucket<T> {
    blocks: Vec<Vec<T>>,
    memory: Reservation,
}

impl<T: Copy> Buckets<T> {
    /// Creates `count` empty buckets. `name` describes the items in out-of-memory messages. `ledger` counts the memory
    /// of the buckets.
    pub(crate) fn new(count: usize, name: &'static str, ledger: &Ledger) -> Self {
        let bucket = || Mutex::new(Bucket { blocks: Vec::new(), memory: ledger.hold(0) });
        Self { buckets: (0..count).map(|_| bucket()).collect(), name }
    }

    /// Creates a writer for a thread. The buckets are complete after all writers are
    /// [finished](BucketWriter::finish).
    pub(crate) fn writer(&self) -> BucketWriter<'_, T> {
        let blocks = self.buckets.iter().map(|_| Vec::new()).collect();
        BucketWriter { buckets: self, blocks }
    }

    /// Returns the number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Removes and returns the items of bucket number `bucket`. They come as a list of blocks, which are lists of
    /// items.
    pub(crate) fn take(&self, bucket: usize) -> Vec<Vec<T>> {
        let mut bucket = self.buckets[bucket].lock().unwrap_or_else(PoisonError::into_inner);
        bucket.memory.shrink_to(0);
        std::mem::take(&mut bucket.blocks)
    }

    fn append(&self, bucket: usize, block: Vec<T>) {
        // A thread that panics ends the search, so nobody reads the items that it left behind.
        let mut bucket = self.buckets[bucket].lock().unwrap_or_else(PoisonError::into_inner);
        bucket.memory.grow((block.capacity() * size_of::<T>()) as u64);
        bucket.blocks.push(block);
    }
}

/// Collects the items of one thread, and moves them to their buckets.
#[derive(Debug)]
pub(crate) struct BucketWriter<'b, T> {
    buckets: &'b Buckets<T>,
    /// For each bucket, the block of items that this thread is filling.
    blocks: Vec<Vec<T>>,
}

impl<T: Copy> BucketWriter<'_, T> {
    /// Adds an item to bucket number `bucket`.
    ///
    /// # Errors
    /// Not enough memory.
    #[inline]
    pub(crate) fn push(&mut self, bucket: usize, item: T) -> Result<()> {
        let block = &mut self.blocks[bucket];
        if block.len() == block.capacity() {
            return self.push_to_full(bucket, item);
        }
        block.push(item);
        Ok(())
    }

    /// Adds an item to a bucket whose block is full or not allocated yet: moves the full block to the bucket, and
    /// begins a new one.
    #[cold]
    fn push_to_full(&mut self, bucket: usize, item: T) -> Result<()> {
        let block = &mut self.blocks[bucket];
        // Small inputs have small blocks, so that 256 buckets do not take much memory for nothing.
        let items = (2 * block.len()).clamp(FEWEST_IN_BLOCK, MOST_IN_BLOCK);
        let mut next = large_buffer::reserved(items, self.buckets.name)?;
        next.push(item);
        let full = std::mem::replace(block, next);
        if !full.is_empty() {
            self.buckets.append(bucket, full);
        }
        Ok(())
    }

    /// Moves the remaining items of this thread to their buckets.
    pub(crate) fn finish(self) {
        for (bucket, block) in self.blocks.into_iter().enumerate() {
            self.buckets.append(bucket, block);
        }
    }
}
