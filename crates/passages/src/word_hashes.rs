//! Hashes of any number of consecutive words, from sums that are computed once for a text.

use simtool_base::stable_hash::{GAMMA, mix};

/// Hashes of spans of words. A span is a sequence of consecutive words of a text.
///
/// The hash of a span of words x, y, z is a number that depends on `x B² + y B + z` modulo 2⁶⁴, for an odd
/// number B. Such a sum is the difference of two prefix sums of the text, whatever the length of the span.
#[derive(Clone, Debug)]
pub(crate) struct WordHashes {
    /// The odd number B, by which sums are multiplied from word to word.
    base: u64,
    /// B to the power of each number up to the length of the longest span.
    powers: Vec<u64>,
    /// Sum of the words before each position of the text. The last element is the sum of all words.
    sums: Vec<u64>,
    /// Bits of [`Self::hash`] that are not cleared.
    mask: u64,
}

impl WordHashes {
    /// Creates hashes of spans of at most `longest` words. Each `seed` gives other hashes. Tests clear bits
    /// of the hashes by a `mask`, so that different spans have equal hashes.
    pub(crate) fn new(longest: usize, seed: u64, mask: u64) -> Self {
        // Powers of a number that is 5 modulo 8 repeat as late as possible.
        let base = mix(seed.wrapping_mul(GAMMA).wrapping_add(GAMMA)) & !7 | 5;
        let powers = std::iter::successors(Some(1_u64), |power| Some(power.wrapping_mul(base)));
        Self { base, powers: powers.take(longest + 1).collect(), sums: Vec::new(), mask }
    }

    /// Replaces the text by `words`, and computes its sums.
    pub(crate) fn fill(&mut self, words: &[u64]) {
        self.sums.clear();
        self.sums.reserve(words.len() + 1);
        let base = self.base;
        let [square, cube] = [2, 3].map(|power| base.wrapping_pow(power));
        let fourth = cube.wrapping_mul(base);
        let next = |sum: u64, power: u64, word: u64| sum.wrapping_mul(power).wrapping_add(word);
        let mut sum = 0_u64;
        self.sums.push(sum);
        let (fours, rest) = words.as_chunks::<4>();
        for &[a, b, c, d] in fours {
            // Each sum of four words waits for one product only, because the others do not depend on it.
            let ab = next(a, base, b);
            let abc = next(ab, base, c);
            let abcd = next(abc, base, d);
            self.sums.extend([next(sum, base, a), next(sum, square, ab), next(sum, cube, abc)]);
            sum = next(sum, fourth, abcd);
            self.sums.push(sum);
        }
        self.sums.extend(rest.iter().map(|&word| {
            sum = next(sum, base, word);
            sum
        }));
    }

    /// Returns the sum of the words before each position of the text, and of all words.
    pub(crate) fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// Returns B to the power of `length`.
    pub(crate) fn power(&self, length: usize) -> u64 {
        self.powers[length]
    }

    /// Returns the sums of the spans of `length` words, one for each start, in order.
    pub(crate) fn sums_of(&self, length: usize) -> impl Iterator<Item = u64> {
        let power = self.powers[length];
        let ends = self.sums.get(length..).unwrap_or_default();
        ends.iter()
            .zip(&self.sums)
            .map(move |(end, start)| end.wrapping_sub(start.wrapping_mul(power)))
    }

    /// Returns the sum of the words `start..start + length`.
    #[inline]
    pub(crate) fn sum(&self, start: usize, length: usize) -> u64 {
        let before = self.sums[start].wrapping_mul(self.powers[length]);
        self.sums[start + length].wrapping_sub(before)
    }

    /// Returns the hash of all words of a text of any length. It is not the hash of a sum.
    pub(crate) fn hash_all(&self, words: &[u64]) -> u64 {
        // Long polynomials have equal sums for some texts, whatever the base is. A chain of mixing steps has not.
        words.iter().fold(self.base, |hash, word| mix(hash ^ word)) & self.mask
    }

    /// Returns the hash of a span with this sum.
    #[inline]
    pub(crate) fn hash(&self, sum: u64) -> u64 {
        mix(sum) & self.mask
    }
}
