//! Fingerprints as rows of 64-bit words. A [`Shape`] describes their length and the meaning of their bits.

use crate::validity::Validity;
use simtool_base::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Definition of the distance between two fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Number of bits that differ (Hamming distance). SimHash uses it.
    Bits,
    /// Number of lanes that differ. A lane is a group of adjacent bits, such as one hash value of
    /// MinHash. MinHash and I-Match use it.
    Lanes {
        /// Number of bits in a lane: a power of two up to 64, so that each lane lies within one 64-bit word.
        bits: u32,
        /// Whether a lane may be null, which means that it has no value. A null lane differs from every other lane,
        /// even from another null lane. If `null` is true, lanes have 64 bits. The highest bit is 0 in a null lane, and
        /// 1 in a lane with a value.
        null: bool,
    },
    /// 1 minus the cosine of two sets, in thousandths. The cosine is estimated from the number of equal lanes of
    /// MinHash and from the sizes of the sets. The highest [`SIZE_BITS`] bits of a fingerprint hold the size of its
    /// set.
    Cosine {
        /// Number of bits in a lane, a hash value of MinHash: a power of two up to 16.
        bits: u32,
    },
    /// Each 64-bit word of a fingerprint is compared on its own and is called a lane. The distance of two fingerprints
    /// is the smallest number d such that at least `needed` of their lanes differ in at most d bits.
    Votes {
        /// Number of lanes (64-bit words) that must be within the distance.
        needed: u32,
    },
}

/// Number of bits of a fingerprint, and the definition of the distance between two fingerprints.
///
/// ```
/// use simtool_model::fingerprint_rows::Shape;
///
/// assert_eq!(Shape::bits(64).distance(&[0b1100], &[0b1010]), 2);
/// assert_eq!(Shape::lanes(16, 4).distance(&[0x12], &[0x32]), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    bits: u32,
    metric: Metric,
}

impl Shape {
    /// Creates the shape of fingerprints of `bits` bits whose distance is the number of differing
    /// bits.
    ///
    /// # Panics
    ///
    /// `bits` is 0.
    #[must_use]
    pub fn bits(bits: u32) -> Self {
        assert!(bits > 0, "a fingerprint must have at least one bit");
        Self { bits, metric: Metric::Bits }
    }

    /// Creates the shape of fingerprints of `count` lanes. A lane is a group of `bits` adjacent bits. The distance is
    /// the number of differing lanes.
    ///
    /// # Panics
    ///
    /// `count` is 0, or `bits` is not a power of two up to 64.
    #[must_use]
    pub fn lanes(count: u32, bits: u32) -> Self {
        assert!(count > 0 && bits.is_power_of_two() && bits <= 64, "{count} lanes of {bits} bits");
        Self { bits: count * bits, metric: Metric::Lanes { bits, null: false } }
    }

    /// Creates the shape of fingerprints of `count` lanes of 64 bits. Each lane holds a value whose highest bit is set,
    /// or it is null. A null lane differs from every other lane.
    ///
    /// # Panics
    ///
    /// `count` is 0.
    #[must_use]
    pub fn lanes_or_null(count: u32) -> Self {
        let metric = Metric::Lanes { bits: u64::BITS, null: true };
        Self { metric, ..Self::lanes(count, u64::BITS) }
    }

    /// Creates the shape of fingerprints from which the cosine of two sets is estimated. A fingerprint has `words`
    /// 64-bit words. Its highest bits hold the encoded size of its set ([`size_code`]). The other bits are lanes of
    /// `bits` bits. A lane is a hash value of MinHash.
    ///
    /// # Panics
    ///
    /// `words` is 0, or `bits` is not a power of two up to 16.
    #[must_use]
    pub fn cosine(words: u32, bits: u32) -> Self {
        assert!(
            words > 0 && bits.is_power_of_two() && bits <= SIZE_BITS,
            "invalid shape: lanes of {bits} bits in {words} words"
        );
        Self { bits: words * u64::BITS, metric: Metric::Cosine { bits } }
    }

    /// Creates the shape of fingerprints of `count` 64-bit words, for [`Metric::Votes`]. Each word of a fingerprint is
    /// compared with the word at the same position of the other fingerprint. The distance is the `needed`-th smallest
    /// of the `count` numbers of differing bits.
    ///
    /// # Panics
    ///
    /// `needed` is 0 or more than `count`.
    #[must_use]
    pub fn votes(count: u32, needed: u32) -> Self {
        assert!((1..=count).contains(&needed), "{needed} votes needed, but {count} words");
        Self { metric: Metric::Votes { needed }, ..Self::lanes(count, u64::BITS) }
    }

    /// Returns the number of bits of a fingerprint. If it is not a multiple of 64, the unused bits of the last word are
    /// 0.
    #[must_use]
    pub fn row_bits(self) -> u32 {
        self.bits
    }

    /// Returns the number of 64-bit words that hold a fingerprint.
    #[must_use]
    pub fn words(self) -> usize {
        self.bits.div_ceil(u64::BITS) as usize
    }

    /// Returns the definition of the distance.
    #[must_use]
    pub fn metric(self) -> Metric {
        self.metric
    }

    /// Returns the maximum distance that two fingerprints of this shape can have.
    #[must_use]
    pub fn units(self) -> u32 {
        match self.metric {
            Metric::Bits => self.bits,
            Metric::Lanes { bits, .. } => self.bits / bits,
            Metric::Cosine { .. } => THOUSANDTHS,
            Metric::Votes { .. } => u64::BITS,
        }
    }

    /// Returns the number of units that the distance compares, and the number of bits in a unit. A unit is a bit or a
    /// lane. For example, the result is `(16, 4)` for 16 lanes of 4 bits.
    #[must_use]
    pub fn parts(self) -> (u32, u32) {
        match self.metric {
            Metric::Bits | Metric::Votes { .. } => (self.bits, 1),
            Metric::Lanes { bits, .. } => (self.bits / bits, bits),
            Metric::Cosine { bits } => ((self.bits - SIZE_BITS) / bits, bits),
        }
    }

    /// Returns a shape and a distance for a quick filter before the cosine of two fingerprints is compared. The shape
    /// describes the hash values of the fingerprints without the sizes of the sets. The distance is the maximum number
    /// of hash values in which two fingerprints within `max_distance` can differ, whatever the sizes of their sets are.
    /// Returns `None` for other metrics, and if all hash values can differ.
    ///
    /// ```
    /// use simtool_model::fingerprint_rows::Shape;
    ///
    /// // A cosine of 0.9 needs a Jaccard similarity of at least 0.81, so 102 of the 124 hash values are equal.
    /// assert_eq!(Shape::cosine(8, 4).hash_lanes(100), Some((Shape::lanes(124, 4), 22)));
    /// ```
    #[must_use]
    pub fn hash_lanes(self, max_distance: u32) -> Option<(Self, u32)> {
        let Metric::Cosine { bits } = self.metric else { return None };
        let (lanes, _) = self.parts();
        // The cosine is at most the root of the Jaccard similarity, which it reaches if one set holds the other. The
        // margin is for rounding: one lane more is better than a pair less.
        let least = f64::from(THOUSANDTHS.saturating_sub(max_distance)) - 1e-6;
        let can_differ = |&differing: &u32| {
            jaccard(lanes, bits, differing).sqrt() * f64::from(THOUSANDTHS) >= least
        };
        let most = (0..=lanes).rev().find(can_differ)?;
        (most < lanes).then(|| (Self::lanes(lanes, bits), most))
    }

    /// Returns the distance of two fingerprints, given as their 64-bit words.
    #[must_use]
    pub fn distance(self, a: &[u64], b: &[u64]) -> u32 {
        let words = a.iter().zip(b);
        match self.metric {
            Metric::Bits => words.map(|(a, b)| (a ^ b).count_ones()).sum(),
            Metric::Lanes { bits, null: false } => {
                words.map(|(a, b)| differing_lanes(a ^ b, bits).count_ones()).sum()
            }
            Metric::Lanes { null: true, .. } => {
                words.map(|(a, b)| u32::from(a != b || is_null(*a))).sum()
            }
            Metric::Cosine { bits } => {
                let lanes = |(a, b): (&u64, &u64)| differing_lanes(a ^ b, bits).count_ones();
                let sizes = [a, b].map(|row| row.last().map_or(0, |word| word >> SIZE_SHIFT));
                let of_sizes = differing_lanes(sizes[0] ^ sizes[1], bits).count_ones();
                // The bits of the size are not lanes, so their differences are subtracted.
                let differing = words.map(lanes).sum::<u32>() - of_sizes;
                cosine_distance(self.parts().0, bits, differing, sizes.map(size_of_code))
            }
            Metric::Votes { needed } => nearest(words.map(|(a, b)| a ^ b), needed),
        }
    }
}

/// Number of bits of a fingerprint that hold the size of its set, for [`Metric::Cosine`].
pub const SIZE_BITS: u32 = 16;
/// Position of the lowest bit of the size in the last 64-bit word of a fingerprint.
const SIZE_SHIFT: u32 = u64::BITS - SIZE_BITS;
/// Number of binary digits of the size of a set that are stored. These are the highest digits.
const SIZE_DIGITS: u32 = 11;
/// Distance of two sets with cosine 0. It is the greatest distance of [`Metric::Cosine`].
const THOUSANDTHS: u32 = 1000;

/// Encodes the size of a set in 16 bits, like a floating-point number. The code holds the highest 11 binary digits of
/// the size, and the number of digits below them.
#[must_use]
pub fn size_code(size: u64) -> u64 {
    let dropped = (u64::BITS - size.leading_zeros()).saturating_sub(SIZE_DIGITS);
    // Five bits count up to 31 dropped digits, which is enough for every set.
    u64::from(dropped.min(31)) << SIZE_DIGITS | (size >> dropped) & ((1 << SIZE_DIGITS) - 1)
}

/// Decodes a size that [`size_code`] encoded. The result is rounded down, because only the highest digits are in the
/// code.
fn size_of_code(code: u64) -> u64 {
    (code & ((1 << SIZE_DIGITS) - 1)) << (code >> SIZE_DIGITS)
}

/// Estimates the Jaccard similarity of two sets whose MinHash fingerprints have `lanes` lanes of `bits` bits and differ
/// in `differing` of these lanes. Lanes that come from different terms are equal by chance in one of 2^bits cases.
fn jaccard(lanes: u32, bits: u32, differing: u32) -> f64 {
    // The expected share of agreeing lanes is J + (1 − J) / 2^bits, which is solved for the Jaccard similarity J.
    let by_chance = 1.0 / f64::from(1_u32 << bits);
    let agreeing = f64::from(lanes - differing) / f64::from(lanes);
    ((agreeing - by_chance) / (1.0 - by_chance)).max(0.0)
}

/// Estimates the distance [`Metric::Cosine`] of two sets of sizes `a` and `b`. Their MinHash fingerprints have `lanes`
/// lanes of `bits` bits, and differ in `differing` of these lanes. The computation uses only operations that give the
/// same result on every machine.
fn cosine_distance(lanes: u32, bits: u32, differing: u32, [a, b]: [u64; 2]) -> u32 {
    if differing == 0 && a == b {
        return 0;
    }
    // The cosine follows from the shared elements, J · (a + b) / (1 + J).
    let jaccard = jaccard(lanes, bits, differing);
    let smaller = a.min(b) as f64;
    let a = a as f64;
    let b = b as f64;
    let shared = (jaccard * (a + b) / (1.0 + jaccard)).min(smaller);
    let cosine = shared / (a * b).sqrt().max(1.0);
    #[expect(clippy::cast_sign_loss, reason = "no set shares less than nothing")]
    let thousandths = (cosine * f64::from(THOUSANDTHS)) as u32;
    THOUSANDTHS - thousandths
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.metric {
            Metric::Bits => write!(f, "{} bits", self.bits),
            Metric::Lanes { bits, null } => {
                let count = self.bits / bits;
                write!(f, "{count} lanes of {bits} bits{}", if null { " or null" } else { "" })
            }
            Metric::Cosine { bits } => {
                write!(f, "{} lanes of {bits} bits and a size", self.parts().0)
            }
            Metric::Votes { needed } => {
                write!(f, "{needed} votes of {} lanes of 64 bits", self.bits / u64::BITS)
            }
        }
    }
}

/// Marks the lanes of `lane_bits` bits in which two 64-bit words differ. `difference` is the XOR of the words. In the
/// result, the lowest bit of each differing lane is set, and all other bits are 0.
#[inline]
#[must_use]
pub fn differing_lanes(mut difference: u64, lane_bits: u32) -> u64 {
    let mut step = 1;
    while step < lane_bits {
        difference |= difference >> step;
        step *= 2;
    }
    // Bits that were shifted in from other lanes are above the lowest bit.
    difference & (u64::MAX / (u64::MAX >> (u64::BITS - lane_bits)))
}

/// Returns whether a 64-bit `lane` has no value. Only for fingerprints whose lanes may be null.
#[inline]
#[must_use]
pub fn is_null(lane: u64) -> bool {
    lane >> (u64::BITS - 1) == 0
}

/// Counts the set bits of each word of `differences`, and returns the `needed`-th smallest of these counts. Returns
/// `u32::MAX` if there are fewer than `needed` words.
pub(crate) fn nearest(differences: impl Iterator<Item = u64>, needed: u32) -> u32 {
    let mut words = [0; u64::BITS as usize + 1];
    differences.for_each(|word| words[word.count_ones() as usize] += 1);
    let mut within = 0;
    let reaches = |&words: &u32| {
        within += words;
        within >= needed
    };
    words.iter().position(reaches).map_or(u32::MAX, |bits| bits as u32)
}

/// Fingerprints of documents. Each document has one row of 64-bit words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintRows<'a> {
    /// Number of bits of a fingerprint, and the definition of the distance.
    pub shape: Shape,
    /// Words of all rows, one row after the other. The lowest word of each row comes first. The words of a row without
    /// a fingerprint are undefined. `words` borrows from a mapped file if the bytes of the file can be used as they
    /// are.
    pub words: Cow<'a, [u64]>,
    /// Bitmap of the rows that have a fingerprint. An empty document has none. `None` means that all rows have a
    /// fingerprint.
    pub validity: Option<Validity>,
    /// Recipe: a text that names the method and the settings with which the fingerprints were made, or `None` if they
    /// are not known. Fingerprints with different recipes cannot be compared.
    pub recipe: Option<String>,
}

impl FingerprintRows<'_> {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / self.shape.words()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words of the row with index `row`, or `None` if the row has no fingerprint.
    ///
    /// # Panics
    ///
    /// `row` is not below the number of rows.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<&[u64]> {
        let words = self.shape.words();
        let row_words = &self.words[row * words..(row + 1) * words];
        self.has_fingerprint(row).then_some(row_words)
    }

    /// Returns the rows of `range`. The first of them becomes row 0. The words are not copied.
    ///
    /// # Panics
    ///
    /// `range` ends beyond the last row.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> FingerprintRows<'_> {
        let words = self.shape.words();
        let validity = self.validity.is_some().then(|| {
            let mut validity = Validity::all(range.len());
            let missing = range.clone().filter(|&row| !self.has_fingerprint(row));
            missing.for_each(|row| validity.clear(row - range.start));
            validity
        });
        FingerprintRows {
            shape: self.shape,
            words: Cow::Borrowed(&self.words[range.start * words..range.end * words]),
            validity,
            recipe: self.recipe.clone(),
        }
    }

    /// Returns whether the row with index `row` has a fingerprint.
    #[must_use]
    pub fn has_fingerprint(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.has_value(row))
    }
}

/// Builds [`FingerprintRows`] from rows that are added one by one.
#[derive(Clone, Debug)]
pub struct RowsBuilder {
    shape: Shape,
    words: Vec<u64>,
    /// One bit for each row, as in a [`Validity`]: 1 if the row has a fingerprint.
    valid: Vec<u64>,
    rows: usize,
    has_missing: bool,
}

impl RowsBuilder {
    /// Creates a builder without rows, for fingerprints of `shape`.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape, words: Vec::new(), valid: Vec::new(), rows: 0, has_missing: false }
    }

    /// Allocates memory for `rows` additional rows.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn reserve(&mut self, rows: usize) -> Result<()> {
        let words = rows.saturating_mul(self.shape.words());
        let bytes = words.saturating_mul(size_of::<u64>()) as u64;
        self.words.try_reserve_exact(words).map_err(|_| Error::memory("fingerprints", bytes))
    }

    /// Adds a row with the words of a fingerprint. `None` adds a row without a fingerprint.
    ///
    /// # Panics
    ///
    /// The number of words differs from the number of words in the builder's shape.
    pub fn push(&mut self, row: Option<&[u64]>) {
        if let Some(words) = row {
            // A row of another length would shift all rows after it.
            assert_eq!(words.len(), self.shape.words(), "words of a row");
            self.words.extend_from_slice(words);
        } else {
            self.has_missing = true;
            self.words.resize(self.words.len() + self.shape.words(), 0);
        }
        if self.rows.is_multiple_of(64) {
            self.valid.push(0);
        }
        self.valid[self.rows / 64] |= u64::from(row.is_some()) << (self.rows % 64);
        self.rows += 1;
    }

    /// Returns all rows that were added. They have no recipe.
    #[must_use]
    pub fn finish(self) -> FingerprintRows<'static> {
        // `valid` has one bit for each row and no bit set behind the last one.
        let validity =
            self.has_missing.then(|| Validity::from_words(self.valid, self.rows)).flatten();
        FingerprintRows { shape: self.shape, words: self.words.into(), validity, recipe: None }
    }
}

/// Describes the parts in which two recipes differ, for example `simhash64 and simhash128,
/// shingle=3 and shingle=5`. Returns `None` if the recipes are equal.
///
/// A recipe names the method and all settings that fingerprints depend on, separated by slashes.
///
/// ```
/// use simtool_model::fingerprint_rows::recipe_difference;
///
/// let difference = recipe_difference("simhash64/shingle=3", "simhash64/shingle=5");
/// assert_eq!(difference.as_deref(), Some("shingle=3 and shingle=5"));
/// ```
#[must_use]
pub fn recipe_difference(a: &str, b: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let [a, b] = [a, b].map(|recipe| recipe.split('/').collect::<Vec<_>>());
    let length = a.len().max(b.len());
    let part = |parts: &[&str], at: usize| parts.get(at).map_or("nothing", |part| *part).to_owned();
    let parts = (0..length).map(|at| (part(&a, at), part(&b, at))).filter(|(a, b)| a != b);
    Some(parts.map(|(a, b)| format!("{a} and {b}")).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests;
