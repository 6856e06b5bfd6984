//! Buckets that several threads fill at the same time.

use simtool_base::error::Result;
use simtool_base::large_buffer;
use simtool_base::memory_ledger::{Ledger, Reservation};
use std::sync::{Mutex, PoisonError};

/// Number of items that a thread collects for a bucket before it locks the bucket.
const BUFFERED: usize = 64;

/// A fixed number of growing lists, called buckets, that several threads fill at the same time. The order of
/// the items in a bucket depends on the threads, so whoever reads a bucket sorts it first.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    buckets: Vec<Mutex<Bucket<T>>>,
    /// Description of the items. Out-of-memory messages contain it.
    name: &'static str,
}

/// One bucket, and the memory that it has entered in the ledger.
#[derive(Debug)]
struct Bucket<T> {
    items: Vec<T>,
    memory: Reservation,
}

impl<T: Copy> Buckets<T> {
    /// Creates `count` empty buckets, whose memory is counted in `ledger`.
    pub(crate) fn new(count: usize, name: &'static str, ledger: &Ledger) -> Self {
        let bucket = || Mutex::new(Bucket { items: Vec::new(), memory: ledger.hold(0) });
        Self { buckets: (0..count).map(|_| bucket()).collect(), name }
    }

    /// Creates a writer for a thread. The buckets are complete after all writers are
    /// [finished](BucketWriter::finish).
    pub(crate) fn writer(&self) -> BucketWriter<'_, T> {
        let buffers = self.buckets.iter().map(|_| Vec::new()).collect();
        BucketWriter { buckets: self, buffers }
    }

    /// Returns the number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Removes and returns the items of a bucket.
    pub(crate) fn take(&self, bucket: usize) -> Vec<T> {
        let mut bucket = self.buckets[bucket].lock().unwrap_or_else(PoisonError::into_inner);
        bucket.memory.shrink_to(0);
        std::mem::take(&mut bucket.items)
    }

    fn append(&self, bucket: usize, items: &mut Vec<T>) -> Result<()> {
        // A thread that panics ends the search, so nobody reads the items that it left behind.
        let mut bucket = self.buckets[bucket].lock().unwrap_or_else(PoisonError::into_inner);
        let before = bucket.items.capacity();
        // Growth by a quarter wastes less memory than doubling, and copies each item four times at most.
        if before - bucket.items.len() < items.len() {
            let more = items.len().max(before / 4);
            bucket.items.try_reserve_exact(more).map_err(|_| {
                let bytes = (before + more) * size_of::<T>();
                simtool_base::error::Error::memory(self.name, bytes as u64)
            })?;
        }
        let grown = bucket.items.capacity() - before;
        bucket.memory.grow((grown * size_of::<T>()) as u64);
        bucket.items.append(items);
        Ok(())
    }
}

/// Collects the items of one thread, and moves them to their buckets.
#[derive(Debug)]
pub(crate) struct BucketWriter<'b, T> {
    buckets: &'b Buckets<T>,
    buffers: Vec<Vec<T>>,
}

impl<T: Copy> BucketWriter<'_, T> {
    /// Adds an item to bucket number `bucket`.
    ///
    /// # Errors
    /// Not enough memory.
    #[inline]
    pub(crate) fn push(&mut self, bucket: usize, item: T) -> Result<()> {
        let buffer = &mut self.buffers[bucket];
        if buffer.len() == buffer.capacity() {
            return self.push_to_full(bucket, item);
        }
        buffer.push(item);
        Ok(())
    }

    /// Adds an item to a bucket whose buffer is full or not allocated yet.
    #[cold]
    fn push_to_full(&mut self, bucket: usize, item: T) -> Result<()> {
        let buffer = &mut self.buffers[bucket];
        if buffer.is_empty() {
            large_buffer::reserve(buffer, BUFFERED, self.buckets.name)?;
        } else {
            self.buckets.append(bucket, buffer)?;
        }
        buffer.push(item);
        Ok(())
    }

    /// Moves all items that are left to their buckets.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn finish(mut self) -> Result<()> {
        for (bucket, buffer) in self.buffers.iter_mut().enumerate() {
            self.buckets.append(bucket, buffer)?;
        }
        Ok(())
    }
}
