//! Finds the bytes of a text at which a symbol or another character outside of words may begin: ASCII symbols, hyphens
//! or all punctuation, characters beyond ASCII that belong to no word, and all characters of four bytes, which include
//! emoji.

use super::Isa;
use super::high_bits::flagged;
use super::vector::{Kernel, Level};
use super::words::{MARGIN, Words};

/// Returns whether an ASCII byte is a symbol: `+ < = > $ # % & * @ ^ | ~` or the grave accent.
#[inline(always)]
#[must_use]
pub const fn is_ascii_symbol(byte: u8) -> bool {
    matches!(byte, b'#'..=b'&' | b'*' | b'+' | b'<'..=b'>' | b'@' | b'^' | b'`' | b'|' | b'~')
}

/// Replaces `found` by byte offsets in the text, in ascending order. These are the offsets of ASCII symbols and
/// hyphens, of characters of four bytes, and of those characters beyond ASCII that the masks in `words` do not count as
/// letters, digits or other parts of words. The text is UTF-8 and has `length` bytes.
///
/// # Panics
///
/// `words` holds a shorter text.
pub fn symbol_places(isa: Isa, length: usize, words: &Words, found: &mut Vec<u32>) {
    found.clear();
    isa.run(Places::<'_, false> { length, words }, found);
}

/// Replaces `found` by byte offsets in the text like [`symbol_places`], but includes all ASCII punctuation instead of
/// only symbols and hyphens. It also includes characters beyond ASCII that `words` counts as underscores, such as marks
/// on underscores.
///
/// # Panics
///
/// `words` holds a shorter text.
pub fn visible_places(isa: Isa, length: usize, words: &Words, found: &mut Vec<u32>) {
    found.clear();
    isa.run(Places::<'_, true> { length, words }, found);
}

/// A search for the bytes at which symbols and other characters outside of words begin. If `PUNCTUATION` is set, it
/// also finds ASCII punctuation.
struct Places<'w, const PUNCTUATION: bool> {
    length: usize,
    words: &'w Words,
}

impl<const PUNCTUATION: bool> Kernel<&mut Vec<u32>> for Places<'_, PUNCTUATION> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, found: &mut Vec<u32>) {
        let Self { length, words } = self;
        let blocks = &words.blocks[..length.div_ceil(64)];
        let (text, _) = words.lowered[MARGIN..][..blocks.len() * 64].as_chunks::<64>();
        // Indices and not iterators: in a function with its own instructions, the compiler leaves calls of small
        // functions of iterators as they are, and they would take most of the time.
        for index in 0..blocks.len() {
            let (bytes, block) = (&text[index], &blocks[index]);
            // The bytes behind a text are zeros, which are no symbols.
            let mut mask = if PUNCTUATION {
                having(bytes, |byte| byte.is_ascii_punctuation())
            } else {
                having(bytes, |byte| is_ascii_symbol(byte) || byte == b'-')
            };
            if block.foreign != 0 {
                let underscores = if PUNCTUATION { 0 } else { block.underscores };
                let inside = block.letters | block.digits | underscores | block.others;
                mask |= having(bytes, |byte| byte >= 0xC0) & !inside
                    | having(bytes, |byte| byte >= 0xF0);
            }
            // Most blocks of prose have no symbol.
            while mask != 0 {
                found.push(index as u32 * 64 + mask.trailing_zeros());
                mask &= mask - 1;
            }
        }
    }
}

/// Returns a mask of the bytes for which `is_so` is true.
#[inline(always)]
fn having(bytes: &[u8; 64], is_so: impl Fn(u8) -> bool) -> u64 {
    const FLAG: u8 = 0x80;
    let mut flags = [0; 64];
    for at in 0..64 {
        flags[at] = if is_so(bytes[at]) { FLAG } else { 0 };
    }
    flagged(&flags, FLAG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_masks::classify;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_characters_one_by_one(
            text in "([a-c_0. ]{0,9}[+<~é中🙂-]{0,2}){0,30}", letters in any::<u64>(),
        ) {
            let mut expected = Vec::new();
            let mut visible = Vec::new();
            for (at, character) in text.char_indices() {
                let is_letter = letters >> (at % 64) & 1 != 0;
                if "+<~🙂-".contains(character) || !character.is_ascii() && !is_letter {
                    expected.push(at as u32);
                    visible.push(at as u32);
                } else if "_.".contains(character) {
                    visible.push(at as u32);
                }
            }
            for &isa in Isa::available() {
                let mut words = Words::default();
                classify(isa, text.as_bytes(), &mut words);
                for block in &mut words.blocks {
                    block.letters = letters;
                }
                let mut found = vec![7];
                symbol_places(isa, text.len(), &words, &mut found);
                prop_assert_eq!(&found, &expected, "{}", isa);
                visible_places(isa, text.len(), &words, &mut found);
                prop_assert_eq!(&found, &visible, "{}", isa);
            }
        }
    }
}
