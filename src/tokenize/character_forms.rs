//! What becomes of each character where texts are normalized and folded.
//!
//! The libraries that know Unicode are asked once for a character, when it is first met. A character
//! is stable if its folded form is the same wherever it stands, since normalization never looks from
//! it at what is before.

use super::normalize::{KNOWN, fold};
use super::word_roles::role_of_block;
use std::sync::atomic::{AtomicU64, Ordering};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// Most bytes of a folded form that is kept.
const MOST_BYTES: usize = 6;

/// What becomes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Depends on what is before.
    Unstable = 1,
    /// Is folded to some bytes.
    Stable,
    /// Is folded to more bytes than are kept.
    Long,
    /// A mark that stays where no mark of a higher class is before it.
    Mark,
}

/// What becomes of a character, in 64 bits: the folded form, of a mark its combining class at 40, the
/// form's length at 48, the state at 52.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form(u64);

impl Form {
    fn new(state: State, folded: &str, combining: u8) -> Self {
        let mut bytes = [0; 8];
        if folded.len() <= MOST_BYTES {
            bytes[..folded.len()].copy_from_slice(folded.as_bytes());
            bytes[6] = folded.len() as u8;
        }
        if state == State::Mark {
            bytes[5] = combining;
        }
        bytes[6] |= (state as u8) << 4;
        Self(u64::from_le_bytes(bytes))
    }

    /// What becomes of the character.
    #[inline]
    pub(super) fn state(self) -> State {
        match self.0 >> 52 & 0xF {
            2 => State::Stable,
            3 => State::Long,
            4 => State::Mark,
            _ => State::Unstable,
        }
    }

    /// Of a mark, the combining class.
    #[inline]
    pub(super) fn combining(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// Bytes of the folded form, if it is kept.
    #[inline]
    pub(super) fn length(self) -> usize {
        (self.0 >> 48 & 7) as usize
    }

    /// The folded form, as long as kept, in the first of these bytes; and how many.
    #[inline]
    pub(super) fn folded(self) -> ([u8; 8], usize) {
        (self.0.to_le_bytes(), self.length())
    }
}

/// The form of every character of text; 0 where it was not asked for yet.
static FORMS: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];

/// The form of a character.
#[inline]
pub(super) fn form(character: char) -> Form {
    let Some(known) = FORMS.get(character as usize) else { return ask(character) };
    match known.load(Ordering::Relaxed) {
        0 => {
            let form = ask(character);
            // Whoever asks gets the same answer.
            known.store(form.0, Ordering::Relaxed);
            form
        }
        form => Form(form),
    }
}

#[cold]
fn ask(character: char) -> Form {
    if role_of_block(character).is_some() {
        return Form::new(State::Stable, character.encode_utf8(&mut [0; 4]), 0);
    }
    by_rules(character)
}

/// What the rules of normalization and folding make of a character.
fn by_rules(character: char) -> Form {
    let mut folded = String::new();
    let text = character.encode_utf8(&mut [0; 4]).to_owned();
    fold(&text, &mut folded);
    let combining = canonical_combining_class(character);
    // Whether it composes with nothing before it, whatever that is, nor moves.
    let stays = |text: &str| text.nfkd().next().is_some_and(starts_anew);
    let is_normal = |text: &str| is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    let is_stable = stays(&text)
        && stays(&folded)
        && is_normal(&folded)
        && folded.chars().chain(text.nfkc()).all(|c| canonical_combining_class(c) == 0);
    let state = match combining {
        0 if !is_stable => State::Unstable,
        0 if folded.len() > MOST_BYTES => State::Long,
        0 => State::Stable,
        _ if folded == text && is_normal(&text) => State::Mark,
        _ => State::Unstable,
    };
    Form::new(state, &folded, combining)
}

/// Whether normalization never looks from this character at one before it.
fn starts_anew(character: char) -> bool {
    canonical_combining_class(character) == 0
        && is_nfkc_quick(std::iter::once(character)) != IsNormalized::Maybe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_large_blocks_are_folded_to_themselves() {
        let is_of_block = |&character: &char| role_of_block(character).is_some();
        let of_blocks: Vec<char> = ('\0'..=char::MAX).filter(is_of_block).collect();
        assert!(of_blocks.len() > 40_000);
        for character in of_blocks {
            assert_eq!(ask(character).0, by_rules(character).0, "{character:?}");
        }
    }
}
