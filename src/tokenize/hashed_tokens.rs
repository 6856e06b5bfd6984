//! Tokens that are no more than their stable hashes: what shingles and hashed fingerprints need.

use super::foreign::Cut;
use super::normal_forms::Normalized;
use crate::kernels::word_masks::Words;

/// Token hashes of a text, and the buffers in which they are made.
///
/// Reused from document to document: once warm, nothing is allocated for ASCII text.
#[derive(Debug, Default)]
pub struct HashedTokens {
    /// The stable hash of every token, in text order.
    pub hashes: Vec<u64>,
    pub(super) words: Words,
    /// The current piece, normalized and folded.
    pub(super) normalized: Normalized,
    /// Places of the current piece that go the slow way.
    pub(super) cut: Cut,
}

impl HashedTokens {
    /// Forgets the tokens and keeps the buffers.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }
}

/// Cuts text into tokens and hashes them.
pub trait HashTokenizer: Sync {
    /// Appends the hashes of the tokens of `text`, in order.
    ///
    /// Bytes that are not UTF-8 separate: no input is an error.
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens);

    /// All that the tokens of a text depend on, in short: tokens of different recipes do not mix.
    fn recipe(&self) -> String;
}
