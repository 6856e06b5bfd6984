//! Generates collections with known near-duplicates, for demonstrations, tests and benchmarks.
//!
//! The text is made of invented words, so it needs no licence. The frequencies of words follow the
//! Zipf–Mandelbrot law, the lengths of documents a log-normal distribution, and the vocabulary grows with
//! the square root of the text. All random numbers are integers, so a seed gives the same bytes on every
//! machine.
//!
//! [`labelled`] generates documents of real words with edits of known strength. [`pages`] turns a folder of
//! existing HTML pages into the files of a crawl.

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
