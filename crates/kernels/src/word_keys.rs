//! Computes a key of fixed size for every word, and a hash of the key. The key has the bytes of the
//! word in lower case, followed by zeros up to 16 bytes.
//!
//! For example, "Cat" becomes the bytes `c a t 0 0 …`. Keys are compared as two machine words, so a
//! look-up does not read the text again. A word of more than 16 letters has the key [`NO_KEY`], and the
//! caller must read its text.

pub use super::own_loops::word_keys::{
    KEY_LETTERS, NO_KEY, WordKey, WordSpans, hash_key, word_key,
};

use super::Isa;
use super::vector::{Kernel, Level};

/// Replaces `keys` and `hashes` by the key of each word and the hash of each key. A key holds the
/// lower-case bytes of a word, or is [`NO_KEY`] for a word of more than 16 letters. Words must
/// consist of ASCII letters.
///
/// # Panics
///
/// A word is not inside the text.
pub fn word_keys(isa: Isa, spans: WordSpans<'_>, keys: &mut Vec<WordKey>, hashes: &mut Vec<u64>) {
    let words = spans.starts.len();
    assert_eq!(words, spans.ends.len(), "every word has a start and an end");
    keys.resize(words, [0; 2]);
    hashes.resize(words, 0);
    isa.run(spans, (&mut keys[..], &mut hashes[..]));
}

impl Kernel<(&mut [WordKey], &mut [u64])> for WordSpans<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, (keys, hashes): (&mut [WordKey], &mut [u64])) {
        level.word_keys(self, keys, hashes);
    }
}

/// Returns the letters of the word with this key, followed by zeros, and the number of letters.
pub fn key_letters(key: WordKey) -> ([u8; KEY_LETTERS], usize) {
    let mut bytes = [0; KEY_LETTERS];
    bytes[..8].copy_from_slice(&key[0].to_le_bytes());
    bytes[8..].copy_from_slice(&key[1].to_le_bytes());
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(KEY_LETTERS);
    (bytes, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_positions::word_positions;
    use proptest::prelude::*;

    fn check(text: &[u8]) {
        for &isa in Isa::available() {
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            word_positions(Isa::PORTABLE, text, &mut starts, &mut ends);
            let (mut keys, mut hashes) = (vec![[1; 2]; 2], Vec::new());
            let spans = WordSpans { text, starts: &starts, ends: &ends };
            word_keys(isa, spans, &mut keys, &mut hashes);
            for (i, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
                let word = &text[start as usize..end as usize];
                assert_eq!(keys[i], word_key(word), "{isa}");
                assert_eq!(hashes[i], hash_key(keys[i]), "{isa}");
                let (letters, length) = key_letters(keys[i]);
                assert_eq!(length, if word.len() > KEY_LETTERS { 0 } else { word.len() });
                assert!(letters[..length].eq_ignore_ascii_case(&word[..length]));
            }
        }
    }

    #[test]
    fn every_length_at_every_distance_from_the_end() {
        for length in 0..40 {
            for after in 0..20 {
                check(&[b"Q".repeat(length), b"-".repeat(after)].concat());
            }
        }
    }

    #[test]
    fn keys_order_like_the_words_when_read_as_big_endian() {
        let order = |word: &[u8]| word_key(word).map(u64::swap_bytes);
        let words: [&[u8]; 6] = [b"a", b"aa", b"ab", b"abcdefgh", b"abcdefghi", b"b"];
        assert!(words.is_sorted_by_key(|word| order(word)));
    }

    proptest! {
        #[test]
        fn random_texts_are_the_same(text in "[a-zA-Z]{0,30}([ .]{0,2}[a-zA-Z]{1,20}){0,12}") {
            check(text.as_bytes());
        }
    }
}
