//! Seed → form-feed collections with known near-duplicates, for demonstrations, tests and
//! benchmarks.
//!
//! The text is made of pronounceable words that nobody has to license: their frequencies follow
//! the Zipf–Mandelbrot law, the lengths of the documents a log-normal distribution, and the
//! vocabulary grows with the square root of the text. Everything is drawn with integers, so a seed
//! gives the same bytes on every machine.
//!
//! [`labelled`] makes documents of real words, edited by known amounts. [`pages`] makes a crawl of real pages instead.

pub mod collection;
#[cfg(feature = "parquet")]
pub mod crawl;
#[cfg(feature = "parquet")]
pub mod crawl_files;
mod document;
pub mod labelled;
#[cfg(feature = "parquet")]
pub mod pages;
mod random;
mod vocabulary;

pub use vocabulary::stop_words;
