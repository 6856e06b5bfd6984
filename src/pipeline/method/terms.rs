//! What the terms of a document are.

use crate::error::{Error, Result};
use crate::extract::weighting::Weighting;
use crate::kernels::Isa;
use crate::options::Options;
use crate::stable_hash::hash;
use crate::tokenize::Tokens;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

/// Most tokens of a shingle.
const LONGEST_SHINGLE: usize = 100;

/// What the terms of a document are, and how much each counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Runs of consecutive tokens.
    Shingles {
        /// What a token is.
        tokens: Tokens,
        /// How many tokens a run has, 100 at the most.
        length: NonZeroUsize,
        /// Which of them count, and how much.
        weighting: Weighting,
    },
    /// The most frequent words of the collection, which are runs of ASCII letters; each counts as
    /// often as it occurs.
    MostFrequent {
        /// How many of them.
        count: usize,
        /// Words that are left out before any is counted, in lower case.
        stop_words: Arc<[Vec<u8>]>,
    },
}

impl Default for Terms {
    /// Three consecutive words.
    fn default() -> Self {
        let length = NonZeroUsize::MIN.saturating_add(2);
        Self::Shingles { tokens: Tokens::Words, length, weighting: Weighting::default() }
    }
}

impl FromStr for Terms {
    type Err = Error;

    /// Reads `words:3` or `chars:5`.
    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(':').and_then(|(tokens, length)| {
            let length: NonZeroUsize = length.parse().ok()?;
            let tokens = Tokens::from_name(tokens)?;
            let weighting = Weighting::default();
            (length.get() <= LONGEST_SHINGLE).then_some(Self::Shingles {
                tokens,
                length,
                weighting,
            })
        });
        let rule = "must be words:N or chars:N with N from 1 to 100, for example words:3";
        parsed.ok_or_else(|| Error::config("shingle", text, rule))
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shingles { tokens, length, .. } => write!(f, "{}:{length}", tokens.name()),
            Self::MostFrequent { count, .. } => write!(f, "{count} most frequent words"),
        }
    }
}

impl Terms {
    /// Takes the option `shingle`: `words:3` if it was not given.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn parse(options: &mut Options) -> Result<Self> {
        options.take("shingle").map_or(Ok(Self::default()), |text| text.parse())
    }

    /// The same with another weighting, where they have one.
    #[must_use]
    pub fn weighted(self, weighting: Weighting) -> Self {
        match self {
            Self::Shingles { tokens, length, .. } => Self::Shingles { tokens, length, weighting },
            words @ Self::MostFrequent { .. } => words,
        }
    }

    /// How much each counts.
    #[must_use]
    pub fn weighting(&self) -> Weighting {
        match self {
            Self::Shingles { weighting, .. } => *weighting,
            Self::MostFrequent { .. } => Weighting::default(),
        }
    }

    /// Whether something must be learned from the collection before a document has them.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        matches!(self, Self::MostFrequent { .. }) || self.weighting().is_learned()
    }

    /// What a person calls them.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Shingles { .. } => format!("shingles ({self})"),
            Self::MostFrequent { .. } => self.to_string(),
        }
    }

    /// All that the terms of a text depend on, in short: terms of different recipes do not mix.
    #[must_use]
    pub fn recipe(&self) -> String {
        match self {
            Self::Shingles { tokens, length, .. } => {
                let tokens = tokens.tokenizer(Isa::Portable).recipe();
                format!("xxh3-64:0/{tokens}/shingle={length}")
            }
            Self::MostFrequent { count, .. } => format!("ascii-letters/most-frequent={count}"),
        }
    }

    /// All that sets of them depend on.
    pub(super) fn sets_recipe(&self) -> String {
        self.recipe()
    }

    /// What is left out and how the rest counts; stop words by their hash.
    pub(super) fn weighting_recipe(&self) -> String {
        match self {
            Self::Shingles { weighting, .. } => format!("{}/stop=none", weighting.recipe()),
            Self::MostFrequent { stop_words, .. } => {
                format!("weight=tf/stop={:016x}", hash(&stop_words.join(&b'\n')))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_read_as_they_are_shown() {
        for text in ["words:3", "chars:5", "words:100"] {
            assert_eq!(text.parse::<Terms>().unwrap().to_string(), text);
        }
        for text in ["words", "words:0", "lines:3", "chars:101", "words:-1", ""] {
            assert!(text.parse::<Terms>().is_err(), "{text}");
        }
        assert_eq!(Terms::default().to_string(), "words:3");
    }
}
