//! Invented words and their frequencies.

use super::random::Random;

/// Number of stop words: the most frequent words of generated text, which [`stop_words`] lists.
pub(super) const STOP_WORDS: usize = 100;

/// Minimum and maximum number of words of a vocabulary.
const SIZES: std::ops::RangeInclusive<usize> = 1_000..=1_500_000;

const CONSONANTS: &[u8; 20] = b"tnsrldmkpvbhgfzjwcxy";
const VOWELS: &[u8; 5] = b"aeiou";
/// Letters that may end a word. The empty text is listed several times, so that many words end with a vowel.
const CODAS: [&[u8]; 8] = [b"", b"n", b"", b"s", b"r", b"", b"l", b"t"];
/// Endings of a few words, which make some words longer than 16 letters. All endings have two
/// adjacent consonants, so no word without an ending has the same spelling.
const ENDINGS: [&[u8]; 4] = [b"ness", b"lessness", b"mentation", b"fulnessability"];
/// Number of words for each word with an ending. On average, one of so many words has one of the [`ENDINGS`].
const WORDS_PER_ENDING: u64 = 40;

/// Invented words with their frequencies. The rank of a word is its position in the order of descending
/// frequency. The most frequent word has rank 0.
#[derive(Debug)]
pub(super) struct InventedWords {
    letters: Vec<u8>,
    /// For each word, the index in `letters` at which the word ends.
    ends: Vec<u32>,
    /// Alias table for drawing ranks by frequency. Each rank has a limit and another rank. A random 32-bit
    /// number below the limit draws the rank itself, and any other number draws the other rank.
    aliases: Vec<(u32, u32)>,
}

impl InventedWords {
    /// Creates a vocabulary for a text of about `words` words.
    ///
    /// The text will use about a third of the words of the vocabulary. English newsgroups of the same length
    /// have about as many different words. This number grows with the square root of the length of the text
    /// (Heaps' law).
    pub(super) fn for_text_of(words: u64) -> Self {
        let size = usize::try_from(words.isqrt().saturating_mul(140)).unwrap_or(usize::MAX);
        Self::new(size.clamp(*SIZES.start(), *SIZES.end()))
    }

    fn new(size: usize) -> Self {
        let mut letters = Vec::with_capacity(size * 7);
        let mut ends = Vec::with_capacity(size);
        for rank in 0..size {
            spell(rank, &mut letters);
            ends.push(letters.len() as u32);
        }
        Self { letters, ends, aliases: aliases(&weights(size)) }
    }

    /// Returns the number of words in the vocabulary.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the word with this rank, in lower case. The most frequent word has rank 0.
    #[inline]
    pub(super) fn word(&self, rank: u32) -> &[u8] {
        let rank = rank as usize;
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.letters[start..self.ends[rank] as usize]
    }

    /// Returns the rank of a random word. Frequent words are drawn more often.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        let number = random.number();
        let rank = ((u128::from(number) * self.aliases.len() as u128) >> 64) as usize;
        // The high bits choose the rank and the low bits decide about the alias, so one number is
        // enough.
        let (own, other) = self.aliases[rank];
        if (number as u32) < own { rank as u32 } else { other }
    }
}

/// Returns the stop words of generated texts, which are their most frequent words. Each word is on a line of
/// its own.
#[must_use]
pub fn stop_words() -> Vec<u8> {
    let mut list = Vec::new();
    for rank in 0..STOP_WORDS {
        spell(rank, &mut list);
        list.extend_from_slice(b"\r\n");
    }
    list
}

/// Appends the spelling of the word with this rank to `letters`. All words are spelled differently.
fn spell(rank: usize, letters: &mut Vec<u8>) {
    // The syllables are the digits of the rank in base 100 without a zero, so frequent words are
    // short.
    let mut rest = rank + 1;
    while rest > 0 {
        // 37 and 100 have no common factor, so different digits give different syllables.
        let syllable = ((rest - 1) % 100 * 37 + 11) % 100;
        letters.push(CONSONANTS[syllable / 5]);
        letters.push(VOWELS[syllable % 5]);
        rest = (rest - 1) / 100;
    }
    // The ending depends only on the rank, so a word has the same spelling in every
    // vocabulary.
    let mut random = Random::new(rank as u64);
    let choice = random.number();
    if choice.is_multiple_of(WORDS_PER_ENDING) && rank >= STOP_WORDS {
        letters.extend_from_slice(ENDINGS[random.below(ENDINGS.len())]);
    } else {
        letters.extend_from_slice(CODAS[random.below(CODAS.len())]);
    }
}

/// Rank at which the frequencies of words begin to fall faster. For smaller ranks, the frequencies follow the
/// Zipf–Mandelbrot law. From this rank on, they fall with the square of the rank, as in natural texts.
///
/// For comparison: 35 MB of English newsgroups have 105,000 different words. The 100 most frequent words are
/// 44 % of the text, 1,000 are 71 %, and 10,000 are 92 %.
const BEND: u64 = 6_000;

/// Returns for each rank from 0 to `size − 1` the frequency of the word with this rank, in units of 2⁻⁴⁴. Rank 0 is the
/// most frequent word. For ranks below [`BEND`], the
/// frequency is proportional to 1 / (rank + 2.7). For larger ranks, it is proportional to BEND / rank².
///
/// # References
///
/// B. Mandelbrot, "An informational theory of the statistical structure of language",
/// Communication Theory, 1953. R. Ferrer i Cancho, R. Solé, "Two regimes in the frequency of words
/// and the origins of complex lexicons", Journal of Quantitative Linguistics 8(3), 2001.
fn weights(size: usize) -> Vec<u64> {
    const ALL: u64 = 1 << 44;
    let weight = |rank: u64| {
        if rank < BEND { ALL / (10 * rank + 27) } else { ALL * (BEND / 10) / (rank * rank) }
    };
    (0..size as u64).map(weight).collect()
}

/// Returns the alias table for drawing ranks with the frequencies `weights` in constant time.
/// [`InventedWords::aliases`] describes the entries of the table.
///
/// # References
///
/// M. Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE
/// Transactions on Software Engineering 17(9), 1991.
fn aliases(weights: &[u64]) -> Vec<(u32, u32)> {
    let total: u64 = weights.iter().sum();
    let count = weights.len() as u64;
    // Weight of each rank times the number of ranks. A rank is small if this product is below the total
    // weight.
    let mut left: Vec<u64> = weights.iter().map(|weight| weight * count).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|&rank| left[rank] < total);
    let mut aliases: Vec<(u32, u32)> =
        (0..weights.len()).map(|rank| (u32::MAX, rank as u32)).collect();
    while let (Some(low), Some(high)) = (small.pop(), large.pop()) {
        let own = (u128::from(left[low]) << 32) / u128::from(total);
        // A small rank fills only a part of its entry. A large rank fills the rest, which its weight is
        // reduced by.
        aliases[low] = (own as u32, high as u32);
        left[high] -= total - left[low];
        if left[high] < total { &mut small } else { &mut large }.push(high);
    }
    aliases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_distinct_letters_and_some_are_long() {
        let vocabulary = InventedWords::new(120_000);
        let words: BTreeSet<&[u8]> = (0..120_000).map(|rank| vocabulary.word(rank)).collect();
        assert_eq!(words.len(), 120_000);
        assert!(words.iter().all(|word| word.iter().all(u8::is_ascii_lowercase)));
        assert!(words.iter().any(|word| word.len() > 16));
        let listed = stop_words();
        assert_eq!(listed.split(|&byte| byte == b'\n').count(), STOP_WORDS + 1);
        assert!(listed.starts_with(vocabulary.word(0)));
    }

    #[test]
    fn words_come_as_often_as_their_weights_say() {
        let vocabulary = InventedWords::new(2_000);
        let mut random = Random::new(7);
        let mut counts = vec![0u64; 2_000];
        let draws = 400_000;
        for _ in 0..draws {
            counts[vocabulary.draw(&mut random) as usize] += 1;
        }
        let weights = weights(2_000);
        let total: u64 = weights.iter().sum();
        for rank in [0, 1, 5, 30, 200] {
            let expected = draws * weights[rank] / total;
            let difference = counts[rank].abs_diff(expected);
            assert!(difference * 10 < expected + 100, "rank {rank}: {} {expected}", counts[rank]);
        }
    }

    #[test]
    fn words_are_as_many_and_as_frequent_as_those_of_newsgroups() {
        let words = 5_400_000;
        let vocabulary = InventedWords::for_text_of(words);
        let mut random = Random::new(7);
        let mut counts = vec![0u64; vocabulary.len()];
        (0..words).for_each(|_| counts[vocabulary.draw(&mut random) as usize] += 1);
        let distinct = counts.iter().filter(|count| **count > 0).count();
        assert!((90_000..125_000).contains(&distinct), "{distinct}");
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (most_frequent, percent) in [(100, 44), (1_000, 71), (10_000, 92)] {
            let share = 100 * counts[..most_frequent].iter().sum::<u64>() / words;
            assert!(share.abs_diff(percent) <= 4, "{most_frequent}: {share} %");
        }
    }

    #[test]
    fn longer_texts_have_more_words() {
        assert_eq!(InventedWords::for_text_of(0).len(), *SIZES.start());
        assert_eq!(InventedWords::for_text_of(1_000_000).len(), 140_000);
    }
}
