//! Estimates the memory that the terms of a long text take.

use super::terms::Terms;
use simtool_kernels::Isa;
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};

/// Number of bytes of memory for each token: its hash, which its term replaces, and its normal form.
const BYTES_A_TOKEN: u64 = 9;
/// Number of bytes of memory for each byte of text: two copies of the text, and a distinct term. There are fewer
/// distinct terms than bytes, because a character that becomes many characters always becomes the same ones.
const BYTES_A_TEXT_BYTE: u64 = 10;
/// Maximum number of tokens for each byte of text. The character U+FDFA has three bytes, and its normal form
/// has 18 characters.
const MOST_TOKENS_A_BYTE: u64 = 6;
/// Number of bytes of text that are cut into tokens at once to count them.
const COUNTED_BYTES: usize = 8 << 10;

/// Estimates the memory that a document takes while its terms are found and compared.
pub(crate) struct TextMemory {
    /// Tokenizer of shingles. `None` for the most frequent words, whose buffers do not grow with the text.
    tokenizer: Option<Box<dyn HashTokenizer>>,
}

impl std::fmt::Debug for TextMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextMemory").finish_non_exhaustive()
    }
}

impl TextMemory {
    pub(crate) fn new(terms: &Terms, isa: Isa) -> Self {
        let tokenizer = match terms {
            Terms::Shingles { tokenizer, .. } => Some((tokenizer.create)(isa)),
            Terms::MostFrequent { .. } => None,
        };
        Self { tokenizer }
    }

    /// Estimates the number of bytes of memory for a text. If the text certainly takes at most `enough` bytes, returns
    /// a smaller estimate without counting its tokens, which is faster.
    pub(crate) fn of(&self, text: &[u8], enough: u64) -> u64 {
        let length = text.len() as u64;
        let Some(tokenizer) = &self.tokenizer else { return 2 * length };
        let copies = length.saturating_mul(BYTES_A_TEXT_BYTE);
        let of_tokens = |tokens: u64| copies.saturating_add(tokens.saturating_mul(BYTES_A_TOKEN));
        if of_tokens(length.saturating_mul(MOST_TOKENS_A_BYTE)) <= enough {
            return copies.min(enough);
        }
        // A character of ASCII is at most one token.
        if text.is_ascii() && of_tokens(length) <= enough {
            return copies.min(enough);
        }
        let mut tokens = HashedTokens::default();
        let mut count = 0;
        // A character or a word that is cut in two hardly changes the number.
        for piece in text.chunks(COUNTED_BYTES) {
            tokens.clear();
            tokenizer.tokenize(piece, &mut tokens);
            count += tokens.hashes.len() as u64;
        }
        of_tokens(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_the_number_of_tokens() {
        let memory = |terms: &str| TextMemory::new(&terms.parse().unwrap(), Isa::detected());
        let (characters, words) = (memory("chars:5"), memory("words:3"));
        let text = "four ".repeat(100_000);
        assert!(2 * characters.of(text.as_bytes(), 0) > 3 * words.of(text.as_bytes(), 0));
        let ligatures = "\u{fdfa}".repeat(100_000);
        let tokens = 18 * 100_000;
        let estimated = characters.of(ligatures.as_bytes(), 0);
        assert!((BYTES_A_TOKEN * tokens..2 * BYTES_A_TOKEN * tokens).contains(&estimated));
        // The tokens of a text that takes little memory are not counted.
        assert!(characters.of(ligatures.as_bytes(), 100 << 20) < BYTES_A_TOKEN * tokens);
    }
}
