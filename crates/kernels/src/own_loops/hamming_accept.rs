//! The test of a pair, and the plain loop of [`crate::hamming_accept`].

use simtool_model::fingerprint_table::{Fingerprint, Reach};

/// The conditions that a pair of fingerprints must meet to be accepted.
#[derive(Clone, Copy, Debug)]
pub struct PairTest<'a, L> {
    /// Shape of the fingerprints, and the maximum distance of the pair.
    pub reach: Reach,
    /// Mask of bits in which the fingerprints of the pair must be equal.
    pub equal: L,
    /// Masks of bits. The fingerprints of the pair must differ in at least one bit of each mask.
    pub unequal: &'a [L],
}

impl<L: Fingerprint> PairTest<'_, L> {
    /// Returns the distance of a pair, or `None` if the pair is not accepted. `difference` is the
    /// XOR of its fingerprints.
    #[inline(always)]
    pub fn distance(&self, difference: L) -> Option<u32> {
        let distance = self.reach.distance(difference)?;
        let accepted = difference & self.equal == L::ZERO
            && self.unequal.iter().all(|&mask| difference & mask != L::ZERO);
        accepted.then_some(distance)
    }
}

/// Tests the candidate pairs of the fingerprints `values[rows[i]]` and `values[columns[i]]`, one after the other.
/// Calls `sink` with `rows[i]`, `columns[i]` and the distance of each pair that meets the conditions of `test`.
#[inline(always)]
pub(crate) fn plain<L: Fingerprint>(
    values: &[L],
    rows: &[u32],
    columns: &[u32],
    test: &PairTest<'_, L>,
    sink: &mut impl FnMut(u32, u32, u32),
) {
    for (&row, &column) in rows.iter().zip(columns) {
        let difference = values[row as usize] ^ values[column as usize];
        if let Some(distance) = test.distance(difference) {
            sink(row, column, distance);
        }
    }
}
