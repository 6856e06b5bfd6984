//! Table of characters for the vectorized loops. It covers the characters of two and three bytes,
//! which are most characters beyond ASCII in ordinary text.

use super::character_forms::{State, form};
use super::word_roles::{Role, role};
use simtool_kernels::character_table::{Character, CharacterTable, fold, kind};

/// Table that gives the vectorized loops the normalized form of each character and its role in word
/// rules.
pub(super) static CHARACTERS: CharacterTable = CharacterTable::new(describe);

fn describe(character: char) -> Character {
    let mut encoded = [0; 4];
    let own = character.encode_utf8(&mut encoded).as_bytes();
    let form = form(character);
    let (folded, length) = form.folded();
    let folded = &folded[..length];
    let role = role(character);
    let inert = if matches!(role, Role::Separator | Role::Single) { fold::INERT } else { 0 };
    let (bytes, fold) = match (form.state(), folded) {
        // The kernel keeps a mark as it is, unless another mark is before it.
        (State::Mark, _) => (own, fold::MARK),
        (State::Stable, folded) if folded.len() == own.len() => (folded, inert),
        (State::Stable, [byte]) if !is_of_words(*byte) => {
            // The characters on both sides of it may belong to one word with it.
            let is_joiner = matches!(byte, b'.' | b',' | b':' | b';' | b'"');
            (folded, fold::PADDED | if is_joiner { fold::JOINER } else { fold::INERT })
        }
        _ => (own, fold::ALONE),
    };
    let bytes = match *bytes {
        [byte] => [b' ', b' ', byte],
        [first, last] => [first, 0, last],
        [first, middle, last] => [first, middle, last],
        _ => [0; 3],
    };
    Character { bytes, fold, kind: kind_of(role) }
}

/// Whether a byte may belong to one word with the character before or after it.
fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'')
}

/// Returns the character class that the vectorized loops use for a role.
fn kind_of(role: Role) -> u8 {
    match role {
        Role::Separator => 0,
        Role::Letter => kind::LETTER,
        Role::Hebrew => kind::QUOTED_LETTER,
        Role::Single => kind::SINGLE,
        Role::Mark | Role::WordMark => kind::MARK,
        Role::SingleMark | Role::SingleWordMark => kind::SINGLE_MARK,
        Role::Odd
        | Role::Digit
        | Role::JoiningSingle
        | Role::Prolonged
        | Role::JoinsLetters
        | Role::JoinsBoth
        | Role::JoinsDigits => kind::ODD,
    }
}
