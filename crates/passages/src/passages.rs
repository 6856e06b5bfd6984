//! The result of a search: passages in reading order, and the words to cut.

use crate::repetition::Repetition;
use simtool_base::options::Choice;
use std::ops::Range;

/// A part of the text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Number of the document, in reading order.
    pub document: u32,
    /// Bytes of the part, as offsets in the decoded text of the document.
    pub bytes: Range<u64>,
}

/// Consecutive words of a document. Each word is in a repeated window, which is a sequence of k words. The passage ends
/// where the next word is in no repeated window.
///
/// A passage need not occur elsewhere as a whole, but its repeated windows do. Some fields are about its most frequent
/// window: the window that occurs in the most documents. Among several such windows, it is the one with the most
/// occurrences, and then the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Number of the document, in reading order.
    pub document: u32,
    /// Positions of the words in the document, from 0.
    pub words: Range<u32>,
    /// Bytes from the first byte of the first word to the end of the last word, in the decoded text.
    pub bytes: Range<u64>,
    /// Number of documents in which the most frequent window occurs.
    pub documents: u32,
    /// Number of places at which the most frequent window occurs.
    pub occurrences: u64,
    /// Whether this passage has the first occurrence of the most frequent window in the collection.
    pub is_first: bool,
    /// Whether the passage has all words of the document. It need not occur as a whole in another document.
    pub is_whole: bool,
    /// Another occurrence of the most frequent window: its first occurrence with another origin than this document. If
    /// all occurrences have the same origin, it is the first one, or the second one if the first is here. An origin is,
    /// for example, a host. By default, each document has its own origin.
    pub partner: Excerpt,
}

/// Words of a document that can be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRange {
    /// Number of the document, in reading order.
    pub document: u32,
    /// Positions of the words in the document, from 0.
    pub words: Range<u32>,
    /// Bytes from the first byte of the first word to the end of the last word, in the decoded text.
    pub bytes: Range<u64>,
}

/// Choice of the copies of repeated windows that are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Cuts the copies of a repeated window that follow its first copy. The first copy of each repeated window stays
    /// whole. If all words of a window are cut, an earlier copy of this window stays. Each cut has at least as many
    /// words as a window.
    #[default]
    First,
    /// Cuts all words of all passages.
    All,
}

impl Choice for Cut {
    const ALL: &'static [Self] = &[Self::First, Self::All];

    fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::All => "all",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::First => "Keep the first copy of everything, and cut the later ones",
            Self::All => "Cut all copies, also the first one",
        }
    }
}

/// All repeated passages of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages {
    /// The passages, in reading order.
    pub passages: Vec<Passage>,
    /// The words that [`Cut::First`] cuts, in reading order.
    pub(crate) cuts: Vec<CutRange>,
    /// Number of documents of the collection.
    pub documents: u64,
    /// Number of words of all documents of the collection together.
    pub words: u64,
    /// Number of places at which a repeated window begins. So a window that occurs n times counts n times.
    pub repeated_windows: u64,
    /// Measures of how much of the collection is repeated, and the most repeated texts.
    pub repetition: Repetition,
}

impl Passages {
    /// Returns the number of words that are in passages.
    #[must_use]
    pub fn covered_words(&self) -> u64 {
        self.passages.iter().map(|passage| passage.words.len() as u64).sum()
    }

    /// Returns the number of words that [`Cut::First`] cuts.
    #[must_use]
    pub fn later_words(&self) -> u64 {
        self.cuts.iter().map(|cut| cut.words.len() as u64).sum()
    }

    /// Returns the passages of a document, in order.
    #[must_use]
    pub fn of_document(&self, document: u32) -> &[Passage] {
        of_document(&self.passages, document, |passage| passage.document)
    }

    /// Returns the words that `cut` removes from a document, in order.
    #[must_use]
    pub fn cuts(&self, cut: Cut, document: u32) -> Vec<CutRange> {
        match cut {
            Cut::First => of_document(&self.cuts, document, |cut| cut.document).to_vec(),
            Cut::All => self.of_document(document).iter().map(Passage::cut).collect(),
        }
    }
}

impl Passage {
    /// Returns all words of the passage as words to cut.
    fn cut(&self) -> CutRange {
        let Self { document, words, bytes, .. } = self;
        CutRange { document: *document, words: words.clone(), bytes: bytes.clone() }
    }
}

/// Returns the elements of `items` that belong to document `document`. `items` are sorted by their documents.
fn of_document<T>(items: &[T], document: u32, document_of: impl Fn(&T) -> u32) -> &[T] {
    let start = items.partition_point(|item| document_of(item) < document);
    let count = items[start..].partition_point(|item| document_of(item) == document);
    &items[start..start + count]
}
