//! Textbook methods for finding near fingerprints. They are easy to understand and to trust, but slower
//! than the other methods for most workloads.
//!
//! They answer `simtool search --index NAME`, and tests compare every other method with them.

pub mod bit_probing;
pub mod expanded_set;
pub mod permuted_tables;
