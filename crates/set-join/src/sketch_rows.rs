//! The rows of bits of sketches.
//!
//! Each term is hashed to one bit of the row. The bit is 1 if the number of terms with this bit is
//! odd. Terms that two sets share cancel out in the XOR of the rows. So the number of different
//! bits is at most the number of terms that only one of the sets has. Rows have at least six bits
//! for each term by which similar sets may differ, so the rows of other sets usually differ in more
//! bits. The XOR of the two halves of a row is the row of half the length, so rows of different
//! lengths can be compared, too.
//!
//! # References
//! E. Sandes, G. Teodoro, A. Melo. Bitmap filter: speeding up exact set similarity joins with
//! bitwise operations. Information Systems 88, 2020.

use simtool_model::similarity::Threshold;

/// Description of the memory for sketches. Out-of-memory messages contain it.
pub(super) const SKETCHES: &str = "the sketches of the documents";
/// Number of bits of a sketch's row for each term by which similar sets may differ. With half as many
/// bits, sketches would often be similar although the sets are just below the threshold. Pages of one
/// template are an example. Such documents would be read again for nothing.
const BITS_A_DIFFERENCE: u64 = 6;
/// Maximum number of 64-bit words in the row of bits of a sketch. Such a row has 2³² bits, and the
/// upper 32 bits of a term choose the term's bit.
const MOST_WORDS: u64 = 1 << 26;

/// Returns the number of 64-bit words in the row of bits of a set with `size` terms. It is a power of
/// two. A larger set never has a shorter row.
pub(super) fn words_of(size: u32, threshold: Threshold) -> usize {
    let difference = u64::from(threshold.difference_share(size)) * 2;
    let words = (difference * BITS_A_DIFFERENCE).div_ceil(64);
    // Folding halves a row, so only powers of two can be folded to every shorter length.
    words.clamp(1, MOST_WORDS).next_power_of_two() as usize
}

/// Estimates the number of terms that only one of two sets has. `distance` is the number of bits in which their rows of
/// `bits` bits differ. Several of these terms may have the same bit.
pub(super) fn difference_of(distance: u32, bits: usize) -> f64 {
    let bits = bits as f64;
    let equal = (1.0 - 2.0 * f64::from(distance) / bits).max(1.0 / bits);
    -bits / 2.0 * equal.ln()
}

/// Estimates the bytes of the sketches of sets that have `terms` terms in total. The estimate is at
/// least one byte per term. It includes two copies of all rows, because they are copied when they are
/// sorted. It also allows for row lengths that are rounded up to powers of two.
pub(super) fn planned_bytes(terms: u64, threshold: Threshold) -> u64 {
    const TERMS: u32 = 1000;
    let difference = u64::from(threshold.difference_share(TERMS)) * 2;
    let bits = terms.saturating_mul(difference * BITS_A_DIFFERENCE * 3) / u64::from(TERMS);
    (bits / 8).max(terms)
}

/// The row of bits of a set, followed by all shorter rows of the same set. Each row is half as long as the row before
/// it. All are in one list, so that the set can be compared with sets that have shorter rows.
#[derive(Debug, Default)]
pub(super) struct FoldedRow(Vec<u64>);

impl FoldedRow {
    /// Replaces all rows by `row` and the shorter rows that are computed from it. The number of 64-bit words of `row`
    /// is a power of two.
    pub(super) fn replace(&mut self, row: &[u64]) {
        let rows = &mut self.0;
        rows.clear();
        rows.extend_from_slice(row);
        let (mut start, mut words) = (0, row.len());
        while words > 1 {
            let half = words / 2;
            // A term's bit in the shorter row is its bit in the longer row modulo the length, so the
            // sum of the halves is exactly the row that the set would have at that length.
            for at in start..start + half {
                rows.push(rows[at] ^ rows[at + half]);
            }
            (start, words) = (start + words, half);
        }
    }

    /// Returns the row of `words` 64-bit words, which is a power of two and at most the length of the longest row.
    #[inline]
    pub(super) fn of_words(&self, words: usize) -> &[u64] {
        // All shorter rows together have one word less than the row itself.
        let start = self.0.len() + 1 - 2 * words;
        &self.0[start..start + words]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_take_about_as_many_bytes_as_are_planned_with() {
        for tenths in [1, 3, 5, 6, 7, 9] {
            let threshold = Threshold::new(tenths, 10).unwrap();
            let sizes = 100_u32..10_000;
            let taken: usize = sizes.clone().map(|size| words_of(size, threshold) * 8 * 2).sum();
            let terms = u64::from(sizes.sum::<u32>());
            let planned = planned_bytes(terms, threshold);
            let times = planned as f64 / taken as f64;
            let is_least = planned == terms;
            assert!(times > 0.8 && (is_least || times < 1.25), "{threshold:?}: {times}");
        }
    }
}
