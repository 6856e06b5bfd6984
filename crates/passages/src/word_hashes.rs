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
    /// Powers of B. Element n is B to the power of n, up to the length of the longest span.
    powers: Vec<u64>,
    /// Prefix sums: element n is the sum of the first n words of the text. The last element is the sum of all words.
    sums: Vec<u64>,
    /// Mask that is applied to each hash. Its zero bits are zero in all hashes.
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

    /// Returns the prefix sums: element n is the sum of the first n words of the text.
    pub(crate) fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// Returns the base of the sums, an odd number B, to the power of `length`.
    pub(crate) fn power(&self, length: usize) -> u64 {
        self.powers[length]
    }

    /// Returns the sum of each span of `length` words, in the order of the positions at which the spans begin.
    /// [`Self::hash`] makes hashes of the sums.
    pub(crate) fn sums_of(&self, length: usize) -> impl Iterator<Item = u64> {
        let power = self.powers[length];
        let ends = self.sums.get(length..).unwrap_or_default();
        ends.iter()
            .zip(&self.sums)
            .map(move |(end, start)| end.wrapping_sub(start.wrapping_mul(power)))
    }

    /// Returns the sum of the span of `length` words that begins at position `start` of the text. [`Self::hash`] makes
    /// a hash of the sum.
    #[inline]
    pub(crate) fn sum(&self, start: usize, length: usize) -> u64 {
        let before = self.sums[start].wrapping_mul(self.powers[length]);
        self.sums[start + length].wrapping_sub(before)
    }

    /// Returns a hash of all of `words`, which can be a text of any length. It differs from the hash that
    /// [`Self::hash`] returns for the sum of the same words.
    pub(crate) fn hash_all(&self, words: &[u64]) -> u64 {
        // Long polynomials have equal sums for some texts, whatever the base is. A chain of mixing steps has not.
        words.iter().fold(self.base, |hash, word| mix(hash ^ word)) & self.mask
    }

    /// Returns the hash of a span of words. `sum` is the result of [`Self::sum`] or [`Self::sums_of`] for the span:
    /// `x B² + y B + z` for the words x, y, z and the base B.
    #[inline]
    pub(crate) fn hash(&self, sum: u64) -> u64 {
        mix(sum) & self.mask
    }
}
