//! Converts the tokens of documents to terms with weights. Learns the most frequent words and the document frequencies
//! of a collection, which some methods need.

pub mod frequencies;
pub mod idf_band;
pub mod shingles;
mod term_table;
pub mod vocabulary;
pub mod weighting;
pub mod weights;
pub mod word_counter;
pub mod word_table;
