//! Similarity of two sets as a ratio of whole numbers, and the threshold that it must reach.
//!
//! Everything is compared by products of integers: in floating point 0.8 / 1.8 * 63 is a little
//! more than 28, and a pair would be lost.

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The Jaccard similarity of two sets: shared elements over elements of either.
///
/// Equal ratios are equal: 1/2 and 2/4. Elements may have weights, whose sums are counted.
#[derive(Clone, Copy, Debug)]
pub struct Similarity {
    /// Elements in both sets.
    pub shared: u64,
    /// Elements in at least one; not 0.
    pub union: u64,
}

impl Similarity {
    /// Of equal sets.
    pub const ONE: Self = Self { shared: 1, union: 1 };

    /// Of two sets of the given sizes; at least one is not empty.
    #[must_use]
    pub fn of_sizes(shared: u64, left: u64, right: u64) -> Self {
        Self { shared, union: left - shared + right }
    }

    /// The ratio, as near as a float comes to it.
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
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.shared, other.union).cmp(&product(other.shared, self.union))
    }
}

/// A threshold a/c of Jaccard similarity, 0 < a <= c, and the bounds that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u32,
    denominator: u32,
}

/// Denominators up to this leave room for products with any number of elements.
const MAX_DENOMINATOR: u32 = 1_000_000_000;

impl Threshold {
    /// The one that is taken where none is given: 0.8.
    pub const DEFAULT: Self = Self { numerator: 8, denominator: 10 };

    /// The threshold `numerator / denominator`.
    ///
    /// # Errors
    /// If the ratio is not above 0 and at most 1, or the denominator is above 10^9.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self> {
        if numerator == 0 || numerator > denominator || denominator > MAX_DENOMINATOR {
            return Err(Self::rule("similarity", format!("{numerator}/{denominator}")));
        }
        Ok(Self { numerator, denominator })
    }

    fn rule(option: &'static str, value: impl fmt::Display) -> Error {
        Error::config(option, value, "must be above 0 and at most 1, as 0.8 or 4/5")
    }

    /// Reads `0.8`, `.75`, `1` or `4/5`, the value of `option`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn parse(option: &'static str, text: &str) -> Result<Self> {
        let ratio = || {
            if let Some((numerator, denominator)) = text.split_once('/') {
                return Some((numerator.parse().ok()?, denominator.parse().ok()?));
            }
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            if fraction.len() > 9 || !digits(whole) || !digits(fraction) || text.len() > 12 {
                return None;
            }
            let denominator = 10_u32.pow(fraction.len() as u32);
            Some((format!("0{whole}{fraction}").parse().ok()?, denominator))
        };
        let (numerator, denominator) = ratio().ok_or_else(|| Self::rule(option, text))?;
        Self::new(numerator, denominator).map_err(|_| Self::rule(option, text))
    }

    /// Numerator and denominator.
    #[must_use]
    pub fn fraction(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// The ratio, as near as a float comes to it.
    #[must_use]
    pub fn ratio(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Whether sets with that many shared elements and that many in either are alike enough.
    #[must_use]
    pub fn holds(self, similarity: Similarity) -> bool {
        let product = |a: u32, b: u64| u128::from(a) * u128::from(b);
        product(self.denominator, similarity.shared) >= product(self.numerator, similarity.union)
    }

    /// The smallest set that can be alike enough to one of `size` elements.
    #[inline]
    #[must_use]
    pub fn min_size(self, size: u32) -> u32 {
        let product = u64::from(self.numerator) * u64::from(size);
        product.div_ceil(u64::from(self.denominator)) as u32
    }

    /// The elements of a set of `size` that its partner may lack.
    #[inline]
    #[must_use]
    pub fn max_unshared(self, size: u32) -> u32 {
        size - self.min_size(size)
    }

    /// The elements that are in one only of two sets of these sizes that are alike enough, at the
    /// most.
    #[inline]
    #[must_use]
    pub fn max_difference(self, left: u32, right: u32) -> u32 {
        (left + right).saturating_sub(2 * self.min_shared(left, right))
    }

    /// What a set of `size` elements adds to [`Self::max_difference`], about: that of two sets is at
    /// most their sum and 1.
    #[inline]
    #[must_use]
    pub fn difference_share(self, size: u32) -> u32 {
        let (a, c) = (u64::from(self.numerator), u64::from(self.denominator));
        (u64::from(size) * (c - a) / (a + c)) as u32
    }

    /// The elements that two sets of these sizes must share.
    #[inline]
    #[must_use]
    pub fn min_shared(self, left: u32, right: u32) -> u32 {
        let (a, c) = (u64::from(self.numerator), u64::from(self.denominator));
        (a * (u64::from(left) + u64::from(right))).div_ceil(a + c) as u32
    }
}

impl fmt::Display for Threshold {
    /// As it was given: a decimal, or a ratio.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.denominator.ilog10();
        match 10_u32.pow(digits) == self.denominator {
            true if digits == 0 => write!(f, "{}", self.numerator),
            true => {
                let (whole, fraction) =
                    (self.numerator / self.denominator, self.numerator % self.denominator);
                write!(f, "{whole}.{fraction:0width$}", width = digits as usize)
            }
            false => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    /// Reads `0.8`, `.75`, `1` or `4/5`.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse("similarity", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_exactly() {
        for (text, numerator, denominator) in
            [("0.8", 8, 10), (".75", 75, 100), ("1", 1, 1), ("4/5", 4, 5), ("1.0", 10, 10)]
        {
            let expected = Threshold::new(numerator, denominator).unwrap();
            assert_eq!(text.parse::<Threshold>().unwrap(), expected);
        }
        for text in ["", "0", "1.1", "-1", "0.8x", "1/0", "5/4", "a/b", ".", "0.12345678901", "1e1"]
        {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("similarity {text}:")), "{error}");
        }
    }

    #[test]
    fn bounds_are_exact_where_floating_point_is_not() {
        let threshold: Threshold = "0.8".parse().unwrap();
        assert_eq!(threshold.min_shared(31, 32), 28);
        for (size, smallest, unshared) in [(1, 1, 0), (5, 4, 1), (6, 5, 1), (10, 8, 2)] {
            assert_eq!(threshold.min_size(size), smallest);
            assert_eq!(threshold.max_unshared(size), unshared);
        }
        assert_eq!(threshold.max_difference(31, 32), 7);
        for (left, right) in (0..300).flat_map(|left| (0..300).map(move |right| (left, right))) {
            for threshold in
                [threshold, Threshold::new(1, 1).unwrap(), Threshold::new(1, 7).unwrap()]
            {
                let shares = threshold.difference_share(left) + threshold.difference_share(right);
                assert!(threshold.max_difference(left, right) <= shares + 1);
            }
        }
        assert!(threshold.holds(Similarity { shared: 4, union: 5 }));
        assert!(!threshold.holds(Similarity { shared: 79, union: 99 }));
    }

    #[test]
    fn equal_ratios_are_equal() {
        let of = |shared, union| Similarity { shared, union };
        assert_eq!(of(1, 2), of(2, 4));
        assert!(of(2, 3) > of(1, 2));
        assert_eq!(Similarity::of_sizes(2, 3, 3), of(2, 4));
        assert_eq!(Similarity::ONE, of(7, 7));
    }

    #[test]
    fn sums_beyond_32_bits_are_compared_exactly() {
        let most = u64::MAX;
        let of = |shared, union| Similarity { shared, union };
        assert!(of(most - 1, most) < of(most, most));
        assert!(of(most / 2, most) < of(most / 2 + 1, most));
        assert_eq!(of(most / 3, most), of(1, 3));
        assert_eq!(Similarity::of_sizes(1 << 40, 1 << 40, 1 << 41).union, 1 << 41);
        assert_eq!(Similarity::of_sizes(most, most, most), Similarity::ONE);
        let threshold = Threshold::new(999_999_999, MAX_DENOMINATOR).unwrap();
        assert!(threshold.holds(of(999_999_999 << 34, 1_000_000_000 << 34)));
        assert!(!threshold.holds(of((999_999_999 << 34) - 1, 1_000_000_000 << 34)));
        // The bounds of the largest sets.
        let (most, half) = (u32::MAX, Threshold::new(1, 2).unwrap());
        assert_eq!((half.min_size(most), half.max_unshared(most)), (1 << 31, (1 << 31) - 1));
        assert_eq!(half.min_shared(most, most), 2_863_311_530);
        assert_eq!(threshold.min_shared(most, most), most - 2);
    }
}
