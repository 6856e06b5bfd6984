//! Fingerprints to rows within a distance: exact Hamming search and joins; sets of terms to rows
//! that are alike.
//!
//! The stage knows only bits and terms: lanes in, row numbers and distances out. A distance is the
//! number of differing bits, and every limit is inclusive.

pub mod linear_scan;
pub mod set_join;
