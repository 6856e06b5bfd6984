//! Joins of sets of terms.

pub mod set_join;
