//! Characters as tokens, for n-grams of characters: a shingle of n of these tokens is an n-gram.
//!
//! After normalization and folding each letter, mark, digit or underscore is a token. A maximal
//! run of anything else between two of them is one token, a space, or nothing where a neighbour
//! is of a script without spaces.

use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize::{self, ascii_prefix, fold, is_unspaced};
use crate::stable_hash::hash;
use std::sync::LazyLock;
use unicode_normalization::char::is_combining_mark;

/// The tokenizer of characters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Characters;

/// The token that an ASCII byte is, or `None` if it separates.
static ASCII_TOKENS: LazyLock<[Option<u64>; 128]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let byte = (byte as u8).to_ascii_lowercase();
        (byte.is_ascii_alphanumeric() || byte == b'_').then(|| hash(&[byte]))
    })
});

/// The kind of the last token.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// There is none.
    Nothing,
    /// Of a script with spaces.
    Spaced,
    /// Of a script without spaces.
    Unspaced,
}

/// What the tokens so far mean for the next one.
struct State {
    last: Last,
    separated: bool,
    space: u64,
}

impl State {
    fn new() -> Self {
        Self { last: Last::Nothing, separated: false, space: hash(b" ") }
    }

    fn push(&mut self, token: u64, kind: Last, hashes: &mut Vec<u64>) {
        if self.separated && self.last == Last::Spaced && kind == Last::Spaced {
            hashes.push(self.space);
        }
        hashes.push(token);
        self.last = kind;
        self.separated = false;
    }

    fn push_folded(&mut self, folded: &str, hashes: &mut Vec<u64>) {
        let mut bytes = [0; 4];
        for character in folded.chars() {
            if character.is_alphanumeric() || character == '_' || is_combining_mark(character) {
                let kind = if is_unspaced(character) { Last::Unspaced } else { Last::Spaced };
                self.push(hash(character.encode_utf8(&mut bytes).as_bytes()), kind, hashes);
            } else {
                self.separated = true;
            }
        }
    }

    /// The definition of the tokens, for any text.
    fn push_slowly(&mut self, text: &[u8], tokens: &mut HashedTokens) {
        for chunk in text.utf8_chunks() {
            fold(chunk.valid(), &mut tokens.folded);
            self.push_folded(&tokens.folded, &mut tokens.hashes);
            self.separated |= !chunk.invalid().is_empty();
        }
    }
}

impl HashTokenizer for Characters {
    fn tokenize(&self, mut text: &[u8], tokens: &mut HashedTokens) {
        let ascii = &*ASCII_TOKENS;
        let mut state = State::new();
        while !text.is_empty() {
            let ascii_end = ascii_prefix(text);
            // Before an ASCII character normalization does not look across. The last one of a run
            // may be the base of a mark, so it goes with what follows.
            let fast_end = if ascii_end == text.len() { ascii_end } else { ascii_end.max(1) - 1 };
            for &byte in &text[..fast_end] {
                match ascii[usize::from(byte)] {
                    Some(token) => state.push(token, Last::Spaced, &mut tokens.hashes),
                    None => state.separated = true,
                }
            }
            text = &text[fast_end..];
            let foreign = ascii_end - fast_end;
            let rest = &text[foreign..];
            let slow_end = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
            state.push_slowly(&text[..foreign + slow_end], tokens);
            text = &text[foreign + slow_end..];
        }
    }

    fn recipe(&self) -> String {
        format!("chars/{}", normalize::recipe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_fast(text: &[u8]) -> Vec<u64> {
        let mut slow = HashedTokens::default();
        State::new().push_slowly(text, &mut slow);
        let mut fast = HashedTokens::default();
        Characters.tokenize(text, &mut fast);
        assert_eq!(fast.hashes, slow.hashes, "{:?}", text.escape_ascii());
        fast.hashes
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut bytes = [0; 4];
        let expected: Vec<u64> =
            expected.chars().map(|c| hash(c.encode_utf8(&mut bytes).as_bytes())).collect();
        assert_eq!(check_fast(text.as_bytes()), expected);
    }

    #[test]
    fn runs_of_separators_are_one_space_or_nothing() {
        check(" A, b_1! ", "a b_1");
        check("中 国, a中", "中国a中");
        check("Ça e\u{301}-x", "ça é x");
        check("", "");
        check("...", "");
        assert_eq!(check_fast(b"a\xffb"), [hash(b"a"), hash(b" "), hash(b"b")]);
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(pieces in prop::collection::vec(prop_oneof![
            4 => "[a-zA-Z ,.]{1,9}", 1 => "[àÉ\u{301}\u{308}ßſKﬁ中国カーกั한]{1,3}", 1 => "\\PC{1,3}",
        ], 0..40)) {
            check_fast(pieces.concat().as_bytes());
        }

        #[test]
        fn random_bytes_agree(text in prop::collection::vec(any::<u8>(), 0..200)) {
            check_fast(&text);
        }
    }
}
