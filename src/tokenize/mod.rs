//! Text → tokens. One file per tokenizer; a tokenizer knows nothing of documents or features.

pub mod ascii_letters;
pub mod ascii_words;
mod character_forms;
pub mod characters;
#[cfg(feature = "chinese")]
pub mod chinese_words;
mod decompositions;
mod foreign;
pub mod hashed_tokens;
mod known_characters;
#[cfg(feature = "chinese")]
pub mod lecture_hash;
pub mod letters;
mod normal_forms;
mod normalize;
mod pieces;
#[cfg(feature = "chinese")]
mod script_runs;
pub mod stop_words;
pub mod unicode_words;
mod word_roles;
#[cfg(feature = "chinese")]
pub mod words_by_script;

use crate::error::{ErrorKind, Result};
use crate::kernels::Isa;
use ascii_words::AsciiWords;
use characters::Characters;
use hashed_tokens::HashTokenizer;
use unicode_words::UnicodeWords;

/// What a token is, where it is hashed at once.
///
/// Those that need the dictionary of Chinese are there in a build with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tokens {
    /// A word of Unicode text.
    Words,
    /// A character of normalized text.
    Characters,
    /// A run of ASCII letters.
    Ascii,
    /// A word of Chinese text.
    #[cfg(feature = "chinese")]
    Chinese,
    /// What the script of each run of text asks for.
    #[cfg(feature = "chinese")]
    ByScript,
    /// A word of Chinese text by the hash of the lecture.
    #[cfg(feature = "chinese")]
    Lecture,
}

impl Tokens {
    const ALL: &[Self] = &[
        Self::Words,
        Self::Characters,
        Self::Ascii,
        #[cfg(feature = "chinese")]
        Self::Chinese,
        #[cfg(feature = "chinese")]
        Self::ByScript,
        #[cfg(feature = "chinese")]
        Self::Lecture,
    ];

    /// The names of all, whether they are in this build or not.
    pub const NAMES: [&str; 6] = ["words", "chars", "ascii", "chinese", "auto", "lecture"];

    /// The name that options use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Characters => "chars",
            Self::Ascii => "ascii",
            #[cfg(feature = "chinese")]
            Self::Chinese => "chinese",
            #[cfg(feature = "chinese")]
            Self::ByScript => "auto",
            #[cfg(feature = "chinese")]
            Self::Lecture => "lecture",
        }
    }

    /// The kind of that name, if there is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::FeatureOff`] if this build lacks it.
    pub fn from_name(name: &str) -> Result<Option<Self>> {
        let known = Self::ALL.iter().find(|tokens| tokens.name() == name).copied();
        if known.is_none() && Self::NAMES.contains(&name) {
            let (what, feature) = ("Chinese words", "chinese");
            return Err(ErrorKind::FeatureOff { what, feature }.into());
        }
        Ok(known)
    }

    /// What finds and hashes them, on `isa`.
    #[must_use]
    pub fn tokenizer(self, isa: Isa) -> Box<dyn HashTokenizer> {
        match self {
            Self::Words => Box::new(UnicodeWords::new(isa)),
            Self::Characters => Box::new(Characters::new(isa)),
            Self::Ascii => Box::new(AsciiWords::new(isa)),
            #[cfg(feature = "chinese")]
            Self::Chinese => Box::new(chinese_words::ChineseWords::new(isa)),
            #[cfg(feature = "chinese")]
            Self::ByScript => Box::new(words_by_script::WordsByScript::new(isa)),
            #[cfg(feature = "chinese")]
            Self::Lecture => Box::new(lecture_hash::LectureWords::new(isa)),
        }
    }

    /// Bytes of text for each token, about.
    #[must_use]
    pub fn bytes_each(self) -> u64 {
        if self == Self::Characters { 1 } else { 6 }
    }
}
