//! Text → tokens. One file per tokenizer; a tokenizer knows nothing of documents or features.

pub mod ascii_letters;
pub mod characters;
pub mod hashed_tokens;
mod normalize;
pub mod stop_words;
pub mod unicode_words;
