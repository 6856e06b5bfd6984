//! The plain loop of [`crate::weighted_majority`].

/// Returns for each bit the sum of the weights of the rows in which the bit is set. The sum of all
/// weights must fit in 32 bits.
#[inline(always)]
pub(crate) fn bit_weights(rows: &[u64], weights: &[u32]) -> [u32; 64] {
    let mut all = [0; 64];
    // Sums of half of the bits stay in registers.
    for (sums, shift) in all.as_chunks_mut::<32>().0.iter_mut().zip([0, 32]) {
        let mut lanes = [0_u32; 32];
        for (row, weight) in rows.iter().zip(weights) {
            let bits = (row >> shift) as u32;
            for (bit, lane) in (0..).zip(&mut lanes) {
                *lane += weight & (bits >> bit & 1).wrapping_neg();
            }
        }
        *sums = lanes;
    }
    all
}
