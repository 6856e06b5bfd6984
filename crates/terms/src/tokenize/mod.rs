//! Cuts text into tokens. Each tokenizer has a separate file, and does not depend on documents or fingerprints.
//!
//! [`TOKENIZERS`] lists the tokenizers. The parser of options, the help of the command line and error messages read
//! this table. To add a tokenizer, write its file with a [`TokenizerKind`], and add that value to the table.

pub mod ascii_letters;
pub mod ascii_words;
mod character_forms;
pub mod characters;
#[cfg(feature = "chinese")]
pub mod chinese_words;
mod decompositions;
mod foreign;
pub mod hashed_tokens;
mod kind;
mod known_characters;
#[cfg(feature = "chinese")]
pub mod lecture_hash;
pub mod letters;
mod normal_forms;
mod normalize;
mod pieces;
#[cfg(feature = "chinese")]
mod script_runs;
mod signs;
pub mod stop_words;
pub mod symbol_hash;
mod symbols;
pub mod text_units;
pub mod unicode_words;
pub mod unit_words;
pub mod whole_text;
mod word_places;
mod word_roles;
#[cfg(feature = "chinese")]
pub mod words_by_script;

use simtool_base::error::{ErrorKind, Result};

pub use kind::TokenizerKind;

/// All tokenizers of this build. The first one is the default.
pub const TOKENIZERS: &[TokenizerKind] = &[
    unicode_words::KIND,
    unicode_words::WITH_SYMBOLS,
    unicode_words::WITHOUT_SIGNS,
    characters::KIND,
    characters::WITHOUT_PUNCTUATION,
    ascii_words::KIND,
    #[cfg(feature = "chinese")]
    chinese_words::KIND,
    #[cfg(feature = "chinese")]
    words_by_script::KIND,
    #[cfg(feature = "chinese")]
    lecture_hash::KIND,
];

/// Names of the tokenizers that this build does not have, because it was built without the dictionary of Chinese words.
pub(crate) const MISSING_TOKENIZERS: &[&str] =
    if cfg!(feature = "chinese") { &[] } else { &["chinese", "auto", "lecture"] };

// These functions read the table, which the file of the type does not know.
impl TokenizerKind {
    /// The tokenizer that is used if the user chose none.
    pub const DEFAULT: &'static Self = &TOKENIZERS[0];

    /// Returns the names of all tokenizers, including those that this build does not have.
    ///
    /// ```
    /// use simtool_terms::tokenize::TokenizerKind;
    ///
    /// assert!(TokenizerKind::names().any(|name| name == "chars"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        TOKENIZERS.iter().map(|kind| kind.name).chain(MISSING_TOKENIZERS.iter().copied())
    }

    /// Returns the tokenizer with the name `name`, or `None` if there is no such tokenizer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::FeatureOff`] if the tokenizer exists but this build does not have it.
    pub fn from_name(name: &str) -> Result<Option<&'static Self>> {
        if MISSING_TOKENIZERS.contains(&name) {
            let error = ErrorKind::FeatureOff { what: "Chinese words", feature: "chinese" };
            return Err(error.into());
        }
        Ok(TOKENIZERS.iter().find(|kind| kind.name == name))
    }
}
