//! Changes texts before they are cut into tokens: pieces that do not count are blanked, and spellings are made equal.
//!
//! All commands that compare documents take their texts through [`TextRules::apply`], so a piece that does not count in
//! one of them counts in none. The rules are part of the recipe of sets and fingerprints. Without rules, texts are
//! passed on as they are.

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

/// Room for a text that rules have changed. It is used again for every text.
#[derive(Debug, Default)]
pub struct RuledText {
    blanked: Vec<u8>,
    folded: Vec<u8>,
}

impl TextRules {
    /// Creates the rules from the options `ignore`, which may be given several times, and `fold`, and takes them out of
    /// `options`.
    ///
    /// # Errors
    ///
    /// A value has an unknown name, or an expression that cannot be parsed.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let folds = Folds::parse(options.take("fold").as_deref())?;
        Ok(Self { folds, ..Self::parse_in_place(options)? })
    }

    /// Creates rules like [`Self::parse`] from the options that keep all other bytes of a text where they are: `ignore`.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`Self::parse`].
    pub fn parse_in_place(options: &mut Options) -> Result<Self> {
        let ignored = Ignored::parse(&options.take_all("ignore"))?;
        Ok(Self { ignored, folds: Folds::default() })
    }

    /// Returns whether no text is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ignored.is_empty() && self.folds.is_empty()
    }

    /// Returns the text by these rules: `text` itself, or a changed copy in `room`.
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

    /// Returns the text with spaces in the place of ignored pieces, without other changes. It is `text` itself, or in
    /// `blanked`.
    #[must_use]
    pub fn blank<'t>(&self, text: &'t [u8], blanked: &'t mut Vec<u8>) -> &'t [u8] {
        if self.ignored.blank(text, blanked) { blanked } else { text }
    }

    /// Returns the end of a recipe, which identifies the rules. Empty if there are none.
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
