//! The plain loop of [`crate::hamming_scan`].

use simtool_model::fingerprint_table::Lane;

/// Compares one row after the other with the query, and appends the hits. `first_row` is the number
/// of the first row.
#[inline(always)]
pub(crate) fn plain<L: Lane>(
    corpus: &[L],
    query: L,
    first_row: u64,
    max_distance: u32,
    hits: &mut Vec<u64>,
) {
    for (row, &lane) in (first_row..).zip(corpus) {
        let distance = (lane ^ query).count_ones();
        if distance <= max_distance {
            hits.push(row << 32 | u64::from(distance));
        }
    }
}
