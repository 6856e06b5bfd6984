//! The result of a search: documents to remove, and the proof that their words stay.

use crate::lose_limit::LostWords;

/// A removed document, and the documents that are kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredDocument {
    /// Row number of the removed document.
    pub row: u32,
    /// Row number of the kept document that has the most words of the removed document.
    pub kept: u32,
    /// Number of kept documents that together have all words of the removed document, except the words that are lost.
    pub covering: u32,
    /// Number of words of the removed document, and number of its words that are lost.
    pub loss: LostWords,
}

/// Consecutive words of a removed document that also follow each other in a kept document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Row number of the removed document.
    pub row: u32,
    /// Position of the first word in the removed document, and the position behind the last word. Positions count from
    /// 0.
    pub words: [u32; 2],
    /// Row number of the kept document that has the same words.
    pub kept: u32,
    /// Position of the first of these words in the kept document, from 0.
    pub kept_from: u32,
}

/// The documents to remove, and the proof that their words stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Documents to remove, in ascending order.
    pub documents: Vec<CoveredDocument>,
    /// Sequences of words of removed documents that kept documents have, too. The stretches of a removed document
    /// follow each other, in reading order. Each of its words is in one stretch, except the words that are lost. A
    /// document with fewer words than a run has one stretch, of one word.
    pub stretches: Vec<Stretch>,
}
