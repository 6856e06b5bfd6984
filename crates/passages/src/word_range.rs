//! Ranges of words of a document.

use crate::place::Place;

/// Consecutive words of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WordRange {
    /// Number of the document.
    pub(crate) document: u32,
    /// Position of the first word in the document, from 0.
    pub(crate) start: u32,
    /// Position behind the last word in the document.
    pub(crate) end: u32,
}

impl WordRange {
    /// Returns the places of the first word and of the last word.
    pub(crate) fn ends(&self) -> [Place; 2] {
        [self.start, self.end - 1].map(|word| Place { document: self.document, word })
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns the words of this range among all words of its document. Returns `None` if the document has become
    /// shorter.
    pub(crate) fn of<'w>(&self, document: &'w [u64]) -> Option<&'w [u64]> {
        document.get(self.start as usize..self.end as usize)
    }

    /// Returns whether this range ends before `next` begins.
    pub(crate) fn is_before(&self, next: &Self) -> bool {
        self.document < next.document || self.document == next.document && self.end <= next.start
    }

    /// Returns whether `next` overlaps this range or directly follows it. `next` must not begin before this range.
    #[inline]
    pub(crate) fn touches(&self, next: &Self) -> bool {
        self.document == next.document && next.start <= self.end
    }
}

/// Appends a range that does not begin before the last range. If the two overlap or touch, they become one range.
#[inline]
pub(crate) fn push_range(ranges: &mut Vec<WordRange>, next: WordRange) {
    match ranges.last_mut() {
        Some(last) if last.touches(&next) => last.end = last.end.max(next.end),
        _ => ranges.push(next),
    }
}

/// Appends `next`, the words of consecutive windows, which must not begin before the last range. If the windows
/// directly follow the windows of the last range, the two become one range. `length` is the number of words of a
/// window.
#[inline]
pub(crate) fn push_windows(ranges: &mut Vec<WordRange>, next: WordRange, length: u32) {
    match ranges.last_mut() {
        // Words that only overlap are not joined, because other windows can be between the two.
        Some(last)
            if last.document == next.document
                && next.start + length <= last.end.saturating_add(1) =>
        {
            last.end = last.end.max(next.end);
        }
        _ => ranges.push(next),
    }
}
