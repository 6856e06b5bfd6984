//! The search for items in documents: its settings, its index, and the search in one document.

use crate::document_hits::DocumentHits;
use crate::found::{FoundItem, mark_best};
use crate::item_windows::{DocumentCounts, ItemWindows};
use crate::items::Items;
use crate::measure::Measure;
use crate::probes::Probes;
use crate::regions::{RegionBuffers, SoughtItem};
use crate::units::Units;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer;
use simtool_compute::context::Context;
use simtool_model::similarity::Threshold;

/// Maximum number of words of a window.
const MOST_WORDS: usize = 1000;

/// A search for the items of an evaluation set in documents. Create one with [`ContaminationSearch::new`].
#[derive(Clone, Copy, Debug)]
pub struct ContaminationSearch<'a> {
    words: usize,
    measure: Measure,
    share: Threshold,
    /// Mask of the bits of the hash of a window that are used. Tests use few bits, so that different windows get equal
    /// hashes.
    mask: u64,
    context: &'a Context<'a>,
}

impl<'a> ContaminationSearch<'a> {
    /// Creates a search by windows of `words` consecutive words. By default, it finds an item if at least 0.8 of the
    /// words of the item are in the document.
    ///
    /// # Errors
    /// `words` is 0 or more than 1000.
    pub fn new(words: usize, context: &'a Context<'a>) -> Result<Self> {
        if words == 0 || words > MOST_WORDS {
            let rule = format!("a number of words from 1 to {MOST_WORDS}");
            return Err(Error::config("words", words, rule));
        }
        Ok(Self {
            words,
            measure: Measure::default(),
            share: Threshold::DEFAULT,
            mask: u64::MAX,
            context,
        })
    }

    /// Returns the same search, but with the measure `measure`.
    #[must_use]
    pub fn with_measure(self, measure: Measure) -> Self {
        Self { measure, ..self }
    }

    /// Returns the same search, but with `share` as the minimum share of an item that a document must have.
    #[must_use]
    pub fn with_share(self, share: Threshold) -> Self {
        Self { share, ..self }
    }

    /// Returns the same search, but with hashes of fewer bits.
    #[cfg(test)]
    pub(crate) fn with_mask(self, mask: u64) -> Self {
        Self { mask, ..self }
    }

    /// Returns the measure of the search.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Returns the context of the search: its threads, instruction set and progress.
    #[must_use]
    pub fn context(&self) -> &'a Context<'a> {
        self.context
    }

    /// Finds the windows of the items, which are sequences of n consecutive words.
    ///
    /// # Errors
    /// Not enough memory, or the work is cancelled.
    pub fn windows(&self, items: Items) -> Result<ItemWindows> {
        ItemWindows::new(items, self.words, self.mask, self.context)
    }

    /// Creates the index for a search of the items in `windows`. If the measure [needs counts](Measure::needs_counts),
    /// `counts` must have counted all documents.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn index(&self, windows: ItemWindows, counts: Option<DocumentCounts>) -> Result<ItemIndex> {
        let documents = counts.as_ref().map_or(0, DocumentCounts::documents);
        // Without counts, windows that several items have are the common ones.
        let commonness = match counts {
            Some(counts) => counts.of_windows(),
            None => counts_in_items(&windows)?,
        };
        let units = Units::new(&windows, self.measure, &commonness, documents)?;
        let needed = |item| self.needed(units.of_item(&windows, item).sum());
        let probes = Probes::new(&windows, &units, &commonness, needed)?;
        let needed = (0..windows.items().len()).map(needed).collect();
        Ok(ItemIndex { windows, units, probes, needed })
    }

    /// Returns the weight that a document must have of an item with the weight `whole`. This is the smallest whole
    /// number that is at least the required share.
    fn needed(&self, whole: u64) -> u64 {
        let (numerator, denominator) = self.share.fraction();
        // Whole numbers, so that a share is reached exactly.
        let product = u128::from(whole) * u128::from(numerator);
        product.div_ceil(denominator.into()) as u64
    }
}

/// Returns for each window the number of its occurrences in the items. Windows that occur in many items are often
/// common in documents, too.
fn counts_in_items(windows: &ItemWindows) -> Result<Vec<u32>> {
    let mut counts = large_buffer::filled(0, windows.count(), "the counts of windows")?;
    for item in 0..windows.items().len() {
        for &window in windows.of_item(item) {
            counts[window as usize] += 1;
        }
    }
    Ok(counts)
}

/// The items of an evaluation set, prepared for a search in documents.
#[derive(Debug)]
pub struct ItemIndex {
    windows: ItemWindows,
    units: Units,
    probes: Probes,
    /// For each item, the minimum weight of its units that a document must have.
    needed: Vec<u64>,
}

/// Buffers of a thread that searches documents.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    hits: DocumentHits,
    /// Numbers of the items that the current document may contain. Only these items are searched in the document. The
    /// probes of an item are some of its windows, chosen so that a document with none of them cannot contain the item.
    candidates: Vec<u32>,
    regions: RegionBuffers,
}

impl ItemIndex {
    /// Returns the items.
    #[must_use]
    pub fn items(&self) -> &Items {
        self.windows.items()
    }

    /// Finds the items that `document` contains, given as hashes of its words. Returns them in ascending order of their
    /// numbers.
    ///
    /// # Complexity
    /// O(words) time, and O(words of items) for each item that has a probe in the document.
    pub fn find(&self, document: &[u64], buffers: &mut SearchBuffers) -> Vec<FoundItem> {
        let SearchBuffers { hits, candidates, regions } = buffers;
        self.windows.find(document, hits);
        candidates.clear();
        for &window in hits.windows() {
            candidates.extend_from_slice(self.probes.of_window(window));
        }
        candidates.sort_unstable();
        candidates.dedup();
        // Nearly all candidates fail here: not even the whole document has enough.
        candidates.retain(|&item| self.sought(item).is_enough(hits));
        let mut found = Vec::new();
        if !candidates.is_empty() {
            hits.sort();
        }
        for &item in &*candidates {
            let sought = self.sought(item);
            if let Some(regions) = regions.find(&sought, hits) {
                found.push(FoundItem {
                    item,
                    weight: regions.weight,
                    whole_weight: sought.weights.sum(),
                    item_spans: regions.item_spans,
                    spans: regions.spans,
                    is_best: false,
                });
            }
        }
        mark_best(&mut found);
        found
    }

    fn sought(&self, item: u32) -> SoughtItem<'_> {
        SoughtItem {
            windows: self.windows.of_item(item),
            length: self.windows.length(item),
            width: self.units.width(&self.windows, item),
            weights: self.units.of_item(&self.windows, item),
            needed: self.needed[item as usize],
        }
    }
}
