//! Fingerprints to rows within a distance: exact Hamming search and joins.
//!
//! The stage knows only bits: lanes in, row numbers and distances out. A distance is the number of
//! differing bits, and every limit is inclusive.

pub mod collect;
#[cfg(test)]
mod conformance;
pub mod grouping;
pub mod linear_scan;
mod parallel_partition;
pub mod partition_join;
mod recursion;
mod split;

use crate::fingerprint_table::Lane;
use crate::validity::Validity;

/// A lane that can be searched, and the word in which the joins carry it.
pub trait SearchLane: Lane {
    /// The lane itself, or 64 bits where it has fewer.
    type Wide: Lane;

    /// The lane's bits, widened with zeros.
    #[inline]
    fn to_wide(self) -> Self::Wide {
        Self::Wide::narrow(self.widen())
    }
}

impl SearchLane for u16 {
    type Wide = u64;
}
impl SearchLane for u32 {
    type Wide = u64;
}
impl SearchLane for u64 {
    type Wide = Self;
}
impl SearchLane for u128 {
    type Wide = Self;
}

/// Fingerprints to be searched, one lane a row, and which rows have one.
///
/// A row without a fingerprint matches nothing and keeps its number. There are at most 2^32 - 2
/// rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, L> {
    /// The fingerprints; what a row without one holds means nothing.
    pub lanes: &'a [L],
    /// Which rows have one; all of them if absent.
    pub validity: Option<&'a Validity>,
}

impl<'a, L> Rows<'a, L> {
    /// Rows that all have a fingerprint.
    pub fn all(lanes: &'a [L]) -> Self {
        Self { lanes, validity: None }
    }
}
