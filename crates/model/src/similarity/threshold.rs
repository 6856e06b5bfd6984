//! The similarity threshold that a pair must reach, and the bounds that follow from it.

use super::cosine::COSINE;
use super::jaccard::JACCARD;
use super::measure::{Bounds, Formula, Measure};
use super::ratio::Similarity;
use super::root_bounds::{self, MAX_DENOMINATOR};
use super::{MEASURES, measure};
use simtool_base::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Smallest similarity of a pair that counts as similar, together with its measure, for example a Jaccard similarity of
/// 4/5. The similarity is a fraction above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u32,
    denominator: u32,
    measure: &'static Measure,
    bounds: Bounds,
}

impl Threshold {
    /// The default threshold: a Jaccard similarity of 0.8.
    pub const DEFAULT: Self = Self::with(8, 10, &JACCARD);

    /// The default threshold of web pages: a Jaccard similarity of 0.65. It is lower because the texts of pages have
    /// remains of templates.
    pub const DEFAULT_OF_PAGES: Self = Self::with(65, 100, &JACCARD);

    /// The default threshold of the cosine: 0.9. Sets of equal size with a Jaccard similarity of 0.8 have a cosine
    /// of 0.89.
    pub const DEFAULT_COSINE: Self = Self::with(9, 10, &COSINE);

    const fn with(numerator: u32, denominator: u32, measure: &'static Measure) -> Self {
        let bounds = Bounds::new(numerator, denominator, measure);
        Self { numerator, denominator, measure, bounds }
    }

    /// Creates the threshold `numerator / denominator` for Jaccard similarity.
    ///
    /// # Errors
    ///
    /// The ratio is 0 or above 1, or the denominator is above 10⁹.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self> {
        if numerator == 0 || numerator > denominator || denominator > MAX_DENOMINATOR {
            return Err(Self::rule("similarity", format!("{numerator}/{denominator}")));
        }
        Ok(Self::with(numerator, denominator, &JACCARD))
    }

    fn rule(option: &'static str, value: impl fmt::Display) -> Error {
        Error::config(option, value, "must be above 0 and at most 1, as 0.8 or 4/5")
    }

    /// Parses a threshold of Jaccard similarity, such as `0.8`, `.75`, `1` or `4/5`. If a decimal has more than 9
    /// digits after the point, it probably is a computed floating-point number. It is read as the simplest ratio within
    /// 10⁻¹⁵, for example `0.3333333333333333` as 1/3. `option` is the name of the setting for the error message.
    ///
    /// # Errors
    ///
    /// The text is not a number of this form, or one of the errors of [`Self::new`].
    pub fn parse(option: &'static str, text: &str) -> Result<Self> {
        let ratio = || {
            if let Some((numerator, denominator)) = text.split_once('/') {
                return Some((numerator.parse().ok()?, denominator.parse().ok()?));
            }
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            // The digits are read as whole numbers, never as a float, so that 0.8 is exactly 8/10.
            if !digits(whole) || !digits(fraction) || whole.len() > 2 {
                return None;
            }
            if fraction.len() > 9 {
                return simplest_ratio(whole, fraction);
            }
            let denominator = 10_u32.pow(fraction.len() as u32);
            Some((format!("0{whole}{fraction}").parse().ok()?, denominator))
        };
        let (numerator, denominator) = ratio().ok_or_else(|| Self::rule(option, text))?;
        Self::new(numerator, denominator).map_err(|_| Self::rule(option, text))
    }

    /// Parses a threshold with the name of its measure in front, such as `cosine:0.8`. Without a
    /// name, the measure is Jaccard similarity. `option` is the name of the setting for the error
    /// message.
    ///
    /// # Errors
    ///
    /// There is no such measure, or one of the errors of [`Self::parse`].
    pub fn parse_measured(option: &'static str, text: &str) -> Result<Self> {
        let Some((name, ratio)) = text.split_once(':') else { return Self::parse(option, text) };
        let Some(measure) = measure(name) else {
            let names: Vec<&str> = MEASURES.iter().map(|measure| measure.name).collect();
            let rule = format!("measures are {}", names.join(", "));
            return Err(Error::config(option, text, rule));
        };
        Ok(Self::parse(option, ratio)?.of(measure))
    }

    /// Returns a threshold with the same ratio for another measure.
    #[must_use]
    pub fn of(self, measure: &'static Measure) -> Self {
        Self::with(self.numerator, self.denominator, measure)
    }

    /// Returns the measure of the threshold.
    #[must_use]
    pub fn measure(self) -> &'static Measure {
        self.measure
    }

    /// Returns the similarity of two sets of sizes `left` and `right` with `shared` common
    /// elements, by the measure of this threshold. Neither set may be empty.
    ///
    /// A cosine is rounded down to a fraction whose denominator is a multiple of the threshold's
    /// denominator, so rounding never moves it across the threshold.
    #[must_use]
    pub fn similarity(self, shared: u64, left: u64, right: u64) -> Similarity {
        match self.measure.formula {
            Formula::Ratio(ratio) => ratio.similarity(shared, left, right),
            Formula::Cosine => root_bounds::similarity(self.denominator, shared, left, right),
        }
    }

    /// Returns the similarity of two sets of sizes `left` and `right` with `shared` common elements, or `None` if the
    /// similarity is below the threshold or `shared` is 0.
    #[must_use]
    pub fn reached(self, shared: u64, left: u64, right: u64) -> Option<Similarity> {
        // Two sets without a common element are never similar, however low the threshold is. The
        // joins only find pairs that share an element.
        if shared == 0 {
            return None;
        }
        Some(self.similarity(shared, left, right)).filter(|&similarity| self.holds(similarity))
    }

    /// Returns numerator and denominator of the threshold.
    #[must_use]
    pub fn fraction(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// Returns the threshold as the nearest floating-point number.
    #[must_use]
    pub fn ratio(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Returns whether `similarity` reaches the threshold, which is inclusive.
    #[must_use]
    pub fn holds(self, similarity: Similarity) -> bool {
        let product = |a: u32, b: u64| u128::from(a) * u128::from(b);
        product(self.denominator, similarity.shared) >= product(self.numerator, similarity.union)
    }

    /// Returns whether only equal sets have the similarity 1, by the measure of the threshold.
    #[must_use]
    pub fn is_one_for_equal_sets_only(self) -> bool {
        self.similarity(1, 1, 2) != Similarity::ONE
    }

    /// Returns the size of the smallest set that can reach the threshold with a set of `size`
    /// elements.
    #[inline]
    #[must_use]
    pub fn min_size(self, size: u32) -> u32 {
        self.bounds.min_size(size.into()) as u32
    }

    /// Returns the largest number of elements of a set of `size` elements that a similar set may lack. A similar set is
    /// one that reaches the threshold.
    #[inline]
    #[must_use]
    pub fn max_unshared(self, size: u32) -> u32 {
        // The smallest similar set shares the fewest elements: all elements that it has.
        size - self.min_size(size)
    }

    /// Returns the largest number of elements that are in only one of two similar sets of sizes `left` and `right`.
    #[inline]
    #[must_use]
    pub fn max_difference(self, left: u32, right: u32) -> u32 {
        (left + right).saturating_sub(2 * self.min_shared(left, right))
    }

    /// Returns the smallest total weight of a set that can reach the threshold with a set of total
    /// weight `weight`.
    #[must_use]
    pub fn min_weight(self, weight: u64) -> u64 {
        self.bounds.min_size(weight)
    }

    /// Returns the smallest sum of weights of common elements with which two sets reach the threshold. `left` and
    /// `right` are the total weights of the sets. For a cosine, the result may be a little too small.
    #[must_use]
    pub fn min_shared_weight(self, left: u64, right: u64) -> u64 {
        self.bounds.min_shared_weight(left, right)
    }

    /// Returns the contribution of a set of `size` elements to an upper bound of [`Self::max_difference`]. The bound is
    /// the sum of the contributions of both sets, plus 1. It is quicker to compute than the exact value.
    #[inline]
    #[must_use]
    pub fn difference_share(self, size: u32) -> u32 {
        self.bounds.difference_share(size)
    }

    /// Returns the smallest number of common elements with which two sets of sizes `left` and `right` reach the
    /// threshold.
    #[inline]
    #[must_use]
    pub fn min_shared(self, left: u32, right: u32) -> u32 {
        self.bounds.min_shared(left, right)
    }
}

impl Threshold {
    /// Returns the threshold as text without its measure. The text is a decimal such as `0.8` if the denominator is a
    /// power of ten, otherwise a ratio such as `4/5`.
    #[must_use]
    pub fn number(&self) -> String {
        let digits = self.denominator.ilog10();
        match 10_u32.pow(digits) == self.denominator {
            true if digits == 0 => self.numerator.to_string(),
            true => {
                let (whole, fraction) =
                    (self.numerator / self.denominator, self.numerator % self.denominator);
                format!("{whole}.{fraction:0width$}", width = digits as usize)
            }
            false => format!("{}/{}", self.numerator, self.denominator),
        }
    }
}

impl fmt::Display for Threshold {
    /// Writes a decimal or a ratio, such as `0.8` or `4/5`. If the measure is not Jaccard similarity, its name comes
    /// first, as in `cosine:0.8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self.measure != JACCARD {
            write!(f, "{}:", self.measure.name)?;
        }
        f.write_str(&self.number())
    }
}

impl FromStr for Threshold {
    type Err = Error;

    /// Parses `0.8`, `.75`, `1`, `4/5` or `cosine:0.8`.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse_measured("similarity", text)
    }
}

/// Returns the simplest ratio within 10⁻¹⁵ of a decimal: the first convergent of its continued fraction that is so
/// close. `whole` and `fraction` are the digits of the decimal before and after the point. Returns `None` if the
/// decimal has more than 20 digits after the point.
fn simplest_ratio(whole: &str, fraction: &str) -> Option<(u32, u32)> {
    /// Reciprocal of the largest allowed difference between ratio and decimal.
    const PRECISION: u128 = 10_u128.pow(15);
    if fraction.len() > 20 {
        return None;
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let decimal: u128 = format!("{whole}{fraction}").parse().ok()?;
    // The numerators and denominators of the last two convergents.
    let (mut last, mut convergent) = ((0, 1), (1, 0));
    let (mut above, mut below) = (decimal, scale);
    while below > 0 {
        let quotient = above / below;
        let next = (quotient * convergent.0 + last.0, quotient * convergent.1 + last.1);
        (last, convergent) = (convergent, next);
        (above, below) = (below, above % below);
        let difference = (decimal * convergent.1).abs_diff(convergent.0 * scale);
        if difference * PRECISION <= scale * convergent.1 {
            break;
        }
    }
    Some((convergent.0.try_into().ok()?, convergent.1.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::COSINE;

    #[test]
    fn floats_of_computations_are_the_simplest_ratios() {
        for (text, [numerator, denominator]) in [
            ("0.3333333333333333", [1, 3]),
            ("0.30000000000000004", [3, 10]),
            ("0.8333333333333334", [5, 6]),
            ("0.6666666666666666", [2, 3]),
            ("0.79999999999999993339", [4, 5]),
            ("1.0000000000", [1, 1]),
        ] {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.fraction(), (numerator, denominator), "{text}");
        }
        let long: Threshold = "0.12345678901".parse().unwrap();
        let found = f64::from(long.numerator) / f64::from(long.denominator);
        assert!((found - 0.123_456_789_01).abs() < 2e-15, "{long}");
    }

    #[test]
    fn thresholds_are_read_exactly() {
        for (text, numerator, denominator) in
            [("0.8", 8, 10), (".75", 75, 100), ("1", 1, 1), ("4/5", 4, 5), ("1.0", 10, 10)]
        {
            let expected = Threshold::new(numerator, denominator).unwrap();
            assert_eq!(text.parse::<Threshold>().unwrap(), expected);
        }
        for text in [
            "",
            "0",
            "1.1",
            "-1",
            "0.8x",
            "1/0",
            "5/4",
            "a/b",
            ".",
            "0.123456789012345678901",
            "1e1",
        ] {
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
    fn bounds_are_those_of_the_measure() {
        for &measure in MEASURES {
            for (a, c) in [(8, 10), (1, 1), (1, 7), (2, 3), (123_456_789, 1_000_000_000)] {
                let threshold = Threshold::new(a, c).unwrap().of(measure);
                assert_eq!(threshold.to_string().parse::<Threshold>().unwrap(), threshold);
                for left in 1..40_u32 {
                    // The smallest number of shared elements of any similar set, and the size of
                    // the smallest similar set.
                    let mut fewest = u32::MAX;
                    let mut smallest = u32::MAX;
                    for right in 1..300_u32 {
                        let holds = |shared: &u32| {
                            let sizes = [*shared, left, right].map(u64::from);
                            threshold.holds(threshold.similarity(sizes[0], sizes[1], sizes[2]))
                        };
                        let slowly = |&shared: &u32| {
                            let [least, all, shared] = [a, c, shared].map(u128::from);
                            let sizes = [left, right].map(u128::from);
                            let scaled = all * shared;
                            match measure.name {
                                "jaccard" => scaled >= least * (sizes[0] + sizes[1] - shared),
                                "cosine" => scaled.pow(2) >= least * least * sizes[0] * sizes[1],
                                "containment" => scaled >= least * sizes[0].min(sizes[1]),
                                "tversky" => {
                                    let smaller = sizes[0].min(sizes[1]);
                                    let larger = sizes[0].max(sizes[1]);
                                    10 * scaled >= least * (9 * smaller + larger)
                                }
                                "dice" => 2 * scaled >= least * (sizes[0] + sizes[1]),
                                other => panic!("write the definition of {other} here"),
                            }
                        };
                        let common = left.min(right);
                        assert!((0..=common).all(|shared| holds(&shared) == slowly(&shared)));
                        let Some(needed) = (1..=common).find(slowly) else { continue };
                        let place = format!("{threshold} {left} {right}");
                        assert_eq!(threshold.min_shared(left, right), needed, "{place}");
                        let shares =
                            threshold.difference_share(left) + threshold.difference_share(right);
                        assert!(threshold.max_difference(left, right) <= shares + 1, "{place}");
                        (fewest, smallest) = (fewest.min(needed), smallest.min(right));
                    }
                    assert_eq!(threshold.min_size(left), smallest, "{threshold} {left}");
                    assert!(threshold.max_unshared(left) >= left - fewest, "{threshold} {left}");
                }
            }
        }
        let most = u32::MAX;
        let cosine = Threshold::new(999_999_999, MAX_DENOMINATOR).unwrap().of(&COSINE);
        assert_eq!(cosine.min_shared(most, most), most - 4);
        assert!(cosine.difference_share(most) < 10);
        assert!("overlap:0.8".parse::<Threshold>().is_err());
    }

    #[test]
    fn bounds_of_weights_are_those_of_as_many_elements() {
        for &measure in MEASURES {
            for (a, c) in [(8, 10), (1, 1), (1, 7), (123_456_789, 1_000_000_000)] {
                let threshold = Threshold::new(a, c).unwrap().of(measure);
                for left in 1..60 {
                    assert_eq!(
                        threshold.min_weight(left.into()),
                        u64::from(threshold.min_size(left))
                    );
                    for right in 1..60 {
                        let least = threshold.min_shared_weight(left.into(), right.into());
                        let needed = u64::from(threshold.min_shared(left, right));
                        let may_be_less = u64::from(*measure == COSINE);
                        assert!((needed - may_be_less..=needed).contains(&least));
                    }
                }
            }
        }
    }

    #[test]
    fn cosines_of_large_weights_are_exact() {
        let threshold = Threshold::new(3, 10).unwrap().of(&COSINE);
        let ratio = |shared, left, right| threshold.similarity(shared, left, right).shared;
        let many = 1_u64 << 40;
        assert_eq!(ratio(3 * many, 10 * many, 10 * many), 300_000_000);
        assert_eq!(ratio(3 * many - 1, 10 * many, 10 * many), 299_999_999);
        assert_eq!(ratio(6 * many, 16 * many, 25 * many), 300_000_000);
        assert_eq!(ratio(6 * many, 16 * many + 1, 25 * many), 299_999_999);
        assert_eq!(ratio(u64::MAX, u64::MAX, u64::MAX), 1_000_000_000);
        // 0.7 of the root of 2, by another way where the squares have fewer bits.
        for weight in [10, 10 << 20, 10 << 40] {
            assert_eq!(ratio(weight / 10 * 7, weight / 2, weight), 989_949_493);
        }
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
        let most = u32::MAX;
        let half = Threshold::new(1, 2).unwrap();
        assert_eq!((half.min_size(most), half.max_unshared(most)), (1 << 31, (1 << 31) - 1));
        assert_eq!(half.min_shared(most, most), 2_863_311_530);
        assert_eq!(threshold.min_shared(most, most), most - 2);
    }
}
