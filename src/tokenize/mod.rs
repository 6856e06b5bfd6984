//! Text → tokens. One file per tokenizer; a tokenizer knows nothing of documents or features.

pub mod ascii_letters;
mod character_forms;
pub mod characters;
mod foreign;
pub mod hashed_tokens;
mod known_characters;
mod normal_forms;
mod normalize;
mod pieces;
pub mod stop_words;
pub mod unicode_words;
mod word_roles;

use crate::kernels::Isa;
use characters::Characters;
use hashed_tokens::HashTokenizer;
use unicode_words::UnicodeWords;

/// What a token is, where it is hashed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tokens {
    /// A word of Unicode text.
    Words,
    /// A character of normalized text.
    Characters,
}

impl Tokens {
    const ALL: [Self; 2] = [Self::Words, Self::Characters];

    /// The name that options use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Characters => "chars",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tokens| tokens.name() == name)
    }

    /// What finds and hashes them, on `isa`.
    #[must_use]
    pub fn tokenizer(self, isa: Isa) -> Box<dyn HashTokenizer> {
        match self {
            Self::Words => Box::new(UnicodeWords::new(isa)),
            Self::Characters => Box::new(Characters::new(isa)),
        }
    }
}
