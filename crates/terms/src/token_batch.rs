//! Words of one piece of text. A tokenizer passes them to the code that counts or hashes words.

use simtool_kernels::Isa;
use simtool_kernels::word_keys::{WordKey, WordSpans, word_keys};
use simtool_kernels::word_positions::word_positions;

/// Words of one piece of text: the byte offset, the key and the hash of each word, in the order of the text.
///
/// The key of a word of up to 16 letters is the word in lower case, packed into 128 bits. A batch is filled again for
/// each next piece, so its buffers soon stop growing.
#[derive(Debug, Default)]
pub struct TokenBatch {
    starts: Vec<u32>,
    ends: Vec<u32>,
    keys: Vec<WordKey>,
    hashes: Vec<u64>,
}

impl TokenBatch {
    /// Replaces the words of this batch by the words of `text`. A word is a sequence of ASCII letters that is as long
    /// as possible.
    ///
    /// Only words that begin in the first 2³² − 1 bytes of `text` are found, because offsets have 32 bits.
    pub(crate) fn fill_with_letter_runs(&mut self, isa: Isa, text: &[u8]) {
        word_positions(isa, text, &mut self.starts, &mut self.ends);
        let spans = WordSpans { text, starts: &self.starts, ends: &self.ends };
        word_keys(isa, spans, &mut self.keys, &mut self.hashes);
    }

    /// Returns the number of words in this batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether this batch has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the key of each word. Words of more than 16 letters have [no
    /// key](simtool_kernels::word_keys::NO_KEY).
    #[must_use]
    pub fn keys(&self) -> &[WordKey] {
        &self.keys
    }

    /// Returns the 64-bit hash of the key of each word, for hash tables in memory.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the letters of the word with index `index` as they are in the text, in upper or lower case. `text` must
    /// be the text from which the batch was filled.
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
