//! Normalizes and folds text, and knows the scripts that are written without spaces.
//!
//! The steps are NFKC, then full case folding (CaseFolding.txt, statuses C and F, no context
//! rules), then NFKC again if folding undid it. They give different spellings of a word the same
//! form.
//!
//! # References
//! Unicode Standard Annex #15, Unicode Normalization Forms; the Unicode Standard, section 3.13.

use caseless::Caseless as _;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript as _};

/// Number of code points for which tables store properties once these were computed. All scripts
/// and emoji are below this number. The characters above it are rare.
pub(super) const KNOWN: usize = 0x4_0000;

/// Returns the part of a tokenizer's recipe that identifies the versions of normalization and
/// folding.
pub(super) fn recipe() -> String {
    format!("nfkc@{}+casefold", unicode_normalization::UNICODE_VERSION.0)
}

/// Normalizes and case-folds `text`, and writes the result to `folded`.
pub(super) fn fold(text: &str, folded: &mut String) {
    folded.clear();
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        fold_case(text.chars(), folded);
    } else {
        fold_case(text.nfkc(), folded);
    }
    if is_nfkc_quick(folded.chars()) != IsNormalized::Yes {
        *folded = folded.nfkc().collect();
    }
}

fn fold_case(text: impl Iterator<Item = char>, folded: &mut String) {
    for character in text {
        if character.is_ascii() {
            folded.push(character.to_ascii_lowercase());
        } else {
            folded.extend(std::iter::once(character).default_case_fold());
        }
    }
}

/// Whether the character belongs to a script that is written without spaces between words.
pub(super) fn is_unspaced(character: char) -> bool {
    // Thai has the lowest code points of these scripts, so a comparison decides most characters.
    character >= '\u{0e00}'
        && matches!(
            character.script(),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut folded = "leftover".to_owned();
        fold(text, &mut folded);
        assert_eq!(folded, expected);
    }

    #[test]
    fn folding_is_full_and_without_context() {
        check("Straße ΣΑΣ", "strasse σασ");
        check("İ", "i\u{307}");
        check("ﬁ ２ ℌ", "fi 2 h");
        check("e\u{301}", "é");
        check("\u{1e9e}", "ss");
    }

    #[test]
    fn scripts_without_spaces() {
        let unspaced: String = "aé中カかー々กၐ한".chars().filter(|&c| is_unspaced(c)).collect();
        assert_eq!(unspaced, "中カか々กၐ");
    }
}
