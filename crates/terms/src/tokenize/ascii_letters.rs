//! Cuts text into runs of ASCII letters, for fingerprints from the most frequent words. All other bytes separate words.

use crate::token_batch::TokenBatch;
use simtool_kernels::Isa;

/// Number of bytes of text that are processed at once. It is small, so that the positions, keys and hashes of the words
/// stay in the first-level cache.
const PIECE_BYTES: usize = 8 << 10;

/// Tokenizer whose words are runs of ASCII letters. A run is as long as possible.
#[derive(Clone, Copy, Debug)]
pub struct AsciiLetters {
    isa: Isa,
}

impl AsciiLetters {
    /// Creates a tokenizer that uses the instruction set `isa`.
    #[must_use]
    pub fn new(isa: Isa) -> Self {
        Self { isa }
    }

    /// Cuts `text` into pieces of some kilobytes. For each piece in order, fills `batch` with the words of the piece,
    /// and calls `visit` with both.
    pub fn tokenize(
        &self,
        text: &[u8],
        batch: &mut TokenBatch,
        mut visit: impl FnMut(&[u8], &TokenBatch),
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(piece_length(rest));
            batch.fill_with_letter_runs(self.isa, piece);
            visit(piece, batch);
            rest = after;
        }
    }
}

/// Returns the length in bytes of the first piece of `text`. No word crosses the end of the piece, and each word begins
/// in its first [`PIECE_BYTES`] bytes.
fn piece_length(text: &[u8]) -> usize {
    let is_separator = |byte: &u8| !byte.is_ascii_alphabetic();
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    match text[..PIECE_BYTES].iter().rposition(is_separator) {
        Some(last) => last + 1,
        // One word fills the piece and continues behind it.
        None => text.iter().position(is_separator).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let mut batch = TokenBatch::default();
        AsciiLetters::new(Isa::detected()).tokenize(text, &mut batch, |piece, batch| {
            found.extend(
                (0..batch.len()).map(|i| {
                    String::from_utf8(batch.letters(i, piece).to_ascii_lowercase()).unwrap()
                }),
            );
        });
        found
    }

    #[test]
    fn every_byte_that_is_no_letter_separates() {
        assert_eq!(words(b"Can't_stop\xc3\xa9now\x00X1y"), ["can", "t", "stop", "now", "x", "y"]);
        assert!(words(b"").is_empty());
    }

    #[test]
    fn pieces_do_not_cut_words() {
        for before in 0..40 {
            let text = [b"ab ".repeat(before), b"x".repeat(PIECE_BYTES - 60), b" tail".repeat(30)];
            let text = text.concat();
            assert_eq!(words(&text).len(), before + 1 + 30);
        }
    }

    #[test]
    fn a_word_may_be_longer_than_a_piece() {
        let text = [b"q ".to_vec(), b"w".repeat(3 * PIECE_BYTES), b" e".to_vec()].concat();
        let found = words(&text);
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [1, 3 * PIECE_BYTES, 1]);
    }
}
