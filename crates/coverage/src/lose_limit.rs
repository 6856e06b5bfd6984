//! Number of words that a removal loses, and the option `lose`: the maximum number of words that a removal may lose.

use simtool_base::percentage::Percentage;
use std::fmt;
use std::str::FromStr;

/// Description of the valid values of the option `lose`, for error messages.
pub const RULE: &str = "must be a number of words, such as 3, or a percentage of the words up to 100, such as 1% or 0.5%";

/// Number of words of a removed document, and number of its words that are lost because its kept document lacks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostWords {
    /// Number of words of the removed document. 0 if they were not counted, because the removed document is equal to
    /// its kept document.
    pub words: u32,
    /// Number of the words that are lost.
    pub lost: u32,
}

impl LostWords {
    /// Returns the share of the words that are lost. It is 0 if no word is lost.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.lost) / f64::from(self.words.max(1))
    }
}

/// Maximum number of words of a removed document that its kept document may lack. A document that would lose more
/// stays.
///
/// ```
/// use simtool_coverage::{LoseLimit, LostWords};
///
/// let one_percent: LoseLimit = "1%".parse().unwrap();
/// assert!(one_percent.allows(LostWords { words: 200, lost: 2 }));
/// assert!(!one_percent.allows(LostWords { words: 200, lost: 3 }));
/// assert_eq!(one_percent.to_string(), "1%");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoseLimit {
    /// Maximum number of words of the removed document that its kept document may lack.
    Words(u32),
    /// Maximum share of the words of the removed document that its kept document may lack.
    Share(Percentage),
}

impl LoseLimit {
    /// Returns whether no word may be lost.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::Words(0) || self == Self::Share(Percentage::whole(0))
    }

    /// Returns whether a document may be removed although these words are lost.
    #[must_use]
    pub fn allows(self, LostWords { words, lost }: LostWords) -> bool {
        match self {
            Self::Words(most) => lost <= most,
            Self::Share(most) => most.allows(lost.into(), words.into()),
        }
    }
}

impl FromStr for LoseLimit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text.ends_with('%') {
            return text.parse().map(Self::Share);
        }
        text.parse().map(Self::Words).map_err(drop)
    }
}

impl fmt::Display for LoseLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Words(most) => write!(f, "{most}"),
            Self::Share(most) => most.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_words_or_percentages() {
        let share = |percent| LoseLimit::Share(Percentage::whole(percent));
        for (text, limit) in
            [("0", LoseLimit::Words(0)), ("12", LoseLimit::Words(12)), ("7%", share(7))]
        {
            let read: LoseLimit = text.parse().unwrap();
            assert_eq!((read, &*read.to_string()), (limit, text));
        }
        for text in ["", "%", "-1", "x", "100.1%", "5000000000", "1e3%"] {
            assert!(text.parse::<LoseLimit>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_limit_holds_for_the_words_of_the_removed_document() {
        let loss = |words, lost| LostWords { words, lost };
        let three = LoseLimit::Words(3);
        assert!(three.allows(loss(4, 3)) && !three.allows(loss(400, 4)));
        let tenth = LoseLimit::Share(Percentage::whole(10));
        assert!(tenth.allows(loss(10, 1)) && !tenth.allows(loss(9, 1)));
    }
}
