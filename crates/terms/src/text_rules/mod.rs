//! Rules that change texts before they are cut into tokens: pieces that do not count are replaced by spaces, and
//! different spellings are made equal.
//!
//! All commands that compare documents use [`TextRules::apply`], so a piece that does not count in one command counts
//! in none. The rules are part of the recipe of sets and fingerprints. Without rules, texts stay as they are.

mod folds;
mod ignored;
mod patterns;

use folds::Folds;
pub use folds::{FOLDS, FoldKind};
use ignored::Ignored;
pub use ignored::{IGNORED, IgnoredKind};
use simtool_base::error::Result;
use simtool_base::options::Options;

/// Rules by which texts are changed before they are cut into tokens.
///
/// ```
/// use simtool_base::options::Options;
/// use simtool_terms::text_rules::{RuledText, TextRules};
///
/// let mut options = Options::new();
/// options.set("ignore", "numbers");
/// let rules = TextRules::parse(&mut options)?;
/// assert_eq!(rules.apply(b"Page 12 of -3.5", &mut RuledText::default()), b"Page    of     ");
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRules {
    ignored: Ignored,
    folds: Folds,
}

/// Reusable buffers for the copies of texts that rules have changed.
#[derive(Debug, Default)]
pub struct RuledText {
    blanked: Vec<u8>,
    folded: Vec<u8>,
}

impl TextRules {
    /// Removes the options `ignore` and `fold` from `options`, and creates the rules that they describe. `ignore` may
    /// be given several times.
    ///
    /// # Errors
    ///
    /// A value has an unknown name, or a regular expression that cannot be parsed.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let folds = Folds::parse(options.take("fold").as_deref())?;
        Ok(Self { folds, ..Self::parse_in_place(options)? })
    }

    /// Creates rules like [`Self::parse`], but only from the option `ignore`. These rules keep all other bytes of a
    /// text where they are.
    ///
    /// # Errors
    ///
    /// As for [`Self::parse`].
    pub fn parse_in_place(options: &mut Options) -> Result<Self> {
        let ignored = Ignored::parse(&options.take_all("ignore"))?;
        Ok(Self { ignored, folds: Folds::default() })
    }

    /// Returns whether the rules change no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ignored.is_empty() && self.folds.is_empty()
    }

    /// Applies the rules to `text`. Returns `text` itself, or a changed copy in `room`.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t [u8], room: &'t mut RuledText) -> &'t [u8] {
        let RuledText { blanked, folded } = room;
        let counted = self.blank(text, blanked);
        if self.folds.is_empty() {
            return counted;
        }
        self.folds.fold(counted, folded);
        folded
    }

    /// Returns the text with spaces in place of ignored pieces, and makes no other changes. The result is `text`
    /// itself, or a copy in `blanked`.
    #[must_use]
    pub fn blank<'t>(&self, text: &'t [u8], blanked: &'t mut Vec<u8>) -> &'t [u8] {
        if self.ignored.blank(text, blanked) { blanked } else { text }
    }

    /// Returns the part of a recipe that identifies the rules. The recipe of a fingerprint has all settings that it
    /// depends on. The part is empty if there are no rules.
    #[must_use]
    pub fn recipe(&self) -> String {
        self.ignored.recipe() + &self.folds.recipe()
    }

    /// Returns the names and values of the options from which [`Self::parse`] creates these rules.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        let ignored = self.ignored.written().map(|list| ("ignore", list));
        ignored.into_iter().chain(self.folds.written().map(|list| ("fold", list)))
    }
}

#[cfg(test)]
mod tests;
