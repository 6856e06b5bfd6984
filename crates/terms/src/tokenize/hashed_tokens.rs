//! Tokens as 64-bit hashes, which are the same on every machine. Shingles and hashed fingerprints need only these
//! hashes.

use super::foreign::SlowRanges;
use super::normal_forms::Normalized;
#[cfg(feature = "chinese")]
use super::script_runs::Run;
use super::symbol_hash::SymbolHash;
use super::symbols::Symbols;
use simtool_base::stable_hash::hash;
use simtool_kernels::word_masks::Words;
#[cfg(feature = "chinese")]
use simtool_kernels::xxh3_short::MARGIN;
#[cfg(feature = "chinese")]
use {super::pieces::pieces, simtool_kernels::Isa, simtool_kernels::word_masks::classify};

/// Hashes of the tokens of a text, and buffers for computing them.
///
/// The value is reused for the next document. Once its buffers are long enough, ASCII text needs no allocation.
#[derive(Debug, Default)]
pub struct HashedTokens {
    /// Hash of each token, in the order of the text. The hash of a token is the same on every
    /// machine.
    pub hashes: Vec<u64>,
    pub(super) words: Words,
    /// Normalized and folded form of the current piece. A piece is a part of the text that is cut into tokens at once.
    pub(super) normalized: Normalized,
    /// Byte ranges of the current piece. The words in these ranges are found by the slow method, which does not use bit
    /// masks.
    pub(super) cut: SlowRanges,
    /// Symbols between the words of the current piece of text, such as `+`.
    pub(super) symbols: Symbols,
    /// Hash of the symbols of the text. It stays 0 if it is not [wanted](SymbolHash::wanted), or if the tokenizer does
    /// not leave out symbols such as `<`.
    pub symbol_hash: SymbolHash,
    /// Byte ranges of the current piece, each with the method by which it is cut into tokens, which depends on its
    /// script.
    #[cfg(feature = "chinese")]
    pub(super) runs: Vec<Run>,
}

impl HashedTokens {
    /// Removes the token hashes and the hash of symbols, but keeps the memory of the buffers.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.symbol_hash.clear();
    }

    /// Frees the memory of the buffers, which a long text can make large. Removes the token hashes, but not the hash of
    /// symbols.
    pub fn release(&mut self) {
        *self = Self { symbol_hash: std::mem::take(&mut self.symbol_hash), ..Self::default() };
    }

    /// Normalizes and folds a text piece by piece. Calls `visit` with the normalized and folded text of each piece and
    /// with the list of token hashes, to which `visit` may append.
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
    /// Appends the hashes of the tokens of `text`, in order, to `tokens.hashes`.
    ///
    /// Bytes that are not UTF-8 separate tokens, so no input is an error.
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens);

    /// Returns the hash that this tokenizer gives to a token. The token must be normalized and folded.
    fn hash_of(&self, folded: &str) -> u64 {
        hash(folded.as_bytes())
    }

    /// Returns a short text that identifies the rules of the tokenizer and the versions of its tables. Token hashes can
    /// be compared only if their tokenizers have equal recipes.
    fn recipe(&self) -> String;
}
