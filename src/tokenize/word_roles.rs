//! What each character of normalized and folded text is to words.
//!
//! The library that knows the rules is asked once for a character, when it is first met.
//!
//! # References
//! Unicode Standard Annex #29, Unicode Text Segmentation, section 4.

use super::normalize::{KNOWN, is_unspaced};
use std::sync::atomic::{AtomicU8, Ordering};
use unicode_segmentation::UnicodeSegmentation as _;

/// What a character does to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// Only the slow way knows.
    Odd = 1,
    /// Is of no word, and no word goes on across it.
    Separator,
    /// Is of a word, and goes on with letters, digits and underscores.
    Letter,
    /// A letter that a quotation mark may follow.
    Hebrew,
    /// Goes on with letters, digits and underscores.
    Digit,
    /// A word by itself.
    Single,
    /// A word by itself, but of a segment that goes on across what joins letters or digits.
    JoiningSingle,
    /// Goes on with its like and with underscores.
    Prolonged,
    /// Belongs to the character before.
    Mark,
    /// The same, but it is a letter or digit.
    WordMark,
    /// Belongs to the character before, and is a word by itself if that is of one.
    SingleMark,
    /// The same, but it is a letter or digit.
    SingleWordMark,
    /// Joins letters.
    JoinsLetters,
    /// Joins letters, and joins digits.
    JoinsBoth,
    /// Joins digits.
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

    /// The role of a number, if there is one.
    #[inline]
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).wrapping_sub(1)).copied()
    }

    /// Whether it joins what stands beside it, or may.
    pub(super) fn may_join(self) -> bool {
        matches!(self, Self::Odd | Self::JoinsLetters | Self::JoinsBoth | Self::JoinsDigits)
    }

    /// Whether it belongs to the character before.
    pub(super) fn is_attached(self) -> bool {
        matches!(self, Self::Mark | Self::WordMark | Self::SingleMark | Self::SingleWordMark)
    }
}

/// What a character is to words: its role, and what it is by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// The bits of the role's number.
    const ROLE: u8 = 0xF;
    const LETTER_OR_DIGIT: u8 = 0x10;
    const UNSPACED: u8 = 0x20;

    fn new(role: Role, is_letter_or_digit: bool, is_unspaced: bool) -> Self {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let letter_or_digit = flag(is_letter_or_digit, Self::LETTER_OR_DIGIT);
        Self(role as u8 | letter_or_digit | flag(is_unspaced, Self::UNSPACED))
    }

    /// Whether it is a letter or digit, as the standard library has it.
    #[inline]
    pub(super) fn is_letter_or_digit(self) -> bool {
        self.0 & Self::LETTER_OR_DIGIT != 0
    }

    /// Whether it is of a script that is written without spaces between words.
    #[inline]
    pub(super) fn is_unspaced(self) -> bool {
        self.0 & Self::UNSPACED != 0
    }
}

/// The traits of every character of text; 0 where they were not asked for yet.
static TRAITS: [AtomicU8; KNOWN] = [const { AtomicU8::new(0) }; KNOWN];

/// The traits of a character.
#[inline]
pub(super) fn traits(character: char) -> Traits {
    let Some(known) = TRAITS.get(character as usize) else { return traits_by_rules(character) };
    match known.load(Ordering::Relaxed) {
        0 => ask(character, known),
        traits => Traits(traits),
    }
}

/// Whether a character is a letter or digit, as the standard library has it.
#[inline]
pub(super) fn is_letter_or_digit(character: char) -> bool {
    traits(character).is_letter_or_digit()
}

/// The role of a character.
#[inline]
pub(super) fn role(character: char) -> Role {
    Role::from_number(traits(character).0 & Traits::ROLE).unwrap_or(Role::Odd)
}

#[cold]
fn ask(character: char, known: &AtomicU8) -> Traits {
    let traits = traits_of_block(character).unwrap_or_else(|| traits_by_rules(character));
    // Whoever asks gets the same answer.
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

/// The role of all characters of a large block, which takes long to ask for each of them. Each of
/// these is folded to itself, too.
pub(super) fn role_of_block(character: char) -> Option<Role> {
    match character {
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Some(Role::Single),
        '\u{ac00}'..='\u{d7a3}' => Some(Role::Letter),
        '\u{e000}'..='\u{f8ff}' => Some(Role::Separator),
        _ => None,
    }
}

/// The role of a character, as the segments show it in which it stands beside others.
fn role_by_rules(character: char) -> Role {
    // Joiners of emoji, halves of flags.
    if character == '\u{200d}' || ('\u{1f1e6}'..='\u{1f1ff}').contains(&character) {
        return Role::Odd;
    }
    let (is_alphanumeric, is_unspaced) = (character.is_alphanumeric(), is_unspaced(character));
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
        // What connects all words, such as the underscore.
        (true, true) => Role::Odd,
        (true, _) | (_, true) if !is_alphanumeric => Role::Odd,
        (true, false) if is_unspaced => Role::JoiningSingle,
        (true, false) if is_joined("0,", "") => Role::Digit,
        (true, false) if is_joined("א\"", "") => Role::Hebrew,
        (true, false) => Role::Letter,
        (false, true) if is_unspaced => Role::Single,
        (false, true) => Role::Prolonged,
        // Quotation marks, with which Hebrew has its own rules.
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
