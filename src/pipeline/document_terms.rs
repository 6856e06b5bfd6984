//! A text as the terms of its shingles.

use super::config::Shingle;
use crate::extract::shingles::Shingles;
use crate::kernels::Isa;
use crate::tokenize::characters::Characters;
use crate::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use crate::tokenize::unicode_words::UnicodeWords;
use std::num::NonZeroUsize;

/// Makes terms of texts; shared by all threads.
pub(super) struct DocumentTerms {
    tokenizer: Box<dyn HashTokenizer>,
    shingles: Shingles,
    bytes_a_term: u64,
}

/// What a reader of terms reuses from document to document.
#[derive(Debug, Default)]
pub(super) struct TermScratch {
    tokens: HashedTokens,
    terms: Vec<u64>,
}

impl Shingle {
    fn tokenizer(self, isa: Isa) -> (Box<dyn HashTokenizer>, NonZeroUsize) {
        match self {
            Self::Words(length) => (Box::new(UnicodeWords::new(isa)), length),
            Self::Characters(length) => (Box::new(Characters), length),
        }
    }

    /// All that the terms of a text depend on, in short: terms of different recipes do not mix.
    #[must_use]
    pub fn recipe(self) -> String {
        let (tokenizer, length) = self.tokenizer(Isa::Portable);
        format!("xxh3-64:0/{}/shingle={length}", tokenizer.recipe())
    }
}

impl DocumentTerms {
    pub(super) fn new(shingle: Shingle, isa: Isa) -> Self {
        let (tokenizer, length) = shingle.tokenizer(isa);
        let bytes_a_term = match shingle {
            Shingle::Words(_) => 6,
            Shingle::Characters(_) => 1,
        };
        Self { tokenizer, shingles: Shingles::new(isa, length), bytes_a_term }
    }

    /// Bytes of text for each term, about.
    pub(super) fn bytes_a_term(&self) -> u64 {
        self.bytes_a_term
    }

    /// The terms of a text, one per occurrence, in order.
    pub(super) fn of<'s>(&self, text: &[u8], scratch: &'s mut TermScratch) -> &'s mut Vec<u64> {
        scratch.tokens.clear();
        scratch.terms.clear();
        self.tokenizer.tokenize(text, &mut scratch.tokens);
        self.shingles.extract(&scratch.tokens.hashes, &mut scratch.terms);
        &mut scratch.terms
    }
}
