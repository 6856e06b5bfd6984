//! Table of characters for the vectorized loops. It covers the characters of two and three bytes,
//! which are most characters beyond ASCII in ordinary text.

use super::character_forms::{State, form};
use super::word_roles::{MINUS, Role, role};
use simtool_kernels::character_table::{Character, CharacterTable, PAD, fold, kind};

/// Table from which the vectorized loops take the normalized form of each character, and the kind of the character for
/// finding words.
pub(super) static CHARACTERS: CharacterTable = CharacterTable::new(describe);

fn describe(character: char) -> Character {
    let mut encoded = [0; 4];
    let own = character.encode_utf8(&mut encoded).as_bytes();
    let form = form(character);
    let (folded, length) = form.folded();
    let folded = &folded[..length];
    let (bytes, fold) = match (form.state(), folded) {
        // Marks on both sides are adjacent, so the character counts as a mark.
        (State::Dropped, _) => (&[][..], fold::PADDED | fold::MARK),
        // The kernel keeps a mark as it is, unless another mark is before it.
        (State::Mark, _) => (own, fold::MARK),
        (State::Stable, folded) if folded.len() == own.len() => (folded, 0),
        (State::Stable, [_]) => (folded, fold::PADDED),
        _ => (own, fold::ALONE),
    };
    let bytes = match *bytes {
        [] => [PAD; 3],
        [byte] => [PAD, PAD, byte],
        [first, last] => [first, 0, last],
        [first, middle, last] => [first, middle, last],
        _ => [0; 3],
    };
    // A minus sign separates words, but may belong to the number behind it, so the caller marks it.
    let kind = if character == MINUS { kind::ODD } else { kind_of(role(character)) };
    Character { bytes, fold, kind }
}

/// Returns the flag of the module [`kind`] that the vectorized loops use for characters of a role.
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
