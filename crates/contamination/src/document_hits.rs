//! The windows of items that occur in a document. An item is a text of an evaluation set, and a window is a sequence of
//! n of its words.

use crate::window_table::{HashBuffers, Hit};

/// The windows of items that occur in a document. An item is a text of an evaluation set, and a window is a sequence of
/// n of its words. The buffers are reused from document to document.
#[derive(Debug, Default)]
pub struct DocumentHits {
    pub(crate) hashes: HashBuffers,
    /// The windows and their places. They are in the order of the document until they are [sorted](Self::sort).
    pub(crate) hits: Vec<Hit>,
    /// Numbers of the different windows in `hits`, in the order of their first places.
    windows: Vec<u32>,
    /// For each window of the items, the value of `round` when it was last found in a document. 0 if it was not found.
    rounds: Vec<u8>,
    /// Number of the current document: from 1 to 255 and then from 1 again. It marks the windows of this document in
    /// `rounds`.
    round: u8,
}

impl DocumentHits {
    /// Removes all hits, so that the hits of the next document can be added. `windows` is the number of different
    /// windows of all items.
    pub(crate) fn clear(&mut self, windows: usize) {
        self.hits.clear();
        self.windows.clear();
        // Marks of one byte are cleared after 255 documents, which costs less than larger marks.
        if self.round == u8::MAX || self.rounds.len() != windows {
            self.rounds.clear();
            self.rounds.resize(windows, 0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// Marks the windows of all hits as found in the document, so that [`Self::has`] finds them.
    pub(crate) fn mark(&mut self) {
        for hit in &self.hits {
            let round = &mut self.rounds[hit.window as usize];
            if *round != self.round {
                *round = self.round;
                self.windows.push(hit.window);
            }
        }
    }

    /// Returns whether window number `window` occurs in the document.
    #[inline]
    pub(crate) fn has(&self, window: u32) -> bool {
        self.rounds[window as usize] == self.round
    }

    /// Returns the numbers of the different windows of items that occur in the document.
    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    /// Sorts the hits by the numbers of their windows, so that [`Self::of_window`] can be called.
    pub(crate) fn sort(&mut self) {
        self.hits.sort_unstable();
    }

    /// Returns the places of window number `window` in the document, in ascending order. Call [`Self::sort`] before.
    pub(crate) fn of_window(&self, window: u32) -> &[Hit] {
        let start = self.hits.partition_point(|hit| hit.window < window);
        let count = self.hits[start..].partition_point(|hit| hit.window == window);
        &self.hits[start..start + count]
    }
}
