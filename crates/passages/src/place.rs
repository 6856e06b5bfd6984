//! Places in a collection, and facts about the windows that begin there. A window is a sequence of k consecutive words
//! of a document.

use crate::origins::Origins;

/// Place of a word in the collection. Places are ordered by document, and then by position in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Number of the document, in reading order.
    pub(crate) document: u32,
    /// Position of the word in its document, from 0.
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

/// Number and places of the occurrences of a window, which is a sequence of consecutive words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowFacts {
    /// Number of places at which the window occurs.
    pub(crate) occurrences: u64,
    /// Number of documents in which the window occurs. Documents of one origin count as one.
    pub(crate) documents: u32,
    /// Place of the first occurrence.
    pub(crate) first: Place,
    /// Place of the first occurrence in a document of another origin than the document at `first`. If there is no such
    /// place, the second occurrence.
    pub(crate) second: Place,
}

impl WindowFacts {
    /// Returns the number and places of the occurrences of another window, which begins `words` words after each
    /// occurrence of this window. It must occur nowhere else.
    #[inline]
    pub(crate) fn plus(self, words: u32) -> Self {
        Self { first: self.first.plus(words), second: self.second.plus(words), ..self }
    }

    /// Returns the place of another occurrence of the window that occurs at `place`: the first one that has another
    /// origin than `place`. If all occurrences have the same origin, returns the first one that is not at `place`.
    pub(crate) fn partner(&self, place: Place, origins: &Origins) -> Place {
        let is_in_first = origins.is_same(place.document, self.first.document);
        // The second place has another origin if there is one.
        let is_alone = || origins.is_same(self.second.document, place.document);
        if !is_in_first || (place != self.first && is_alone()) { self.first } else { self.second }
    }
}

/// Number and first places of the occurrences of a window, which is a sequence of consecutive words. Occurrences are
/// added one by one by [`Self::push`], or from another summary of the same window by [`Self::join`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct OccurrenceSummary {
    /// Number of occurrences of the window that were added so far.
    pub(crate) occurrences: u64,
    /// Place of the first occurrence.
    pub(crate) first: Place,
    /// Place of the second occurrence, in any document.
    pub(crate) next: Place,
    /// Place of the first occurrence in a document of another origin than the document at `first`.
    pub(crate) elsewhere: Place,
}

impl OccurrenceSummary {
    /// A summary without occurrences.
    pub(crate) const EMPTY: Self =
        Self { occurrences: 0, first: Place::NONE, next: Place::NONE, elsewhere: Place::NONE };

    /// Adds an occurrence at `place`, which must be behind all earlier ones.
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

    /// Adds the occurrences that `other` summarizes. No occurrence may be in both summaries.
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

    /// Returns the summary for another window, which begins `words` words after each occurrence of this window and
    /// occurs nowhere else.
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

    /// Returns the number of occurrences and the two places that [`WindowFacts`] has, together with `documents`, the
    /// number of documents that have the window.
    pub(crate) fn facts(&self, documents: u32) -> WindowFacts {
        let second = if self.elsewhere == Place::NONE { self.next } else { self.elsewhere };
        WindowFacts { occurrences: self.occurrences, documents, first: self.first, second }
    }
}
