//! Cuts text into characters. A shingle of n of these tokens is an n-gram of characters.
//!
//! After normalization and folding, each visible character is a token: letters, marks, digits, punctuation, symbols and
//! emoji. White space and control characters between two such tokens become one token, a space. There is no space next
//! to a character of a script without spaces between words.
//!
//! The tokenizer `letters` treats punctuation like white space.

use super::TokenizerKind;
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normal_forms::decode;
use super::normalize::{self, KNOWN, is_unspaced};
use super::pieces::pieces;
use super::symbols::{is_symbol, is_visible};
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_kernels::word_masks::classify;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};
use unicode_normalization::char::is_combining_mark;

/// Entry of the tokenizer `chars` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const KIND: TokenizerKind = TokenizerKind {
    name: "chars",
    help: "single characters, with punctuation, symbols and emoji, and with each run of white space as \
           one space",
    default_shingle: 5,
    makes_words: false,
    bytes_per_token: 1,
    create: |isa| Box::new(Characters { isa, has_punctuation: true }),
};

/// Entry of the tokenizer `letters` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const WITHOUT_PUNCTUATION: TokenizerKind = TokenizerKind {
    name: "letters",
    help: "single letters, digits, symbols and emoji, with each run of white space and punctuation as \
           one space",
    create: |isa| Box::new(Characters { isa, has_punctuation: false }),
    ..KIND
};

/// Tokenizer whose tokens are single characters. A run of white space between two of them is usually one token, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Characters {
    isa: Isa,
    /// Whether punctuation is a token. If not, it counts as white space.
    has_punctuation: bool,
}

/// For each ASCII byte, the hash of its token, and whether the byte is a separator. All separators have the hash of a
/// space.
struct AsciiTokens {
    tokens: [u64; 128],
    separates: [bool; 128],
}

/// Tokens of ASCII bytes. The first value is for `letters`, where punctuation separates, and the second for `chars`.
static ASCII: [LazyLock<AsciiTokens>; 2] =
    [LazyLock::new(|| AsciiTokens::new(false)), LazyLock::new(|| AsciiTokens::new(true))];

impl AsciiTokens {
    fn new(has_punctuation: bool) -> Self {
        let is_token = |byte: u8| is_token(char::from(byte), has_punctuation);
        let token = |byte: u8| if is_token(byte) { byte.to_ascii_lowercase() } else { b' ' };
        Self {
            tokens: std::array::from_fn(|byte| hash(&[token(byte as u8)])),
            separates: std::array::from_fn(|byte| !is_token(byte as u8)),
        }
    }
}

/// Class of a character beyond ASCII in normalized text. It is a separator, or a token of a script with or without
/// spaces between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum CharacterKind {
    Separator = 1,
    Spaced,
    Unspaced,
}

/// Classes that were already computed, by code point, first without and then with punctuation. 0 means that the class
/// was not computed yet.
static KINDS: [[AtomicU8; KNOWN]; 2] = [const { [const { AtomicU8::new(0) }; KNOWN] }; 2];

#[inline]
fn kind(character: char, has_punctuation: bool) -> CharacterKind {
    let Some(known) = KINDS[usize::from(has_punctuation)].get(character as usize) else {
        return kind_by_rules(character, has_punctuation);
    };
    match known.load(Ordering::Relaxed) {
        1 => CharacterKind::Separator,
        2 => CharacterKind::Spaced,
        3 => CharacterKind::Unspaced,
        _ => {
            let kind = kind_by_rules(character, has_punctuation);
            // Threads may compute the same kind at the same time. All get the same result, so the
            // order of their stores does not matter.
            known.store(kind as u8, Ordering::Relaxed);
            kind
        }
    }
}

/// Returns whether the character is a token. All other characters only separate tokens.
fn is_token(character: char, has_punctuation: bool) -> bool {
    let is_punctuation = !character.is_alphanumeric()
        && character != '_'
        && !is_combining_mark(character)
        && !is_symbol(character);
    is_visible(character) && (has_punctuation || !is_punctuation)
}

#[cold]
fn kind_by_rules(character: char, has_punctuation: bool) -> CharacterKind {
    match (is_token(character, has_punctuation), is_unspaced(character)) {
        (false, _) => CharacterKind::Separator,
        (true, false) => CharacterKind::Spaced,
        (true, true) => CharacterKind::Unspaced,
    }
}

/// State between two tokens, which decides whether a space token comes before the next token.
struct SpaceState {
    /// Class of the last token, or `Separator` if there is no token yet.
    last: CharacterKind,
    /// Whether separators follow the last token.
    separated: bool,
    /// Hash of the space token.
    space: u64,
    /// Whether punctuation is a token. If not, it counts as white space.
    has_punctuation: bool,
}

impl SpaceState {
    fn new(has_punctuation: bool) -> Self {
        let space = hash(b" ");
        Self { last: CharacterKind::Separator, separated: false, space, has_punctuation }
    }

    #[inline]
    fn push(&mut self, token: u64, kind: CharacterKind, hashes: &mut Vec<u64>) {
        if self.separated && self.last == CharacterKind::Spaced && kind == CharacterKind::Spaced {
            hashes.push(self.space);
        }
        hashes.push(token);
        self.last = kind;
        self.separated = false;
    }

    /// Appends the hashes of the tokens of `text` to `hashes`. `text` must be normalized or ASCII.
    fn push_normalized(&mut self, text: &[u8], hashes: &mut Vec<u64>) {
        let ascii = &*ASCII[usize::from(self.has_punctuation)];
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            if byte.is_ascii() {
                // A single separator between other characters is not worth a call.
                let is_alone = text.get(at + 1).is_some_and(|next| !next.is_ascii());
                if is_alone && ascii.separates[usize::from(*byte)] {
                    self.separated = true;
                    at += 1;
                } else {
                    at += self.push_ascii(&text[at..], ascii, hashes);
                }
                continue;
            }
            // Normalized text is valid UTF-8, so decoding never fails.
            let Some((character, length)) = decode(text, at) else { return };
            match kind(character, self.has_punctuation) {
                CharacterKind::Separator => self.separated = true,
                kind => self.push(hash(&text[at..at + length]), kind, hashes),
            }
            at += length;
        }
    }

    /// Appends the hashes of the tokens of the ASCII bytes at the start of `text` to `hashes`. There must be at least
    /// one ASCII byte. Returns the number of these bytes.
    fn push_ascii(&mut self, text: &[u8], ascii: &AsciiTokens, hashes: &mut Vec<u64>) -> usize {
        let length = ascii_length(text);
        let start = hashes.len();
        // A byte makes at most one token: a run of separators becomes one space.
        hashes.resize(start + length + 1, self.space);
        // Decide whether a space comes before the next token, or whether the next separator becomes
        // a space.
        let has_last = self.last == CharacterKind::Spaced;
        let mut end = start + usize::from(has_last && self.separated);
        let mut is_after_token = has_last && !self.separated;
        for &byte in &text[..length] {
            let byte = usize::from(byte & 0x7f);
            let is_token = !ascii.separates[byte];
            // The token is written in any case and kept by moving `end`. A branch would be
            // mispredicted at every second word.
            hashes[end] = ascii.tokens[byte];
            end += usize::from(is_token | is_after_token);
            is_after_token = is_token;
        }
        // A space at the end is removed: it is only written when a token follows.
        end -= usize::from(!is_after_token && end > start);
        self.separated = !is_after_token;
        if end > start {
            self.last = CharacterKind::Spaced;
        }
        hashes.truncate(end);
        length
    }
}

/// Returns the number of ASCII bytes at the start of `text`.
fn ascii_length(text: &[u8]) -> usize {
    let (blocks, _) = text.as_chunks::<32>();
    let whole = 32 * blocks.iter().take_while(|block| block.is_ascii()).count();
    whole + text[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

impl HashTokenizer for Characters {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        let HashedTokens { hashes, words, normalized, .. } = tokens;
        let mut state = SpaceState::new(self.has_punctuation);
        for piece in pieces(text) {
            if classify(self.isa, piece, words) {
                normalized.fill(self.isa, piece, words);
                state.push_normalized(normalized.text(), hashes);
            } else {
                state.push_normalized(piece, hashes);
            }
        }
    }

    fn recipe(&self) -> String {
        // The recipe of `letters` is that of `chars` before punctuation counted. Indexes have stored it.
        let name = if self.has_punctuation { "chars:visible" } else { "chars+symbols" };
        format!("{name}/{}", normalize::recipe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::normalize::fold;
    use proptest::prelude::*;

    /// Slow twin of [`Characters`]: returns the hashes of the tokens of any text. It serves as the
    /// definition of the tokens.
    fn slow_hashes(text: &[u8], has_punctuation: bool) -> Vec<u64> {
        let mut hashes = Vec::new();
        let mut folded = String::new();
        let mut bytes = [0; 4];
        let mut last = CharacterKind::Separator;
        let mut separated = false;
        for chunk in text.utf8_chunks() {
            fold(chunk.valid(), &mut folded);
            for character in folded.chars() {
                let kind = kind_by_rules(character, has_punctuation);
                if kind == CharacterKind::Separator {
                    separated = true;
                    continue;
                }
                if separated && last == CharacterKind::Spaced && kind == CharacterKind::Spaced {
                    hashes.push(hash(b" "));
                }
                hashes.push(hash(character.encode_utf8(&mut bytes).as_bytes()));
                (last, separated) = (kind, false);
            }
            separated |= !chunk.invalid().is_empty();
        }
        hashes
    }

    #[track_caller]
    fn check_fast(text: &[u8]) -> [Vec<u64>; 2] {
        [false, true].map(|has_punctuation| {
            let slow = slow_hashes(text, has_punctuation);
            for &isa in Isa::available() {
                let mut fast = HashedTokens::default();
                Characters { isa, has_punctuation }.tokenize(text, &mut fast);
                assert_eq!(fast.hashes, slow, "{isa} {}", text.escape_ascii());
            }
            slow
        })
    }

    /// Checks the tokens of `text` without and with punctuation.
    #[track_caller]
    fn check(text: &str, expected: [&str; 2]) {
        let hash_of = |c: char| hash(c.encode_utf8(&mut [0; 4]).as_bytes());
        let expected = expected.map(|expected| expected.chars().map(hash_of).collect::<Vec<_>>());
        assert_eq!(check_fast(text.as_bytes()), expected);
    }

    #[test]
    fn all_visible_characters_count_and_white_space_is_one_space_or_nothing() {
        check(" A, b_1! \r\n", ["a b_1", "a, b_1!"]);
        check("中 国,  a中", ["中国a中", "中国, a中"]);
        check("Ça \0 e\u{301}-\u{9f}\u{7f}x", ["ça é x", "ça é- x"]);
        check("C++ <🙂> ❤\u{fe0f}\u{a0}“+5” ", ["c++ <🙂> ❤ +5", "c++ <🙂> ❤ \"+5\""]);
        check("1:5 −5 - 5 (1.50)", ["1 5 −5 5 1 50", "1:5 −5 - 5 (1.50)"]);
        check("", ["", ""]);
        check("… \t.", ["", "... ."]);
        check(" \t\u{200b}\u{2028}", ["", ""]);
        assert_eq!(check_fast(b"a\xffb")[1], [hash(b"a"), hash(b" "), hash(b"b")]);
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(pieces in prop::collection::vec(prop_oneof![
            4 => "[a-zA-Z ,.+<\n\u{1}]{1,9}", 1 => "[🙂→，。\u{a0}\u{85}]{1,3}", 1 => "[\u{ad}\u{200d}\u{fe0f}\u{301}’“\u{e0061}]{1,3}", 1 => "[àÉ\u{301}\u{308}ßſKﬁ中国カーกั한]{1,3}", 1 => "\\PC{1,3}",
        ], 0..40)) {
            check_fast(pieces.concat().as_bytes());
        }

        #[test]
        fn random_bytes_agree(text in prop::collection::vec(any::<u8>(), 0..200)) {
            check_fast(&text);
        }
    }
}
