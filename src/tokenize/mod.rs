//! Text to tokens.
//!
//! Input: the bytes of one document. Output: the stable hash of every token, in order, appended to
//! a batch. Not here: what a run of tokens means (`extract`).

mod char_ngrams;
mod normalize;
mod unicode_words;

pub use char_ngrams::Characters;
pub use unicode_words::UnicodeWords;

use crate::kernels::uax29_ascii::AsciiWords;

/// Token hashes of a text, and the buffers in which they are made.
///
/// Reused from document to document: once warm, a tokenizer allocates nothing for ASCII text.
#[derive(Debug, Default)]
pub struct HashedTokens {
    /// The stable hash of every token, in text order.
    pub hashes: Vec<u64>,
    ascii: AsciiWords,
    /// The current piece, normalized and folded.
    folded: String,
}

impl HashedTokens {
    /// Forgets the tokens and keeps the buffers.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }
}

/// Cuts text into tokens.
pub trait Tokenizer: Sync {
    /// Appends the hashes of the tokens of `text`, in order.
    ///
    /// Bytes that are not UTF-8 separate: no input is an error.
    fn tokenize(&self, text: &[u8], batch: &mut HashedTokens);
}
