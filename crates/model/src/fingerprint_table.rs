//! Fingerprints in memory as values of a fixed number of 64-bit words, and the limit on their distance.

use crate::fingerprint_rows::{Metric, Shape, differing_lanes, nearest};
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A whole fingerprint with a number of 64-bit words that is known at compile time. The lowest word comes first.
///
/// Such a fingerprint is a plain array of words, so the same code reads many of them from memory
/// and from a mapped file. Bit masks for fingerprints have the same type.
pub trait Fingerprint:
    Pod
    + Eq
    + Ord
    + Hash
    + Debug
    + Send
    + Sync
    + BitXor<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
{
    /// Number of 64-bit words in a fingerprint of this type.
    const WORDS: usize;
    /// Number of bits in a fingerprint of this type.
    const BITS: u32 = 64 * Self::WORDS as u32;
    /// Fingerprint with no bit set.
    const ZERO: Self;

    /// Returns the number of bits that are set.
    fn count_ones(self) -> u32;

    /// Returns the words of the fingerprint, lowest first.
    fn words(&self) -> &[u64];

    /// Returns the words of the fingerprint as a mutable slice, lowest first.
    fn words_mut(&mut self) -> &mut [u64];

    /// Folds the fingerprint to 64 bits: returns the XOR of its words.
    ///
    /// The fold never increases the number of differing bits: the folds of two fingerprints differ in at most as many
    /// bits as the fingerprints. So a filter that compares folds has false positives, but never misses a close
    /// fingerprint.
    fn fold64(self) -> u64;

    /// Multiplies each word by its factor in `factors`, and returns the sum of the products modulo 2⁶⁴. The sum serves
    /// as a hash of the fingerprint.
    #[must_use]
    fn products(self, factors: &[u64; 8]) -> u64;

    /// Folds the fingerprint to 32 bits: returns the XOR of the halves of all words. Like [`Self::fold64`], the fold
    /// never increases the number of differing bits.
    #[inline]
    fn fold32(self) -> u32 {
        let half = self.fold64();
        (half ^ (half >> 32)) as u32
    }

    /// Creates a fingerprint from its words, lowest first. Missing words are 0, and words beyond
    /// [`Self::WORDS`] are ignored.
    #[inline]
    #[must_use]
    fn from_words(words: &[u64]) -> Self {
        let mut fingerprint = Self::ZERO;
        fingerprint.words_mut().iter_mut().zip(words).for_each(|(to, from)| *to = *from);
        fingerprint
    }

    /// Returns the fingerprint with the bit at position `bit` flipped.
    #[inline]
    #[must_use]
    fn flipped(mut self, bit: u32) -> Self {
        self.words_mut()[bit as usize / 64] ^= 1 << (bit % 64);
        self
    }

    /// Returns a mask whose lowest `bits` bits are set, or all bits if `bits` is at least
    /// [`Self::BITS`].
    #[must_use]
    fn lowest_bits(bits: u32) -> Self {
        let mut fingerprint = Self::ZERO;
        set_lowest_bits(fingerprint.words_mut(), bits);
        fingerprint
    }

    /// Returns the positions of the bits that are set, in ascending order.
    fn set_bits(&self) -> impl Iterator<Item = u32> {
        (0..Self::BITS).filter(|&bit| self.words()[bit as usize / 64] >> (bit % 64) & 1 == 1)
    }
}

/// Sets the lowest `bits` bits of `words` and clears all other bits. The lowest word comes first.
pub fn set_lowest_bits(words: &mut [u64], bits: u32) {
    for (word, first) in words.iter_mut().zip((0u32..).step_by(64)) {
        *word = match bits.saturating_sub(first) {
            0 => 0,
            rest if rest >= u64::BITS => u64::MAX,
            rest => u64::MAX >> (u64::BITS - rest),
        };
    }
}

impl Fingerprint for u64 {
    const WORDS: usize = 1;
    const ZERO: Self = 0;

    #[inline]
    fn count_ones(self) -> u32 {
        self.count_ones()
    }

    #[inline]
    fn words(&self) -> &[u64] {
        std::slice::from_ref(self)
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        std::slice::from_mut(self)
    }

    #[inline]
    fn fold64(self) -> u64 {
        self
    }

    #[inline]
    fn products(self, factors: &[u64; 8]) -> u64 {
        self.wrapping_mul(factors[0])
    }
}

/// A fingerprint of `W` 64-bit words. The lowest word comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Wide<const W: usize>(pub [u64; W]);

impl<const W: usize> Fingerprint for Wide<W> {
    const WORDS: usize = W;
    const ZERO: Self = Self([0; W]);

    #[inline]
    fn count_ones(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }

    #[inline]
    fn fold64(self) -> u64 {
        self.0.iter().fold(0, |fold, word| fold ^ word)
    }

    #[inline]
    fn products(self, factors: &[u64; 8]) -> u64 {
        const { assert!(W <= 8, "a factor for each word") };
        let products = self.0.iter().zip(factors).map(|(word, factor)| word.wrapping_mul(*factor));
        products.fold(0, u64::wrapping_add)
    }
}

/// Compares fingerprints like numbers, from the highest word down.
impl<const W: usize> Ord for Wide<W> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const W: usize> PartialOrd for Wide<W> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const W: usize> Not for Wide<W> {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// Implements a binary operator word by word.
macro_rules! word_by_word {
    ($operator:ident, $name:ident, $of_words:expr) => {
        impl<const W: usize> $operator for Wide<W> {
            type Output = Self;

            #[inline]
            fn $name(mut self, other: Self) -> Self {
                self.0.iter_mut().zip(other.0).for_each($of_words);
                self
            }
        }
    };
}

word_by_word!(BitXor, bitxor, |(a, b)| *a ^= b);
word_by_word!(BitAnd, bitand, |(a, b)| *a &= b);
word_by_word!(BitOr, bitor, |(a, b)| *a |= b);

impl From<u128> for Wide<2> {
    fn from(number: u128) -> Self {
        Self([number as u64, (number >> 64) as u64])
    }
}

impl From<Wide<2>> for u128 {
    fn from(Wide([low, high]): Wide<2>) -> Self {
        Self::from(high) << 64 | Self::from(low)
    }
}

/// Maximum distance of two fingerprints that count as close, and the shape, which defines the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Shape of the fingerprints. If a [`Fingerprint`] type has more bits than the shape, the unused bits are 0.
    pub shape: Shape,
    /// Largest distance of two close fingerprints, inclusive, in the unit of the shape's metric.
    pub max_distance: u32,
}

impl Reach {
    /// Creates the limit for fingerprints of `bits` bits that may differ in at most `max_distance`
    /// bits.
    ///
    /// # Panics
    ///
    /// `bits` is 0.
    #[must_use]
    pub fn bits(bits: u32, max_distance: u32) -> Self {
        Self { shape: Shape::bits(bits), max_distance }
    }

    /// Returns the distance of two fingerprints whose XOR is `difference`. Returns `None` if the distance exceeds the
    /// limit. For cosine distances, the result is always `None`, because they need the fingerprints themselves.
    #[inline]
    #[must_use]
    pub fn distance<L: Fingerprint>(self, difference: L) -> Option<u32> {
        let distance = match self.shape.metric() {
            Metric::Bits => difference.count_ones(),
            // The joins replace null lanes by values that differ, so null needs no special case
            // here.
            Metric::Lanes { bits, .. } => {
                let words = difference.words().iter();
                words.map(|&word| differing_lanes(word, bits).count_ones()).sum()
            }
            // The cosine depends on the sizes, which the difference does not contain. Such rows are
            // compared directly.
            Metric::Cosine { .. } => u32::MAX,
            Metric::Votes { needed } => {
                let words = self.shape.words();
                nearest(difference.words()[..words].iter().copied(), needed)
            }
        };
        (distance <= self.max_distance).then_some(distance)
    }

    /// Returns the largest number of bits in which two fingerprints within the limit can differ. Filters that compare
    /// [folds](Fingerprint::fold64) use this number for every metric.
    #[inline]
    #[must_use]
    pub fn most_bits(self) -> u32 {
        match self.shape.metric() {
            Metric::Bits => self.max_distance,
            Metric::Lanes { bits, .. } => self.max_distance.saturating_mul(bits),
            Metric::Votes { .. } | Metric::Cosine { .. } => self.shape.row_bits(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_linear_and_never_adds_bits() {
        fn check<L: Fingerprint>(a: L, b: L) {
            assert_eq!(a.fold32() ^ b.fold32(), (a ^ b).fold32());
            assert_eq!(a.fold64() ^ b.fold64(), (a ^ b).fold64());
            assert!((a ^ b).fold32().count_ones() <= (a ^ b).fold64().count_ones());
            assert!((a ^ b).fold64().count_ones() <= (a ^ b).count_ones());
        }
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(11);
            state ^ state >> 31
        };
        for _ in 0..1000 {
            let a = [0; 8].map(|_| next());
            let b = [0; 8].map(|_| next());
            check(Wide(a), Wide(b));
            check(Wide::<2>::from_words(&a), Wide::from_words(&b));
            check(a[0], b[0]);
        }
    }

    #[test]
    fn lanes_are_numbers_of_many_bits() {
        let fingerprint = Wide::<2>::from(7u128 << 70 | 1);
        assert_eq!((fingerprint, u128::from(fingerprint)), (Wide([1, 7 << 6]), 7u128 << 70 | 1));
        assert!(Wide([9, 1]) < Wide([0, 2]) && Wide([1, 2]) < Wide([2, 2]));
        assert_eq!(Wide::<4>::lowest_bits(100), Wide([u64::MAX, (1 << 36) - 1, 0, 0]));
        assert_eq!(u64::lowest_bits(512), u64::MAX);
        assert_eq!(Wide([0, 1]).flipped(64).flipped(3), Wide([8, 0]));
        assert_eq!(Wide([8, 1]).set_bits().collect::<Vec<_>>(), [3, 64]);
        assert_eq!(!(Wide([5, 0]) & Wide([4, 9]) | Wide([1, 0])), Wide([!5, u64::MAX]));
    }

    #[test]
    fn a_reach_counts_what_its_metric_says() {
        let lanes = |max_distance| Reach { shape: Shape::lanes(32, 4), max_distance };
        let difference = Wide([0xF0, 1 << 63]);
        assert_eq!(Reach::bits(128, 5).distance(difference), Some(5));
        assert_eq!(Reach::bits(128, 4).distance(difference), None);
        assert_eq!((lanes(2).distance(difference), lanes(1).distance(difference)), (Some(2), None));
        assert_eq!((lanes(2).most_bits(), Reach::bits(64, 2).most_bits()), (8, 2));
    }
}
