//! Tokens to terms.
//!
//! Input: the token hashes of one document. Output: its terms, one per occurrence, appended to a
//! buffer. Not here: how text becomes tokens (`tokenize`), what is made of terms (`fingerprint`,
//! `search`).

mod shingles;

pub use shingles::Shingles;
