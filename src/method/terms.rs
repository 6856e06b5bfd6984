//! Terms of documents: shingles, or the most frequent words of the collection.

use super::stop_word_lists::read_stop_words;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_terms::extract::weighting::Weighting;
use simtool_terms::text_rules::{RuledText, TextRules};
use simtool_terms::tokenize::TokenizerKind;
use simtool_terms::tokenize::stop_words::StopWords;
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum number of tokens that a shingle may have.
const LONGEST_SHINGLE: usize = 100;

/// Rules by which documents become terms, and the weights that decide how much each term counts.
///
/// ```
/// use simtool::method::Terms;
///
/// let terms: Terms = "chars:5".parse()?;
/// assert_eq!(terms.described(), "shingles (chars:5)");
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Sequences of consecutive tokens, for example three words.
    Shingles {
        /// Kind of the tokens, for example words or characters.
        tokenizer: &'static TokenizerKind,
        /// Number of tokens in a shingle, at most 100.
        length: NonZeroUsize,
        /// Words that are dropped before shingles are made, so that the words around them become adjacent.
        stop_words: StopWords,
        /// Rule that selects the shingles that count, and how much each of them counts.
        weighting: Weighting,
        /// Rules by which a text is changed before it is cut into tokens.
        rules: TextRules,
    },
    /// The most frequent words of the collection. A word is a sequence of ASCII letters and counts as often
    /// as it occurs.
    MostFrequent {
        /// Number of words in the list of the most frequent words.
        count: usize,
        /// Stop words in lower case, which are ignored when words are counted.
        stop_words: Arc<[Vec<u8>]>,
    },
}

impl Default for Terms {
    /// Returns shingles of three consecutive words.
    fn default() -> Self {
        Self::Shingles {
            tokenizer: TokenizerKind::DEFAULT,
            length: NonZeroUsize::MIN.saturating_add(2),
            stop_words: StopWords::default(),
            weighting: Weighting::default(),
            rules: TextRules::default(),
        }
    }
}

impl FromStr for Terms {
    type Err = Error;

    /// Parses the kind and the number of the tokens of a shingle, for example `words:3` or `chars:5`.
    fn from_str(text: &str) -> Result<Self> {
        let mut options = Options::new();
        options.set("shingle", text);
        Self::parse(&mut options)
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shingles { tokenizer, length, .. } => write!(f, "{}:{length}", tokenizer.name),
            Self::MostFrequent { count, .. } => write!(f, "{count} most frequent words"),
        }
    }
}

impl Terms {
    /// Creates the rules from the options `shingle`, `stop_words` and those of [`TextRules::parse`], and takes these
    /// options out of `options`.
    ///
    /// - `shingle` is the name of a [tokenizer](simtool_terms::tokenize::TOKENIZERS) and a number such as `chars:5`, or
    ///   only one of the two.
    /// - `stop_words` is the name of a built-in list, the path of a file, which is read, or `words:` and the words. Several
    ///   of them are joined by `+`.
    ///
    /// Without options, the terms are shingles of three words.
    ///
    /// # Errors
    ///
    /// A value cannot be parsed, two values contradict each other, or this build lacks the tokenizer.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let shingle = options.take("shingle");
        let (unit, length) = shingle.as_deref().map_or((None, None), split_shingle);
        let tokenizer = match unit {
            Some(unit) => TokenizerKind::from_name(unit)?,
            None => Some(TokenizerKind::DEFAULT),
        };
        // `words` alone has the usual length of its tokenizer, because a length for words is too short for letters.
        let length = match (length, tokenizer) {
            (Some(length), _) => length.parse().ok(),
            (None, Some(tokenizer)) => NonZeroUsize::new(tokenizer.default_shingle),
            (None, None) => None,
        };
        let length = length.filter(|length| length.get() <= LONGEST_SHINGLE);
        let (Some(tokenizer), Some(length)) = (tokenizer, length) else {
            return Err(wrong_shingle(shingle.as_deref().unwrap_or_default()));
        };
        let stop_words = options.take("stop_words");
        let stop_words =
            stop_words.map_or(Ok(StopWords::default()), |name| read_stop_words(&name))?;
        if !tokenizer.makes_words && !stop_words.words().is_empty() {
            let rule = format!("is a list of words, so it cannot be used with {}", tokenizer.name);
            return Err(Error::config("stop_words", stop_words.name(), rule));
        }
        let rules = TextRules::parse(options)?;
        Ok(Self::Shingles { tokenizer, length, stop_words, weighting: Weighting::default(), rules })
    }

    /// Replaces the rule for the weights of terms. [`Self::MostFrequent`] has no such rule and stays as it
    /// is.
    #[must_use]
    pub(crate) fn weighted(self, weighting: Weighting) -> Self {
        match self {
            Self::Shingles { tokenizer, length, stop_words, rules, .. } => {
                Self::Shingles { tokenizer, length, stop_words, weighting, rules }
            }
            // These words are weighted by their frequencies already.
            words @ Self::MostFrequent { .. } => words,
        }
    }

    /// Returns the rule that selects the terms that count, and how much each of them counts.
    #[must_use]
    pub(crate) fn weighting(&self) -> Weighting {
        match self {
            Self::Shingles { weighting, .. } => *weighting,
            Self::MostFrequent { .. } => Weighting::default(),
        }
    }

    /// Returns whether rare terms weigh more than frequent terms when sets are compared.
    #[must_use]
    pub(crate) fn are_weighed_in_sets(&self) -> bool {
        self.weighting().is_idf()
    }

    /// Returns whether the terms need words or frequencies that are learned from the collection first.
    #[must_use]
    pub(crate) fn is_learned(&self) -> bool {
        matches!(self, Self::MostFrequent { .. }) || self.weighting().is_learned()
    }

    /// Returns a description for people, for example `shingles (words:3)`.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Shingles { .. } => format!("shingles ({self})"),
            Self::MostFrequent { .. } => self.to_string(),
        }
    }

    /// Returns a short text that identifies the rules by which texts become terms. Terms can be compared only
    /// if their recipes are equal.
    #[must_use]
    pub fn recipe(&self) -> String {
        match self {
            Self::Shingles { tokenizer, length, rules, .. } => {
                // Every instruction set gives the same tokens, so the recipe is the same for all of them.
                let tokens = (tokenizer.create)(Isa::PORTABLE).recipe();
                format!("xxh3-64:0/{tokens}/shingle={length}{}", rules.recipe())
            }
            Self::MostFrequent { count, .. } => format!("ascii-letters/most-frequent={count}"),
        }
    }

    /// Returns a text that identifies the rules by which texts become sets of terms, including the stop
    /// words. The weights of terms are not part of it.
    pub(super) fn sets_recipe(&self) -> String {
        match self {
            Self::Shingles { stop_words, .. } if !stop_words.words().is_empty() => {
                format!("{}/{}", self.recipe(), stop_words.recipe())
            }
            _ => self.recipe(),
        }
    }

    /// Returns the part of the recipe of fingerprints that identifies the weights of terms and the stop
    /// words.
    pub(super) fn weighting_recipe(&self) -> String {
        match self {
            Self::Shingles { weighting, stop_words, .. } => {
                format!("{}/{}", weighting.recipe(), stop_words.recipe())
            }
            Self::MostFrequent { stop_words, .. } => {
                format!("weight=tf/stop={:016x}", hash(&stop_words.join(&b'\n')))
            }
        }
    }

    /// Returns the rules by which a text is changed before it is cut into tokens. `None` if no text is changed.
    #[must_use]
    pub(crate) fn rules(&self) -> Option<&TextRules> {
        match self {
            Self::Shingles { rules, .. } => Some(rules).filter(|rules| !rules.is_empty()),
            Self::MostFrequent { .. } => None,
        }
    }

    /// Applies the rules for texts to `text`, which is done before it is cut into tokens. For example, ignored numbers
    /// become spaces.
    ///
    /// ```
    /// use simtool::method::Method;
    ///
    /// let method: Method = "exact:ignore=numbers".parse()?;
    /// assert_eq!(&*method.compared().compared_text(b"Page 7 of 9"), b"Page   of  ");
    /// # Ok::<(), simtool::Error>(())
    /// ```
    #[must_use]
    pub fn compared_text<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match self.rules() {
            Some(rules) => Cow::Owned(rules.apply(text, &mut RuledText::default()).to_vec()),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns the names and values of the options from which [`Self::parse`] creates these rules. The options for the
    /// weights of terms are missing, because [`Weighting::parameters`] returns them.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = vec![("shingle", self.to_string())];
        if let Self::Shingles { stop_words, rules, .. } = self {
            // A setting that has its default value is not recorded, so that runs with and without it are equal.
            let stop_words = Some(stop_words).filter(|words| **words != StopWords::default());
            parameters.extend(stop_words.map(|words| ("stop_words", words.name().to_owned())));
            parameters.extend(rules.parameters());
        }
        parameters
    }
}

/// Splits a value of the option `shingle` into the name of the tokenizer and the number. `chars:5` has both,
/// `5` only a number and `chars` only a name.
fn split_shingle(text: &str) -> (Option<&str>, Option<&str>) {
    match text.split_once(':') {
        Some((unit, length)) => (Some(unit), Some(length)),
        None if text.starts_with(|first: char| first.is_ascii_alphabetic()) => (Some(text), None),
        None => (None, Some(text)),
    }
}

/// Returns the error for a value of the option `shingle` that cannot be parsed.
fn wrong_shingle(given: &str) -> Error {
    let rule = format!(
        "must be UNIT:N with N from 1 to {LONGEST_SHINGLE}, for example words:3, or one of \
         both. UNIT is one of {}",
        tokenizer_names()
    );
    Error::config("shingle", given, rule)
}

/// Returns the names of all tokenizers, separated by commas, for messages.
fn tokenizer_names() -> String {
    TokenizerKind::names().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_read_as_they_are_shown() {
        for text in ["words:3", "chars:5", "ascii:1", "words:100"] {
            assert_eq!(text.parse::<Terms>().unwrap().to_string(), text);
        }
        for text in ["syllables", "words:0", "lines:3", "chars:101", "words:-1", ""] {
            assert!(text.parse::<Terms>().is_err(), "{text}");
        }
        assert_eq!(Terms::default().to_string(), "words:3");
    }
    fn parsed(options: &str) -> Result<Terms> {
        Terms::parse(&mut Options::parse(options).unwrap())
    }

    #[test]
    fn a_tokenizer_and_a_number_are_a_shingle() {
        for (options, shingle) in [
            ("shingle=ascii:2", "ascii:2"),
            ("shingle=chars", "chars:5"),
            ("shingle=ascii", "ascii:3"),
            ("shingle=4", "words:4"),
        ] {
            assert_eq!(parsed(options).unwrap(), shingle.parse().unwrap(), "{options}");
        }
        for (options, message) in [
            ("shingle=syllables", "shingle syllables: must be UNIT:N with N from 1 to 100"),
            ("shingle=lines:2", "shingle lines:2: must be UNIT:N with N from 1 to 100"),
            (
                "shingle=chars,stop_words=english",
                "stop_words english: is a list of words, so it cannot be used with chars",
            ),
            ("stop_words=/nowhere", "stop_words /nowhere: must be none, english"),
        ] {
            let error = parsed(options).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[cfg(not(feature = "chinese"))]
    #[test]
    fn a_build_without_chinese_says_so() {
        for name in ["chinese", "auto", "lecture"] {
            let error = parsed(&format!("shingle={name}")).unwrap_err().to_string();
            let expected = "this build has no Chinese words; rebuild with --features chinese";
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn stop_words_are_a_list_or_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "The\na").unwrap();
        let name = file.path().to_str().unwrap();
        let terms = parsed(&format!("stop_words={name}")).unwrap();
        assert_eq!(
            terms.parameters(),
            [("shingle", "words:3".to_owned()), ("stop_words", name.to_owned())]
        );
        assert!(terms.sets_recipe().contains("/shingle=3/stop="), "{}", terms.sets_recipe());
        assert!(terms.weighting_recipe().starts_with("weight=tf/stop="));
        assert_ne!(terms.weighting_recipe(), Terms::default().weighting_recipe());
        assert_eq!(parsed("stop_words=none").unwrap(), Terms::default());
    }
}
