//! Words of a text that is divided into units, such as sentences.

use super::hashed_tokens::{HashTokenizer as _, HashedTokens};
use super::text_units::TextUnit;
use super::unicode_words::UnicodeWords;
use std::ops::Range;

/// Tokenizer that cuts each unit of a text, such as a sentence, into words. So no word belongs to two units.
#[derive(Clone, Copy, Debug)]
pub struct UnitWords {
    words: UnicodeWords,
    unit: TextUnit,
}

/// Words of a text, the ends of its units, and buffers. A unit is, for example, a sentence. The value is reused for the
/// next text.
#[derive(Debug, Default)]
pub struct UnitTokens {
    /// Hashes of the words of all units of the text, in the order of the text.
    pub tokens: HashedTokens,
    /// For each unit with words, the index in `tokens` after its last word.
    pub ends: Vec<u32>,
    units: Vec<Range<usize>>,
    wanted: Vec<u32>,
}

impl UnitWords {
    /// Creates a tokenizer that divides texts into units of the kind `unit`, and cuts the units into words with
    /// `words`.
    #[must_use]
    pub fn new(words: UnicodeWords, unit: TextUnit) -> Self {
        Self { words, unit }
    }

    /// Replaces the content of `found` by the words of `text` and the ends of its units.
    pub fn tokenize(&self, text: &[u8], found: &mut UnitTokens) {
        let UnitTokens { tokens, ends, units, .. } = found;
        tokens.clear();
        ends.clear();
        units.clear();
        self.unit.divide(text, units);
        for unit in units {
            let before = tokens.hashes.len();
            self.words.tokenize(&text[unit.clone()], tokens);
            // A unit of punctuation or white space has no words, and cannot be repeated.
            if tokens.hashes.len() > before {
                ends.push(tokens.hashes.len() as u32);
            }
        }
    }

    /// Appends the byte range in `text` of each wanted word to `places`. `wanted` has the indexes of the wanted words
    /// in ascending order. `found` is used as scratch memory.
    ///
    /// The range of the first word of a unit begins where the text of the unit begins, for example with a quotation
    /// mark. The range of the last word ends where the text of the unit ends, for example with a full stop.
    pub fn places(
        &self,
        text: &[u8],
        wanted: &[u32],
        found: &mut UnitTokens,
        places: &mut Vec<Range<usize>>,
    ) {
        if self.unit == TextUnit::Words {
            return self.words.places(text, wanted, &mut found.tokens, places);
        }
        let UnitTokens { tokens, units, wanted: of_unit, .. } = found;
        units.clear();
        self.unit.divide(text, units);
        let mut rest = wanted;
        let mut first = 0;
        for unit in units {
            // The rest of the text does not matter if no word is wanted in it.
            if rest.is_empty() {
                return;
            }
            let content = &text[unit.clone()];
            tokens.clear();
            self.words.tokenize(content, tokens);
            let count = tokens.hashes.len() as u32;
            let here = rest.partition_point(|&word| word < first + count);
            if here > 0 {
                // Wanted positions count the words of the text, and those of the unit count from its first word.
                of_unit.clear();
                of_unit.extend(rest[..here].iter().map(|&word| word - first));
                let before = places.len();
                self.words.places(content, of_unit, tokens, places);
                // The first and the last word of a unit take the punctuation around the unit with them.
                let trimmed = without_white_space(content);
                for (place, &word) in places[before..].iter_mut().zip(&*of_unit) {
                    let start = if word == 0 { trimmed.start } else { place.start };
                    let end = if word + 1 == count { trimmed.end } else { place.end };
                    *place = unit.start + start..unit.start + end;
                }
            }
            (rest, first) = (&rest[here..], first + count);
        }
        places.extend(std::iter::repeat_n(text.len()..text.len(), rest.len()));
    }
}

/// Returns the byte range of a unit without the white space at its start and end.
fn without_white_space(unit: &[u8]) -> Range<usize> {
    match str::from_utf8(unit) {
        Ok(text) => text.len() - text.trim_start().len()..text.trim_end().len(),
        Err(_) => unit.len() - unit.trim_ascii_start().len()..unit.trim_ascii_end().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_kernels::Isa;

    #[test]
    fn words_of_units_have_their_places() {
        let text = "\u{201e}Nein\u{201c}, sagte er. (Ja!)\n -- \n* Größe: 3 m.";
        let words = UnicodeWords::new(Isa::detected());
        for (unit, ends, expected) in [
            (TextUnit::Words, &[7][..], &["Nein", "sagte", "er", "Ja", "Größe", "3", "m"]),
            (
                TextUnit::Line,
                &[4, 7],
                &["\u{201e}Nein", "sagte", "er", "Ja!)", "* Größe", "3", "m."],
            ),
            (
                TextUnit::Sentence,
                &[3, 4, 7],
                &["\u{201e}Nein", "sagte", "er.", "(Ja!)", "* Größe", "3", "m."],
            ),
        ] {
            let words = UnitWords::new(words, unit);
            let mut found = UnitTokens::default();
            words.tokenize(text.as_bytes(), &mut found);
            assert_eq!(found.ends, ends);
            let mut places = Vec::new();
            words.places(text.as_bytes(), &[0, 1, 2, 3, 4, 5, 6, 7], &mut found, &mut places);
            let places: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(places, [&expected[..], &[""]].concat(), "{unit:?}");
        }
    }
}
