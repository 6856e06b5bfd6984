//! Turns text into weighted terms: tokenizers, shingles, vocabularies and weights.

pub mod extract;
#[doc(hidden)]
pub mod token_batch;
pub mod tokenize;
