//! Generates collections with known near-duplicates, for demonstrations, tests and benchmarks.
//!
//! The text is made of invented words, so it needs no licence. The frequencies of words follow the
//! Zipf–Mandelbrot law. The lengths of documents have a log-normal distribution. The number of different
//! words grows with the square root of the length of the text. All random numbers are integers, so a seed
//! gives the same bytes on every machine.
//!
//! [`labelled`] generates documents of real words with edits of known strength. [`crawl`] generates readable
//! pages about an invented valley.

pub mod collection;
#[cfg(feature = "parquet")]
pub mod crawl;
#[cfg(feature = "parquet")]
mod crawl_files;
#[cfg(feature = "parquet")]
mod crawl_page;
mod document;
pub mod labelled;
mod random;
mod vocabulary;

pub use vocabulary::stop_words;
