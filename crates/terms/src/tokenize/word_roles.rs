//! Finds the role that each character has in the rules for word boundaries.
//!
//! The library that implements the rules is called once for each character, when the character first occurs, and the
//! result is stored.
//!
//! # References
//! Unicode Standard Annex #29, Unicode Text Segmentation, section 4.

use super::normalize::{KNOWN, is_unspaced};
use std::sync::atomic::{AtomicU8, Ordering};
use unicode_segmentation::UnicodeSegmentation as _;

/// The minus sign of Unicode. It separates words. If it is the sign of the number after it, it is replaced by a hyphen.
pub(super) const MINUS: char = '\u{2212}';

/// Role of a character in the rules for word boundaries: whether it forms one word with its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// A character near which word boundaries depend on more than its neighbours. Only the slow method handles it.
    Odd = 1,
    /// A character that belongs to no word. No word continues across it.
    Separator,
    /// A letter. It forms one word with adjacent letters, digits and underscores.
    Letter,
    /// A Hebrew letter. Inside a word, a quotation mark may follow it.
    Hebrew,
    /// A digit. It forms one word with adjacent letters, digits and underscores.
    Digit,
    /// A character that is a separate word, for example a Chinese ideograph.
    Single,
    /// A character that is a separate word, although Unicode joins it to adjacent letters in one segment. The segment
    /// may continue across a character that joins letters or digits, such as the apostrophe.
    JoiningSingle,
    /// A character such as the Katakana sound mark. It forms one word with adjacent characters of the same role and
    /// with underscores.
    Prolonged,
    /// A combining mark, which belongs to the character before it.
    Mark,
    /// A combining mark like [`Self::Mark`] that counts as a letter or digit.
    WordMark,
    /// A combining mark of a script without spaces. After a character that is part of a word, the mark is a separate
    /// word. Otherwise it is part of the character before it, and no word.
    SingleMark,
    /// A combining mark like [`Self::SingleMark`] that counts as a letter or digit.
    SingleWordMark,
    /// A character that continues a word between two letters, for example a colon.
    JoinsLetters,
    /// A character that continues a word between two letters or two digits, for example a full
    /// stop.
    JoinsBoth,
    /// A character that continues a word between two digits, for example a comma.
    JoinsDigits,
}

impl Role {
    const ALL: [Self; 15] = [
        Self::Odd,
        Self::Separator,
        Self::Letter,
        Self::Hebrew,
        Self::Digit,
        Self::Single,
        Self::JoiningSingle,
        Self::Prolonged,
        Self::Mark,
        Self::WordMark,
        Self::SingleMark,
        Self::SingleWordMark,
        Self::JoinsLetters,
        Self::JoinsBoth,
        Self::JoinsDigits,
    ];

    /// Returns the role with the enum value `number`, or `None` if there is none.
    #[inline]
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).wrapping_sub(1)).copied()
    }

    /// Returns whether a character of this role joins, or may join, the characters around it to one word.
    pub(super) fn may_join(self) -> bool {
        matches!(self, Self::Odd | Self::JoinsLetters | Self::JoinsBoth | Self::JoinsDigits)
    }

    /// Returns whether a character of this role is a combining mark, which belongs to the character before it.
    pub(super) fn is_attached(self) -> bool {
        matches!(self, Self::Mark | Self::WordMark | Self::SingleMark | Self::SingleWordMark)
    }
}

/// Properties of a character for the rules of word boundaries, packed into one byte: its role, whether it is a letter
/// or digit, and whether its script is written without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// Mask of the bits that hold the role.
    const ROLE: u8 = 0xF;
    const LETTER_OR_DIGIT: u8 = 0x10;
    const UNSPACED: u8 = 0x20;

    fn new(role: Role, is_letter_or_digit: bool, is_unspaced: bool) -> Self {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let letter_or_digit = flag(is_letter_or_digit, Self::LETTER_OR_DIGIT);
        Self(role as u8 | letter_or_digit | flag(is_unspaced, Self::UNSPACED))
    }

    /// Returns whether the character is a letter or digit by the definition of the standard library.
    #[inline]
    pub(super) fn is_letter_or_digit(self) -> bool {
        self.0 & Self::LETTER_OR_DIGIT != 0
    }

    /// Returns whether the character belongs to a script without spaces between words.
    #[inline]
    pub(super) fn is_unspaced(self) -> bool {
        self.0 & Self::UNSPACED != 0
    }
}

/// Traits that were already computed, by code point. 0 means that they were not computed yet.
static TRAITS: [AtomicU8; KNOWN] = [const { AtomicU8::new(0) }; KNOWN];

/// Returns the role of a character in the rules of word boundaries, and its other properties for these rules.
#[inline]
pub(super) fn traits(character: char) -> Traits {
    let Some(known) = TRAITS.get(character as usize) else { return traits_by_rules(character) };
    match known.load(Ordering::Relaxed) {
        0 => ask(character, known),
        traits => Traits(traits),
    }
}

/// Returns whether a character is a letter or digit by the definition of the standard library.
#[inline]
pub(super) fn is_letter_or_digit(character: char) -> bool {
    traits(character).is_letter_or_digit()
}

/// Returns the role of a character in the word rules.
#[inline]
pub(super) fn role(character: char) -> Role {
    Role::from_number(traits(character).0 & Traits::ROLE).unwrap_or(Role::Odd)
}

#[cold]
fn ask(character: char, known: &AtomicU8) -> Traits {
    let traits = traits_of_block(character).unwrap_or_else(|| traits_by_rules(character));
    // Threads may compute the same traits at the same time. All get the same result, so the order
    // of their stores does not matter.
    known.store(traits.0, Ordering::Relaxed);
    traits
}

fn traits_by_rules(character: char) -> Traits {
    Traits::new(role_by_rules(character), character.is_alphanumeric(), is_unspaced(character))
}

fn traits_of_block(character: char) -> Option<Traits> {
    let role = role_of_block(character)?;
    Some(Traits::new(role, role != Role::Separator, role == Role::Single))
}

/// Returns the role of a character in one of the large blocks of Unicode in which all characters have the same role.
/// Returns `None` for other characters. This avoids thousands of calls of the library for word boundaries. Folding
/// changes no character of these blocks.
pub(super) fn role_of_block(character: char) -> Option<Role> {
    match character {
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Some(Role::Single),
        '\u{ac00}'..='\u{d7a3}' => Some(Role::Letter),
        '\u{e000}'..='\u{f8ff}' => Some(Role::Separator),
        _ => None,
    }
}

/// Finds the role of a character by experiments: segments short texts, in which the character has different neighbours,
/// with the library for word boundaries.
fn role_by_rules(character: char) -> Role {
    // U+200D joins emoji, and two regional indicators make a flag.
    if character == '\u{200d}' || ('\u{1f1e6}'..='\u{1f1ff}').contains(&character) {
        return Role::Odd;
    }
    let is_alphanumeric = character.is_alphanumeric();
    let is_unspaced = is_unspaced(character);
    let is_joined = |before: &str, after: &str| {
        let text = [before, character.encode_utf8(&mut [0; 4]), after].concat();
        text.split_word_bounds().next().is_some_and(|first| first.len() == text.len())
    };
    if is_joined("!", "") {
        return match (is_unspaced, is_alphanumeric) {
            (false, false) => Role::Mark,
            (false, true) => Role::WordMark,
            (true, false) => Role::SingleMark,
            (true, true) => Role::SingleWordMark,
        };
    }
    match (is_joined("a", ""), is_joined("ア", "")) {
        // The character connects all words, like the underscore.
        (true, true) => Role::Odd,
        (true, _) | (_, true) if !is_alphanumeric => Role::Odd,
        (true, false) if is_unspaced => Role::JoiningSingle,
        (true, false) if is_joined("0,", "") => Role::Digit,
        (true, false) if is_joined("א\"", "") => Role::Hebrew,
        (true, false) => Role::Letter,
        (false, true) if is_unspaced => Role::Single,
        (false, true) => Role::Prolonged,
        // Hebrew has rules of its own for quotation marks.
        (false, false) if is_joined("א", "") || is_joined("א", "א") && !is_joined("a", "a") => {
            Role::Odd
        }
        (false, false) => match (is_joined("a", "a"), is_joined("0", "0")) {
            (true, true) => Role::JoinsBoth,
            (true, false) => Role::JoinsLetters,
            (false, true) => Role::JoinsDigits,
            (false, false) if !is_alphanumeric => Role::Separator,
            (false, false) if is_unspaced => Role::Single,
            (false, false) => Role::Odd,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_roles() {
        for (characters, expected) in [
            ("aéжßعक한\u{1100}\u{11a8}\u{1f170}", Role::Letter),
            ("את", Role::Hebrew),
            ("3٣", Role::Digit),
            (" -。\u{a0}\u{2028}…€👍", Role::Separator),
            ("中かカกๆ〇", Role::Single),
            ("๒々", Role::JoiningSingle),
            ("ー", Role::Prolonged),
            ("\u{ad}\u{301}\u{94d}\u{fe0f}\u{200c}\u{93c}", Role::Mark),
            ("\u{93e}\u{5b0}\u{64b}", Role::WordMark),
            ("\u{e48}", Role::SingleMark),
            ("\u{e31}", Role::SingleWordMark),
            (":·", Role::JoinsLetters),
            (".’", Role::JoinsBoth),
            (",;،", Role::JoinsDigits),
            ("_'\"\u{200d}\u{1f1e6}", Role::Odd),
        ] {
            for character in characters.chars() {
                assert_eq!(role(character), expected, "{character:?}");
                assert_eq!(role(character), expected, "{character:?}, again");
            }
        }
    }

    #[test]
    fn blocks_have_the_role_of_each_of_their_characters() {
        let known = |character: char| traits_of_block(character).map(|traits| (character, traits));
        let of_blocks: Vec<_> = ('\0'..=char::MAX).filter_map(known).collect();
        assert!(of_blocks.len() > 40_000);
        for (character, traits) in of_blocks {
            assert_eq!(traits, traits_by_rules(character), "{character:?}");
        }
    }

    #[test]
    fn traits_are_what_the_libraries_say() {
        for character in '\0'..=char::MAX {
            let traits = traits(character);
            let expected = (character.is_alphanumeric(), is_unspaced(character));
            assert_eq!(
                (traits.is_letter_or_digit(), traits.is_unspaced()),
                expected,
                "{character:?}"
            );
        }
    }

    #[test]
    fn roles_are_their_numbers() {
        for (role, number) in Role::ALL.into_iter().zip(1..) {
            assert_eq!((role as u8, Role::from_number(number)), (number, Some(role)));
        }
        assert_eq!(Role::from_number(0), None);
    }
}
