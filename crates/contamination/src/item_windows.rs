//! The windows of all items of an evaluation set. A window is a sequence of n consecutive words of an item.

use crate::document_hits::DocumentHits;
use crate::items::Items;
use crate::window_table::{WindowHashes, WindowTable};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer;
use simtool_base::memory_ledger::Reservation;
use simtool_base::quantity::bytes as readable_bytes;
use simtool_compute::context::Context;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of memory for each word of the items while [`ItemWindows`] is built. The finished value takes less memory.
const BYTES_A_WORD: u64 = 52;
/// Bytes of memory for each item, in addition to the bytes for its words.
const BYTES_AN_ITEM: u64 = 24;

/// The items of an evaluation set and their windows, which are sequences of n consecutive words. Equal windows have the
/// same number. An item with fewer than n words has one window, which is the whole item.
#[derive(Debug)]
pub struct ItemWindows {
    items: Items,
    /// Number n of words of a window.
    words: usize,
    /// One table of different windows for each length, in ascending order of lengths. Items with fewer than n words
    /// have shorter windows.
    tables: Vec<WindowTable>,
    /// For each word of the items, the number of the window that begins there. Not used for the last words of an item,
    /// where no window begins.
    numbers: Vec<u32>,
    /// Number of different windows of all items together.
    count: usize,
    _memory: Reservation,
}

/// For each different window of the items, the number of documents that have this window.
#[derive(Debug)]
pub struct DocumentCounts {
    counts: Vec<AtomicU32>,
    documents: AtomicU32,
}

impl ItemWindows {
    /// Finds the windows of all items. `words` is the number of words of a window. `mask` selects the bits of hashes
    /// that are used, and only tests clear some of them.
    pub(crate) fn new(
        items: Items,
        words: usize,
        mask: u64,
        context: &Context<'_>,
    ) -> Result<Self> {
        let all_words = items.all_words();
        let memory = reserve(all_words.len() as u64, u64::from(items.len()), context)?;
        let mut numbers = large_buffer::filled(0, all_words.len(), "the windows of items")?;
        let mut windows = Self {
            items,
            words,
            tables: Vec::new(),
            numbers: Vec::new(),
            count: 0,
            _memory: memory,
        };
        // The longest windows come last, and nearly all items have them.
        let mut hashes = Vec::new();
        let mut lengths: Vec<usize> =
            (0..windows.items.len()).map(|item| windows.length(item)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        // Items without words have no windows.
        for length in lengths.into_iter().filter(|&length| length > 0) {
            let hashing = WindowHashes { length, isa: context.isa(), mask };
            let mut places = Vec::new();
            for item in (0..windows.items.len()).filter(|&item| windows.length(item) == length) {
                context.check_cancelled()?;
                hashing.fill(windows.items.words(item), &mut hashes);
                let start = windows.items.places(item).start as u32;
                large_buffer::reserve(&mut places, hashes.len(), "the windows of items")?;
                places.extend(hashes.iter().copied().zip(start..));
            }
            if !places.is_empty() {
                let words = windows.items.all_words();
                let numbers = (windows.count as u32, &mut numbers[..]);
                let table = WindowTable::new(hashing, places, words, numbers, context)?;
                windows.count += table.len();
                windows.tables.push(table);
            }
        }
        windows.numbers = numbers;
        Ok(windows)
    }

    /// Returns the items.
    #[must_use]
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// Returns the number of words in each window of `item`: n, or all words of an item that has fewer than n. The
    /// number is 0 for an item without words.
    pub(crate) fn length(&self, item: u32) -> usize {
        self.words.min(self.items.words(item).len())
    }

    /// Returns the numbers of the windows of item number `item`, in the order of the item.
    pub(crate) fn of_item(&self, item: u32) -> &[u32] {
        let places = self.items.places(item);
        let count = (places.len() + 1).saturating_sub(self.length(item).max(1));
        &self.numbers[places][..count]
    }

    /// Returns the number of different windows of all items together.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Creates the counts for [`Self::count_document`]. For each window, the number of documents that have it is 0.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn document_counts(&self) -> Result<DocumentCounts> {
        let mut counts = large_buffer::reserved(self.count, "the counts of windows")?;
        counts.resize_with(self.count, AtomicU32::default);
        Ok(DocumentCounts { counts, documents: AtomicU32::new(0) })
    }

    /// Counts `document`: increases by 1 the number of documents in `counts`, and the number of each window of items
    /// that occurs in it. Replaces `hits` by the windows of this document. Returns whether it has any. If not, it
    /// contains no item and need not be searched.
    pub fn count_document(
        &self,
        document: &[u64],
        counts: &DocumentCounts,
        hits: &mut DocumentHits,
    ) -> bool {
        self.find(document, hits);
        for &window in hits.windows() {
            counts.counts[window as usize].fetch_add(1, Ordering::Relaxed);
        }
        counts.documents.fetch_add(1, Ordering::Relaxed);
        !hits.windows().is_empty()
    }

    /// Replaces `hits` by all windows of `document` that are windows of items.
    pub(crate) fn find(&self, document: &[u64], hits: &mut DocumentHits) {
        hits.clear(self.count);
        for table in &self.tables {
            let words = self.items.all_words();
            table.find_all(document, words, &mut hits.hashes, &mut hits.hits);
        }
        hits.mark();
    }
}

impl DocumentCounts {
    /// Returns for each window the number of documents that have it. The index is the number of the window.
    pub(crate) fn of_windows(self) -> Vec<u32> {
        self.counts.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// Returns the number of documents that were counted.
    pub(crate) fn documents(&self) -> u32 {
        self.documents.load(Ordering::Relaxed)
    }
}

/// Reserves the memory for the windows of `items` items with `words` words together.
fn reserve(words: u64, items: u64, context: &Context<'_>) -> Result<Reservation> {
    let bytes = words * BYTES_A_WORD + items * BYTES_AN_ITEM;
    let memory = context.memory();
    memory.try_reserve(bytes).ok_or_else(|| {
        let [needed, free] = [bytes, memory.free()].map(readable_bytes);
        let rule = format!(
            "`max_memory` leaves {free}. Allow at least {needed}, or search for the items in several runs"
        );
        Error::limit(format!("the items need {needed} of memory"), rule)
    })
}
