//! Text → tokens. One file per tokenizer; a tokenizer knows nothing of documents or features.

pub mod ascii_letters;
pub mod stop_words;
