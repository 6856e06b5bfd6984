//! Measures how much of a collection is repeated, and finds the texts whose copies take the most room.

use crate::word_range::WordRange;
use std::cmp::Reverse;
use std::ops::Range;

/// Maximum number of texts in [`Repetition::top`].
const MOST_TEXTS: usize = 20;

/// Measures of the repetition in a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repetition {
    /// Numbers of words that are repeated in at least n documents, for a few values of n in ascending order. The first
    /// n is the minimum number of documents of a repeated window. The other values are 11, 101 and 1001, if they are
    /// greater.
    pub levels: Vec<Level>,
    /// The repeated texts for which (number of words) × (number of documents) is greatest, in descending order.
    /// There are at most 20.
    pub top: Vec<TopText>,
}

/// Number of words of a collection that are repeated in at least a given number of documents. A window is a
/// sequence of k words, where k is the minimum length of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Minimum number of documents in which a window must occur.
    pub documents: u32,
    /// Number of words of the collection that are in a window of at least `documents` documents. Each occurrence of a
    /// word counts.
    pub words: u64,
}

/// A repeated text, at its first place in the collection. A window is a sequence of k words. Each window of the text
/// occurs in at least `documents` documents.
///
/// Windows that overlap or touch, and all occur here for the first time, give one text. It is the part of their words
/// for which (number of words) × (number of documents) is greatest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopText {
    /// Number of the document that holds the first place, in reading order.
    pub document: u32,
    /// Positions of the text's words in the document. The first word of the document has position 0.
    pub words: Range<u32>,
    /// Bytes from the first byte of the first word to the end of the last word, in the decoded text.
    pub bytes: Range<u64>,
    /// Each window of the text occurs in at least this number of documents.
    pub documents: u32,
}

/// Consecutive windows that occur here for the first time in the collection, all in the same number of documents.
/// A window is a sequence of k words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FirstWords {
    /// The words from the start of the first window to the end of the last one.
    pub(crate) words: WordRange,
    /// Number of documents in which each of the windows occurs.
    pub(crate) documents: u32,
}

impl FirstWords {
    /// Appends these windows to `firsts`, whose windows must not begin later than these. If these windows directly
    /// follow the windows of the last element, and occur in the same number of documents, they extend this element
    /// instead. `length` is the number of words of a window.
    #[inline]
    pub(crate) fn push_to(self, length: u32, firsts: &mut Vec<Self>) {
        match firsts.last_mut() {
            // Words that only touch are not joined, because another part may have windows between the two.
            Some(last)
                if last.documents == self.documents
                    && last.words.document == self.words.document
                    && last.words.end + 1 == self.words.start + length =>
            {
                last.words.end = self.words.end;
            }
            _ => firsts.push(self),
        }
    }

    /// Returns the sort key of this text. Texts with greater keys come first in [`Repetition::top`].
    fn rank(&self) -> (u64, u32, Reverse<WordRange>) {
        // Equal products are ordered by documents and places, so the order does not depend on the readings.
        let product = self.words.len() as u64 * u64::from(self.documents);
        (product, self.documents, Reverse(self.words))
    }
}

/// Returns the texts for which (number of words) × (number of documents) is greatest, at most 20, in descending order.
/// `firsts` are the first occurrences of repeated windows, in ascending order.
pub(crate) fn top_texts(firsts: &[FirstWords]) -> Vec<FirstWords> {
    let mut top = Vec::new();
    for neighbours in firsts.chunk_by(|a, b| a.words.touches(&b.words)) {
        top.extend(greatest_part(neighbours));
        // Few candidates are kept, however many there are.
        if top.len() >= 64 * MOST_TEXTS {
            keep_greatest(&mut top);
        }
    }
    keep_greatest(&mut top);
    top
}

/// Sorts texts by (number of words) × (number of documents) in descending order, and keeps the first [`MOST_TEXTS`].
fn keep_greatest(texts: &mut Vec<FirstWords>) {
    texts.sort_unstable_by_key(|text| Reverse(text.rank()));
    texts.truncate(MOST_TEXTS);
}

/// Returns the part of `neighbours`, whose words touch, for which (number of words) × (number of documents) is
/// greatest. The number of documents of a part is the minimum over its words.
///
/// This is the greatest rectangle in a histogram, which is found with a stack in O(n).
fn greatest_part(neighbours: &[FirstWords]) -> Option<FirstWords> {
    // Parts that are not finished, with rising numbers of documents. Their ends are not known yet.
    let mut open: Vec<FirstWords> = Vec::new();
    let mut best: Option<FirstWords> = None;
    let mut end = 0;
    let mut finish = |part: FirstWords, end: u32| {
        let part = FirstWords { words: WordRange { end, ..part.words }, ..part };
        if best.is_none_or(|best| part.rank() > best.rank()) {
            best = Some(part);
        }
    };
    for next in neighbours {
        let mut part = *next;
        while let Some(last) = open.pop_if(|last| last.documents >= next.documents) {
            // The words of the finished part also belong to a part with fewer documents.
            part.words.start = last.words.start;
            finish(last, end);
        }
        // The part stays open until a later part has fewer documents.
        open.push(part);
        end = next.words.end;
    }
    for part in open {
        finish(part, end);
    }
    best
}
