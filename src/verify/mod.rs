//! Candidate pairs → the exact similarity of the two documents.

pub mod jaccard;
