//! Counts documents that were compared without some of their lines.

use simtool_model::document::Document;
use std::ops::AddAssign;

/// Counts of documents from which lines are left out because many documents have them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOutCounts {
    /// Number of documents that were compared without their common lines.
    pub(crate) own_texts: u64,
    /// Number of documents that were compared as a whole, because few words would remain without their common lines.
    pub(crate) few_own_words: u64,
    /// Number of bytes of common lines that were left out, over all documents.
    pub(crate) bytes: u64,
}

impl LeftOutCounts {
    /// Adds a document to the counts.
    pub(super) fn count(&mut self, document: &Document<'_>) {
        self.own_texts += u64::from(document.left_out > 0);
        self.few_own_words += u64::from(document.few_own.is_some());
        self.bytes += document.left_out as u64;
    }

    /// Creates the counts from [`Self::numbers`].
    pub(super) fn from_numbers([own_texts, few_own_words, bytes]: [u64; 3]) -> Self {
        Self { own_texts, few_own_words, bytes }
    }

    /// Returns the counts in the order of the fields.
    pub(super) fn numbers(self) -> [u64; 3] {
        [self.own_texts, self.few_own_words, self.bytes]
    }
}

impl AddAssign for LeftOutCounts {
    fn add_assign(&mut self, more: Self) {
        self.own_texts += more.own_texts;
        self.few_own_words += more.few_own_words;
        self.bytes += more.bytes;
    }
}
