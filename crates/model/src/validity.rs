//! A bitmap of the documents that have a fingerprint. A document without words has none.

/// Bitmap with one bit for each document, called row. The bit is 1 if the document has a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validity {
    words: Vec<u64>,
    rows: usize,
}

impl Validity {
    /// Creates the bitmap of `rows` rows that all have a fingerprint.
    #[must_use]
    pub fn all(rows: usize) -> Self {
        let mut words = vec![u64::MAX; rows.div_ceil(64)];
        // Bits beyond the last row must be 0, since files store the words and a reader refuses
        // other bits.
        if let (Some(last), true) = (words.last_mut(), !rows.is_multiple_of(64)) {
            *last = (1 << (rows % 64)) - 1;
        }
        Self { words, rows }
    }

    /// Marks the row with index `row` as a row without a fingerprint.
    ///
    /// # Panics
    ///
    /// There is no such row.
    pub fn clear(&mut self, row: usize) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        self.words[row / 64] &= !(1 << (row % 64));
    }

    /// Returns whether the row with index `row` has a fingerprint. Returns `false` for an index beyond the last row.
    #[inline]
    #[must_use]
    pub fn has_value(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Returns the number of all rows, with or without a fingerprint.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the bitmap as 64-bit words. Row 0 is the lowest bit of the first word. Bits beyond the last row are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Creates the bitmap of `rows` rows from 64-bit words in the form of [`Self::words`]. Returns `None` if the number
    /// of words does not fit `rows`, or if a bit beyond the last row is set.
    #[must_use]
    pub fn from_words(words: Vec<u64>, rows: usize) -> Option<Self> {
        let fits = words.len() == rows.div_ceil(64)
            && (rows.is_multiple_of(64)
                || words.last().is_none_or(|word| word >> (rows % 64) == 0));
        fits.then_some(Self { words, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_and_taken_away() {
        for rows in [0, 1, 63, 64, 65, 130] {
            let valid_rows = |of: &Validity| (0..rows).filter(|&row| of.has_value(row)).count();
            let mut validity = Validity::all(rows);
            assert_eq!((validity.len(), valid_rows(&validity)), (rows, rows));
            assert!(!validity.has_value(rows));
            if rows > 1 {
                validity.clear(1);
                assert!(!validity.has_value(1) && validity.has_value(0));
                assert_eq!(valid_rows(&validity), rows - 1);
            }
            let words = validity.words().to_vec();
            assert_eq!(Validity::from_words(words, rows), Some(validity));
        }
        assert_eq!(Validity::from_words(vec![0b100], 2), None);
        assert_eq!(Validity::from_words(vec![], 2), None);
    }
}
