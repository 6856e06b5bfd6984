//! Learns the N most frequent words of a corpus in parallel.
//!
//! Every worker thread counts the words of its own share of the corpus. Few words can be among the N most frequent, and
//! merging all tables would take as long as counting. So only candidates are looked up in the tables of the other
//! workers.
//!
//! If a worker counted its N-th most frequent word L times, at least N words occur L times or more. So each of the N
//! most frequent words occurs L times or more, too. At least one of the T workers must have counted such a word ⌈L / T⌉
//! times or more. The words with such a count are the candidates.

use super::word_counter::{WordCounter, read_numbers};
use super::word_table::{Word, WordTable};
use crate::token_batch::TokenBatch;
use simtool_kernels::word_keys::{NO_KEY, word_key};

/// Position of a word in the list of the most frequent words. 0 is the most frequent word.
pub(crate) type Rank = u32;

/// Maximum number of ranks that [`NumberRanks::ranks`] passes to its callback in one call.
const RANKS_AT_ONCE: usize = 512;

/// The N most frequent words, most frequent first. Words with equal counts are in byte order.
#[derive(Debug)]
pub struct Vocabulary {
    /// Table that numbers the words. The number of a word is its rank.
    ranks: WordTable,
}

/// A word that may be among the N most frequent words of the corpus, with its total count over all workers.
#[derive(Debug)]
pub struct Candidate<'c> {
    count: u64,
    word: Word<'c>,
}

impl Candidate<'_> {
    /// Orders candidates by count, highest first. Candidates with equal counts are ordered by their letters.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.count.cmp(&self.count).then_with(|| self.word.cmp_letters(other.word))
    }
}

/// Number of classes into which [`reached_count`] divides counts. Each power of two has eight classes.
const COUNT_CLASSES: usize = 8 * u64::BITS as usize;

/// Returns the class of a count, which must be at least 1. The class is determined by the highest bit of the count and
/// the three bits below it.
fn count_class(count: u64) -> usize {
    let octave = count.ilog2();
    let within = if octave >= 3 { count >> (octave - 3) } else { count << (3 - octave) };
    8 * octave as usize + (within & 7) as usize
}

/// Returns the lowest count that belongs to a class.
fn lowest_of_class(class: usize) -> u64 {
    let octave = class / 8;
    let within = class as u64 % 8;
    if octave >= 3 { (8 + within) << (octave - 3) } else { (8 + within) >> (3 - octave) }
}

/// Returns a count such that at least `most` words of the worker occur that often or more often. It is the `most`-th
/// highest count, rounded down by at most an eighth. Returns 0 if the worker has fewer words.
///
/// # Complexity
///
/// O(words of the worker).
#[must_use]
pub fn reached_count(counter: &WordCounter, most: usize) -> u64 {
    let mut words = [0usize; COUNT_CLASSES];
    for (_, count) in counter.words() {
        words[count_class(count)] += 1;
    }
    let mut reaching = 0;
    for class in (0..COUNT_CLASSES).rev() {
        reaching += words[class];
        if reaching >= most {
            return lowest_of_class(class);
        }
    }
    0
}

/// Returns the words of one worker that may be among the most frequent words of the corpus. `own` is the index of the
/// worker in `counters`.
///
/// `reached` must be a count such that at least N words occur that often or more often, where N is the number of words
/// of the vocabulary. [`reached_count`] returns such a count. If a word is a candidate of several workers, it is
/// returned for only one of them.
///
/// # Complexity
///
/// O(words of the worker + candidates × workers).
#[must_use]
pub fn candidates(counters: &[WordCounter], own: usize, reached: u64) -> Vec<Candidate<'_>> {
    let threshold = reached.div_ceil(counters.len() as u64);
    let mut found = Vec::new();
    'words: for (word, count) in counters[own].words() {
        if count < threshold {
            continue;
        }
        let mut total = count;
        for (number, other) in counters.iter().enumerate().filter(|&(number, _)| number != own) {
            let count = other.get(word).map(|(_, count)| count);
            // An earlier worker has the word as a candidate, too, and returns it.
            if number < own && count.is_some_and(|count| count >= threshold) {
                continue 'words;
            }
            total += count.unwrap_or(0);
        }
        found.push(Candidate { count: total, word });
    }
    found
}

impl Vocabulary {
    /// Creates the vocabulary of the `most` most frequent words. `candidates` has the candidates that [`candidates`]
    /// found for each worker.
    #[must_use]
    pub fn from_candidates(mut candidates: Vec<Candidate<'_>>, most: usize) -> Self {
        if most < candidates.len() {
            // A selection before the sort: there may be many more candidates than words.
            candidates.select_nth_unstable_by(most, Candidate::order);
            candidates.truncate(most);
        }
        candidates.sort_unstable_by(Candidate::order);
        let mut ranks = WordTable::for_words(candidates.len());
        for candidate in candidates {
            ranks.insert(candidate.word);
        }
        Self { ranks }
    }

    /// Creates a vocabulary of words in lower case that are sorted by frequency, highest first. If a word occurs more
    /// than once, its rank is its first position.
    #[must_use]
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Self {
        let mut ranks = WordTable::for_words(0);
        for word in words {
            ranks.insert(match word_key(word) {
                NO_KEY => Word::Long(word),
                key => Word::Short(key),
            });
        }
        Self { ranks }
    }

    /// Returns the words in lower case, in the order of their ranks.
    #[must_use]
    pub fn words(&self) -> Vec<Vec<u8>> {
        let mut words = vec![Vec::new(); self.len()];
        for (word, rank, _) in self.ranks.words() {
            words[rank as usize] = word.with_letters(<[u8]>::to_vec);
        }
        words
    }

    /// Returns the number of words in the vocabulary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.len() as usize
    }

    /// Returns whether the vocabulary is empty, because the corpus has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Appends the rank of each word of `batch` to `ranks`. The rank is the position in the list of the most frequent
    /// words. `text` is the text of the batch. Words outside the vocabulary are skipped.
    pub fn ranks(&self, text: &[u8], batch: &TokenBatch, ranks: &mut Vec<Rank>) {
        self.ranks.look_up(text, batch, |rank| ranks.extend(rank));
    }

    /// Returns a table that maps the word numbers of one worker to ranks in the vocabulary. `counter` is the counter of
    /// this worker, which has numbered its words.
    #[must_use]
    pub fn number_ranks(&self, counter: &WordCounter) -> NumberRanks {
        let numbers = counter.number_bound();
        let mut meaning =
            NumberRanks { is_feature: vec![0; numbers.div_ceil(64)], ranks: vec![0; numbers] };
        for (word, rank, _) in self.ranks.words() {
            if let Some((number, _)) = counter.get(word) {
                meaning.is_feature[number as usize / 64] |= 1 << (number % 64);
                meaning.ranks[number as usize] = rank;
            }
        }
        meaning
    }
}

/// Table that maps the numbers that one worker gave to its words to ranks in the vocabulary.
#[derive(Debug)]
pub struct NumberRanks {
    /// One bit for each word number: 1 if the word has a rank. The bits fit into the cache, even for a large
    /// vocabulary.
    is_feature: Vec<u64>,
    /// Rank of each word, by word number. 0 for a word outside the vocabulary.
    ranks: Vec<Rank>,
}

impl NumberRanks {
    /// Decodes the word numbers in `written`, and calls `lend` with the ranks of these words in order, several ranks at
    /// a time. Words outside the vocabulary are skipped.
    ///
    /// # Panics
    ///
    /// `written` contains a number that this worker gave to no word.
    #[inline]
    pub fn ranks(&self, written: &[u16], mut lend: impl FnMut(&[Rank])) {
        let mut some = [0; RANKS_AT_ONCE];
        let mut count = 0;
        let mut lend_ranks = |numbers: &mut [u32]| {
            for number in &mut *numbers {
                *number = self.ranks[*number as usize];
            }
            lend(numbers);
        };
        read_numbers(written, |number| {
            let is_feature = self.is_feature[number as usize / 64] >> (number % 64) & 1;
            // The number is written in any case and kept by moving `count`, so there is no branch
            // to mispredict.
            some[count] = number;
            count += is_feature as usize;
            if count == RANKS_AT_ONCE {
                lend_ranks(&mut some);
                count = 0;
            }
        });
        lend_ranks(&mut some[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_kernels::Isa;
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    fn counter(text: &[u8], stop_words: &[Vec<u8>]) -> WordCounter {
        let mut counter = WordCounter::new(0, stop_words);
        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), text);
        let mut numbers = vec![0; 3 * (batch.len() + 1)];
        counter.count(text, &batch, &mut numbers, 0);
        counter
    }

    fn features(vocabulary: &Vocabulary) -> Vec<String> {
        let words = vocabulary.words();
        let again = Vocabulary::from_words(words.iter().map(Vec::as_slice));
        assert_eq!(again.words(), words);
        words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect()
    }

    fn learn(shares: &[&[u8]], stop_words: &[Vec<u8>], most: usize) -> Vec<String> {
        let counters: Vec<_> = shares.iter().map(|share| counter(share, stop_words)).collect();
        let reached = counters.iter().map(|c| reached_count(c, most)).max().unwrap_or(0);
        let candidates =
            (0..counters.len()).flat_map(|own| candidates(&counters, own, reached)).collect();
        let vocabulary = Vocabulary::from_candidates(candidates, most);
        for counter in &counters {
            let ranks = vocabulary.number_ranks(counter);
            assert_eq!(ranks.ranks.len(), counter.number_bound());
        }
        features(&vocabulary)
    }

    #[test]
    fn a_class_holds_its_counts() {
        for count in (1..5000).chain([u64::MAX / 3, u64::MAX]) {
            let class = count_class(count);
            let lowest = lowest_of_class(class);
            assert!(lowest <= count && count - lowest <= count / 8, "{count}: {lowest}");
            assert_eq!(count_class(lowest), class);
        }
    }

    #[test]
    fn equal_counts_are_ranked_by_their_letters() {
        assert_eq!(learn(&[b"b a c b a zz the"], &[b"the".to_vec()], 3), ["a", "b", "c"]);
        assert_eq!(learn(&[b"b a", b"c b", b"a d"], &[], 9), ["a", "b", "c", "d"]);
    }

    proptest! {
        #[test]
        fn any_division_into_shares_gives_the_same(
            shares in proptest::collection::vec("([a-d]{1,2}|[ab]{17}|[ ]){0,40}", 1..5),
            most in 0usize..12,
        ) {
            let mut counts = BTreeMap::new();
            for word in shares.iter().flat_map(|s| s.split(' ')).filter(|w| !w.is_empty() && *w != "a") {
                *counts.entry(word.to_owned()).or_insert(0) += 1;
            }
            let mut expected: Vec<_> = counts.into_iter().collect();
            expected.sort_by_key(|(word, count)| (Reverse(*count), word.clone()));
            let expected: Vec<_> = expected.into_iter().take(most).map(|(word, _)| word).collect();
            let shares: Vec<&[u8]> = shares.iter().map(String::as_bytes).collect();
            prop_assert_eq!(learn(&shares, &[b"a".to_vec()], most), expected);
        }
    }

    #[test]
    fn written_numbers_become_ranks() {
        let text = b"x y z y";
        let mut counter = WordCounter::new(0, &[]);
        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), text);
        let mut numbers = [0; 15];
        let written = counter.count(text, &batch, &mut numbers, 0);
        let all = candidates(std::slice::from_ref(&counter), 0, 0);
        let vocabulary = Vocabulary::from_candidates(all, 2);
        let mut ranks: Vec<Rank> = Vec::new();
        vocabulary.number_ranks(&counter).ranks(&numbers[..written], |some| ranks.extend(some));
        assert_eq!(ranks, [1, 0, 0]);
        let mut looked_up = Vec::new();
        vocabulary.ranks(text, &batch, &mut looked_up);
        assert_eq!(looked_up, [1, 0, 0]);
        assert!(vocabulary.len() == 2 && !vocabulary.is_empty());
    }
}
