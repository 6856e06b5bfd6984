//! Minus signs of numbers. A hyphen or minus sign directly before a number is part of the word of the number, so that
//! `-5` and `5` differ.
//!
//! Most hyphens before digits are not signs. A hyphen after a letter, a digit or a mark belongs to a name or a range,
//! as in `COVID-19` or `10-20`. The same is true after closing brackets, `%` and `°`, as in `(030)-1234` or `5%-10%`.
//! Several signs in a row, as in `--5`, are a line or an option of a program.
//!
//! A plus sign does not change a number, so it is never part of the number. Digits that are separate words, for example
//! in Thai, have no sign.

use super::normal_forms::{decode, previous};
use super::word_roles::{MINUS, Role, role};
use simtool_kernels::word_masks::{Block, Words};
use simtool_kernels::xxh3_short::MARGIN;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Returns whether the word that begins at byte `at` is a number with a minus sign before it. The text must be
/// normalized and folded.
pub(super) fn has_minus(text: &[u8], at: usize) -> bool {
    // Nearly all words end here.
    let (Some(b'-' | 0x92), true) = (at.checked_sub(1).map(|last| text[last]), at < text.len())
    else {
        return false;
    };
    let sign = previous(text, at);
    let is_minus = matches!(decode(text, sign), Some(('-' | MINUS, _)));
    let is_number = text[at].is_ascii_digit()
        || decode(text, at).is_some_and(|(first, _)| role(first) == Role::Digit);
    let before = if sign == 0 { None } else { decode(text, previous(text, sign)) };
    is_minus && is_number && !before.is_some_and(|(before, _)| is_joined(before))
}

/// Returns whether a hyphen after this character connects it with a number.
fn is_joined(character: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation,
    };
    if character.is_ascii() {
        return character.is_ascii_alphanumeric()
            || matches!(character, '_' | '+' | '-' | ')' | ']' | '}' | '%');
    }
    character.is_alphanumeric()
        || matches!(character, MINUS | '°')
        || role(character).is_attached()
        || matches!(
            character.general_category(),
            ClosePunctuation | ConnectorPunctuation | DashPunctuation | FinalPunctuation
        )
}

/// Moves the start of each number with a minus sign to the start of the sign. The words must be those of the
/// lower-cased copy of the text, in which a hyphen replaces the last byte of U+2212.
pub(super) fn take_signs(words: &mut Words) {
    let Words { lowered, blocks, starts, signed, .. } = words;
    for index in signed.iter().map(|&index| index as usize) {
        let before = index.checked_sub(1).map_or_else(Block::default, |before| blocks[before]);
        let mut numbers = blocks[index].digits_behind_breaks(&before);
        while numbers != 0 {
            let at = index * 64 + numbers.trailing_zeros() as usize;
            numbers &= numbers - 1;
            if has_minus(&lowered[MARGIN..], at)
                && let Ok(word) = starts.binary_search(&((MARGIN + at) as u32))
            {
                starts[word] -= 1;
                lowered[MARGIN + at - 1] = b'-';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_follows_nothing_that_it_could_join() {
        for text in [
            "-5", " −5", "(-5", "=-5", "\"-5", ",-5", ":-5", "/-5", "$-5", "€-5", "。-5", "«-5",
            "^-٣", "•-5", "\n-.-5",
        ] {
            let at = text.rfind(['5', '٣']).unwrap();
            assert!(has_minus(text.as_bytes(), at), "{text}");
        }
        for text in [
            "5",
            "+5",
            "- 5",
            "–5",
            "a-5",
            "1-5",
            "é−5",
            "中-5",
            "--5",
            "+-5",
            "−-5",
            "–-5",
            ")-5",
            "]-5",
            "}-5",
            "」-5",
            "»-5",
            "_-5",
            "%-5",
            "°-5",
            "x\u{323}-5",
            "-a5",
            "‒5",
            "’5",
        ] {
            assert!(!has_minus(text.as_bytes(), text.rfind('5').unwrap()), "{text}");
        }
        assert!(!has_minus("-๒ ".as_bytes(), 1));
        assert!(!has_minus(b"-", 1));
        assert!(!has_minus(b"", 0));
    }
}
