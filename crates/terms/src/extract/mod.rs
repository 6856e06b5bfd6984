//! Turns tokens into features, and learns the vocabulary and the frequencies that features need from
//! the collection.

pub mod frequencies;
pub mod idf_band;
pub mod shingles;
mod term_table;
pub mod vocabulary;
pub mod weighting;
pub mod weights;
pub mod word_counter;
pub mod word_table;
