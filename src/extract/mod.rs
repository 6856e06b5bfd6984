//! Tokens → features. What is learned from the corpus is learned here.

pub mod frequencies;
pub mod idf_band;
pub mod shingles;
mod term_table;
pub mod vocabulary;
pub mod weighting;
pub mod word_counter;
pub mod word_table;
