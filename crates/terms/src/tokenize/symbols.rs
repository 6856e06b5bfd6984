//! Finds the symbols of a text, such as `+`, `€` or emoji, and the other characters between its words.
//!
//! # References
//! Unicode Standard, section 4.5, general categories Sm, Sc, Sk and So.

use super::normal_forms::decode;
use super::normalize::KNOWN;
use simtool_kernels::Isa;
use simtool_kernels::symbol_places::visible_places;
use simtool_kernels::word_masks::Words;
use simtool_kernels::xxh3_short::MARGIN;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// ASCII punctuation that is used like a symbol.
const LIKE_SYMBOLS: &str = "#%&*@";

/// Results of [`is_symbol`] that were already computed, by code point: 1 for `false`, 2 for `true`, and 0 if the result
/// was not computed yet.
static KNOWN_SYMBOLS: [AtomicU8; KNOWN] = [const { AtomicU8::new(0) }; KNOWN];

/// Returns whether the character is a symbol or emoji, and not a letter.
#[inline]
pub(super) fn is_symbol(character: char) -> bool {
    let Some(known) = KNOWN_SYMBOLS.get(character as usize) else { return by_rules(character) };
    match known.load(Ordering::Relaxed) {
        0 => {
            let is_symbol = by_rules(character);
            // Threads may compute the same answer at the same time, so the order of their stores does not
            // matter.
            known.store(1 + u8::from(is_symbol), Ordering::Relaxed);
            is_symbol
        }
        answer => answer == 2,
    }
}

#[cold]
fn by_rules(character: char) -> bool {
    LIKE_SYMBOLS.contains(character)
        || character.general_category_group() == GeneralCategoryGroup::Symbol
            && !character.is_alphanumeric()
}

/// Returns whether the character is neither white space nor a control character. White space and control characters
/// only separate other characters. Normalized text has no other invisible characters.
pub(super) fn is_visible(character: char) -> bool {
    !character.is_whitespace() && !character.is_control()
}

/// Visible characters of a text that belong to no word. The buffers are reused for the next text.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// Byte offsets in the text at which a visible character outside of words may begin.
    candidates: Vec<u32>,
    /// Start and end of each visible character outside of words, as byte offsets in the lower-cased copy of the text,
    /// in ascending order.
    places: Vec<[u32; 2]>,
}

impl Symbols {
    /// Adds to `words` each visible character between them, as a separate word. Only the first `length` bytes of the
    /// text are considered. Characters in the ranges `cut` of the text are left out. The ranges must be in ascending
    /// order.
    pub(super) fn add_to(
        &mut self,
        isa: Isa,
        length: usize,
        words: &mut Words,
        cut: &[Range<usize>],
    ) {
        self.find(isa, length, words, cut);
        let Words { starts, ends, .. } = words;
        let mut word = starts.len();
        let mut end = word + self.places.len();
        starts.resize(end, 0);
        ends.resize(end, 0);
        // The two lists are merged from behind, so that they need no other memory.
        while let Some(&[first, behind]) = self.places.last() {
            end -= 1;
            let from_words = word > 0 && starts[word - 1] > first;
            if from_words {
                word -= 1;
                (starts[end], ends[end]) = (starts[word], ends[word]);
            } else {
                self.places.pop();
                (starts[end], ends[end]) = (first, behind);
            }
        }
    }

    fn find(&mut self, isa: Isa, length: usize, words: &Words, mut cut: &[Range<usize>]) {
        visible_places(isa, length, words, &mut self.candidates);
        self.places.clear();
        let mut next_word = 0;
        let text = &words.lowered[MARGIN..MARGIN + length];
        for at in self.candidates.iter().map(|&at| at as usize) {
            let Some((character, length)) = decode(text, at) else { continue };
            while cut.first().is_some_and(|cut| cut.end <= at) {
                cut = &cut[1..];
            }
            let is_cut = cut.first().is_some_and(|cut| cut.contains(&at));
            let place = [at, at + length].map(|at| (MARGIN + at) as u32);
            while words.ends.get(next_word).is_some_and(|&end| end <= place[0]) {
                next_word += 1;
            }
            // Some characters join two letters or digits into one word, for example the point in `3.14`.
            let is_in_word = words.starts.get(next_word).is_some_and(|&start| start <= place[0]);
            if !is_cut && !is_in_word && is_visible(character) {
                self.places.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::word_roles::{Role, role};
    use simtool_kernels::symbol_places::is_ascii_symbol;
    use simtool_kernels::word_masks::classify;

    #[test]
    fn symbols_are_no_punctuation_and_no_letters() {
        let symbols: String = "a_+<=>$^`|~#%&*@!\"'(),-./:;?[\\]{}é€±→🙂🏽🇩Ⓐ🅰–“•中\u{301}"
            .chars()
            .filter(|&c| is_symbol(c))
            .collect();
        assert_eq!(symbols, "+<=>$^`|~#%&*@€±→🙂🏽🇩");
        assert!(symbols.chars().all(is_symbol));
    }

    #[test]
    fn the_kernel_knows_the_symbols_of_ascii() {
        for byte in 0..0x80 {
            assert_eq!(is_ascii_symbol(byte), is_symbol(char::from(byte)), "{byte:#x}");
        }
    }

    /// The fast search finds a symbol of fewer than four bytes only if the masks do not count it as a part of a word.
    /// So its role must be `Separator` or a role whose characters are examined one by one.
    #[test]
    fn short_symbols_are_separators_or_examined_one_by_one() {
        use Role::{JoinsBoth, JoinsDigits, JoinsLetters, Odd, Separator};
        for symbol in ('\u{80}'..'\u{10000}').filter(|&character| is_symbol(character)) {
            let is_known =
                matches!(role(symbol), Separator | Odd | JoinsLetters | JoinsBoth | JoinsDigits);
            assert!(is_known, "{symbol:?}");
        }
    }

    #[test]
    fn symbols_are_merged_into_the_words() {
        let text = "++ab+c~d";
        let place = |at: usize| (MARGIN + at) as u32;
        let mut words = Words::default();
        classify(Isa::PORTABLE, text.as_bytes(), &mut words);
        words.starts = [2, 5, 7].map(place).to_vec();
        words.ends = [4, 6, 8].map(place).to_vec();
        let mut symbols = Symbols::default();
        symbols.add_to(Isa::PORTABLE, text.len(), &mut words, std::slice::from_ref(&(4..5)));
        assert_eq!(words.starts, [0, 1, 2, 5, 6, 7].map(place));
        assert_eq!(words.ends, [1, 2, 4, 6, 7, 8].map(place));
        symbols.add_to(Isa::PORTABLE, 0, &mut words, &[]);
        assert_eq!(words.starts.len(), 6);
    }
}
