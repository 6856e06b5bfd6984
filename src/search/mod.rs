//! Fingerprints or sets of terms to rows that are alike.

pub mod set_join;
