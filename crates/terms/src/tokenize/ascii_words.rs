//! Cuts text into runs of ASCII letters in lower case. All other bytes separate words.

use super::TokenizerKind;
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::pieces::pieces;
use simtool_kernels::Isa;
use simtool_kernels::word_masks::{Block, classify, find_words};
use simtool_kernels::xxh3_short::hash_words;

/// Entry of the tokenizer `ascii` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const KIND: TokenizerKind = TokenizerKind {
    name: "ascii",
    help: "runs of ASCII letters",
    default_shingle: 3,
    makes_words: true,
    bytes_per_token: 6,
    create: |isa| Box::new(AsciiWords::new(isa)),
};

/// Tokenizer whose words are runs of ASCII letters in lower case. All other bytes separate words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsciiWords {
    isa: Isa,
}

impl AsciiWords {
    /// Creates a tokenizer that uses the instruction set `isa`.
    #[must_use]
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

impl HashTokenizer for AsciiWords {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        let HashedTokens { hashes, words, .. } = tokens;
        for piece in pieces(text) {
            classify(self.isa, piece, words);
            for block in &mut words.blocks {
                *block = Block { letters: block.letters, ..Block::default() };
            }
            find_words(self.isa, words);
            hash_words(self.isa, &words.lowered, &words.starts, &words.ends, hashes);
        }
    }

    fn recipe(&self) -> String {
        "ascii".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_base::stable_hash::hash;

    fn check(text: &[u8]) -> Vec<u64> {
        let words = text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        let slow: Vec<u64> = words.map(|word| hash(&word.to_ascii_lowercase())).collect();
        for &isa in Isa::available() {
            let mut fast = HashedTokens::default();
            AsciiWords::new(isa).tokenize(text, &mut fast);
            assert_eq!(fast.hashes, slow, "{isa} {}", text.escape_ascii());
        }
        slow
    }

    #[test]
    fn every_byte_that_is_no_letter_separates() {
        let expected = ["can", "t", "x", "y", "caf"].map(|word| hash(word.as_bytes()));
        assert_eq!(check("Can't X1_y café".as_bytes()), expected);
        assert!(check(b" 12 ").is_empty());
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(text in "[a-zA-Z0-9_.':, \nà中]{0,300}") {
            check(text.as_bytes());
        }
    }
}
