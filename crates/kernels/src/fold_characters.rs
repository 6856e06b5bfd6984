//! Replaces characters beyond ASCII by the entries of a table, up to the first character that the table cannot replace.
//!
//! For example, a table for lower case turns "ÉTÉ" into "été". Both É and é have two bytes. If a
//! replacement has another length than its character, the loop ends there, and the caller replaces the
//! character.

pub use super::own_loops::fold_characters::ROOM;

use super::Isa;
use super::character_table::CharacterTable;
use super::own_loops::fold_characters::Around;
use super::vector::{Kernel, Level};
use super::words::{MARGIN, Words};
use std::ops::Range;

/// Copies the text of `range` to `folded`, and replaces characters beyond ASCII by the entries of
/// `table`. Ends before the first character that the table cannot replace or that is not valid
/// UTF-8. Returns the number of bytes before that character, which are also the bytes written.
///
/// `words` has the lower-cased copy of the text and its masks. The range must begin with a character
/// and end with the text. Replacements that are shorter than their characters have
/// [`PAD`](super::character_table::PAD)s, which the caller must remove.
///
/// # Panics
///
/// `folded` does not have [`ROOM`] more bytes than the range, or `words` has too few bytes for the
/// range.
pub fn fold_characters(
    isa: Isa,
    table: &CharacterTable,
    words: &Words,
    range: Range<usize>,
    folded: &mut [u8],
) -> usize {
    assert!(folded.len() >= range.len() + ROOM, "room to write");
    assert!(words.lowered.len() >= range.end + MARGIN + ROOM, "the text of the words");
    let text = &words.lowered[MARGIN..MARGIN + range.end];
    let start = range.start;
    let around = Around { words, table, text, start, at: start, is_behind_mark: true };
    isa.run(FoldCharacters { around }, folded)
}

struct FoldCharacters<'t> {
    around: Around<'t>,
}

impl Kernel<&mut [u8]> for FoldCharacters<'_> {
    type Result = usize;

    #[inline(always)]
    fn run<L: Level>(self, level: L, folded: &mut [u8]) -> usize {
        level.fold_characters(self.around, folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character_table::tests::described;
    use crate::character_table::{Character, fold};
    use crate::word_masks::classify;
    use proptest::prelude::*;

    static TABLE: CharacterTable = CharacterTable::new(described);

    /// Does the work of [`fold_characters`] in a slow and simple way for comparison: replaces one character after the
    /// other.
    fn one_by_one(
        table: &CharacterTable,
        words: &Words,
        range: Range<usize>,
        folded: &mut [u8],
    ) -> usize {
        let Range { start, end } = range;
        let mut at = start;
        // The text before the range is not known.
        let mut is_behind_mark = true;
        while at < end {
            if words.lowered[MARGIN + at] < 0x80 {
                folded[at - start] = words.lowered[MARGIN + at];
                (at, is_behind_mark) = (at + 1, false);
                continue;
            }
            let text = &words.lowered[MARGIN..MARGIN + end];
            let Some((character, length)) = table.replaced(&text[at..]) else { break };
            let has = |flag: u8| character.fold & flag != 0;
            let is_mark = has(fold::MARK);
            if has(fold::ALONE) || is_mark && is_behind_mark {
                break;
            }
            let [first, middle, last] = character.bytes;
            if length == 2 {
                folded[at - start..][..2].copy_from_slice(&[first, last]);
            } else {
                folded[at - start..][..3].copy_from_slice(&[first, middle, last]);
            }
            (at, is_behind_mark) = (at + length, is_mark);
        }
        at - start
    }

    /// Folds a whole text: replaces the characters that the table can replace, and copies the others. Uses
    /// [`fold_characters`] with the instruction set `isa`, or the slow `one_by_one` if `isa` is `None`. Returns the
    /// folded text and the byte offsets of the copied characters.
    fn folded(isa: Option<Isa>, text: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let mut words = Words::default();
        classify(Isa::PORTABLE, text, &mut words);
        let (mut folded, mut alone) = (vec![0; text.len() + ROOM], Vec::new());
        let mut at = 0;
        while at < text.len() {
            let (range, room) = (at..text.len(), &mut folded[at..]);
            at += match isa {
                Some(isa) => fold_characters(isa, &TABLE, &words, range, room),
                None => one_by_one(&TABLE, &words, range, room),
            };
            if at < text.len() {
                alone.push(at);
                folded[at] = text[at];
                at += 1;
                while at < text.len() && text[at] & 0xC0 == 0x80 {
                    folded[at] = text[at];
                    at += 1;
                }
            }
        }
        folded.truncate(text.len());
        (folded, alone)
    }

    #[track_caller]
    fn check(text: &[u8]) {
        let expected = folded(None, text);
        for &isa in Isa::available() {
            assert!(folded(Some(isa), text) == expected, "{isa} {}", text.escape_ascii());
        }
    }

    /// Returns the text with each character replaced by its description, without a table.
    fn slowly(text: &str) -> Vec<u8> {
        let mut folded = Vec::new();
        for character in text.chars() {
            let mut bytes = [0; 4];
            let own = character.encode_utf8(&mut bytes).as_bytes();
            let known = (own.len() == 2 || own.len() == 3).then(|| described(character));
            match known {
                _ if own.len() == 1 => folded.push(own[0].to_ascii_lowercase()),
                Some(Character { bytes, fold, .. }) if fold & fold::ALONE == 0 => {
                    let [first, middle, last] = bytes;
                    folded.push(first);
                    folded.extend((own.len() == 3).then_some(middle));
                    folded.push(last);
                }
                _ => folded.extend_from_slice(own),
            }
        }
        folded
    }

    #[test]
    fn characters_are_replaced_at_every_place_of_a_block() {
        // Marks are left out, because their neighbours decide how they are replaced.
        let is_simple = |&c: &char| described(c).fold & fold::MARK == 0;
        let characters: String = ('\u{80}'..='\u{fff}').step_by(3).filter(is_simple).collect();
        for shift in 0..64 {
            let text = format!("{}{characters} Z", "x".repeat(shift));
            assert_eq!(folded(None, text.as_bytes()).0, slowly(&text));
            check(text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn texts_agree(text in "([\u{80}-\u{7ff}]|[\u{800}-\u{9fff}]|[ -z]|\\PC){0,200}") {
            check(text.as_bytes());
        }

        #[test]
        fn bytes_agree(text in prop::collection::vec(prop_oneof![
            Just(b'a'), 0x80_u8..0xC0, 0xC0_u8..0xE0, 0xE0_u8..0xF0, any::<u8>(),
        ], 0..300)) {
            check(&text);
        }
    }
}
