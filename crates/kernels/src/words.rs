//! Words of a text, as masks of its bytes and as places.

use super::own_loops::xxh3_short::MARGIN;
use std::ops::Range;

/// The bytes of a block of 64 that belong to each class, byte 0 in bit 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block {
    /// Letters.
    pub letters: u64,
    /// Digits.
    pub digits: u64,
    /// Underscores, to which the caller may add what belongs to them.
    pub underscores: u64,
    /// Bytes that join the letters before and behind them.
    pub joins_letters: u64,
    /// Bytes that join the digits before and behind them.
    pub joins_digits: u64,
    /// Bytes beyond ASCII.
    pub foreign: u64,
    /// Bytes that belong to words, whatever their neighbours are; set by the caller only.
    pub others: u64,
    /// Bytes before which a word ends, although the byte before belongs to one; set by the caller
    /// only.
    pub breaks: u64,
}

impl Block {
    /// Returns the classes of byte `at`, as masks of one bit.
    #[inline]
    #[must_use]
    pub fn at(&self, at: usize) -> Self {
        let bit = |mask: u64| mask >> at & 1;
        Self {
            letters: bit(self.letters),
            digits: bit(self.digits),
            underscores: bit(self.underscores),
            joins_letters: bit(self.joins_letters),
            joins_digits: bit(self.joins_digits),
            foreign: bit(self.foreign),
            others: bit(self.others),
            breaks: bit(self.breaks),
        }
    }

    /// The bytes that belong to words, given the neighbouring blocks.
    #[inline]
    pub(crate) fn words(&self, before: &Self, after: &Self) -> u64 {
        let between = |mask: u64, before: u64, after: u64| {
            (mask << 1 | before >> 63) & (mask >> 1 | after << 63)
        };
        let between_letters = between(self.letters, before.letters, after.letters);
        let between_digits = between(self.digits, before.digits, after.digits);
        self.letters
            | self.digits
            | self.underscores
            | self.others
            | self.joins_letters & between_letters
            | self.joins_digits & between_digits
    }
}

/// Words of a text, as positions in a lower-cased copy of it that keeps [`MARGIN`] bytes around.
#[derive(Debug, Default)]
pub struct Words {
    /// The margin, the text in lower case, and at least a margin behind it.
    pub lowered: Vec<u8>,
    /// The classes of the bytes, in blocks, and two empty blocks behind them.
    pub blocks: Vec<Block>,
    /// Where each word starts in `lowered`.
    pub starts: Vec<u32>,
    /// Where each word ends in `lowered`: the byte after its last.
    pub ends: Vec<u32>,
}

impl Words {
    /// The bytes beyond ASCII of the 64 from `at` on.
    #[inline]
    pub(crate) fn foreign(&self, at: usize) -> u64 {
        let of = |index: usize| self.blocks.get(index).map_or(0, |block| block.foreign);
        of(at / 64) >> (at % 64) | of(at / 64 + 1) << (63 - at % 64) << 1
    }

    /// Adds the bytes of a range to a mask.
    #[inline]
    pub fn mark(&mut self, range: Range<usize>, mask: impl Fn(&mut Block) -> &mut u64) {
        let mut at = range.start;
        while at < range.end {
            let (shift, count) = (at % 64, (range.end - at).min(64 - at % 64));
            *mask(&mut self.blocks[at / 64]) |= (u64::MAX >> (64 - count)) << shift;
            at += count;
        }
    }

    /// Makes the bytes of a range separate.
    pub fn unmark(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let (shift, count) = (at % 64, (range.end - at).min(64 - at % 64));
            let kept = !((u64::MAX >> (64 - count)) << shift);
            let block = &mut self.blocks[at / 64];
            for mask in [
                &mut block.letters,
                &mut block.digits,
                &mut block.underscores,
                &mut block.joins_letters,
                &mut block.joins_digits,
                &mut block.others,
                &mut block.breaks,
            ] {
                *mask &= kept;
            }
            at += count;
        }
    }

    /// Forgets the words, and makes room for as many as the blocks can hold: 32 a block and 64 more.
    pub(crate) fn make_room(&mut self) {
        self.starts.clear();
        self.ends.clear();
        // Two words have at least a byte between them, or a break; breaks are fewer than bytes.
        let most = self.blocks.len() * 32 + 64;
        self.starts.reserve(most);
        self.ends.reserve(most);
    }

    /// Removes the words that hold no letter or digit.
    pub(crate) fn drop_bare_underscores(&mut self) {
        let is_bare = |at: u32| {
            let at = at as usize - MARGIN;
            self.blocks[at / 64].underscores >> (at % 64) & 1 != 0
        };
        let mut kept = 0;
        for word in 0..self.starts.len() {
            let (start, end) = (self.starts[word], self.ends[word]);
            if self.lowered[start as usize] != b'_' || !(start..end).all(is_bare) {
                self.starts[kept] = start;
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.starts.truncate(kept);
        self.ends.truncate(kept);
    }
}
