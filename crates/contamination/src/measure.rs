//! The measures of how much of an item a document contains.

use simtool_base::options::Choice;

/// A measure of how much of an item a document contains. It is a share from 0 to 1.
///
/// A window is a sequence of n consecutive words of an item. It is found if these words also follow each other in
/// the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// The share of the words of the item that are in found windows.
    #[default]
    Words,
    /// The share of the windows of the item that also occur in the document.
    Shingles,
    /// Like [`Measure::Words`], but words have weights. Words in windows that many documents have count less.
    ///
    /// The weight of a window is the number of binary digits of D / d, rounded down, where d is the number of
    /// documents with the window and D is the number of all documents. The weight of a word is the smallest
    /// weight of a window that contains it.
    Weighted,
}

impl Measure {
    /// Returns whether the measure needs the number of documents that have each window. Then all documents are read
    /// once more to count them.
    #[must_use]
    pub fn needs_counts(self) -> bool {
        self == Self::Weighted
    }
}

impl Choice for Measure {
    const ALL: &'static [Self] = &[Self::Words, Self::Shingles, Self::Weighted];

    fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Shingles => "shingles",
            Self::Weighted => "weighted",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Words => "Share of the item's words that are in shingles which the document has",
            Self::Shingles => "Share of the item's shingles that the document has",
            Self::Weighted => {
                "Share of the item's words, where words of common shingles count less; reads documents twice"
            }
        }
    }
}
