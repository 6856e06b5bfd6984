//! Counts the words of a share of the corpus and writes down which word stood where.
//!
//! The numbers written down are a worker's own: they serve the second pass, which turns them into
//! features without looking at the text again.

use super::word_table::{Word, WordNumber, WordTable};
use crate::kernels::word_keys::{KEY_LETTERS, word_key};
use crate::token_batch::TokenBatch;

/// Counts of one worker's share of the corpus. Stop words hold the first numbers.
#[derive(Debug)]
pub struct WordCounter {
    table: WordTable,
    stop_words: WordNumber,
}

impl WordCounter {
    /// A counter that leaves out `stop_words`, given in lower case.
    #[must_use]
    pub fn new(stop_words: &[Vec<u8>]) -> Self {
        let mut table = WordTable::default();
        for word in stop_words {
            table.insert(if word.len() > KEY_LETTERS {
                Word::Long(word)
            } else {
                Word::Short(word_key(word))
            });
        }
        Self { stop_words: table.len(), table }
    }

    /// Counts the words of a batch of `text`, and writes the numbers of those that are no stop
    /// words into `numbers` from `at` on. Returns the next free place.
    ///
    /// # Panics
    ///
    /// `numbers` has no room for all words of the batch.
    pub fn count(
        &mut self,
        text: &[u8],
        batch: &TokenBatch,
        numbers: &mut [WordNumber],
        mut at: usize,
    ) -> usize {
        let stop_words = self.stop_words;
        self.table.count(text, batch, |number| {
            // Written in any case, kept if it is no stop word: no branch to mispredict.
            numbers[at] = number;
            at += usize::from(number >= stop_words);
        });
        at
    }

    /// Number of distinct words, stop words included: a bound for the numbers.
    #[must_use]
    pub fn number_bound(&self) -> usize {
        self.table.len() as usize
    }

    /// The words that are no stop words, with their counts, in no order.
    pub fn words(&self) -> impl Iterator<Item = (Word<'_>, u64)> {
        let words = self.table.words();
        words
            .filter(|&(_, number, _)| number >= self.stop_words)
            .map(|(word, _, count)| (word, count))
    }

    /// The number and count of a word that is no stop word.
    #[must_use]
    pub fn get(&self, word: Word<'_>) -> Option<(WordNumber, u64)> {
        self.table.get(word).filter(|&(number, _)| number >= self.stop_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;

    #[test]
    fn stop_words_are_neither_counted_nor_written_down() {
        let text = b"The cat, the overenthusiastically sleeping cat";
        let stop_words = [b"the".to_vec(), b"overenthusiastically".to_vec()];
        let mut counter = WordCounter::new(&stop_words);
        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), text);
        let mut numbers = [0; 6];
        assert_eq!(counter.count(text, &batch, &mut numbers, 0), 3);
        assert_eq!(numbers[..3], [2, 3, 2]);
        assert_eq!(counter.get(Word::Short(word_key(b"cat"))), Some((2, 2)));
        assert_eq!(counter.get(Word::Short(word_key(b"the"))), None);
        assert_eq!(counter.words().count(), 2);
    }
}
