//! Finds the form that each character has after normalization and case folding.
//!
//! The Unicode libraries are called when a character first occurs, and the result is stored. A character is called
//! stable if its folded form does not depend on the text around it. Normalization never combines a stable character
//! with the character before it.

use super::normalize::{KNOWN, fold, is_ignorable};
use super::word_roles::role_of_block;
use std::sync::atomic::{AtomicU64, Ordering};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// Largest length in bytes of a normalized and folded character that a [`Form`] can store.
const MOST_BYTES: usize = 6;

/// Kind of a character: how its normalized and folded form depends on the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The form depends on the characters before it.
    Unstable = 1,
    /// The form is always the same and is stored in [`Form`].
    Stable,
    /// The form is always the same, but too long to be stored in [`Form`]. Callers compute it each time.
    Long,
    /// A combining mark. It stays unchanged unless a mark of a higher combining class is before it.
    Mark,
    /// The character is invisible and has no form. The characters before and after it become adjacent.
    Dropped,
}

/// The normalized and folded form of a character, packed into 64 bits.
///
/// - Bits 0 to 47: the bytes of the form. For a mark, bits 40 to 47 are its combining class.
/// - Bits 48 to 50: the number of bytes of the form.
/// - Bits 52 to 55: the [`State`].
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

    /// Returns how the form of the character depends on the text around it.
    #[inline]
    pub(super) fn state(self) -> State {
        match self.0 >> 52 & 0xF {
            2 => State::Stable,
            3 => State::Long,
            4 => State::Mark,
            5 => State::Dropped,
            _ => State::Unstable,
        }
    }

    /// Returns the canonical combining class of a character whose state is [`State::Mark`]. For other characters, the
    /// result has no meaning.
    #[inline]
    pub(super) fn combining(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// Returns the number of bytes of the folded form, or 0 if the form is too long to be stored.
    #[inline]
    pub(super) fn length(self) -> usize {
        (self.0 >> 48 & 7) as usize
    }

    /// Returns an array that begins with the bytes of the folded form, and the number of bytes of the form.
    #[inline]
    pub(super) fn folded(self) -> ([u8; 8], usize) {
        (self.0.to_le_bytes(), self.length())
    }
}

/// Forms that were already computed, by code point. 0 means that the form was not computed yet.
static FORMS: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];

/// Returns the normalized and folded form of a character.
#[inline]
pub(super) fn form(character: char) -> Form {
    let Some(known) = FORMS.get(character as usize) else { return ask(character) };
    match known.load(Ordering::Relaxed) {
        0 => {
            let form = ask(character);
            // Threads may compute the same form at the same time. All get the same result, so the
            // order of their stores does not matter.
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
    if is_ignorable(character) {
        return Form::new(State::Dropped, "", 0);
    }
    by_rules(character)
}

/// Computes the form of a character by the rules of normalization and folding.
fn by_rules(character: char) -> Form {
    let mut folded = String::new();
    let text = character.encode_utf8(&mut [0; 4]).to_owned();
    fold(&text, &mut folded);
    let combining = canonical_combining_class(character);
    // Says whether a text never composes with the characters before it and never moves.
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

/// Returns whether normalization never combines this character with the character before it, so that normalization can
/// begin here.
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
