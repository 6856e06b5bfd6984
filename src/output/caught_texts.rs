//! Keeps the beginnings of some texts while the input is read for another purpose, so that it need not be read again
//! for them.

use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::document::DocOrdinal;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Maximum number of bytes that are shown or compared of a text.
pub(super) const TEXT_BYTES: usize = 16 << 10;

/// Beginnings of the texts of wanted documents of one collection. Several threads may add them.
#[derive(Debug)]
pub(crate) struct CaughtTexts {
    /// Numbers of the wanted documents in ascending order.
    wanted: Vec<u32>,
    texts: Mutex<UnorderedMap<u32, Vec<u8>>>,
    _memory: Reservation,
}

impl CaughtTexts {
    /// Creates a collector for the texts of the documents with the numbers `wanted`. The memory of the texts is counted
    /// until the value is dropped.
    pub(super) fn new(mut wanted: Vec<u32>, memory: &Ledger) -> Self {
        wanted.sort_unstable();
        wanted.dedup();
        let memory = memory.hold((wanted.len() * TEXT_BYTES) as u64);
        Self { wanted, texts: Mutex::default(), _memory: memory }
    }

    /// Keeps the beginning of the text of a document if it is wanted.
    pub(super) fn see(&self, document: DocOrdinal, text: &[u8]) {
        if self.wanted.binary_search(&document.0).is_ok() {
            let text = text[..text.len().min(TEXT_BYTES)].to_vec();
            let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
            texts.insert(document.0, text);
        }
    }

    /// Returns the number and the text of each wanted document in the range `documents` whose text was kept, in order.
    pub(super) fn seen(&self, documents: Range<u32>) -> Vec<(u32, Vec<u8>)> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.wanted_in(documents).iter();
        wanted.filter_map(|row| Some((*row, texts.get(row)?.clone()))).collect()
    }

    /// Returns whether the texts of all wanted documents in a range were kept.
    pub(super) fn has_all(&self, documents: Range<u32>) -> bool {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted_in(documents).iter().all(|row| texts.contains_key(row))
    }

    fn wanted_in(&self, documents: Range<u32>) -> &[u32] {
        let [start, end] = [documents.start, documents.end]
            .map(|end| self.wanted.partition_point(|&row| row < end));
        &self.wanted[start..end]
    }

    /// Returns the texts by the numbers of their documents.
    pub(super) fn into_texts(self) -> UnorderedMap<u32, Vec<u8>> {
        self.texts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
