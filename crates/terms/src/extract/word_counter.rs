//! Counts the words of one worker's share of the corpus, and records the sequence of words as numbers. A worker is a
//! thread.
//!
//! Each worker numbers its words itself. A second pass converts the recorded numbers to ranks without reading the text
//! again. A number takes 2 bytes, because touching new memory costs more than packing the numbers. A number of 65,535
//! or more takes a mark of 2 bytes and 4 more bytes. Such numbers belong to rare words, because frequent words occur
//! early and get low numbers.

use super::word_table::{Word, WordNumber, WordTable};
use crate::token_batch::TokenBatch;
use simtool_kernels::word_keys::{KEY_LETTERS, word_key};

/// Mark before a word number that does not fit into 16 bits. After it come two 16-bit units with the number.
const ESCAPE: u16 = u16::MAX;

/// Maximum number of 16-bit units that a recorded word number takes: the mark `0xFFFF` and the two halves of the
/// number.
pub const MOST_PLACES: usize = 3;

/// Counts and numbers the distinct words in one worker's share of the corpus. Stop words get the
/// lowest numbers.
#[derive(Debug)]
pub struct WordCounter {
    table: WordTable,
    stop_words: WordNumber,
}

impl WordCounter {
    /// Creates a counter for about `bytes` bytes of text. The counter leaves out `stop_words`, which must be in lower
    /// case.
    #[must_use]
    pub fn new(bytes: usize, stop_words: &[Vec<u8>]) -> Self {
        // A text of n bytes has about 18 √n distinct words (Heaps' law): 27,000 in 2.6 MB of
        // newsgroup articles, 105,000 in 35 MB of them.
        let mut table = WordTable::for_words(20 * bytes.isqrt());
        for word in stop_words {
            table.insert(if word.len() > KEY_LETTERS {
                Word::Long(word)
            } else {
                Word::Short(word_key(word))
            });
        }
        Self { stop_words: table.len(), table }
    }

    /// Counts the words of `batch` and gives a number to each distinct word. `text` is the text of the batch. For each
    /// word of the batch that is not a stop word, writes its number into `written`, from index `at` on. Returns the
    /// index after the last number.
    ///
    /// # Panics
    ///
    /// `written` is too short. It needs [`MOST_PLACES`] elements for each word of the batch, and one more element.
    // If the loop were inlined, its callers would take some of the registers that it needs.
    #[inline(never)]
    pub fn count(
        &mut self,
        text: &[u8],
        batch: &TokenBatch,
        written: &mut [u16],
        mut at: usize,
    ) -> usize {
        let stop_words = self.stop_words;
        self.table.count(text, batch, |number| {
            if number >= WordNumber::from(ESCAPE) {
                written[at..at + MOST_PLACES].copy_from_slice(&[
                    ESCAPE,
                    number as u16,
                    (number >> 16) as u16,
                ]);
                at += MOST_PLACES;
            } else {
                // The number is written in any case and kept by moving `at`, so there is no branch
                // to mispredict.
                written[at] = number as u16;
                at += usize::from(number >= stop_words);
            }
        });
        at
    }

    /// Returns the number of distinct words, including stop words. All word numbers are lower than the result.
    #[must_use]
    pub fn number_bound(&self) -> usize {
        self.table.len() as usize
    }

    /// Returns all words except stop words, each with its count, in no particular order.
    pub fn words(&self) -> impl Iterator<Item = (Word<'_>, u64)> {
        let words = self.table.words();
        words
            .filter(|&(_, number, _)| number >= self.stop_words)
            .map(|(word, _, count)| (word, count))
    }

    /// Returns the number and the count of a word, or `None` if it is a stop word or did not occur.
    #[must_use]
    pub fn get(&self, word: Word<'_>) -> Option<(WordNumber, u64)> {
        self.table.get(word).filter(|&(number, _)| number >= self.stop_words)
    }
}

/// Decodes the word numbers that [`WordCounter::count`] wrote, and calls `number` with each number, in order.
#[inline]
pub(crate) fn read_numbers(written: &[u16], mut number: impl FnMut(WordNumber)) {
    let mut rest = written.iter();
    while let Some(&place) = rest.next() {
        if place == ESCAPE {
            let mut half = || WordNumber::from(rest.next().copied().unwrap_or_default());
            let low = half();
            number(low | half() << 16);
        } else {
            number(WordNumber::from(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_kernels::Isa;

    #[test]
    fn stop_words_are_neither_counted_nor_written_down() {
        let text = b"The cat, the overenthusiastically sleeping cat";
        let stop_words = [b"the".to_vec(), b"overenthusiastically".to_vec()];
        let mut counter = WordCounter::new(0, &stop_words);
        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), text);
        let mut written = [0; 6 * MOST_PLACES];
        assert_eq!(counter.count(text, &batch, &mut written, 0), 3);
        assert_eq!(written[..3], [2, 3, 2]);
        assert_eq!(counter.get(Word::Short(word_key(b"cat"))), Some((2, 2)));
        assert_eq!(counter.get(Word::Short(word_key(b"the"))), None);
        assert_eq!(counter.words().count(), 2);
    }

    #[test]
    fn numbers_of_any_size_are_read_as_they_were_written() {
        let mut counter = WordCounter::new(0, &[b"stop".to_vec()]);
        let mut batch = TokenBatch::default();
        let mut written = vec![0; 300_000];
        let mut at = 0;
        let mut words = Vec::new();
        for i in 0..70_000u32 {
            let word: String =
                (0..4).map(|d| char::from(b'a' + (i >> (5 * d) & 31).min(25) as u8)).collect();
            words.push(word);
        }
        let mut expected = Vec::new();
        let mut numbers = std::collections::BTreeMap::new();
        for words in words.chunks(1000) {
            let text = words.join(" ");
            batch.fill_with_letter_runs(Isa::detected(), text.as_bytes());
            at = counter.count(text.as_bytes(), &batch, &mut written, at);
            for word in words {
                let next = numbers.len() as u32 + 1;
                expected.push(*numbers.entry(word.clone()).or_insert(next));
            }
        }
        let mut found = Vec::new();
        read_numbers(&written[..at], |number| found.push(number));
        assert_eq!(found, expected);
    }
}
