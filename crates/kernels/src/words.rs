//! Words of a text, as masks of its bytes and as start and end positions.

use std::ops::Range;

/// Number of bytes that the text must have before the first word and after the last word, because
/// loops read them.
pub const MARGIN: usize = 16;

/// The classes of bytes, such as letters, in a block of 64 bytes. There is a mask for each class,
/// and bit i of a mask is set if byte i is in the class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block {
    /// Mask of the letters.
    pub letters: u64,
    /// Mask of the digits.
    pub digits: u64,
    /// Mask of the underscores. The caller may add other characters that take part in words in the
    /// same way as underscores.
    pub underscores: u64,
    /// Mask of the bytes, for example apostrophes, that join two letters before and after them.
    pub joins_letters: u64,
    /// Mask of the bytes, for example commas, that join two digits before and after them.
    pub joins_digits: u64,
    /// Mask of the bytes beyond ASCII.
    pub foreign: u64,
    /// Mask of the characters beyond ASCII that always belong to words although they are not
    /// letters. [`classify`](crate::word_masks::classify) leaves it empty.
    pub others: u64,
    /// Mask of the hyphens, which may be signs of numbers. The caller may add the last bytes of other signs, and bytes
    /// before which a word always ends, even if the bytes on both sides belong to words.
    pub breaks: u64,
}

impl Block {
    /// Returns the classes of byte `at`. Each mask of the result is 1 if the byte is in the class,
    /// else 0.
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

    /// Returns a mask of the digits directly behind a byte of [`Self::breaks`]. `before` is the block before this one.
    #[inline]
    #[must_use]
    pub fn digits_behind_breaks(&self, before: &Self) -> u64 {
        self.digits & (self.breaks << 1 | before.breaks >> 63)
    }

    /// Returns a mask of the bytes that belong to words. `before` and `after` are the neighbouring
    /// blocks of the text.
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

/// The words of a text, as positions in a lower-cased copy of the text. The copy has at least
/// [`MARGIN`] additional bytes before and after the text.
#[derive(Debug, Default)]
pub struct Words {
    /// The lower-cased copy: [`MARGIN`] bytes, the text, and at least [`MARGIN`] more bytes.
    pub lowered: Vec<u8>,
    /// Masks of the bytes of the text, one [`Block`] for each 64 bytes. Two empty blocks follow. The first one ends a
    /// word at the end of the text. The second one is there because the search for words also reads the block after
    /// each block.
    pub blocks: Vec<Block>,
    /// Index in `lowered` of the first byte of each word.
    pub starts: Vec<u32>,
    /// Index in `lowered` behind the last byte of each word.
    pub ends: Vec<u32>,
    /// Indices of the blocks in which a number may have a sign: a digit is directly behind a byte of
    /// [`Block::breaks`], and that byte is not known to follow a letter or digit.
    pub signed: Vec<u32>,
}

impl Words {
    /// Returns a mask of the bytes beyond ASCII among the 64 bytes of the text from byte offset `at`
    /// on.
    #[inline]
    pub(crate) fn foreign(&self, at: usize) -> u64 {
        let of = |index: usize| self.blocks.get(index).map_or(0, |block| block.foreign);
        of(at / 64) >> (at % 64) | of(at / 64 + 1) << (63 - at % 64) << 1
    }

    /// Adds the bytes of `range` to a class. The range has byte offsets in the text. `mask` returns
    /// the field of a block that is the mask of this class.
    #[inline]
    pub fn mark(&mut self, range: Range<usize>, mask: impl Fn(&mut Block) -> &mut u64) {
        let mut at = range.start;
        while at < range.end {
            let (shift, count) = (at % 64, (range.end - at).min(64 - at % 64));
            *mask(&mut self.blocks[at / 64]) |= (u64::MAX >> (64 - count)) << shift;
            at += count;
        }
    }

    /// Removes the bytes of `range` from all classes except [`Block::foreign`] and [`Block::breaks`], so that they
    /// separate words. The range has byte offsets in the text.
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
            ] {
                *mask &= kept;
            }
            at += count;
        }
    }

    /// Removes all words. Makes room for the indices of all blocks in `signed`, and reserves memory for as many words
    /// as the blocks can have: 32 for each block and 64 more.
    pub(crate) fn make_room(&mut self) {
        self.starts.clear();
        self.ends.clear();
        self.signed.clear();
        self.signed.resize(self.blocks.len(), 0);
        // Two words are separated by a byte, or by a break next to a character of several bytes. So a
        // block has at most 32 words.
        let most = self.blocks.len() * 32 + 64;
        self.starts.reserve(most);
        self.ends.reserve(most);
    }

    /// Removes the words without a letter or digit, for example words of underscores only.
    pub(crate) fn drop_bare_underscores(&mut self) {
        // Most texts have no underscore.
        if self.blocks.iter().all(|block| block.underscores == 0) {
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_marked_and_unmarked_across_blocks() {
        let mut words = Words { blocks: vec![Block::default(); 3], ..Words::default() };
        let letters = |words: &Words| [0, 1, 2].map(|block| words.blocks[block].letters);
        words.mark(60..140, |block| &mut block.letters);
        assert_eq!(letters(&words), [0xF << 60, u64::MAX, 0xFFF]);
        words.unmark(61..130);
        assert_eq!(letters(&words), [1 << 60, 0, 0xFFC]);
    }
}
