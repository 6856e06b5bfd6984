//! The different windows of one length, and the search for them in a document. A window is a sequence of consecutive
//! words of an item.

use crate::window_filter::WindowFilter;
use simtool_base::error::Result;
use simtool_base::large_buffer;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_kernels::shingle_terms::shingle_terms;

/// Number of windows of a document that are hashed at once. Their hashes stay in the cache.
const BLOCK: usize = 2048;
/// Description of the windows. Out-of-memory messages contain it.
const WINDOWS: &str = "the windows of items";

/// Consecutive positions of a document at which the same window of an item begins. In nearly all texts this is one
/// position, but a text that repeats a word has the same window thousands of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// Number of the window among the different windows of the items.
    pub(crate) window: u32,
    /// First of the consecutive positions in the document at which the window begins.
    pub(crate) first: u32,
    /// Last of the consecutive positions in the document at which the window begins.
    pub(crate) last: u32,
}

/// Settings by which the hashes of all windows with the same number of words are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowHashes {
    /// Number of words of a window.
    pub(crate) length: usize,
    pub(crate) isa: Isa,
    /// Mask of the bits of hashes that are used. Tests use few bits, so that different windows have equal hashes.
    pub(crate) mask: u64,
}

impl WindowHashes {
    /// Replaces `hashes` by the hashes of all windows of `words`.
    pub(crate) fn fill(&self, words: &[u64], hashes: &mut Vec<u64>) {
        hashes.clear();
        shingle_terms(self.isa, words, self.length, hashes);
        if self.mask != u64::MAX {
            for hash in hashes {
                *hash &= self.mask;
            }
        }
    }
}

/// The different windows of one length, sorted by their hashes. Windows are numbered in this order.
#[derive(Debug)]
pub(crate) struct WindowTable {
    hashing: WindowHashes,
    /// Number of the first window of the table. The other windows have the next numbers.
    first: u32,
    filter: WindowFilter,
    hashes: Vec<u64>,
    /// For each window, the index of the first word of one occurrence in the words of all items.
    examples: Vec<u32>,
    /// For each bucket, the number of windows in the buckets before it. The highest bits of a hash are the number of
    /// its bucket. The last element is the number of all windows.
    bucket_starts: Vec<u32>,
    /// Number of lower bits of a hash that do not select its bucket.
    shift: u32,
}

/// Buffers for [`WindowTable::find_all`], which are reused from document to document.
#[derive(Debug, Default)]
pub(crate) struct HashBuffers {
    hashes: Vec<u64>,
    passing: Vec<u32>,
}

impl WindowTable {
    /// Creates the table of windows. `places` has the hash of each window and the index in `words` of its first word.
    /// `numbers` has an element for each of `words`. Sets the elements at which windows begin to the numbers of these
    /// windows. The first number is `first`.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn new(
        hashing: WindowHashes,
        mut places: Vec<(u64, u32)>,
        words: &[u64],
        (first, numbers): (u32, &mut [u32]),
        context: &Context<'_>,
    ) -> Result<Self> {
        // Places are part of the order, so that the numbers do not depend on the sort.
        context.threads().sort_by_key(&mut places, |place| *place);
        let window = |place: u32| &words[place as usize..place as usize + hashing.length];
        let distinct = places.chunk_by(|a, b| a.0 == b.0).count();
        let mut hashes = large_buffer::reserved(distinct, WINDOWS)?;
        let mut examples: Vec<u32> = large_buffer::reserved(distinct, WINDOWS)?;
        for equal in places.chunk_by(|a, b| a.0 == b.0) {
            let start = hashes.len();
            for &(hash, place) in equal {
                // Different windows with equal hashes get different numbers.
                let is_known = |example: &u32| window(*example) == window(place);
                let index = examples[start..].iter().position(is_known);
                if index.is_none() {
                    hashes.push(hash);
                    examples.push(place);
                }
                let index = index.map_or(hashes.len() - 1, |index| start + index);
                numbers[place as usize] = first + index as u32;
            }
        }
        drop(places);
        let mut filter = WindowFilter::new(hashes.len())?;
        for &hash in &hashes {
            filter.add(hash);
        }
        // A bucket has two to four windows on average.
        let buckets = (hashes.len() / 2).next_power_of_two().max(2);
        let shift = u64::BITS - buckets.ilog2();
        let start =
            |bucket: usize| hashes.partition_point(|hash| hash >> shift < bucket as u64) as u32;
        let bucket_starts = (0..=buckets).map(start).collect();
        Ok(Self { hashing, first, filter, hashes, examples, bucket_starts, shift })
    }

    /// Returns the number of different windows.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Appends the places of all windows of `document` that are in the table to `hits`, in the order of the document.
    /// `item_words` are the words of all items.
    pub(crate) fn find_all(
        &self,
        document: &[u64],
        item_words: &[u64],
        buffers: &mut HashBuffers,
        hits: &mut Vec<Hit>,
    ) {
        let HashBuffers { hashes, passing } = buffers;
        let length = self.hashing.length;
        for start in (0..(document.len() + 1).saturating_sub(length)).step_by(BLOCK) {
            // Blocks overlap, so that each window is whole in one of them.
            let end = document.len().min(start + BLOCK + length - 1);
            let block = &document[start..end];
            self.hashing.fill(block, hashes);
            self.filter.find(hashes, passing);
            for &at in &*passing {
                let at = at as usize;
                let window = &block[at..at + length];
                if let Some(window) = self.number(hashes[at], window, item_words) {
                    push_hit(hits, window, (start + at) as u32);
                }
            }
        }
    }

    /// Returns the number of the window with the words `window` and the hash `hash`, or `None` if the table lacks it.
    #[inline]
    fn number(&self, hash: u64, window: &[u64], item_words: &[u64]) -> Option<u32> {
        let bucket = (hash >> self.shift) as usize;
        let mut indices = self.bucket_starts[bucket]..self.bucket_starts[bucket + 1];
        // The words are compared, so equal hashes of different windows do no harm.
        let is_window = |index: &u32| {
            let index = *index as usize;
            self.hashes[index] == hash
                && item_words[self.examples[index] as usize..].starts_with(window)
        };
        indices.find(is_window).map(|index| self.first + index)
    }
}

/// Adds position `position` of window number `window` to `hits`. Positions must be added in the order of the document.
#[inline]
fn push_hit(hits: &mut Vec<Hit>, window: u32, position: u32) {
    match hits.last_mut() {
        Some(hit) if hit.window == window && hit.last + 1 == position => hit.last = position,
        _ => hits.push(Hit { window, first: position, last: position }),
    }
}
