//! Description of a measure of similarity, and the bounds that follow from its formula.

use super::ratio::Similarity;
use super::root_bounds;

/// A measure of the similarity of two sets, computed from their sizes and the number of common elements. If elements
/// have weights, sums of weights take the place of these numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Measure {
    /// The name in options, for example "cosine" in `similarity=cosine:0.8`.
    pub name: &'static str,
    /// The name in messages, for example "Jaccard similarity".
    pub described: &'static str,
    /// The definition in a few words, for help texts.
    pub definition: &'static str,
    /// The formula, from which all bounds for sizes and shared elements follow.
    pub formula: Formula,
    /// Whether the measure can be estimated from MinHash fingerprints. If not, the sets themselves are compared.
    pub is_estimated: bool,
}

/// Formula that computes a measure from the sizes of two sets and the number of shared elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A ratio of linear functions, as for Jaccard similarity.
    Ratio(Ratio),
    /// Cosine: the number of shared elements, divided by the geometric mean of both sizes.
    Cosine,
}

/// The formula `times · shared / (smaller · a + larger · b − shared_less · shared)`. Here `a` is
/// the size of the smaller set, and `b` the size of the larger set.
///
/// For two equal sets the ratio must be 1: `smaller + larger − shared_less` equals `times`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The factor of the number of common elements in the numerator.
    pub times: u32,
    /// The factor of the size of the smaller set.
    pub smaller: u32,
    /// The factor of the size of the larger set.
    pub larger: u32,
    /// The factor of the number of common elements that is subtracted in the denominator. It is at most `smaller`.
    pub shared_less: u32,
}

impl Ratio {
    /// Returns the similarity of two sets of sizes `left` and `right` with `shared` common
    /// elements. At least one set must not be empty.
    #[must_use]
    pub fn similarity(self, shared: u64, left: u64, right: u64) -> Similarity {
        let of_smaller = u64::from(self.smaller) * left.min(right);
        let of_larger = u64::from(self.larger) * left.max(right);
        // Subtracted first, so that the sum of two very large sizes does not overflow.
        let union = of_smaller - u64::from(self.shared_less) * shared + of_larger;
        Similarity { shared: u64::from(self.times) * shared, union }
    }
}

/// Numbers that are computed once for a threshold, to find how many elements two sets must share to reach it. `Linear`
/// is for [`Formula::Ratio`]: two sets of sizes x ≤ y reach the threshold if `whole · shared ≥ smaller · x + larger ·
/// y`. `Cosine` has the threshold as the fraction `numerator / denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    Linear { smaller: u64, larger: u64, whole: u64 },
    Cosine { numerator: u64, denominator: u64 },
}

impl Bounds {
    /// Computes the numbers of `measure` for the threshold a/c = `numerator / denominator`.
    ///
    /// A [`Ratio`] with the factors `times`, α, β and γ reaches the threshold for s shared elements
    /// if `times · s / (α·x + β·y − γ·s) ≥ a/c`. This holds exactly if
    /// `(times·c + γ·a) · s ≥ a·α·x + a·β·y`.
    pub(super) const fn new(numerator: u32, denominator: u32, measure: &Measure) -> Self {
        // A threshold is part of constants, where `u64::from` cannot be called.
        let a = numerator as u64;
        let c = denominator as u64;
        match measure.formula {
            Formula::Ratio(Ratio { times, smaller, larger, shared_less }) => Self::Linear {
                smaller: a * smaller as u64,
                larger: a * larger as u64,
                whole: times as u64 * c + shared_less as u64 * a,
            },
            Formula::Cosine => Self::Cosine { numerator: a, denominator: c },
        }
    }

    /// Returns the smallest number of common elements with which two sets of sizes `left` and `right` reach the
    /// threshold.
    #[inline]
    pub(super) fn min_shared(self, left: u32, right: u32) -> u32 {
        match self {
            Self::Linear { smaller, larger, whole } => {
                let x = u64::from(left.min(right));
                let y = u64::from(left.max(right));
                // Products of 31 bits and 32 bits, and their sum, fit in 64 bits. A division of 64 bits
                // takes less time than one of 128 bits, and the join divides for each candidate.
                if smaller.max(larger) < 1 << 31 {
                    return (smaller * x + larger * y).div_ceil(whole) as u32;
                }
                let product = |factor: u64, size: u64| u128::from(factor) * u128::from(size);
                (product(smaller, x) + product(larger, y)).div_ceil(u128::from(whole)) as u32
            }
            Self::Cosine { numerator, denominator } => {
                root_bounds::min_shared(numerator, denominator, left, right)
            }
        }
    }

    /// Returns the smallest sum of weights of common elements with which two sets reach the threshold. `left` and
    /// `right` are the total weights of the sets. For a cosine, the result may be a little too small.
    pub(super) fn min_shared_weight(self, left: u64, right: u64) -> u64 {
        match self {
            Self::Linear { smaller, larger, whole } => {
                let product = |factor: u64, weight: u64| u128::from(factor) * u128::from(weight);
                let least = product(smaller, left.min(right)) + product(larger, left.max(right));
                least.div_ceil(u128::from(whole)) as u64
            }
            Self::Cosine { numerator, denominator } => {
                // The root is rounded down, so the bound is never too high and no pair is lost.
                let root = (u128::from(left) * u128::from(right)).isqrt();
                (u128::from(numerator) * root).div_ceil(u128::from(denominator)) as u64
            }
        }
    }

    /// Returns the smallest size that a set can have if its similarity to a set of `size` elements reaches the
    /// threshold. The sizes can also be total weights of elements. In the best case, all elements of the smaller set
    /// are in the other set. The size x of the smaller set must then satisfy `whole · x ≥ smaller · x + larger · size`
    /// for `Linear`.
    #[inline]
    pub(super) fn min_size(self, size: u64) -> u64 {
        match self {
            // With `larger` 0, the size of the larger set does not matter, so every set that is not
            // empty can be similar.
            Self::Linear { larger: 0, .. } => size.min(1),
            Self::Linear { smaller, larger, whole } if larger >> 31 == 0 && size >> 32 == 0 => {
                (larger * size).div_ceil(whole - smaller)
            }
            Self::Linear { smaller, larger, whole } => {
                let least = u128::from(larger) * u128::from(size);
                least.div_ceil(u128::from(whole - smaller)) as u64
            }
            // All x elements are shared, so x ≥ a/c · √(x · size), which gives x ≥ a²/c² · size.
            Self::Cosine { numerator, denominator } => {
                let [a, c] = [numerator, denominator].map(u128::from);
                (a * a * u128::from(size)).div_ceil(c * c) as u64
            }
        }
    }

    /// Returns the contribution of a set of `size` elements to an upper bound of the difference of two similar sets.
    /// The difference is the number of elements that are in only one of the sets.
    ///
    /// The bound is the sum of both contributions, plus 1, because each contribution is rounded down. The difference is
    /// largest if the smaller set has the smallest possible size and all its elements are in the larger set.
    #[inline]
    pub(super) fn difference_share(self, size: u32) -> u32 {
        let size = u128::from(size);
        let (part, whole) = match self {
            // With `larger` 0, a small set may be similar to a set of any size.
            Self::Linear { larger: 0, .. } => (1, 1),
            Self::Linear { smaller, larger, whole } => {
                (whole - smaller - larger, whole - smaller + larger)
            }
            Self::Cosine { numerator: a, denominator: c } => (c * c - a * a, c * c + a * a),
        };
        (size * u128::from(part) / u128::from(whole)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::MEASURES;

    #[test]
    fn equal_sets_have_similarity_one_and_names_are_unique() {
        for (at, measure) in MEASURES.iter().enumerate() {
            assert!(MEASURES[..at].iter().all(|other| other.name != measure.name));
            if let Formula::Ratio(ratio) = measure.formula {
                assert_eq!(ratio.similarity(7, 7, 7), Similarity::ONE, "{}", measure.name);
                assert!(ratio.shared_less <= ratio.smaller, "{}", measure.name);
            }
        }
    }
}
