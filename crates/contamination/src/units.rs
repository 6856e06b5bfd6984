//! The units of items, and their weights. Units are the things whose share is measured: words or windows.

use crate::item_windows::ItemWindows;
use crate::measure::Measure;
use simtool_base::error::Result;
use simtool_base::large_buffer;

/// The units of all items and their weights. A found window covers some units of its item.
#[derive(Debug)]
pub(crate) struct Units {
    measure: Measure,
    /// Weight of each word of the items. Empty if all units have the weight 1.
    weights: Vec<u8>,
}

impl Units {
    /// Creates the units of the items. `counts` has the numbers of documents with each window, if the measure needs
    /// them, and `documents` is the number of all documents.
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

    /// Returns the number of units that a window of an item covers. The first of them has the number of the window.
    pub(crate) fn width(&self, windows: &ItemWindows, item: u32) -> usize {
        match self.measure {
            Measure::Words | Measure::Weighted => windows.length(item),
            Measure::Shingles => 1,
        }
    }

    /// Returns the weights of the units of an item.
    pub(crate) fn of_item<'u>(&'u self, windows: &ItemWindows, item: u32) -> Weights<'u> {
        match self.measure {
            Measure::Words => Weights::Equal(windows.items().words(item).len()),
            Measure::Shingles => Weights::Equal(windows.of_item(item).len()),
            Measure::Weighted => Weights::Different(&self.weights[windows.items().places(item)]),
        }
    }
}

/// Returns the weight of a window that `count` of `documents` documents have: the number of binary digits of
/// the quotient.
fn rarity(count: u32, documents: u32) -> u8 {
    // A window in no document weighs as much as one in a single document.
    (documents / count.max(1)).max(1).ilog2() as u8 + 1
}

/// The weights of the units of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weights<'u> {
    /// This number of units, with the weight 1 each.
    Equal(usize),
    /// The weight of each unit.
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

    /// Returns the weight of a unit.
    #[inline]
    pub(crate) fn get(self, unit: usize) -> u64 {
        match self {
            Self::Equal(_) => 1,
            Self::Different(weights) => weights[unit].into(),
        }
    }

    /// Returns the weight of all units.
    pub(crate) fn sum(self) -> u64 {
        match self {
            Self::Equal(count) => count as u64,
            Self::Different(weights) => weights.iter().copied().map(u64::from).sum(),
        }
    }
}
