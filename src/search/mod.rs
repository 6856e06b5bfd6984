//! Fingerprints to rows within a distance: exact Hamming search and joins.
//!
//! The stage knows only bits: lanes in, row numbers and distances out. A distance is the number of
//! differing bits, and every limit is inclusive.

pub mod linear_scan;
