//! The plain loops of [`crate::word_masks`].

use crate::high_bits::flagged;
use crate::words::{Block, MARGIN, Words};

pub(crate) const LETTER: u8 = 1;
pub(crate) const DIGIT: u8 = 2;
pub(crate) const UNDERSCORE: u8 = 4;
pub(crate) const JOINS_LETTERS: u8 = 8;
pub(crate) const JOINS_DIGITS: u8 = 16;
pub(crate) const HYPHEN: u8 = 32;

/// Finds the classes of the bytes of `text`, such as letters, in blocks of 64 bytes. For block i, writes one mask for
/// each class to `blocks[i]`, and the block in lower case to `lowered[i]`. Returns whether `text` has a byte beyond
/// ASCII.
#[inline(always)]
pub(crate) fn classify(text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
    let mut foreign = 0;
    for ((bytes, block), lowered) in text.iter().zip(blocks).zip(lowered) {
        // The bytes are copied, because the compiler does not know that `lowered` is in other memory.
        let bytes = *bytes;
        *block = classify_block(&bytes, lowered);
        foreign |= block.foreign;
    }
    foreign != 0
}

/// Returns the masks of a block of 64 bytes: one for each class of bytes, such as letters. Writes the block in lower
/// case to `lowered`.
#[inline(always)]
fn classify_block(bytes: &[u8; 64], lowered: &mut [u8; 64]) -> Block {
    let mut classes = [0; 64];
    // Vectors of bytes can be compared, but not looked up in a table. So classes are found by
    // comparisons.
    let having = |is_so: bool, class: u8| if is_so { class } else { 0 };
    for ((class, lowered), &byte) in classes.iter_mut().zip(lowered).zip(bytes) {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        *class = having(is_letter, LETTER)
            | having(byte.wrapping_sub(b'0') < 10, DIGIT)
            | having(byte == b'_', UNDERSCORE)
            | having(byte == b'.', JOINS_LETTERS | JOINS_DIGITS)
            | having(byte == b'\'', JOINS_LETTERS | JOINS_DIGITS)
            | having(byte == b':', JOINS_LETTERS)
            | having(byte == b',', JOINS_DIGITS)
            | having(byte == b';', JOINS_DIGITS)
            | having(byte == b'-', HYPHEN)
            | byte & 0x80;
        *lowered = byte | having(is_letter, 0x20);
    }
    let flagged = |flag: u8| flagged(&classes, flag);
    Block {
        letters: flagged(LETTER),
        digits: flagged(DIGIT),
        underscores: flagged(UNDERSCORE),
        joins_letters: flagged(JOINS_LETTERS),
        joins_digits: flagged(JOINS_DIGITS),
        foreign: flagged(0x80),
        others: 0,
        breaks: flagged(HYPHEN),
    }
}

/// Calls `take` for each block with three arguments: the index of its first byte in the lower-cased copy, a mask of the
/// first bytes of words, and a mask of the bytes behind words. Fills `signed`, which must have an element for each
/// block, with the content of the field [`Words::signed`]. Returns whether the text has underscores.
#[inline(always)]
pub(crate) fn edges(
    blocks: &[Block],
    signed: &mut Vec<u32>,
    mut take: impl FnMut(u32, u64, u64),
) -> bool {
    let mut before = Block::default();
    let (mut inside, mut underscores, mut signed_count) = (0, 0, 0);
    // The empty block behind the text ends a word at the end of the text.
    for (index, [block, after]) in blocks.array_windows().enumerate() {
        let mask = block.words(&before, after);
        underscores |= block.underscores;
        let shifted = mask << 1 | inside;
        inside = mask >> 63;
        let base = (MARGIN + index * 64) as u32;
        take(base, mask & (!shifted | block.breaks), shifted & (!mask | block.breaks));
        // Most hyphens before digits follow a word, as in `10-20`, and are no signs.
        let behind_word = (block.letters | block.digits) << 2;
        let numbers = block.digits_behind_breaks(&before) & !behind_word;
        // The index is written in any case and kept by counting it. A branch would cost the loop registers.
        signed[signed_count] = index as u32;
        signed_count += usize::from(numbers != 0);
        before = *block;
    }
    signed.truncate(signed_count);
    underscores != 0
}

/// Finds the words of a text by the masks in `words.blocks`. Replaces `words.starts`, `words.ends` and `words.signed`
/// by the results. Returns whether the text has underscores.
#[inline(always)]
pub(crate) fn find_words(words: &mut Words) -> bool {
    words.make_room();
    let Words { lowered: _, blocks, starts, ends, signed } = words;
    let positions = |base: u32, mut edges: u64, found: &mut Vec<u32>| {
        // The number of positions is known first, so memory is not requested for each position.
        found.extend((0..edges.count_ones()).map(|_| {
            let at = base + edges.trailing_zeros();
            edges &= edges.wrapping_sub(1);
            at
        }));
    };
    edges(blocks, signed, |base, first, behind| {
        positions(base, first, starts);
        positions(base, behind, ends);
    })
}
