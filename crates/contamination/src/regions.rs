//! The regions of a document that contain enough of an item. A region is a range of words, three times as long as the
//! item.

use crate::document_hits::DocumentHits;
use crate::units::Weights;
use std::ops::Range;

/// Number of words of a region of a document, as a multiple of the words of the item.
pub(crate) const TIMES: usize = 3;

/// An item of an evaluation set, and the weight of it that must be found in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoughtItem<'i> {
    /// Numbers of the windows of the item, in the order of the item.
    pub(crate) windows: &'i [u32],
    /// Number of words of a window.
    pub(crate) length: usize,
    /// Number of units that a window covers. A unit is a word or a window, and the share of an item is measured in
    /// units.
    pub(crate) width: usize,
    pub(crate) weights: Weights<'i>,
    /// Minimum weight of the units of the item that the found windows must cover.
    pub(crate) needed: u64,
}

impl SoughtItem<'_> {
    /// Returns whether the document has enough of the item for a search of its regions. The units that are covered by
    /// windows anywhere in the document must have at least the weight `needed`.
    pub(crate) fn is_enough(&self, document: &DocumentHits) -> bool {
        let mut weight = 0;
        let mut covered = 0;
        for (position, &window) in self.windows.iter().enumerate() {
            if document.has(window) {
                // Units that an earlier window covers count once.
                let units = covered.max(position)..position + self.width;
                weight += units.map(|unit| self.weights.get(unit)).sum::<u64>();
                covered = position + self.width;
            }
        }
        weight >= self.needed
    }
}

/// The regions of a document that contain enough of an item. A region is a range of words, three times as long as the
/// item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundRegions {
    /// Weight of the units that are found in the region with the greatest weight.
    pub(crate) weight: u64,
    /// Ranges of words of the item that are found in the first region with the greatest weight.
    pub(crate) item_spans: Vec<Range<u32>>,
    /// Ranges of words in the document that are in windows of the item, in all regions with enough weight.
    pub(crate) spans: Vec<Range<u32>>,
}

/// Consecutive positions in a document at which the same window of the item begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// First of the consecutive positions in the document at which the window begins.
    first: u32,
    /// Last of the consecutive positions in the document at which the window begins.
    last: u32,
    /// Index of the window in [`RegionBuffers::groups`].
    group: usize,
}

/// Buffers for searches of regions.
#[derive(Debug, Default)]
pub(crate) struct RegionBuffers {
    /// For each window of the item, its number and its position in the item, sorted.
    positions: Vec<(u32, u32)>,
    /// For each different window of the item, the range in `positions` of its equal windows, which are called a group.
    groups: Vec<Range<usize>>,
    /// Positions in the document at which windows of the item begin, in order.
    places: Vec<Place>,
    /// For each group of equal windows, the number of its elements of `places` in the current region.
    counts: Vec<u32>,
    /// For each unit of the item, the number of windows of the item in the current region that cover it. Equal windows
    /// of the document count once.
    covers: Vec<u32>,
}

impl RegionBuffers {
    /// Finds the regions of a document that contain enough of an item. `document` has the windows of items in the
    /// document, sorted by their numbers. Returns `None` if there is no such region.
    pub(crate) fn find(
        &mut self,
        item: &SoughtItem<'_>,
        document: &DocumentHits,
    ) -> Option<FoundRegions> {
        self.fill(item, document);
        let length = item.length as u32;
        let region = TIMES as u32 * (item.windows.len() as u32 + length - 1);
        let (mut weight, mut left) = (0, 0);
        let (mut best_weight, mut best) = (0, 0..0);
        let mut included: Vec<Range<u32>> = Vec::new();
        for right in 0..self.places.len() {
            let Place { first, last, group } = self.places[right];
            weight += self.enter(group, item);
            // The region ends with the window at `end`, which goes through the places one after the other.
            let mut end = first;
            loop {
                // Windows that all begin too far before it leave the region.
                let start = (end + length).saturating_sub(region);
                while self.places[left].last < start {
                    weight -= self.leave(self.places[left].group, item);
                    left += 1;
                }
                if weight > best_weight {
                    (best_weight, best) = (weight, left..right + 1);
                }
                // The region has the same windows until the next ones leave it.
                let until = last.min(self.places[left].last + region - length);
                if weight >= item.needed {
                    // All windows of the region belong to the item. Regions that overlap are joined.
                    push_joined(&mut included, start..until + 1);
                }
                if until == last {
                    break;
                }
                end = until + 1;
            }
        }
        if best_weight < item.needed {
            return None;
        }
        let spans = self.spans(&included, length);
        let item_spans = self.item_spans(best, length);
        Some(FoundRegions { weight: best_weight, item_spans, spans })
    }

    /// Returns the words of the document that are in windows of the item. Only windows that begin in one of the ranges
    /// `included` count. `length` is the number of words of a window.
    fn spans(&self, included: &[Range<u32>], length: u32) -> Vec<Range<u32>> {
        let mut spans = Vec::new();
        let mut places = self.places.iter().peekable();
        for range in included {
            while let Some(place) = places.peek()
                && place.first < range.end
            {
                // Some of the places can be outside of all regions with enough of the item.
                let (first, last) = (place.first.max(range.start), place.last.min(range.end - 1));
                if first <= last {
                    push_joined(&mut spans, first..last + length);
                }
                // The other places can be in the next range.
                if place.last >= range.end {
                    break;
                }
                places.next();
            }
        }
        spans
    }

    /// Returns the words of the item that are in the windows of the document at `places`, a range of indices in
    /// [`Self::places`]. `length` is the number of words of a window.
    fn item_spans(&self, places: Range<usize>, length: u32) -> Vec<Range<u32>> {
        let mut groups: Vec<usize> = self.places[places].iter().map(|place| place.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let positions =
            groups.iter().flat_map(|&group| &self.positions[self.groups[group].clone()]);
        let mut positions: Vec<u32> = positions.map(|&(_, position)| position).collect();
        positions.sort_unstable();
        let mut spans = Vec::new();
        for position in positions {
            push_joined(&mut spans, position..position + length);
        }
        spans
    }

    /// Fills the buffers with the positions at which the windows of the item begin in the document.
    fn fill(&mut self, item: &SoughtItem<'_>, document: &DocumentHits) {
        let Self { positions, groups, places, counts, covers } = self;
        positions.clear();
        positions.extend(item.windows.iter().copied().zip(0..));
        positions.sort_unstable();
        groups.clear();
        places.clear();
        // An item can have the same window several times. Each place in the document is listed once.
        let mut start = 0;
        for equal in positions.chunk_by(|a, b| a.0 == b.0) {
            let hits = document.of_window(equal[0].0);
            places.extend(hits.iter().map(|hit| Place {
                first: hit.first,
                last: hit.last,
                group: groups.len(),
            }));
            groups.push(start..start + equal.len());
            start += equal.len();
        }
        // Windows of the item in the order of the document. The places of each window are in order already, and
        // this sort makes use of it.
        places.sort_by_key(|place| place.first);
        counts.clear();
        counts.resize(groups.len(), 0);
        covers.clear();
        covers.resize(item.weights.len(), 0);
    }

    /// Adds a window of the document to the current region. `group` is the index of the equal windows of the item.
    /// Returns the weight of the units that are covered now, and that no other window in the region covers.
    fn enter(&mut self, group: usize, item: &SoughtItem<'_>) -> u64 {
        let mut weight = 0;
        self.counts[group] += 1;
        // Only the first of several equal windows in a region covers new units.
        if self.counts[group] == 1 {
            for &(_, position) in &self.positions[self.groups[group].clone()] {
                for unit in position as usize..position as usize + item.width {
                    self.covers[unit] += 1;
                    if self.covers[unit] == 1 {
                        weight += item.weights.get(unit);
                    }
                }
            }
        }
        weight
    }

    /// Removes a window of the document from the current region. `group` is the index of the equal windows of the item.
    /// Returns the weight of the units that it covered, and that no window in the region covers any more.
    fn leave(&mut self, group: usize, item: &SoughtItem<'_>) -> u64 {
        let mut weight = 0;
        self.counts[group] -= 1;
        // Equal windows in the region still cover the same units.
        if self.counts[group] == 0 {
            for &(_, position) in &self.positions[self.groups[group].clone()] {
                for unit in position as usize..position as usize + item.width {
                    self.covers[unit] -= 1;
                    if self.covers[unit] == 0 {
                        weight += item.weights.get(unit);
                    }
                }
            }
        }
        weight
    }
}

/// Appends a range that does not begin before the last range. Ranges that overlap or touch each other are joined.
fn push_joined(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window_table::Hit;

    #[test]
    fn a_document_is_enough_if_its_windows_cover_the_needed_weight() {
        let mut document = DocumentHits::default();
        document.clear(4);
        // The windows 0 and 1 overlap by two of their three units, and window 3 is not found.
        document.hits.extend([0, 1, 2].map(|window| Hit { window, first: window, last: window }));
        document.mark();
        let is_enough = |needed| {
            let weights = Weights::Equal(9);
            let windows = &[0, 1, 3, 3, 3, 2, 3];
            SoughtItem { windows, length: 3, width: 3, weights, needed }.is_enough(&document)
        };
        assert_eq!([6, 7, 8].map(is_enough), [true, true, false]);
    }
}
