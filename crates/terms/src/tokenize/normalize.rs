//! Normalizes and folds text. Also knows which scripts have no spaces between words.
//!
//! The steps give different spellings of a word the same form:
//!
//! 1. Characters that are invisible by default are dropped, for example soft hyphens.
//! 2. NFKC, then full case folding (CaseFolding.txt, statuses C and F, no context rules), then NFKC
//!    again if folding undid it.
//! 3. Typographic apostrophes and quotation marks become the ASCII characters `'` and `"`.
//!
//! # References
//! Unicode Standard Annex #15, Unicode Normalization Forms; the Unicode Standard, sections 3.13 and
//! 5.21; `DerivedCoreProperties.txt`, property `Default_Ignorable_Code_Point`.

use caseless::Caseless as _;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript as _};

/// Number of code points for which tables store computed properties. All scripts and emoji are below this number.
/// Characters above it are rare.
pub(super) const KNOWN: usize = 0x4_0000;

/// Returns the part of a tokenizer's recipe that identifies the versions of normalization and
/// folding.
pub(super) fn recipe() -> String {
    format!("nfkc@{}+casefold+no-ignorables+quotes", unicode_normalization::UNICODE_VERSION.0)
}

/// Normalizes and folds `text`, and writes the result to `folded`. This function defines what a normalized and folded
/// text is.
pub(super) fn fold(text: &str, folded: &mut String) {
    folded.clear();
    let visible = || text.chars().filter(|&character| !is_ignorable(character));
    if is_nfkc_quick(visible()) == IsNormalized::Yes {
        fold_case(visible(), folded);
    } else {
        fold_case(visible().nfkc(), folded);
    }
    if is_nfkc_quick(folded.chars()) != IsNormalized::Yes {
        *folded = folded.nfkc().collect();
    }
    if folded.contains(|character| plain_quote(character) != character) {
        *folded = folded.chars().map(plain_quote).collect();
    }
}

/// Returns whether the character has the Unicode property `Default_Ignorable_Code_Point`. Such a character is invisible
/// and only advises programs that display the text. Examples are the soft hyphen, the zero-width space and joiners,
/// marks for the direction of text, variation selectors and tags.
pub(super) fn is_ignorable(character: char) -> bool {
    character >= '\u{ad}'
        && matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fff8}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns `'` for a typographic apostrophe or single quotation mark, and `"` for a double one. Returns any other
/// character unchanged.
///
/// The Hebrew marks geresh and gershayim are replaced, too. The low single quotation mark U+201A is not replaced,
/// because it is also typed as a comma.
pub(super) fn plain_quote(character: char) -> char {
    match character {
        '\u{2bb}' | '\u{2bc}' | '\u{5f3}' | '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
        '\u{5f4}' | '\u{201c}'..='\u{201f}' => '"',
        _ => character,
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

/// Returns whether the character belongs to a script without spaces between words.
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
    fn invisible_characters_are_dropped_before_the_text_is_composed() {
        check("so\u{ad}ft zero\u{200b}width \u{feff}tag\u{e0041}", "soft zerowidth tag");
        check("e\u{34f}\u{301} e\u{200d}\u{301}", "é é");
        check("a\u{323}\u{2060}\u{301}", "ạ\u{301}");
        check("❤\u{fe0f} 👩\u{200d}💻", "❤ 👩💻");
        check("\u{200e}\u{ad}\u{fff0}", "");
    }

    #[test]
    fn typographic_quotes_are_plain() {
        check("It’s Oʻzbek oʼn ŉ ‛", "it's o'zbek o'n 'n '");
        check("„a“ ‟ ”＂＇", "\"a\" \" \"\"'");
        check("צה״ל ג׳", "צה\"ל ג'");
        check("‚a′", "‚a′");
    }

    /// No visible character becomes an invisible one, so it does not matter that invisible
    /// characters are dropped first.
    #[test]
    fn folded_text_has_no_invisible_character() {
        let mut folded = String::new();
        for character in '\0'..=char::MAX {
            fold(character.encode_utf8(&mut [0; 4]), &mut folded);
            assert!(!folded.contains(is_ignorable), "{}", character.escape_unicode());
            assert_eq!(
                folded.is_empty(),
                is_ignorable(character),
                "{}",
                character.escape_unicode()
            );
        }
    }

    #[test]
    fn scripts_without_spaces() {
        let unspaced: String = "aé中カかー々กၐ한".chars().filter(|&c| is_unspaced(c)).collect();
        assert_eq!(unspaced, "中カか々กၐ");
    }
}
