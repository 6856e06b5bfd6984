//! Items that a document contains.

use std::cmp::Reverse;
use std::ops::Range;

/// An item of an evaluation set that a document contains: at least the share of the item that the search requires is in
/// the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundItem {
    /// Number of the item in the evaluation set, counted from 0.
    pub item: u32,
    /// Weight of the units of the item that are found in the region of the document with the most of the item. A region
    /// has three times as many words as the item. A unit is a word or a window of words, see
    /// [`Measure`](crate::Measure).
    pub weight: u64,
    /// Weight of all units of the item.
    pub whole_weight: u64,
    /// Ranges of words of the item that are found in the region of the document with the most of the item, in order.
    pub item_spans: Vec<Range<u32>>,
    /// Ranges of words of the document that are in the item, in order. They are from all regions of the document with
    /// enough of the item.
    pub spans: Vec<Range<u32>>,
    /// Whether this is one of the best items at its place: less than half of the words in `spans` are also in better
    /// items for which this field is true. An item is better if its share is greater. With equal shares, the item with
    /// more found words is better, and then the item with the smaller number.
    pub is_best: bool,
}

impl FoundItem {
    /// Returns the found share of the item.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.weight as f64 / self.whole_weight as f64
    }

    /// Returns the number of words of the item that are found.
    #[must_use]
    pub fn words(&self) -> u32 {
        length(&self.item_spans)
    }

    /// Returns a sort key, which is smaller for a better item: an item with a greater share, then with more found
    /// words, then with a smaller number.
    fn rank(&self) -> impl Ord {
        // Different shares of fewer than 2³² units differ in their first 64 binary digits.
        let share = (u128::from(self.weight) << 64) / u128::from(self.whole_weight.max(1));
        (Reverse(share), Reverse(self.words()), self.item)
    }
}

/// Sets [`FoundItem::is_best`] for all items that were found in a document.
pub(crate) fn mark_best(found: &mut [FoundItem]) {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_cached_key(|&index| found[index].rank());
    // Words of the document that are in better items.
    let mut taken: Vec<Range<u32>> = Vec::new();
    for index in order {
        let item = &mut found[index];
        let shared: u32 = item.spans.iter().map(|span| shared(span, &taken)).sum();
        item.is_best = 2 * u64::from(shared) < u64::from(length(&item.spans));
        // Words of an item that is not the best stay free for others.
        if item.is_best {
            taken.extend(item.spans.iter().cloned());
            taken = union(taken);
        }
    }
}

/// Returns the number of positions in all `ranges`, which must not overlap.
fn length(ranges: &[Range<u32>]) -> u32 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Returns the number of positions that `span` and `ranges` share. The ranges are in order and do not overlap.
fn shared(span: &Range<u32>, ranges: &[Range<u32>]) -> u32 {
    let first = ranges.partition_point(|range| range.end <= span.start);
    let overlapping = ranges[first..].iter().take_while(|range| range.start < span.end);
    overlapping.map(|range| range.end.min(span.end) - range.start.max(span.start)).sum()
}

/// Returns the positions of all ranges as ranges in order that do not overlap.
fn union(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
