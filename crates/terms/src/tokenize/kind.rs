//! The description of a tokenizer. Each tokenizer is described in its own file and listed in the table of tokenizers.

use super::hashed_tokens::HashTokenizer;
use simtool_kernels::Isa;

/// A tokenizer that can be selected by name.
#[derive(Clone, Copy, Debug)]
pub struct TokenizerKind {
    /// Name that options use, for example `words`.
    pub name: &'static str,
    /// Short description of the tokens, which help texts show.
    pub help: &'static str,
    /// Number of consecutive tokens in a shingle if the user does not set it.
    pub default_shingle: usize,
    /// Whether the tokens are words. Only words can be filtered by stop words.
    pub makes_words: bool,
    /// Approximate number of bytes of text per token, for estimates.
    pub bytes_per_token: u64,
    /// Creates the tokenizer for an instruction set of the processor.
    pub create: fn(Isa) -> Box<dyn HashTokenizer>,
}

/// Two kinds are equal if their names are equal, because each name occurs once in [`TOKENIZERS`](super::TOKENIZERS).
impl PartialEq for TokenizerKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TokenizerKind {}
