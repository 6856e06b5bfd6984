//! Similarity of two sets as a ratio of whole numbers, what it measures, and the threshold that it must
//! reach.
//!
//! Everything is compared by products of integers: in floating point 0.8 / 1.8 * 63 is a little
//! more than 28, and a pair would be lost.

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// How the similarity of two sets is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Shared elements over those in either.
    #[default]
    Jaccard,
    /// Shared elements over the geometric mean of both sizes.
    Cosine,
    /// Shared elements over those of the smaller set.
    Containment,
    /// Shared elements over nine tenths of those of the smaller set and a tenth of those of the larger:
    /// the index of A. Tversky (Features of similarity, Psychological Review 84, 1977), made symmetric
    /// as by S. Jimenez, C. Becerra, A. Gelbukh (SOFTCARDINALITY-CORE, \*SEM 2013), with α = 0.9 and
    /// β = 1. Almost containment, but a part of a much longer text is less like it.
    Tversky,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Jaccard, Self::Cosine, Self::Containment, Self::Tversky];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Cosine => "cosine",
            Self::Containment => "containment",
            Self::Tversky => "tversky",
        }
    }

    /// What a person calls it.
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Self::Jaccard => "Jaccard similarity",
            Self::Cosine => "cosine",
            Self::Containment => "containment",
            Self::Tversky => "Tversky index",
        }
    }
}

/// Tenths of the smaller set and of the larger one that [`Measure::Tversky`] is a share of.
const TVERSKY: [u32; 2] = [9, 1];
const TENTHS: u32 = TVERSKY[0] + TVERSKY[1];

/// Tenths of the elements that [`Measure::Tversky`] is a share of.
#[must_use]
pub fn tversky_tenths(left: u64, right: u64) -> u64 {
    let [of_smaller, of_larger] = TVERSKY.map(u64::from);
    of_smaller * left.min(right) + of_larger * left.max(right)
}

/// The similarity of two sets; that of Jaccard, unless it was measured otherwise: shared elements over
/// elements of either.
///
/// Equal ratios are equal: 1/2 and 2/4. Elements may have weights, whose sums are counted.
#[derive(Clone, Copy, Debug)]
pub struct Similarity {
    /// Elements in both sets, or the numerator of another measure.
    pub shared: u64,
    /// Elements in at least one, or the denominator of another measure; not 0.
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

/// A threshold a/c of similarity, 0 < a <= c, and the bounds that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u32,
    denominator: u32,
    measure: Measure,
}

/// Denominators up to this leave room for products with any number of elements.
const MAX_DENOMINATOR: u32 = 1_000_000_000;

impl Threshold {
    /// The one that is taken where none is given: 0.8.
    pub const DEFAULT: Self = Self { numerator: 8, denominator: 10, measure: Measure::Jaccard };

    /// The threshold `numerator / denominator` of Jaccard similarity.
    ///
    /// # Errors
    /// If the ratio is not above 0 and at most 1, or the denominator is above 10^9.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self> {
        if numerator == 0 || numerator > denominator || denominator > MAX_DENOMINATOR {
            return Err(Self::rule("similarity", format!("{numerator}/{denominator}")));
        }
        Ok(Self { numerator, denominator, measure: Measure::Jaccard })
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

    /// Reads a threshold with its measure in front, as `cosine:0.8`: of Jaccard similarity without one.
    ///
    /// # Errors
    /// As [`Self::new`], and if there is no such measure.
    pub fn parse_measured(option: &'static str, text: &str) -> Result<Self> {
        let Some((name, ratio)) = text.split_once(':') else { return Self::parse(option, text) };
        let Some(measure) = Measure::ALL.into_iter().find(|measure| measure.name() == name) else {
            let names = Measure::ALL.map(Measure::name).join(", ");
            return Err(Error::config(option, text, format!("measures are {names}")));
        };
        Ok(Self::parse(option, ratio)?.of(measure))
    }

    /// The same of another measure.
    #[must_use]
    pub fn of(self, measure: Measure) -> Self {
        Self { measure, ..self }
    }

    /// What it is a threshold of.
    #[must_use]
    pub fn measure(self) -> Measure {
        self.measure
    }

    /// The similarity of two sets of these sizes, neither of them empty, as this threshold judges it.
    ///
    /// That of a cosine is rounded down, to a fraction of which the threshold is a multiple: none is
    /// taken for less or more than it.
    #[must_use]
    pub fn similarity(self, shared: u64, left: u64, right: u64) -> Similarity {
        match self.measure {
            Measure::Jaccard => Similarity::of_sizes(shared, left, right),
            Measure::Containment => Similarity { shared, union: left.min(right) },
            Measure::Tversky => Similarity {
                shared: u64::from(TENTHS) * shared,
                union: tversky_tenths(left, right),
            },
            Measure::Cosine => {
                let scale = u64::from(self.denominator * (MAX_DENOMINATOR / self.denominator));
                let scaled = u128::from(shared) * u128::from(scale);
                let sizes = u128::from(left) * u128::from(right);
                let ratio = match scaled.checked_pow(2) {
                    Some(square) => (square / sizes).isqrt(),
                    None => root_of_ratio(scaled, sizes),
                };
                // At most the scale, since no set shares more than it has.
                Similarity { shared: ratio as u64, union: scale }
            }
        }
    }

    /// The similarity of two sets of these sizes, if they share anything and are alike enough.
    #[must_use]
    pub fn reached(self, shared: u64, left: u64, right: u64) -> Option<Similarity> {
        if shared == 0 {
            return None;
        }
        Some(self.similarity(shared, left, right)).filter(|&similarity| self.holds(similarity))
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
        let (a, c, size) =
            (u64::from(self.numerator), u64::from(self.denominator), u64::from(size));
        match self.measure {
            Measure::Jaccard => (a * size).div_ceil(c) as u32,
            // All of it is shared, and that is at least a/c of the root of both sizes.
            Measure::Cosine => {
                let product = u128::from(a * a) * u128::from(size);
                product.div_ceil(u128::from(c * c)) as u32
            }
            Measure::Containment => size.min(1) as u32,
            // All of it is shared, which is also nine tenths of what it is a share of.
            Measure::Tversky => {
                let [of_smaller, of_larger] = TVERSKY.map(u64::from);
                (a * size * of_larger).div_ceil(c * u64::from(TENTHS) - a * of_smaller) as u32
            }
        }
    }

    /// The elements of a set of `size` that its partner may lack.
    #[inline]
    #[must_use]
    pub fn max_unshared(self, size: u32) -> u32 {
        // The smallest partner shares the fewest elements, all that it has.
        size - self.min_size(size)
    }

    /// The elements that are in one only of two sets of these sizes that are alike enough, at the
    /// most.
    #[inline]
    #[must_use]
    pub fn max_difference(self, left: u32, right: u32) -> u32 {
        (left + right).saturating_sub(2 * self.min_shared(left, right))
    }

    /// As [`Self::min_size`], of sums of weights.
    #[must_use]
    pub fn min_weight(self, weight: u64) -> u64 {
        let [a, c] = [self.numerator, self.denominator].map(u128::from);
        let weight = u128::from(weight);
        let least = match self.measure {
            Measure::Jaccard => (a * weight).div_ceil(c),
            Measure::Cosine => (a * a * weight).div_ceil(c * c),
            Measure::Containment => weight.min(1),
            Measure::Tversky => {
                let [of_smaller, of_larger] = TVERSKY.map(u128::from);
                (a * weight * of_larger).div_ceil(c * u128::from(TENTHS) - a * of_smaller)
            }
        };
        least as u64
    }

    /// A sum of weights that two sets must share at the least if theirs are these: no less than
    /// either set's [`Self::min_weight`] that the other one reaches. That of a cosine may be a little
    /// less than they must.
    #[must_use]
    pub fn min_shared_weight(self, left: u64, right: u64) -> u64 {
        let [a, c] = [self.numerator, self.denominator].map(u128::from);
        let (left, right) = (u128::from(left), u128::from(right));
        let least = match self.measure {
            Measure::Jaccard => (a * (left + right)).div_ceil(a + c),
            Measure::Cosine => (a * (left * right).isqrt()).div_ceil(c),
            Measure::Containment => (a * left.min(right)).div_ceil(c),
            Measure::Tversky => {
                let tenths = tversky_tenths(left as u64, right as u64);
                (a * u128::from(tenths)).div_ceil(c * u128::from(TENTHS))
            }
        };
        least as u64
    }

    /// What a set of `size` elements adds to [`Self::max_difference`], about: that of two sets whose
    /// sizes let them be alike enough is at most their sum and 1.
    #[inline]
    #[must_use]
    pub fn difference_share(self, size: u32) -> u32 {
        let (a, c) = (u64::from(self.numerator), u64::from(self.denominator));
        let size = u128::from(size);
        match self.measure {
            Measure::Jaccard => (size * u128::from(c - a) / u128::from(a + c)) as u32,
            // Of sizes as unlike as can be, all of the smaller set is shared.
            Measure::Cosine => {
                (size * u128::from(c * c - a * a) / u128::from(c * c + a * a)) as u32
            }
            Measure::Containment => size as u32,
            // As with a cosine.
            Measure::Tversky => {
                let [_, of_larger] = TVERSKY.map(u64::from);
                let tenths = u64::from(TENTHS);
                let both = tenths * c - (tenths - 2 * of_larger) * a;
                (size * u128::from(tenths * (c - a)) / u128::from(both)) as u32
            }
        }
    }

    /// The elements that two sets of these sizes must share.
    #[inline]
    #[must_use]
    pub fn min_shared(self, left: u32, right: u32) -> u32 {
        let (a, c) = (u64::from(self.numerator), u64::from(self.denominator));
        match self.measure {
            Measure::Jaccard => (a * (u64::from(left) + u64::from(right))).div_ceil(a + c) as u32,
            Measure::Cosine => {
                let sizes = u64::from(left) * u64::from(right);
                let square = u128::from(a * a) * u128::from(sizes);
                let is_enough = |shared: u64| u128::from(shared * c).pow(2) >= square;
                // Near enough that a step or two make it exact.
                #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
                let mut shared = (self.ratio() * (sizes as f64).sqrt()) as u64;
                while !is_enough(shared) {
                    shared += 1;
                }
                while shared > 0 && is_enough(shared - 1) {
                    shared -= 1;
                }
                shared as u32
            }
            Measure::Containment => (a * u64::from(left.min(right))).div_ceil(c) as u32,
            Measure::Tversky => {
                let tenths = tversky_tenths(left.into(), right.into());
                (u128::from(a) * u128::from(tenths)).div_ceil(u128::from(c * u64::from(TENTHS)))
                    as u32
            }
        }
    }
}

/// The whole part of `x` / √`y`, where that is at most 10⁹ and the square of `x` has more than 128 bits.
fn root_of_ratio(x: u128, y: u128) -> u128 {
    // Near enough that a step or two make it exact.
    #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
    let mut root = (x as f64 / (y as f64).sqrt()) as u128;
    let is_too_large = |root: u128| wide_product(root * root, y) > wide_product(x, x);
    while is_too_large(root) {
        root -= 1;
    }
    while !is_too_large(root + 1) {
        root += 1;
    }
    root
}

/// The higher and the lower half of a product.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    let halves = |number: u128| (number >> 64, number & u128::from(u64::MAX));
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let (carry, low) = halves(a_low * b_low);
    let (carry, middle) = {
        let (high, low) = halves(a_high * b_low + carry);
        let (more, low) = halves(a_low * b_high + low);
        (high + more, low)
    };
    (a_high * b_high + carry, middle << 64 | low)
}

impl Threshold {
    /// The number as it was given, without the measure: a decimal, or a ratio.
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
    /// As it was given: a decimal, or a ratio, behind its measure if that is not Jaccard's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.measure != Measure::Jaccard {
            write!(f, "{}:", self.measure.name())?;
        }
        f.write_str(&self.number())
    }
}

impl FromStr for Threshold {
    type Err = Error;

    /// Reads `0.8`, `.75`, `1`, `4/5` or `cosine:0.8`.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse_measured("similarity", text)
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
    fn bounds_are_those_of_the_measure() {
        for measure in Measure::ALL {
            for (a, c) in [(8, 10), (1, 1), (1, 7), (2, 3), (123_456_789, 1_000_000_000)] {
                let threshold = Threshold::new(a, c).unwrap().of(measure);
                assert_eq!(threshold.to_string().parse::<Threshold>().unwrap(), threshold);
                for left in 1..40_u32 {
                    // The fewest that any partner shares, and the smallest partner.
                    let (mut fewest, mut smallest) = (u32::MAX, u32::MAX);
                    for right in 1..300_u32 {
                        let holds = |shared: &u32| {
                            let sizes = [*shared, left, right].map(u64::from);
                            threshold.holds(threshold.similarity(sizes[0], sizes[1], sizes[2]))
                        };
                        let slowly = |&shared: &u32| {
                            let [least, all, shared] = [a, c, shared].map(u128::from);
                            let sizes = [left, right].map(u128::from);
                            let scaled = all * shared;
                            match measure {
                                Measure::Jaccard => {
                                    scaled >= least * (sizes[0] + sizes[1] - shared)
                                }
                                Measure::Cosine => {
                                    scaled.pow(2) >= least * least * sizes[0] * sizes[1]
                                }
                                Measure::Containment => scaled >= least * sizes[0].min(sizes[1]),
                                Measure::Tversky => {
                                    let [smaller, larger] =
                                        [sizes[0].min(sizes[1]), sizes[0].max(sizes[1])];
                                    10 * scaled >= least * (9 * smaller + larger)
                                }
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
        let cosine = Threshold::new(999_999_999, MAX_DENOMINATOR).unwrap().of(Measure::Cosine);
        assert_eq!(cosine.min_shared(most, most), most - 4);
        assert!(cosine.difference_share(most) < 10);
        assert!("dice:0.8".parse::<Threshold>().is_err());
    }

    #[test]
    fn bounds_of_weights_are_those_of_as_many_elements() {
        for measure in Measure::ALL {
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
                        let may_be_less = u64::from(measure == Measure::Cosine);
                        assert!((needed - may_be_less..=needed).contains(&least));
                    }
                }
            }
        }
    }

    #[test]
    fn cosines_of_large_weights_are_exact() {
        let threshold = Threshold::new(3, 10).unwrap().of(Measure::Cosine);
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
        let (a, b) = (u128::MAX / 3, u128::MAX / 5);
        assert_eq!(wide_product(a, 1 << 64), (a >> 64, a << 64));
        assert_eq!(wide_product(a, b), wide_product(b, a));
        assert_eq!(wide_product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
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
