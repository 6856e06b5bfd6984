//! Tokens → features. What is learned from the corpus is learned here.

pub mod shingles;
pub mod vocabulary;
pub mod word_counter;
pub mod word_table;
