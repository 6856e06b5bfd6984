//! Textbook methods: easy to understand and to trust, and slower than the others for most workloads.
//!
//! They answer `simtool search --index NAME`, and the tests compare every other method with them.

pub mod bit_probing;
pub mod expanded_set;
pub mod permuted_tables;
