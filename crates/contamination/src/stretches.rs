//! The stretches of a document that contain enough of an item.

use crate::document_hits::DocumentHits;
use crate::units::Weights;
use std::ops::Range;

/// Number of words of a stretch of a document, as a multiple of the words of the item.
pub(crate) const TIMES: usize = 3;

/// An item, and how much of it must be found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoughtItem<'i> {
    /// Numbers of its windows.
    pub(crate) windows: &'i [u32],
    /// Number of words of a window.
    pub(crate) length: usize,
    /// Number of units that a window covers.
    pub(crate) width: usize,
    pub(crate) weights: Weights<'i>,
    /// Necessary weight of the units that are covered by found windows.
    pub(crate) needed: u64,
}

impl SoughtItem<'_> {
    /// Returns whether windows of the whole document cover enough units of the item.
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

/// The stretches of a document that contain enough of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundStretches {
    /// Greatest weight that is found in one stretch.
    pub(crate) weight: u64,
    /// Ranges of words of the item that the first stretch with the greatest weight has.
    pub(crate) item_spans: Vec<Range<u32>>,
    /// Ranges of words in the document that are windows of the item, in any stretch with enough weight.
    pub(crate) spans: Vec<Range<u32>>,
}

/// Buffers for searches of stretches.
#[derive(Debug, Default)]
pub(crate) struct StretchBuffers {
    /// The windows of the item with their positions in the item, sorted.
    positions: Vec<(u32, u32)>,
    /// Each different window of the item: its range in `positions`.
    groups: Vec<Range<usize>>,
    /// Places in the document of windows of the item, in order, with the index of the window in `groups`.
    places: Vec<(u32, usize)>,
    /// Number of places in the present stretch for each group.
    counts: Vec<u32>,
    /// Number of groups in the present stretch that cover each unit, by all positions.
    covers: Vec<u32>,
}

impl StretchBuffers {
    /// Finds the stretches of a document that contain enough of an item. `document` has the windows of the
    /// document, sorted.
    pub(crate) fn find(
        &mut self,
        item: &SoughtItem<'_>,
        document: &DocumentHits,
    ) -> Option<FoundStretches> {
        self.fill(item, document);
        let stretch = TIMES * (item.windows.len() + item.length - 1);
        let (mut weight, mut left) = (0, 0);
        let (mut best_weight, mut best) = (0, 0..0);
        let mut included: Vec<Range<usize>> = Vec::new();
        for right in 0..self.places.len() {
            let (position, group) = self.places[right];
            weight += self.enter(group, item);
            // The stretch ends with the window at `right`. Windows that begin too far before it leave the stretch.
            while (position as usize + item.length).saturating_sub(self.places[left].0 as usize)
                > stretch
            {
                weight -= self.leave(self.places[left].1, item);
                left += 1;
            }
            if weight > best_weight {
                (best_weight, best) = (weight, left..right + 1);
            }
            if weight >= item.needed {
                // All windows of the stretch belong to the item. Stretches that overlap are joined.
                match included.last_mut() {
                    Some(last) if left <= last.end => last.end = right + 1,
                    _ => included.push(left..right + 1),
                }
            }
        }
        if best_weight < item.needed {
            return None;
        }
        // The words of the document, and then the words of the item, as ranges.
        let included = included.into_iter().flatten().map(|index| self.places[index].0);
        let spans = joined(included, item.length);
        let groups = best.map(|index| self.places[index].1);
        let positions = groups.flat_map(|group| &self.positions[self.groups[group].clone()]);
        let mut positions: Vec<u32> = positions.map(|&(_, position)| position).collect();
        positions.sort_unstable();
        let item_spans = joined(positions.into_iter(), item.length);
        Some(FoundStretches { weight: best_weight, item_spans, spans })
    }

    /// Finds the places in the document of the windows of the item.
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
            places.extend(hits.iter().map(|hit| (hit.position, groups.len())));
            groups.push(start..start + equal.len());
            start += equal.len();
        }
        // Windows of the item in the order of the document.
        places.sort_unstable();
        counts.clear();
        counts.resize(groups.len(), 0);
        covers.clear();
        covers.resize(item.weights.len(), 0);
    }

    /// Adds a place to the present stretch. Returns the weight of the units that only it covers.
    fn enter(&mut self, group: usize, item: &SoughtItem<'_>) -> u64 {
        let mut weight = 0;
        self.counts[group] += 1;
        // Only the first of equal windows in a stretch covers anything.
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

    /// Removes a place from the present stretch. Returns the weight of the units that only it covered.
    fn leave(&mut self, group: usize, item: &SoughtItem<'_>) -> u64 {
        let mut weight = 0;
        self.counts[group] -= 1;
        // The others go on covering the same units.
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

/// Returns the ranges of positions that `windows` cover, which have `length` words each and are in ascending
/// order. Ranges that touch each other are joined.
fn joined(windows: impl Iterator<Item = u32>, length: usize) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for start in windows {
        let end = start + length as u32;
        match ranges.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}
