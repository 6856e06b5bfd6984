//! The windows of items that occur in a document.

use crate::window_table::{HashBuffers, Hit};

/// The windows of items that occur in a document. The buffers are reused from document to document.
#[derive(Debug, Default)]
pub struct DocumentHits {
    pub(crate) hashes: HashBuffers,
    /// The windows and their places. They are in the order of the document until they are [sorted](Self::sort).
    pub(crate) hits: Vec<Hit>,
    /// The different windows, in the order of their first places.
    windows: Vec<u32>,
    /// For each window of the items, the number of the last document that has it, as in `round`. 0 if there is none.
    rounds: Vec<u8>,
    /// Number of the current document, from 1 to 255 and then from 1 again.
    round: u8,
}

impl DocumentHits {
    /// Removes all hits. The next hits are those of another document. `windows` is the number of windows of
    /// all items.
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

    /// Marks the windows of all hits, so that [`Self::has`] finds them.
    pub(crate) fn mark(&mut self) {
        for hit in &self.hits {
            let round = &mut self.rounds[hit.window as usize];
            if *round != self.round {
                *round = self.round;
                self.windows.push(hit.window);
            }
        }
    }

    /// Returns whether the document has the window with number `window`.
    #[inline]
    pub(crate) fn has(&self, window: u32) -> bool {
        self.rounds[window as usize] == self.round
    }

    /// Returns the different windows of items that occur in the document.
    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    /// Sorts the hits by their windows, for [`Self::of_window`]. Few documents need it.
    pub(crate) fn sort(&mut self) {
        self.hits.sort_unstable();
    }

    /// Returns the places of a window, in ascending order. The hits must be [sorted](Self::sort).
    pub(crate) fn of_window(&self, window: u32) -> &[Hit] {
        let start = self.hits.partition_point(|hit| hit.window < window);
        let count = self.hits[start..].partition_point(|hit| hit.window == window);
        &self.hits[start..start + count]
    }
}
