//! Terms to one row of lanes.
//!
//! Input: the terms of one document. Output: its fingerprint, or none where there are too few
//! features. Not here: how fingerprints are compared (`search`).

mod hashed_simhash;

pub use hashed_simhash::HashedSimhash;
