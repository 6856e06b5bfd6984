//! Places in a collection, and facts about the windows that begin there. A window is a sequence of k
//! consecutive words of a document.

use crate::origins::Origins;

/// Place of a word in the collection. Places are ordered as the words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Number of the document, in reading order.
    pub(crate) document: u32,
    /// Position of the word in its document.
    pub(crate) word: u32,
}

impl Place {
    /// A place that is greater than all places of words. It means that there is no place.
    pub(crate) const NONE: Self = Self { document: u32::MAX, word: u32::MAX };

    /// Returns the place `words` words further on in the same document.
    #[inline]
    pub(crate) fn plus(self, words: u32) -> Self {
        Self { word: self.word.wrapping_add(words), ..self }
    }
}

/// Facts that all equal windows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowFacts {
    /// Number of places at which the window occurs.
    pub(crate) occurrences: u64,
    /// Number of documents in which the window occurs. Documents of one origin count as one.
    pub(crate) documents: u32,
    /// Place of the first occurrence.
    pub(crate) first: Place,
    /// Place of the first occurrence with another origin than the first occurrence. If there is no such place, the
    /// second occurrence.
    pub(crate) second: Place,
}

impl WindowFacts {
    /// Returns the facts of the windows that begin `words` words after these windows, if they occur at the same places,
    /// shifted by that number of words.
    #[inline]
    pub(crate) fn plus(self, words: u32) -> Self {
        Self { first: self.first.plus(words), second: self.second.plus(words), ..self }
    }

    /// Returns the place of another occurrence of the window that occurs at `place`. This is the first occurrence of
    /// all, unless it has the origin of `place` and the window also occurs with another origin.
    pub(crate) fn partner(&self, place: Place, origins: &Origins) -> Place {
        let is_in_first = origins.is_same(place.document, self.first.document);
        // The second place has another origin if there is one.
        let is_alone = || origins.is_same(self.second.document, place.document);
        if !is_in_first || (place != self.first && is_alone()) { self.first } else { self.second }
    }
}

/// Collects the facts about a set of equal windows from groups of their occurrences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OccurrenceSummary {
    /// Number of occurrences of the window in the groups so far.
    pub(crate) occurrences: u64,
    /// Place of the first occurrence.
    pub(crate) first: Place,
    /// Place of the second occurrence, in any document.
    pub(crate) next: Place,
    /// Place of the first occurrence with another origin than the first occurrence.
    pub(crate) elsewhere: Place,
}

impl OccurrenceSummary {
    /// A summary without occurrences.
    pub(crate) const EMPTY: Self =
        Self { occurrences: 0, first: Place::NONE, next: Place::NONE, elsewhere: Place::NONE };

    /// Adds an occurrence that is behind all earlier ones.
    #[inline]
    pub(crate) fn push(&mut self, place: Place, origins: &Origins) {
        match self.occurrences {
            0 => self.first = place,
            1 => self.next = place,
            _ => {}
        }
        if self.elsewhere == Place::NONE && !origins.is_same(place.document, self.first.document) {
            self.elsewhere = place;
        }
        self.occurrences += 1;
    }

    /// Adds the occurrences that `other` summarizes. The two sets of occurrences have none in common.
    pub(crate) fn join(&mut self, other: &Self, origins: &Origins) {
        // The first occurrence of both is the lower of the two first ones.
        let (lower, upper) =
            if self.first <= other.first { (*self, *other) } else { (*other, *self) };
        // Occurrences of the upper summary count from its first one of another origin than the lower first one.
        let upper_elsewhere = if origins.is_same(upper.first.document, lower.first.document) {
            upper.elsewhere
        } else {
            upper.first
        };
        *self = Self {
            occurrences: lower.occurrences + upper.occurrences,
            first: lower.first,
            next: lower.next.min(upper.first),
            elsewhere: lower.elsewhere.min(upper_elsewhere),
        };
    }

    /// Returns the summary for windows that begin `words` words after these windows, one for each occurrence.
    #[inline]
    pub(crate) fn plus(self, words: u32) -> Self {
        let moved = |place: Place| if place == Place::NONE { place } else { place.plus(words) };
        Self {
            first: self.first.plus(words),
            next: moved(self.next),
            elsewhere: moved(self.elsewhere),
            ..self
        }
    }

    /// Returns the facts about the windows, which occur in `documents` documents.
    pub(crate) fn facts(&self, documents: u32) -> WindowFacts {
        let second = if self.elsewhere == Place::NONE { self.next } else { self.elsewhere };
        WindowFacts { occurrences: self.occurrences, documents, first: self.first, second }
    }
}
