//! Tokens as stable hashes, which is all that shingles and hashed fingerprints need.

use super::foreign::Cut;
use super::normal_forms::Normalized;
#[cfg(feature = "chinese")]
use super::script_runs::Run;
use simtool_base::stable_hash::hash;
use simtool_kernels::word_masks::Words;
#[cfg(feature = "chinese")]
use simtool_kernels::xxh3_short::MARGIN;
#[cfg(feature = "chinese")]
use {super::pieces::pieces, simtool_kernels::Isa, simtool_kernels::word_masks::classify};

/// Token hashes of a text, and buffers for computing them.
///
/// The value is reused between documents: once its buffers have grown, ASCII text needs no
/// allocation.
#[derive(Debug, Default)]
pub struct HashedTokens {
    /// Stable hash of each token, in the order of the text.
    pub hashes: Vec<u64>,
    pub(super) words: Words,
    /// The current piece, normalized and folded.
    pub(super) normalized: Normalized,
    /// Places of the current piece that take the slow path.
    pub(super) cut: Cut,
    /// Runs of the current piece that are cut in the same way.
    #[cfg(feature = "chinese")]
    pub(super) runs: Vec<Run>,
}

impl HashedTokens {
    /// Removes the tokens but keeps the buffers.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// Normalizes and folds a text piece by piece, and calls `visit` with each piece and the
    /// hashes.
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
            // The normalized text is valid UTF-8: invalid sequences were replaced.
            visit(simdutf8::basic::from_utf8(folded).unwrap_or_default(), hashes);
        }
    }
}

/// Cuts text into tokens and hashes them.
pub trait HashTokenizer: Send + Sync {
    /// Appends the hashes of the tokens of `text`, in order.
    ///
    /// Bytes that are not UTF-8 separate tokens. No input is an error.
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens);

    /// Returns the hash of a normalized and folded token.
    fn hash_of(&self, folded: &str) -> u64 {
        hash(folded.as_bytes())
    }

    /// Returns a short text that identifies the rules of the tokenizer and the versions of its
    /// tables. Tokens with different recipes cannot be compared.
    fn recipe(&self) -> String;
}
