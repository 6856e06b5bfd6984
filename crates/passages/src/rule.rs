//! The condition under which a window counts as repeated.

use crate::classes::Counted;
use crate::origins::Origins;

/// Condition under which k consecutive words, which are called a window, count as repeated.
///
/// ```
/// use simtool_passages::Repeated;
///
/// assert_eq!(Repeated::default(), Repeated::Documents(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The window occurs at two places or more, which may be in the same document.
    Anywhere,
    /// The window occurs in at least this number of documents. Documents of one origin, for example of one host,
    /// count as one document.
    Documents(u32),
}

impl Default for Repeated {
    fn default() -> Self {
        Self::Documents(2)
    }
}

impl Repeated {
    /// Returns the numbers n for which the words that occur in at least n documents are counted. The first n is the
    /// minimum number of documents of a repeated window. It is followed by 11, 101 and 1001, if they are greater.
    pub(crate) fn levels(self) -> impl Iterator<Item = u32> {
        let least = match self {
            Self::Anywhere => 2,
            Self::Documents(least) => least.max(2),
        };
        let more = [11, 101, 1001].into_iter().filter(move |&level| level > least);
        std::iter::once(least).chain(more)
    }

    /// Returns whether a window that occurs `occurrences` times in `documents` documents is repeated.
    #[inline]
    fn accepts(self, occurrences: u64, documents: u32) -> bool {
        // A window that occurs once has no partner.
        occurrences >= 2
            && match self {
                Self::Anywhere => true,
                Self::Documents(least) => documents >= least,
            }
    }
}

/// The condition of a search: the rule for repeated windows, and the values that the rule depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<'c> {
    /// The condition on the number of occurrences or documents.
    pub(crate) rule: Repeated,
    /// Origins of the documents. Documents of one origin count as one.
    pub(crate) origins: &'c Origins,
    /// Number of words of a window, if all windows have the same number.
    pub(crate) words: u32,
}

impl Condition<'_> {
    /// Returns whether the window that occurs as counted in `counted` is repeated.
    #[inline]
    pub(crate) fn accepts(&self, counted: &Counted) -> bool {
        self.rule.accepts(counted.summary.occurrences, counted.documents)
    }
}
