//! The test of a pair, and the plain loop of [`crate::hamming_accept`].

use simtool_model::fingerprint_table::{Lane, Reach};

/// The conditions on an accepted pair.
#[derive(Clone, Copy, Debug)]
pub struct PairTest<'a, L> {
    /// The pair is no farther apart than this.
    pub reach: Reach,
    /// The pair agrees in all of these bits.
    pub equal: L,
    /// The pair differs somewhere in each of these masks.
    pub unequal: &'a [L],
}

impl<L: Lane> PairTest<'_, L> {
    /// Returns the distance of a pair with these differing bits, if the pair is accepted.
    #[inline(always)]
    pub fn distance(&self, difference: L) -> Option<u32> {
        let distance = self.reach.distance(difference)?;
        let accepted = difference & self.equal == L::ZERO
            && self.unequal.iter().all(|&mask| difference & mask != L::ZERO);
        accepted.then_some(distance)
    }
}

/// Checks one pair after the other.
#[inline(always)]
pub(crate) fn plain<L: Lane>(
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
