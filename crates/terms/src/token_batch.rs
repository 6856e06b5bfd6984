//! Words of a piece of text, as a tokenizer passes them on.

use simtool_kernels::Isa;
use simtool_kernels::word_keys::{WordKey, word_keys};
use simtool_kernels::word_positions::word_positions;

/// Words of one piece of text: positions, keys and in-memory hashes, in the order of the text.
///
/// The batch is reused between pieces, so nothing is allocated once it is as large as the largest
/// piece.
#[derive(Debug, Default)]
pub struct TokenBatch {
    starts: Vec<u32>,
    ends: Vec<u32>,
    keys: Vec<WordKey>,
    hashes: Vec<u64>,
}

impl TokenBatch {
    /// Replaces the words by the runs of ASCII letters of `text`.
    ///
    /// Words that begin in the first 2³² − 1 bytes of the text are found, regardless of their
    /// length.
    pub(crate) fn fill_with_letter_runs(&mut self, isa: Isa, text: &[u8]) {
        word_positions(isa, text, &mut self.starts, &mut self.ends);
        word_keys(isa, text, &self.starts, &self.ends, &mut self.keys, &mut self.hashes);
    }

    /// Returns the number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys of the words. Long words have [no key](simtool_kernels::word_keys::NO_KEY).
    #[must_use]
    pub fn keys(&self) -> &[WordKey] {
        &self.keys
    }

    /// Returns the hashes of the keys.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the letters of word `index` as they are in `text`, the text of the batch.
    #[must_use]
    pub fn letters<'t>(&self, index: usize, text: &'t [u8]) -> &'t [u8] {
        let from_start = &text[self.starts[index] as usize..];
        let length = from_start.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        &from_start[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_kernels::word_keys::NO_KEY;

    #[test]
    fn a_batch_is_refilled_and_knows_its_long_words() {
        let mut batch = TokenBatch::default();
        for &isa in Isa::available() {
            batch.fill_with_letter_runs(isa, b"one two three");
            assert_eq!(batch.len(), 3);
            let text = b"sixteenletterss1seventeenletterss";
            batch.fill_with_letter_runs(isa, text);
            assert_eq!(batch.len(), 2);
            assert_ne!(batch.keys()[0], NO_KEY);
            assert_eq!(batch.keys()[1], NO_KEY);
            assert_eq!(batch.letters(1, text), b"seventeenletterss");
        }
    }
}
