//! The plain loop of [`crate::hamming_scan`].

use simtool_model::fingerprint_table::Fingerprint;

/// Compares one row of `corpus` after the other with the query. Appends a hit, `row << 32 | distance`, for each row
/// within `max_distance`. `first_row` is the number of the first row.
#[inline(always)]
pub(crate) fn plain<L: Fingerprint>(
    corpus: &[L],
    query: L,
    first_row: u64,
    max_distance: u32,
    hits: &mut Vec<u64>,
) {
    for (row, &fingerprint) in (first_row..).zip(corpus) {
        let distance = (fingerprint ^ query).count_ones();
        if distance <= max_distance {
            hits.push(row << 32 | u64::from(distance));
        }
    }
}
