//! Words by the rules of UAX #29, normalized and case-folded, for any language without a
//! dictionary.
//!
//! A text is decoded (a maximal invalid sequence separates), normalized (NFKC), folded, and cut at
//! word boundaries. A segment with a letter or digit is a word; within it each character of a
//! script without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) is a word by itself,
//! and so is what stands between two of them if it holds a letter or digit. White space is never
//! part of a word, even where a mark is attached to it.
//!
//! ASCII text takes a fast path. It ends, and begins again, before a white space, where neither
//! normalization nor word rules look across: so the words are the same.

use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize::{self, ascii_prefix, fold, is_unspaced};
use crate::kernels::Isa;
use crate::kernels::uax29_ascii::{MAX_TEXT, find_words};
use crate::kernels::xxh3_short::hash_words;
use crate::stable_hash::hash;
use unicode_segmentation::UnicodeSegmentation as _;

/// ASCII text goes through the fast path in pieces of about this many bytes, which with their
/// words stay in the second-level cache.
const PIECE_BYTES: usize = 64 << 10;

/// A slow piece goes on while the next byte that is not ASCII is at most this far away.
const SLOW_GAP_BYTES: usize = 32;

/// The tokenizer of Unicode words.
#[derive(Clone, Copy, Debug)]
pub struct UnicodeWords {
    isa: Isa,
}

impl UnicodeWords {
    /// A tokenizer whose fast path uses the given instruction set.
    #[must_use]
    pub fn new(isa: Isa) -> Self {
        Self { isa }
    }

    /// The words of ASCII text.
    fn ascii(self, mut text: &[u8], tokens: &mut HashedTokens) {
        while !text.is_empty() {
            let piece;
            (piece, text) = text.split_at(piece_end(text));
            let HashedTokens { hashes, ascii, folded: _ } = &mut *tokens;
            find_words(self.isa, piece, ascii);
            hash_words(self.isa, &ascii.lowered, &ascii.starts, &ascii.ends, hashes);
        }
    }
}

impl HashTokenizer for UnicodeWords {
    fn tokenize(&self, mut text: &[u8], tokens: &mut HashedTokens) {
        loop {
            let ascii_end = ascii_prefix(text);
            if ascii_end == text.len() {
                self.ascii(text, tokens);
                return;
            }
            let slow_start =
                text[..ascii_end].iter().rposition(|&byte| is_white(byte)).unwrap_or(0);
            self.ascii(&text[..slow_start], tokens);
            let slow_end = slow_piece_end(text, ascii_end);
            tokenize_slowly(&text[slow_start..slow_end], tokens);
            text = &text[slow_end..];
        }
    }

    fn recipe(&self) -> String {
        let version = unicode_segmentation::UNICODE_VERSION.0;
        format!("words:uax29@{version}/{}", normalize::recipe())
    }
}

/// Where the next piece of ASCII text ends: before a white space, if there is one in time.
fn piece_end(text: &[u8]) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let before = text[1..PIECE_BYTES].iter().rposition(|&byte| is_white(byte)).map(|at| at + 1);
    let after =
        || text[PIECE_BYTES..].iter().position(|&byte| is_white(byte)).map(|at| at + PIECE_BYTES);
    before.or_else(after).unwrap_or(text.len()).min(MAX_TEXT)
}

/// The end of the slow piece that holds the byte at `foreign`: before a white space that no byte
/// beyond ASCII follows soon.
fn slow_piece_end(text: &[u8], foreign: usize) -> usize {
    let mut from = foreign;
    loop {
        let Some(white) = text[from..].iter().position(|&byte| is_white(byte)) else {
            return text.len();
        };
        let white = from + white;
        let soon = &text[white..text.len().min(white + SLOW_GAP_BYTES)];
        match soon.iter().rposition(|byte| !byte.is_ascii()) {
            Some(at) => from = white + at,
            None => return white,
        }
    }
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The definition of the words, for any text.
fn tokenize_slowly(text: &[u8], tokens: &mut HashedTokens) {
    for chunk in text.utf8_chunks() {
        fold(chunk.valid(), &mut tokens.folded);
        for segment in tokens.folded.split_word_bounds() {
            // White space is of one segment with a mark or joiner that follows it.
            let segment = segment.trim_start();
            if segment.chars().any(char::is_alphanumeric) {
                emit_segment(segment, &mut tokens.hashes);
            }
        }
    }
}

/// Appends the words of one segment.
fn emit_segment(segment: &str, hashes: &mut Vec<u64>) {
    if segment.is_ascii() {
        hashes.push(hash(segment.as_bytes()));
        return;
    }
    let mut pending = 0;
    for (at, character) in segment.char_indices().filter(|&(_, c)| is_unspaced(c)) {
        emit_between(&segment[pending..at], hashes);
        pending = at + character.len_utf8();
        hashes.push(hash(&segment.as_bytes()[at..pending]));
    }
    emit_between(&segment[pending..], hashes);
}

/// Appends what stands between characters that are words, if it is a word.
fn emit_between(between: &str, hashes: &mut Vec<u64>) {
    if between.chars().any(char::is_alphanumeric) {
        hashes.push(hash(between.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow_hashes(text: &[u8]) -> Vec<u64> {
        let mut tokens = HashedTokens::default();
        tokenize_slowly(text, &mut tokens);
        tokens.hashes
    }

    #[track_caller]
    fn check(text: &[u8], expected: &[&str]) {
        let expected: Vec<u64> = expected.iter().map(|word| hash(word.as_bytes())).collect();
        assert_eq!(slow_hashes(text), expected);
        check_fast(text);
    }

    #[track_caller]
    fn check_fast(text: &[u8]) {
        for &isa in Isa::available() {
            let mut tokens = HashedTokens::default();
            UnicodeWords::new(isa).tokenize(text, &mut tokens);
            assert_eq!(tokens.hashes, slow_hashes(text), "{isa} {:?}", text.escape_ascii());
        }
    }

    #[test]
    fn words_of_many_scripts() {
        check(b"Can't E-Mail 3.14, foo_bar! __", &["can't", "e", "mail", "3.14", "foo_bar"]);
        check("Straße, ΣΑΣ".as_bytes(), &["strasse", "σασ"]);
        check("51区コーヒー".as_bytes(), &["51", "区", "コ", "ー", "ヒ", "ー"]);
        check("กัน".as_bytes(), &["ก", "ั", "น"]);
        check("한국어 말".as_bytes(), &["한국어", "말"]);
        check("e\u{301}te\u{301}".as_bytes(), &["été"]);
        check("ﬁn２".as_bytes(), &["fin2"]);
        check("  \u{11c92} \u{200d}\u{1f170}".as_bytes(), &["\u{11c92}", "\u{200d}\u{1f170}"]);
        check(b"", &[]);
        check(b" \n\t--- ", &[]);
    }

    #[test]
    fn invalid_sequences_separate() {
        check(b"ab\xffcd \xe4\xb8 x\xc3", &["ab", "cd", "x"]);
        check(b"a'\xf0\x9f\x98b", &["a", "b"]);
    }

    #[test]
    fn pieces_join_without_a_seam() {
        for length in [PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
            let word_at_the_seam: Vec<u8> =
                b"abc, d'e ".iter().copied().cycle().take(length).collect();
            check_fast(&word_at_the_seam);
            check_fast(&vec![b'x'; length]);
        }
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(pieces in prop::collection::vec(prop_oneof![
            8 => "[a-zA-Z]{1,9}", 2 => "[0-9_.,';:-]{1,3}", 6 => "[ \t\r\n]{1,2}",
            1 => "[àÉ\u{301}\u{308}ßſKﬁ中国カーกัๆ한\u{200d}\u{ad}’“ \u{e9}\u{2028}]{1,3}",
            1 => " {20,40}", 1 => " +[\u{11c92}\u{200d}\u{1f170}]{1,3}", 1 => "\\PC{1,3}",
        ], 0..60)) {
            check_fast(pieces.concat().as_bytes());
        }

        #[test]
        fn random_bytes_agree(text in prop::collection::vec(any::<u8>(), 0..300)) {
            check_fast(&text);
        }
    }
}
