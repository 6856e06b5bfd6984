//! The units of items, and their weights.
//!
//! An item is a text of an evaluation set, for example a question of a benchmark, and a search finds the documents
//! that contain a large share of an item. The share is (weight of the found units) / (weight of all units of the
//! item). A unit is a word of the item, or a window of n of its words, depending on the [`Measure`]. A weight is 1,
//! or greater if the unit is rare in the documents.

use crate::item_windows::ItemWindows;
use crate::measure::Measure;
use simtool_base::error::Result;
use simtool_base::large_buffer;

/// The units of all items of an evaluation set, and their weights. A unit is a word or a window of n words of an
/// item. If a window is found in a document, the units that it covers count as found.
#[derive(Debug)]
pub(crate) struct Units {
    measure: Measure,
    /// Weight of each word of the items. Empty if all units have the weight 1.
    weights: Vec<u8>,
}

impl Units {
    /// Creates the units of the items in `windows`. `counts` has the number of documents that have each different
    /// window, if the measure needs these numbers. `documents` is the number of all documents.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn new(
        windows: &ItemWindows,
        measure: Measure,
        counts: &[u32],
        documents: u32,
    ) -> Result<Self> {
        let mut weights = Vec::new();
        // Without weights, no memory is needed.
        if measure.needs_counts() {
            let words = windows.items().all_words().len();
            weights = large_buffer::filled(u8::MAX, words, "the weights of words")?;
            for item in 0..windows.items().len() {
                let of_words = &mut weights[windows.items().places(item)];
                for (start, &window) in windows.of_item(item).iter().enumerate() {
                    let weight = rarity(counts[window as usize], documents);
                    // The rarity of the most frequent window counts.
                    for of_word in &mut of_words[start..start + windows.length(item)] {
                        *of_word = weight.min(*of_word);
                    }
                }
            }
        }
        Ok(Self { measure, weights })
    }

    /// Returns the number of consecutive units that each window of an item covers. The window at position i in the item
    /// covers the units from number i on.
    pub(crate) fn width(&self, windows: &ItemWindows, item: u32) -> usize {
        match self.measure {
            Measure::Words | Measure::Weighted => windows.length(item),
            Measure::Shingles => 1,
        }
    }

    /// Returns the weights of the units of item number `item`.
    pub(crate) fn of_item<'u>(&'u self, windows: &ItemWindows, item: u32) -> Weights<'u> {
        match self.measure {
            Measure::Words => Weights::Equal(windows.items().words(item).len()),
            Measure::Shingles => Weights::Equal(windows.of_item(item).len()),
            Measure::Weighted => Weights::Different(&self.weights[windows.items().places(item)]),
        }
    }
}

/// Returns the weight of a window that `count` of all `documents` documents have: the number of binary digits of
/// `documents / count`.
fn rarity(count: u32, documents: u32) -> u8 {
    // A window in no document weighs as much as one in a single document.
    (documents / count.max(1)).max(1).ilog2() as u8 + 1
}

/// The weights of the units of one item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weights<'u> {
    /// The item has this number of units, and each has the weight 1.
    Equal(usize),
    /// The item has one unit for each element, which is the weight of the unit.
    Different(&'u [u8]),
}

impl Weights<'_> {
    /// Returns the number of units.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Equal(count) => count,
            Self::Different(weights) => weights.len(),
        }
    }

    /// Returns the weight of unit number `unit` of the item.
    #[inline]
    pub(crate) fn get(self, unit: usize) -> u64 {
        match self {
            Self::Equal(_) => 1,
            Self::Different(weights) => weights[unit].into(),
        }
    }

    /// Returns the sum of the weights of all units.
    pub(crate) fn sum(self) -> u64 {
        match self {
            Self::Equal(count) => count as u64,
            Self::Different(weights) => weights.iter().copied().map(u64::from).sum(),
        }
    }
}
