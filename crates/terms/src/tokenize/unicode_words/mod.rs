//! Cuts text into words by the rules of UAX #29. It works for any language and needs no dictionary. The words are
//! normalized and case-folded.
//!
//! A text is decoded, normalized and folded (see `normalize`), and cut at word boundaries. A sequence of bytes that are
//! not UTF-8 separates words. A segment with a letter or digit is a word. Within a segment, each character of a script
//! without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) is a separate word. The text between two such
//! characters is also a word if it contains a letter or digit. White space is never part of a word, even if a mark is
//! attached to it. A minus sign before a number is part of the number (see `signs`).
//!
//! The fast method processes the text piece by piece, and marks letters, digits and other classes in bit masks:
//!
//! 1. A piece with characters beyond ASCII is normalized, and its characters are marked in the masks. A table of all
//!    characters of two and three bytes does both for many characters at once.
//! 2. Characters that are not in the table are handled one by one.
//! 3. A few characters depend on more context. The text around them is cut out and handled by the slow method, which
//!    uses no masks. It is cut at positions where no rule depends on both sides, so the words are the same.

use super::TokenizerKind;
use super::foreign;
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize;
use super::pieces::pieces;
use super::signs::{has_minus, take_signs};
use super::symbols::is_visible;
use super::word_roles::{is_letter_or_digit, traits};
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_kernels::word_masks::{MAX_TEXT, Words, classify, find_words};
use simtool_kernels::xxh3_short::{MARGIN, hash_words};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Entry of the tokenizer `words` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub const KIND: TokenizerKind = TokenizerKind {
    name: "words",
    help: "words of Unicode text; each Chinese, Japanese or Thai character is a word",
    default_shingle: 3,
    makes_words: true,
    bytes_per_token: 6,
    create: |isa| Box::new(UnicodeWords::new(isa)),
};

/// Entry of the tokenizer `words+symbols` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const WITH_SYMBOLS: TokenizerKind = TokenizerKind {
    name: "words+symbols",
    help: "words, and each other visible character as a word of its own: symbols, emoji, signs and \
           punctuation",
    create: |isa| Box::new(UnicodeWords { isa, has_symbols: true, has_signs: false }),
    ..KIND
};

/// Entry of the tokenizer `words-unsigned` in the table [`TOKENIZERS`](super::TOKENIZERS). It finds the words of
/// version 0.1, which are in stored indexes.
pub(crate) const WITHOUT_SIGNS: TokenizerKind = TokenizerKind {
    name: "words-unsigned",
    help: "words, but numbers without their minus sign, as in version 0.1",
    create: |isa| Box::new(UnicodeWords::without_signs(isa)),
    ..KIND
};

/// Tokenizer that cuts text into Unicode words.
#[derive(Clone, Copy, Debug)]
pub struct UnicodeWords {
    pub(super) isa: Isa,
    /// Whether each visible character between words is a word, too.
    has_symbols: bool,
    /// Whether a minus sign is part of the number after it. With `has_symbols`, the sign is a separate word instead.
    has_signs: bool,
}

impl UnicodeWords {
    /// Creates a tokenizer whose fast method uses the instruction set `isa`.
    #[must_use]
    pub fn new(isa: Isa) -> Self {
        Self { isa, has_symbols: false, has_signs: true }
    }

    /// Creates a tokenizer that leaves out the minus signs of numbers.
    pub(super) fn without_signs(isa: Isa) -> Self {
        Self { has_signs: false, ..Self::new(isa) }
    }

    /// Finds the words of a text from the bit masks in `words`.
    #[inline]
    pub(super) fn find_words(self, words: &mut Words) {
        find_words(self.isa, words);
        if self.has_signs {
            take_signs(words);
        }
    }

    /// Cuts a text into pieces. For an ASCII piece, appends the hashes of its words to `tokens`. For another piece,
    /// normalizes and folds it, and calls `append` with the result.
    #[inline]
    pub(super) fn beyond_ascii(
        self,
        text: &[u8],
        tokens: &mut HashedTokens,
        append: impl Fn(&[u8], &mut HashedTokens),
    ) {
        for piece in pieces(text) {
            if classify(self.isa, piece, &mut tokens.words) {
                tokens.normalized.fill(self.isa, piece, &tokens.words);
                let normalized = std::mem::take(&mut tokens.normalized);
                append(normalized.text(), tokens);
                tokens.normalized = normalized;
            } else {
                let HashedTokens { hashes, words, symbols, symbol_hash, .. } = tokens;
                symbol_hash.add(self.isa, piece.len(), words);
                self.find_words(words);
                if self.has_symbols {
                    symbols.add_to(self.isa, piece.len(), words, &[]);
                }
                hash_words(self.isa, &words.lowered, &words.starts, &words.ends, hashes);
            }
        }
    }

    /// Appends the hashes of the words of a normalized and folded text to `tokens.hashes`, and adds the symbols of the
    /// text to the hash of symbols.
    pub(super) fn folded(self, text: &[u8], tokens: &mut HashedTokens) {
        let HashedTokens { hashes, words, cut, symbols, symbol_hash, .. } = tokens;
        if text.len() > MAX_TEXT {
            // Normalization can make a text many times longer, beyond the limit of the masks.
            symbol_hash.add_slowly(str::from_utf8(text).unwrap_or_default());
            return self.push_words(text, 0..text.len(), hashes);
        }
        classify(self.isa, text, words);
        foreign::mark(self.isa, text, words, cut, self.has_symbols);
        symbol_hash.add(self.isa, text.len(), words);
        self.find_words(words);
        if self.has_symbols {
            symbols.add_to(self.isa, text.len(), words, &cut.places);
        }
        let Words { lowered, starts, ends, .. } = words;
        // The words before each range that was cut out come from the masks, and the words inside it
        // from the slow path. So all words are in the order of the text.
        let mut done = 0;
        for cut in &cut.places {
            let place = (MARGIN + cut.start) as u32;
            let next = done + starts[done..].partition_point(|&start| start < place);
            hash_words(self.isa, lowered, &starts[done..next], &ends[done..next], hashes);
            // The cut is between characters, so the part is valid UTF-8.
            self.push_words(text, cut.clone(), hashes);
            done = next;
        }
        hash_words(self.isa, lowered, &starts[done..], &ends[done..], hashes);
    }

    /// Appends the hashes of the words in a range of a normalized and folded text, without using bit masks. This
    /// function defines what a word is.
    fn push_words(self, text: &[u8], range: Range<usize>, hashes: &mut Vec<u64>) {
        let part = str::from_utf8(&text[range.clone()]).unwrap_or_default();
        for (at, segment) in part.split_word_bound_indices() {
            // UAX #29 puts white space into one segment with a mark or joiner that follows it.
            let word = segment.trim_start();
            let start = range.start + at + segment.len() - word.len();
            if self.has_signs && has_minus(text, start) {
                emit_segment(&format!("-{word}"), self.has_symbols, hashes);
            } else if word.contains(is_letter_or_digit) {
                emit_segment(word, self.has_symbols, hashes);
            } else if self.has_symbols {
                push_visible(word, hashes);
            }
        }
    }
}

impl HashTokenizer for UnicodeWords {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        self.beyond_ascii(text, tokens, |folded, tokens| self.folded(folded, tokens));
    }

    fn recipe(&self) -> String {
        let version = unicode_segmentation::UNICODE_VERSION.0;
        let name = match (self.has_symbols, self.has_signs) {
            (true, _) => "words+visible",
            (false, true) => "words+minus",
            (false, false) => "words",
        };
        format!("{name}:uax29@{version}/{}", normalize::recipe())
    }
}

/// Appends the hash of each visible character of `text`.
fn push_visible(text: &str, hashes: &mut Vec<u64>) {
    let visible = text.chars().filter(|&character| is_visible(character));
    hashes.extend(visible.map(|character| hash(character.encode_utf8(&mut [0; 4]).as_bytes())));
}

/// Appends the hashes of the words in `segment`, the text between two word boundaries. If `has_symbols` is true,
/// appends the hashes of its other visible characters, too.
fn emit_segment(segment: &str, has_symbols: bool, hashes: &mut Vec<u64>) {
    // The text between two characters that are words of their own is a word if it has a letter or
    // digit.
    let mut pending = 0;
    let mut is_word = false;
    for (at, character) in segment.char_indices() {
        let traits = traits(character);
        if !traits.is_unspaced() {
            is_word |= traits.is_letter_or_digit();
            continue;
        }
        push_part(&segment[pending..at], is_word, has_symbols, hashes);
        (pending, is_word) = (at + character.len_utf8(), false);
        hashes.push(hash(&segment.as_bytes()[at..pending]));
    }
    push_part(&segment[pending..], is_word, has_symbols, hashes);
}

/// Appends the hash of a part of a segment if it is a word. Otherwise appends the hashes of its visible characters, if
/// `has_symbols` is true.
fn push_part(part: &str, is_word: bool, has_symbols: bool, hashes: &mut Vec<u64>) {
    if is_word {
        hashes.push(hash(part.as_bytes()));
    } else if has_symbols {
        push_visible(part, hashes);
    }
}

#[cfg(test)]
mod tests;
