//! The result of a search: documents to remove, and the proof that their words stay.

use crate::lose_limit::LostWords;

/// A removed document, and the documents that are kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredDocument {
    /// Row number of the removed document.
    pub row: u32,
    /// Row number of the kept document that has most of its words.
    pub kept: u32,
    /// Number of kept documents that have all of its words together, except those that are lost.
    pub covering: u32,
    /// Number of its words, and of those that are lost.
    pub loss: LostWords,
}

/// A stretch of words of a removed document that a kept document has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Row number of the removed document.
    pub row: u32,
    /// Number of its first word, and the number behind its last word. Words are counted from 0.
    pub words: [u32; 2],
    /// Row number of the kept document.
    pub kept: u32,
    /// Number of the first of these words in the kept document.
    pub kept_from: u32,
}

/// The documents to remove, and the proof that their words stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Documents to remove, in ascending order.
    pub documents: Vec<CoveredDocument>,
    /// Stretches of their words in kept documents. Those of a removed document follow each other, in reading order, and
    /// have each of its words once, except for those that are lost. A document with fewer words than a run has one
    /// stretch, of one word.
    pub stretches: Vec<Stretch>,
}
