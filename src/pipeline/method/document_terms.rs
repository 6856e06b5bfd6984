//! A text as the terms that a method compares.

use super::fitted::Fitted;
use super::terms::Terms;
use crate::extract::shingles::Shingles;
use crate::extract::vocabulary::Vocabulary;
use crate::kernels::Isa;
use crate::token_batch::TokenBatch;
use crate::tokenize::Tokens;
use crate::tokenize::ascii_letters::AsciiLetters;
use crate::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use std::sync::Arc;

/// Finds the terms of texts; shared by all threads.
pub(in crate::pipeline) enum DocumentTerms {
    Shingles { tokens: Tokens, tokenizer: Box<dyn HashTokenizer>, shingles: Shingles },
    Words(AsciiLetters, Arc<Vocabulary>),
}

/// What a reader of terms reuses from document to document.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct TermScratch {
    tokens: HashedTokens,
    batch: TokenBatch,
    ranks: Vec<u32>,
    terms: Vec<u64>,
}

impl DocumentTerms {
    /// Terms of a kind; `fitted` is what was learned for them.
    pub(in crate::pipeline) fn new(terms: &Terms, fitted: &Fitted, isa: Isa) -> Self {
        match (terms, fitted) {
            (&Terms::Shingles { tokens, length, .. }, _) => Self::Shingles {
                tokens,
                tokenizer: tokens.tokenizer(isa),
                shingles: Shingles::new(isa, length),
            },
            (Terms::MostFrequent { .. }, Fitted::Words(words)) => {
                Self::Words(AsciiLetters::new(isa), Arc::clone(words))
            }
            // Of no collection no word is frequent.
            (Terms::MostFrequent { .. }, Fitted::Nothing | Fitted::Frequencies { .. }) => {
                let none = Arc::new(Vocabulary::of_candidates(Vec::new(), 0));
                Self::Words(AsciiLetters::new(isa), none)
            }
        }
    }

    /// Bytes of text for each term, about.
    pub(in crate::pipeline) fn bytes_a_term(&self) -> u64 {
        match self {
            Self::Shingles { tokens: Tokens::Characters, .. } => 1,
            Self::Shingles { tokens: Tokens::Words, .. } | Self::Words(..) => 6,
        }
    }

    /// The terms of a text, one per occurrence, in order.
    pub(in crate::pipeline) fn of<'s>(
        &self,
        text: &[u8],
        scratch: &'s mut TermScratch,
    ) -> &'s mut Vec<u64> {
        let TermScratch { tokens, batch, ranks, terms } = scratch;
        terms.clear();
        match self {
            Self::Shingles { tokenizer, shingles, .. } => {
                tokens.clear();
                tokenizer.tokenize(text, tokens);
                shingles.extract(&tokens.hashes, terms);
            }
            Self::Words(tokenizer, words) => tokenizer.tokenize(text, batch, |piece, batch| {
                ranks.clear();
                words.ranks(piece, batch, ranks);
                terms.extend(ranks.iter().copied().map(u64::from));
            }),
        }
        terms
    }
}
