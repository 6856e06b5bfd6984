//! Fingerprints in memory as values of a fixed number of 64-bit words, and how far apart they may
//! be.
//!
//! A [`Lane`] is a whole row whose number of words is known to the compiler. The lanes that
//! [`Metric::Lanes`] counts are parts of a row.

use crate::fingerprint_rows::{Metric, Shape, differing_lanes, nearest};
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A fingerprint of a fixed number of 64-bit words, lowest word first.
///
/// Lanes are plain words, so the same code reads a table of them from memory and from a mapped
/// file. Masks of bits are lanes as well.
pub trait Lane:
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
    /// Number of words in a lane.
    const WORDS: usize;
    /// Number of bits in a lane.
    const BITS: u32 = 64 * Self::WORDS as u32;
    /// Lane with no bit set.
    const ZERO: Self;

    /// Returns the number of bits that are set.
    fn count_ones(self) -> u32;

    /// Returns the words, lowest first.
    fn words(&self) -> &[u64];

    /// Returns the words for changing them, lowest first.
    fn words_mut(&mut self) -> &mut [u64];

    /// Returns the XOR of the words.
    ///
    /// The fold is linear, so the fold of a difference is the difference of the folds. It never has
    /// more bits set than the difference. So a filter that compares folds has false positives, but
    /// never misses a row.
    fn fold64(self) -> u64;

    /// Returns the sum of the products of the words and these factors, one factor per word.
    #[must_use]
    fn products(self, factors: &[u64; 8]) -> u64;

    /// Returns the XOR of all halves of words. It is as linear as [`Self::fold64`].
    #[inline]
    fn fold32(self) -> u32 {
        let half = self.fold64();
        (half ^ (half >> 32)) as u32
    }

    /// Creates a lane from these words. Missing words are 0, and words beyond the lane are ignored.
    #[inline]
    #[must_use]
    fn from_words(words: &[u64]) -> Self {
        let mut lane = Self::ZERO;
        lane.words_mut().iter_mut().zip(words).for_each(|(to, from)| *to = *from);
        lane
    }

    /// Returns the lane with one bit flipped.
    #[inline]
    #[must_use]
    fn flipped(mut self, bit: u32) -> Self {
        self.words_mut()[bit as usize / 64] ^= 1 << (bit % 64);
        self
    }

    /// Returns the lane whose lowest `bits` bits are set, or all bits if the lane has no more.
    #[must_use]
    fn lowest_bits(bits: u32) -> Self {
        let mut lane = Self::ZERO;
        set_lowest_bits(lane.words_mut(), bits);
        lane
    }

    /// Returns the positions of the bits that are set, in ascending order.
    fn set_bits(&self) -> impl Iterator<Item = u32> {
        (0..Self::BITS).filter(|&bit| self.words()[bit as usize / 64] >> (bit % 64) & 1 == 1)
    }
}

/// Sets the lowest `bits` bits of `words`.
pub fn set_lowest_bits(words: &mut [u64], bits: u32) {
    for (word, first) in words.iter_mut().zip((0u32..).step_by(64)) {
        *word = match bits.saturating_sub(first) {
            0 => 0,
            rest if rest >= u64::BITS => u64::MAX,
            rest => u64::MAX >> (u64::BITS - rest),
        };
    }
}

impl Lane for u64 {
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

/// A lane of several words, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Wide<const W: usize>(pub [u64; W]);

impl<const W: usize> Lane for Wide<W> {
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

/// Lanes compare like numbers: the highest word decides first.
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

/// Implements operators of two lanes word by word.
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

/// Limit for the distance of rows, with the shape that gives the distance its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Shape of the rows. If a lane has more bits than a row, the additional bits are 0.
    pub shape: Shape,
    /// The largest distance, inclusive.
    pub max_distance: u32,
}

impl Reach {
    /// Creates the reach for rows of `bits` bits that are compared bit by bit.
    ///
    /// # Panics
    ///
    /// `bits` is 0.
    #[must_use]
    pub fn bits(bits: u32, max_distance: u32) -> Self {
        Self { shape: Shape::bits(bits), max_distance }
    }

    /// Returns the distance of two rows with this difference, if it is within the limit.
    #[inline]
    #[must_use]
    pub fn distance<L: Lane>(self, difference: L) -> Option<u32> {
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

    /// Returns the maximum number of bits in which two rows within the limit can differ.
    /// Comparisons of folds use this limit for every metric.
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
        fn check<L: Lane>(a: L, b: L) {
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
        let lane = Wide::<2>::from(7u128 << 70 | 1);
        assert_eq!((lane, u128::from(lane)), (Wide([1, 7 << 6]), 7u128 << 70 | 1));
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
