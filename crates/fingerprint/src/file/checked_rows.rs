//! Properties of rows that not every file format can hold.

use simtool_model::fingerprint_rows::FingerprintRows;

/// Returns the numbers of the rows without a fingerprint.
pub(super) fn missing_rows(rows: &FingerprintRows<'_>) -> impl Iterator<Item = usize> {
    let count = if rows.validity.is_some() { rows.len() } else { 0 };
    (0..count).filter(|&row| !rows.has_fingerprint(row))
}

/// Whether all bits beyond the width of a fingerprint are zero in each row that has a fingerprint.
pub(super) fn ends_in_zeros(rows: &FingerprintRows<'_>) -> bool {
    // Distances count all bits of a word. A bit behind the row's own bits would count as a
    // difference.
    let used = rows.shape.row_bits() % u64::BITS;
    used == 0 || (0..rows.len()).filter_map(|row| rows.row(row)?.last()).all(|&w| w >> used == 0)
}
