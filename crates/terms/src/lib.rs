//! Converts text to weighted terms: rules for texts, tokenizers, shingles, vocabularies and weights.

pub mod extract;
pub mod text_rules;
#[doc(hidden)]
pub mod token_batch;
pub mod tokenize;
