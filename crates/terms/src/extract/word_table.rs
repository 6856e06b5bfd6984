//! Hash table that numbers words and counts how often each word occurs.
//!
//! The table uses open addressing with linear probing over slots of 24 bytes. A look-up usually
//! touches one cache line, which holds the whole word, and never reads the text.
//!
//! The search for a word begins at its hash, scaled to the number of slots. So the number of slots need not be a power
//! of two, and the table has hardly more slots than the words need. A larger table would be slower, because it misses
//! the caches, and touching new memory takes time.
//!
//! Words of more than 16 letters do not fit into a slot and are in an ordinary map. In English text, this is one word
//! in 300.

use crate::token_batch::TokenBatch;
use bytemuck::{Pod, Zeroable};
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::unordered_map::UnorderedMap;
use simtool_kernels::prefetch;
use simtool_kernels::word_keys::{NO_KEY, WordKey, hash_key, key_letters};

/// Distance, in words, between the word that is looked up and a later word whose slot is prefetched.
const PREFETCH_AHEAD: usize = 16;

/// Smallest number of slots of a table.
const FEWEST_SLOTS: usize = 1 << 10;

/// Number of a word in its table. Words are numbered from 0 in the order in which they first occur.
pub(crate) type WordNumber = u32;

/// Slot of a table for one word of up to 16 letters. A slot without a key is free.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Slot {
    key: WordKey,
    /// Number of occurrences, modulo 2³².
    count: u32,
    number: WordNumber,
}

/// Table that maps each word to its number and its count.
#[derive(Debug)]
pub(crate) struct WordTable {
    slots: LargeBuffer<Slot>,
    /// Smaller arrays of slots that the table used before it grew. They are kept until the table is dropped. To free
    /// them while other threads run would interrupt every processor, which takes much more time.
    outgrown: Vec<LargeBuffer<Slot>>,
    /// Numbers of the words whose 32-bit counts overflowed, once for each overflow. An overflow adds 2³² to the count.
    carries: Vec<WordNumber>,
    long_words: UnorderedMap<Box<[u8]>, LongWord>,
    len: WordNumber,
}

#[derive(Clone, Copy, Debug)]
struct LongWord {
    count: u64,
    number: WordNumber,
}

/// A word in lower case, in the form in which a table stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'t> {
    /// A word of up to 16 letters, packed into a key.
    Short(WordKey),
    /// The letters of a word of more than 16 letters.
    Long(&'t [u8]),
}

impl WordTable {
    /// Creates an empty table with slots for about `words` words. The table grows if it needs more slots.
    #[must_use]
    pub(crate) fn for_words(words: usize) -> Self {
        // At most two thirds of the slots are taken, so that a search ends after few steps.
        let slots = (words / 2 * 3).max(FEWEST_SLOTS);
        Self {
            slots: LargeBuffer::resident(slots),
            outgrown: Vec::new(),
            carries: Vec::new(),
            long_words: UnorderedMap::default(),
            len: 0,
        }
    }

    /// Returns the number of different words in the table.
    #[must_use]
    pub(crate) fn len(&self) -> WordNumber {
        self.len
    }

    /// Returns whether the table has no words.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Counts every word of `batch`. `text` is the text of the batch. Gives numbers to new words, and calls `number`
    /// with the number of each word, in order.
    #[inline]
    pub(crate) fn count(
        &mut self,
        text: &[u8],
        batch: &TokenBatch,
        mut number: impl FnMut(WordNumber),
    ) {
        // Growing before the loop keeps the slots in place throughout it.
        self.reserve(batch.len());
        let slots: &mut [Slot] = &mut self.slots;
        let keys = batch.keys();
        let hashes = batch.hashes();
        for (i, (&key, &hash)) in keys.iter().zip(hashes).enumerate() {
            // The table is larger than the caches, so without this each word waits for memory.
            if let Some(&ahead) = hashes.get(i + PREFETCH_AHEAD) {
                prefetch(slots, home(slots, ahead));
            }
            if key == NO_KEY {
                let letters = batch.letters(i, text);
                number(count_long(&mut self.long_words, &mut self.len, letters));
                continue;
            }
            let slot = &mut slots[place(slots, key, hash)];
            if slot.key != key {
                *slot = Slot { key, count: 0, number: next_number(&mut self.len) };
            }
            // A count of 64 bits would make the slot larger. The rare overflow is recorded in a list.
            slot.count = slot.count.wrapping_add(1);
            if slot.count == 0 {
                self.carries.push(slot.number);
            }
            number(slot.number);
        }
    }

    /// Looks up the words of `batch` without counting them. `text` is the text of the batch. Calls `number` with the
    /// number of each word in order, or with `None` for a word that is not in the table.
    pub(crate) fn look_up(
        &self,
        text: &[u8],
        batch: &TokenBatch,
        mut number: impl FnMut(Option<WordNumber>),
    ) {
        for (i, (&key, &hash)) in batch.keys().iter().zip(batch.hashes()).enumerate() {
            number(if key == NO_KEY {
                let letters = batch.letters(i, text).to_ascii_lowercase();
                self.long_words.get(&letters[..]).map(|word| word.number)
            } else {
                self.find(key, hash).map(|slot| slot.number)
            });
        }
    }

    /// Counts one occurrence of a word. Returns the number of the word. A new word gets the next free number.
    pub(crate) fn insert(&mut self, word: Word<'_>) -> WordNumber {
        self.reserve(1);
        let key = match word {
            Word::Short(key) => key,
            Word::Long(letters) => return count_long(&mut self.long_words, &mut self.len, letters),
        };
        let at = place(&self.slots, key, hash_key(key));
        let slot = &mut self.slots[at];
        if slot.key != key {
            *slot = Slot { key, count: 0, number: next_number(&mut self.len) };
        }
        slot.count = slot.count.wrapping_add(1);
        if slot.count == 0 {
            self.carries.push(slot.number);
        }
        slot.number
    }

    /// Returns the number and the count of a word, or `None` if it is not in the table.
    #[must_use]
    pub(crate) fn get(&self, word: Word<'_>) -> Option<(WordNumber, u64)> {
        match word {
            Word::Short(key) => {
                self.find(key, hash_key(key)).map(|slot| (slot.number, self.whole_count(slot)))
            }
            Word::Long(letters) => {
                self.long_words.get(letters).map(|word| (word.number, word.count))
            }
        }
    }

    /// Returns all words, each with its number and count, in no particular order.
    pub(crate) fn words(&self) -> impl Iterator<Item = (Word<'_>, WordNumber, u64)> {
        let short = self.slots.iter().filter(|slot| slot.key != NO_KEY);
        let short = short.map(|slot| (Word::Short(slot.key), slot.number, self.whole_count(slot)));
        let long = self.long_words.iter();
        short.chain(long.map(|(letters, word)| (Word::Long(&letters[..]), word.number, word.count)))
    }

    fn find(&self, key: WordKey, hash: u64) -> Option<&Slot> {
        let slot = &self.slots[place(&self.slots, key, hash)];
        (slot.key == key).then_some(slot)
    }

    /// Returns the full count of a slot: its 32 bits, and the recorded overflows of its word.
    #[inline]
    fn whole_count(&self, slot: &Slot) -> u64 {
        let count = u64::from(slot.count);
        if self.carries.is_empty() {
            return count;
        }
        let carries = self.carries.iter().filter(|&&number| number == slot.number).count();
        count + ((carries as u64) << 32)
    }

    /// Makes the table large enough for `more` new words, so that at most three of four slots are taken.
    fn reserve(&mut self, more: usize) {
        let words = self.len as usize + more;
        while words > self.slots.len() / 4 * 3 {
            let mut larger = LargeBuffer::resident(self.slots.len() * 2);
            for slot in self.slots.iter().filter(|slot| slot.key != NO_KEY) {
                let at = place(&larger, slot.key, hash_key(slot.key));
                larger[at] = *slot;
            }
            self.outgrown.push(std::mem::replace(&mut self.slots, larger));
        }
    }
}

/// Returns the index of the slot at which the search for a key with the hash `hash` begins.
#[inline(always)]
fn home(slots: &[Slot], hash: u64) -> usize {
    ((u128::from(hash) * slots.len() as u128) >> 64) as usize
}

/// Returns the index of the slot that holds `key`. If there is none, returns the index of the free slot for `key`.
#[inline(always)]
fn place(slots: &[Slot], key: WordKey, hash: u64) -> usize {
    let mut at = home(slots, hash);
    // The loop ends, because some slots are always free.
    while slots[at].key != key && slots[at].key != NO_KEY {
        at += 1;
        if at == slots.len() {
            at = 0;
        }
    }
    at
}

#[cold]
fn count_long(
    long_words: &mut UnorderedMap<Box<[u8]>, LongWord>,
    len: &mut WordNumber,
    letters: &[u8],
) -> WordNumber {
    let letters = letters.to_ascii_lowercase();
    if let Some(word) = long_words.get_mut(&letters[..]) {
        word.count += 1;
        return word.number;
    }
    let number = next_number(len);
    long_words.insert(letters.into_boxed_slice(), LongWord { count: 1, number });
    number
}

/// Returns the number for a new word, and increments `len`, the number of words so far.
#[inline]
fn next_number(len: &mut WordNumber) -> WordNumber {
    let number = *len;
    assert!(number < WordNumber::MAX, "the words of a worker's share of a corpus fit in 32 bits");
    *len += 1;
    number
}

impl Word<'_> {
    /// Compares the lower-case letters of two words, byte by byte.
    #[must_use]
    pub(crate) fn cmp_letters(self, other: Self) -> std::cmp::Ordering {
        if let (Self::Short(a), Self::Short(b)) = (self, other) {
            return a.map(u64::swap_bytes).cmp(&b.map(u64::swap_bytes));
        }
        self.with_letters(|a| other.with_letters(|b| a.cmp(b)))
    }

    /// Calls `lend` with the lower-case letters of the word, and returns the result of `lend`.
    pub fn with_letters<R>(self, lend: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::Short(key) => {
                let (letters, length) = key_letters(key);
                lend(&letters[..length])
            }
            Self::Long(letters) => lend(letters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_kernels::Isa;
    use std::collections::BTreeMap;

    fn count(table: &mut WordTable, text: &[u8]) -> Vec<WordNumber> {
        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), text);
        let mut numbers = Vec::new();
        table.count(text, &batch, |number| numbers.push(number));
        numbers
    }

    #[test]
    fn words_are_numbered_as_they_come_and_counted() {
        let mut table = WordTable::for_words(0);
        let numbers = count(
            &mut table,
            b"To be or not to BE incomprehensibilities, be Incomprehensibilities",
        );
        assert_eq!(numbers, [0, 1, 2, 3, 0, 1, 4, 1, 4]);
        assert_eq!(table.get(Word::Long(b"incomprehensibilities")), Some((4, 2)));
        assert_eq!(table.len(), 5);
    }

    #[test]
    fn a_growing_table_agrees_with_an_ordered_map() {
        let mut table = WordTable::for_words(0);
        let mut expected = BTreeMap::new();
        let mut state = 1u64;
        let mut text = Vec::new();
        for _ in 0..60_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut word = Vec::new();
            let mut bits = (state >> 33) % 40_000;
            while bits > 0 {
                word.push(b'a' + (bits % 23) as u8);
                bits /= 23;
            }
            if state >> 60 == 0 {
                word = word.repeat(9);
            }
            if !word.is_empty() {
                *expected.entry(word.clone()).or_insert(0u64) += 1;
            }
            text.extend(word);
            text.push(b' ');
        }
        count(&mut table, &text);
        let mut found = BTreeMap::new();
        for (word, number, occurrences) in table.words() {
            assert_eq!(table.get(word), Some((number, occurrences)));
            found.insert(word.with_letters(<[u8]>::to_vec), occurrences);
        }
        assert_eq!(found, expected);
        assert_eq!(table.len() as usize, expected.len());

        let mut batch = TokenBatch::default();
        batch.fill_with_letter_runs(Isa::detected(), b"zzzzzzzz B");
        let mut numbers = Vec::new();
        table.look_up(b"zzzzzzzz B", &batch, |number| numbers.push(number));
        assert_eq!(numbers[0], None);
        assert!(numbers[1].is_some());
    }

    #[test]
    fn counts_go_beyond_32_bits() {
        let mut table = WordTable::for_words(0);
        let word = Word::Short(simtool_kernels::word_keys::word_key(b"the"));
        table.insert(word);
        let taken = table.slots.iter().position(|slot| slot.key != NO_KEY).unwrap();
        table.slots[taken].count = u32::MAX - 1;
        for expected in [u32::MAX.into(), 1 << 32, (1 << 32) + 1] {
            count(&mut table, b"The");
            assert_eq!(table.get(word), Some((0, expected)));
        }
        assert_eq!(table.words().next().map(|(_, _, count)| count), Some((1 << 32) + 1));
    }

    #[test]
    fn words_compare_by_their_letters() {
        let key = simtool_kernels::word_keys::word_key;
        let order = [
            Word::Short(key(b"aardvark")),
            Word::Long(b"abcdefghijklmnopqr"),
            Word::Short(key(b"b")),
        ];
        assert!(order.is_sorted_by(|a, b| a.cmp_letters(*b).is_lt()));
    }
}
