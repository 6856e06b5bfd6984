//! Tokens that are no more than their stable hashes: what shingles and hashed fingerprints need.

use super::foreign::Cut;
use super::normal_forms::Normalized;
#[cfg(feature = "chinese")]
use super::script_runs::Run;
use crate::kernels::word_masks::Words;
#[cfg(feature = "chinese")]
use crate::kernels::xxh3_short::MARGIN;
use crate::stable_hash::hash;
#[cfg(feature = "chinese")]
use {super::pieces::pieces, crate::kernels::Isa, crate::kernels::word_masks::classify};

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
    /// Runs of scripts of the current piece.
    #[cfg(feature = "chinese")]
    pub(super) runs: Vec<Run>,
}

impl HashedTokens {
    /// Forgets the tokens and keeps the buffers.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// Lends a text normalized and folded, in pieces, with the hashes.
    #[cfg(feature = "chinese")]
    pub(super) fn fold_pieces(
        &mut self,
        isa: Isa,
        text: &[u8],
        mut visit: impl FnMut(&str, &mut Vec<u64>),
    ) {
        let Self { hashes, words, normalized, .. } = self;
        for piece in pieces(text) {
            let folded = if classify(isa, piece, words) {
                normalized.fill(isa, piece, words);
                normalized.text()
            } else {
                &words.lowered[MARGIN..MARGIN + piece.len()]
            };
            // What was no UTF-8 is gone.
            visit(simdutf8::basic::from_utf8(folded).unwrap_or_default(), hashes);
        }
    }
}

/// Cuts text into tokens and hashes them.
pub trait HashTokenizer: Send + Sync {
    /// Appends the hashes of the tokens of `text`, in order.
    ///
    /// Bytes that are not UTF-8 separate: no input is an error.
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens);

    /// The hash of a token that is normalized and folded.
    fn hash_of(&self, folded: &str) -> u64 {
        hash(folded.as_bytes())
    }

    /// All that the tokens of a text depend on, in short: tokens of different recipes do not mix.
    fn recipe(&self) -> String;
}
