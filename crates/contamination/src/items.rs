//! The items of an evaluation set as sequences of words.

use simtool_base::error::{Error, Result};
use std::ops::Range;

/// The items of an evaluation set. A word is a 64-bit hash, and two words are equal if their hashes are equal.
#[derive(Clone, Debug)]
pub struct Items {
    /// The words of all items, one item after the other.
    words: Vec<u64>,
    /// For each item, the index in `words` of its first word. The last element is the number of all words.
    starts: Vec<u32>,
}

impl Default for Items {
    fn default() -> Self {
        Self { words: Vec::new(), starts: vec![0] }
    }
}

impl Items {
    /// Adds an item with the word hashes `words`. An item without words is found in no document.
    ///
    /// # Errors
    /// All items together have 2³² − 1 words or more.
    pub fn push(&mut self, words: &[u64]) -> Result<()> {
        let end = u32::try_from(self.words.len() + words.len()).ok().filter(|&end| end < u32::MAX);
        // The greatest number is not a place, so that all places fit in 32 bits.
        let Some(end) = end else {
            let rule = "a search numbers the words of all items with 32 bits. Search for the items in several runs";
            return Err(Error::limit("the items have 2³² words or more", rule));
        };
        self.words.extend_from_slice(words);
        self.starts.push(end);
        Ok(())
    }

    /// Appends the items of `more` to these items.
    ///
    /// # Errors
    /// All items together have 2³² − 1 words or more.
    pub fn append(&mut self, more: &Self) -> Result<()> {
        (0..more.len()).try_for_each(|item| self.push(more.words(item)))
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Returns whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the words of item number `item`, as hashes.
    #[must_use]
    pub fn words(&self, item: u32) -> &[u64] {
        &self.words[self.places(item)]
    }

    /// Returns the range of item number `item` in the words of all items.
    pub(crate) fn places(&self, item: u32) -> Range<usize> {
        let item = item as usize;
        self.starts[item] as usize..self.starts[item + 1] as usize
    }

    /// Returns the words of all items, one item after the other.
    pub(crate) fn all_words(&self) -> &[u64] {
        &self.words
    }
}
