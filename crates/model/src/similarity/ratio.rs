//! The similarity of two sets as a ratio of whole numbers.

use std::cmp::Ordering;

/// The similarity of two sets as an exact ratio. Ratios compare by value, so 1/2 equals 2/4.
///
/// ```
/// use simtool_model::similarity::Similarity;
///
/// let similarity = Similarity::of_sizes(2, 3, 3);
/// assert_eq!(similarity, Similarity { shared: 1, union: 2 });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Similarity {
    /// The numerator: for Jaccard similarity, the number of elements in both sets.
    pub shared: u64,
    /// The denominator, which is not 0: for Jaccard similarity, the number of elements in either set.
    pub union: u64,
}

impl Similarity {
    /// The ratio 1, which is the similarity of equal sets.
    pub const ONE: Self = Self { shared: 1, union: 1 };

    /// The similarity 0.999999 of texts that are not equal, although their sets of terms are equal.
    pub const ALMOST_ONE: Self = Self { shared: 999_999, union: 1_000_000 };

    /// Returns the Jaccard similarity of two sets of sizes `left` and `right` with `shared` common
    /// elements. At least one set must not be empty.
    #[must_use]
    pub fn of_sizes(shared: u64, left: u64, right: u64) -> Self {
        Self { shared, union: left - shared + right }
    }

    /// Returns [`Self::ALMOST_ONE`] if the similarity is 1, otherwise the similarity itself.
    #[must_use]
    pub fn below_one(self) -> Self {
        if self == Self::ONE { Self::ALMOST_ONE } else { self }
    }

    /// Returns the ratio as the nearest floating-point number.
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.shared as f64 / self.union as f64
    }
}

impl PartialEq for Similarity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Similarity {}

impl PartialOrd for Similarity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Similarity {
    fn cmp(&self, other: &Self) -> Ordering {
        // Products of whole numbers compare the ratios exactly. Two different ratios can have the
        // same nearest float, and then the order of pairs would depend on rounding.
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.shared, other.union).cmp(&product(other.shared, self.union))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal() {
        let of = |shared, union| Similarity { shared, union };
        assert_eq!(of(1, 2), of(2, 4));
        assert!(of(2, 3) > of(1, 2));
        assert_eq!(Similarity::of_sizes(2, 3, 3), of(2, 4));
        assert_eq!(Similarity::ONE, of(7, 7));
    }
}
