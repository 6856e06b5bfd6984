//! Joins repeated windows into passages, and finds the words to cut.

use crate::classes::{ClassView, Classes, Occurrence, Piece};
use crate::cuts::words_to_cut;
use crate::origins::Origins;
use crate::place::Place;
use crate::repetition::FirstWords;
use crate::rule::Repeated;
use crate::verification::Claim;
use crate::word_range::{WordRange, push_range, push_windows};

/// Distance, in occurrences, between the occurrence that is handled and a later one whose memory is prefetched.
const AHEAD: usize = 8;

/// The most frequent window of a passage: the repeated window that occurs in the most documents and, among several, the
/// one with the most occurrences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BestWindow {
    /// Number of documents in which the window occurs.
    pub(crate) documents: u32,
    /// Position of the first word of the window in its document, from 0.
    pub(crate) word: u32,
    /// Number of words of the window.
    pub(crate) length: u32,
    /// Number of places at which the window occurs.
    pub(crate) occurrences: u64,
    /// Place of the first word of another occurrence of the window.
    pub(crate) partner: Place,
    /// Whether the occurrence in this passage is the first occurrence of the window in the collection.
    pub(crate) is_first: bool,
}

/// Consecutive words of a document that are all in repeated windows. A region becomes a passage of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Document of the words, and their positions in it.
    pub(crate) words: WordRange,
    /// The window of the region that occurs in the most documents. See [`BestWindow`] for the choice among several.
    pub(crate) best: BestWindow,
}

/// The words in windows that occur in at least `documents` documents.
#[derive(Debug)]
pub(crate) struct LevelWords {
    /// Minimum number of documents in which a window must occur, so that its words are in `words`.
    pub(crate) documents: u32,
    /// The words that are in windows of at least `documents` documents, in ascending order.
    pub(crate) words: Vec<WordRange>,
}

impl BestWindow {
    /// Returns the words of the other occurrence of the window.
    pub(crate) fn partner_words(&self) -> WordRange {
        let Place { document, word } = self.partner;
        WordRange { document, start: word, end: word + self.length }
    }
}

/// The repeated parts of some documents. All lists are in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// The words that are in repeated windows.
    pub(crate) regions: Vec<Region>,
    /// The words that are in the first occurrence of a repeated window.
    pub(crate) firsts: Vec<FirstWords>,
    /// The words of repeated windows that are not first occurrences. Consecutive windows give one range.
    pub(crate) others: Vec<WordRange>,
    /// For each minimum number of documents, such as 2 or 11, the words in windows that at least so many documents
    /// have.
    pub(crate) levels: Vec<LevelWords>,
    /// Pairs of places whose words must be compared for verification. `None` if nothing is verified.
    pub(crate) claims: Option<Vec<Claim>>,
    /// Number of places at which a repeated window begins.
    pub(crate) windows: u64,
}

impl Coverage {
    /// Creates a coverage without windows. `rule` decides when a window is repeated. If `is_verified` is true, pairs of
    /// places whose words should be equal are collected.
    pub(crate) fn new(rule: Repeated, is_verified: bool) -> Self {
        let level = |documents| LevelWords { documents, words: Vec::new() };
        let levels = rule.levels().map(level).collect();
        Self { claims: is_verified.then(Vec::new), levels, ..Self::default() }
    }

    /// Adds the repeated windows at `occurrences`, and joins the words of windows that touch. The occurrences are
    /// sorted by place, and no window is in two of them. `classes` are the sequences of windows that occur together,
    /// for each bucket.
    pub(crate) fn add(
        &mut self,
        occurrences: &[Occurrence],
        classes: &[Classes],
        origins: &Origins,
    ) {
        for (at, occurrence) in occurrences.iter().enumerate() {
            // Neighbouring occurrences are of classes in any order, so their memory is requested early.
            if let Some(far) = occurrences.get(at + 2 * AHEAD) {
                classes[usize::from(far.bucket)].prefetch_class(far.class);
            }
            if let Some(near) = occurrences.get(at + AHEAD) {
                classes[usize::from(near.bucket)].prefetch_pieces(near.class);
            }
            let class = classes[usize::from(occurrence.bucket)].get(occurrence.class);
            self.add_class(occurrence.place, None, &class, origins);
            // The words of a repeat are compared with those of the repeat before it. Then all repeats are one claim.
            for repeat in 1..u32::from(occurrence.repeats) {
                let before = occurrence.place.plus((repeat - 1) * class.windows);
                self.add_class(before.plus(class.windows), Some(before), &class, origins);
            }
        }
    }

    /// Adds the repeated windows of `class`, a sequence of windows that occurs at `place`. A verification compares the
    /// words at `place` with the words at `equal`, another place of the class. If `equal` is `None`, it compares them
    /// with the first occurrence of the windows.
    #[inline]
    fn add_class(
        &mut self,
        place: Place,
        equal: Option<Place>,
        class: &ClassView<'_>,
        origins: &Origins,
    ) {
        for piece in class.pieces {
            let moved = |place: Place| place.plus(u32::from(piece.from));
            let (place, equal) = (moved(place), equal.map(moved));
            let Piece { facts, .. } = piece;
            let best = BestWindow {
                documents: facts.documents,
                word: place.word,
                length: class.words,
                occurrences: facts.occurrences,
                partner: facts.partner(place, origins),
                is_first: facts.first == place,
            };
            let claimed = equal.unwrap_or(facts.first);
            self.push(place, u32::from(piece.to - piece.from), best, claimed);
        }
    }

    /// Adds `count` consecutive repeated windows. The first one begins at `place`, and `best` describes it. `equal` is
    /// another place with the same windows. A verification compares the words at both places.
    #[inline]
    fn push(&mut self, place: Place, count: u32, best: BestWindow, equal: Place) {
        let end = place.word + (count - 1) + best.length;
        let range = WordRange { document: place.document, start: place.word, end };
        // All windows of a piece occur at the same places, so all of them are first occurrences, or none is.
        let is_first = best.is_first;
        push_region(&mut self.regions, Region { words: range, best });
        // A window of many documents counts on all lower levels, too.
        for level in self.levels.iter_mut().filter(|level| level.documents <= best.documents) {
            push_range(&mut level.words, range);
        }
        if is_first {
            let first = FirstWords { words: range, documents: best.documents };
            first.push_to(best.length, &mut self.firsts);
        } else {
            push_windows(&mut self.others, range, best.length);
        }
        if let Some(claims) = self.claims.as_mut().filter(|_| !is_first) {
            Claim { words: range, equal }.push_to(claims);
        }
        self.windows += u64::from(count);
    }

    /// Returns the number of bytes of memory that the lists take.
    pub(crate) fn bytes(&self) -> u64 {
        let levels = self.levels.iter().map(|level| level.words.capacity());
        let ranges = self.others.capacity() + levels.sum::<usize>();
        let claims = self.claims.as_ref().map_or(0, Vec::capacity);
        let bytes = self.regions.capacity() * size_of::<Region>()
            + self.firsts.capacity() * size_of::<FirstWords>()
            + ranges * size_of::<WordRange>()
            + claims * size_of::<Claim>();
        bytes as u64
    }

    /// Appends the repeated parts of other documents, which follow the documents of this coverage.
    pub(crate) fn append(&mut self, mut next: Self) {
        self.regions.append(&mut next.regions);
        self.firsts.append(&mut next.firsts);
        self.others.append(&mut next.others);
        for (level, next) in self.levels.iter_mut().zip(&mut next.levels) {
            level.words.append(&mut next.words);
        }
        if let (Some(claims), Some(next)) = (&mut self.claims, &mut next.claims) {
            claims.append(next);
        }
        self.windows += next.windows;
    }

    /// Adds `other`, which has other repeated windows of the same documents. They were found by the search of another
    /// part of the hashes. `window` is the number of words of a window, or `None` for units of text, which have
    /// different lengths.
    pub(crate) fn join(&mut self, other: Self, window: Option<u32>) {
        self.append(other);
        if let Some(claims) = &mut self.claims {
            claims.sort_by_key(|claim| claim.words);
        }
        // Regions of different parts may overlap, and are joined again.
        self.regions.sort_by_key(|region| region.words);
        let mut joined = Vec::new();
        self.regions.drain(..).for_each(|region| push_region(&mut joined, region));
        self.regions = joined;
        // First occurrences stay divided, because each has its own number of documents.
        self.firsts.sort_unstable();
        for LevelWords { words, .. } in &mut self.levels {
            words.sort_unstable();
            let mut joined = Vec::new();
            words.drain(..).for_each(|range| push_range(&mut joined, range));
            *words = joined;
        }
        self.others.sort_unstable();
        // Units stay divided, because they have no number of words in common.
        let Some(window) = window else { return };
        let mut joined = Vec::new();
        self.others.drain(..).for_each(|range| push_windows(&mut joined, range, window));
        self.others = joined;
    }

    /// Returns the words to cut so that one copy of each repeated window stays. `window` is the number of words of a
    /// window, or `None` for units of text, such as sentences.
    pub(crate) fn cuts(&self, window: Option<u32>) -> Vec<WordRange> {
        words_to_cut(&self.others, &self.firsts, window)
    }
}

/// Appends a region that does not begin before the last region. If the two overlap or touch, they become one region.
#[inline]
fn push_region(regions: &mut Vec<Region>, next: Region) {
    match regions.last_mut() {
        Some(last) if last.words.touches(&next.words) => {
            last.words.end = last.words.end.max(next.words.end);
            let rank = |best: &BestWindow| {
                (best.documents, best.occurrences, std::cmp::Reverse(best.word))
            };
            // The rank orders all windows, so the best one does not depend on the order of joining.
            if rank(&next.best) > rank(&last.best) {
                last.best = next.best;
            }
        }
        _ => regions.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::WindowFacts;

    #[test]
    fn repeats_of_a_class_are_one_claim() {
        let place = |word| Place { document: 0, word };
        let facts =
            WindowFacts { occurrences: 101, documents: 1, first: place(7), second: place(10) };
        let mut classes = Classes::default();
        let class = classes.push(3, 5, &[Piece { from: 0, to: 3, facts }]);
        let occurrence = |place, repeats| Occurrence { place, class, bucket: 0, repeats };
        let mut coverage = Coverage::new(Repeated::default(), true);
        let occurrences = [occurrence(place(7), 100), occurrence(place(900), 1)];
        coverage.add(&occurrences, &[classes], &Origins::default());
        let claims = coverage.claims.unwrap();
        let facts =
            claims.iter().map(|claim| (claim.words.start, claim.words.end, claim.equal.word));
        assert_eq!(facts.collect::<Vec<_>>(), [(10, 311, 7), (900, 907, 7)]);
    }
}
