//! Marks characters beyond ASCII in the masks of words, as far as a table knows their kind.
//!
//! A letter joins the word around it, a Chinese character is a word by itself, a combining mark
//! belongs to the letter before it:
//!
//! ```text
//! bytes     c a f é é 中中中文文文        é has two bytes, 中 and 文 have three
//! letters   x x x x x . . . . . . .
//! others    . . . . . x x x x x x .
//! breaks    . . . . . x . . x . . x      a word may not go on across these places
//! ```

use super::Isa;
use super::character_table::CharacterTable;
use super::vector::{Kernel, Level};
use super::words::{MARGIN, Words};

/// Adds the characters beyond ASCII to the masks of `words`, in which the ASCII characters of a text are already
/// marked. Replaces `odd` by the byte offsets of the characters whose kind (for example, letter) the table does not
/// decide, in ascending order.
///
/// The text is UTF-8.
///
/// # Panics
///
/// The lower-cased text in `words` lacks the additional bytes that must surround it.
pub fn mark_characters(isa: Isa, table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
    odd.clear();
    let blocks = words.blocks.len();
    assert!(words.lowered.len() >= 64 * blocks.saturating_sub(2) + 2 * MARGIN + 64, "margins");
    isa.run(MarkCharacters { table }, (words, odd));
}

struct MarkCharacters<'t> {
    table: &'t CharacterTable,
}

impl Kernel<(&mut Words, &mut Vec<u32>)> for MarkCharacters<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, (words, odd): (&mut Words, &mut Vec<u32>)) {
        level.mark_characters(self.table, words, odd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character_table::tests::described;
    use crate::character_table::{Character, kind};
    use crate::own_loops::mark_characters::is_quote;
    use crate::word_masks::classify;
    use crate::words::Block;
    use proptest::prelude::*;

    static TABLE: CharacterTable = CharacterTable::new(described);

    /// Does the work of [`mark_characters`] in a slow and simple way for comparison: marks one character after the
    /// other.
    fn one_by_one(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        let mut at = 0;
        // The latest sequence of adjacent letters, with the marks that belong to them.
        let mut letters = 0..0;
        // Where the last word of one character ends.
        let mut single_end = usize::MAX;
        while at < 64 * (words.blocks.len() - 2) {
            let text = &words.lowered[MARGIN..];
            if text[at].is_ascii() {
                at += 1;
                continue;
            }
            let Some((Character { kind, .. }, length)) = table.replaced(&text[at..]) else {
                odd.push(at as u32);
                at += 4;
                continue;
            };
            let end = at + length;
            let is_letter = match kind {
                kind::LETTER => true,
                kind::QUOTED_LETTER => !is_quote(text[end]),
                kind::MARK => {
                    let is_behind = letters.end == at && !letters.is_empty()
                        || at > 0 && words.blocks[(at - 1) / 64].at((at - 1) % 64).letters != 0;
                    is_behind && !is_quote(text[end])
                }
                _ => false,
            };
            if is_letter {
                if letters.end != at {
                    words.mark(letters, |block| &mut block.letters);
                    letters = at..end;
                }
                letters.end = end;
            } else if kind == kind::SINGLE || kind == kind::SINGLE_MARK && single_end == at {
                for place in [at, end] {
                    words.blocks[place / 64].breaks |= 1 << (place % 64);
                }
                words.mark(at..end, |block| &mut block.others);
                single_end = end;
            } else if kind != 0 {
                odd.push(at as u32);
            }
            at = end;
        }
        words.mark(letters, |block| &mut block.letters);
    }

    /// Marks the characters of a text. Uses [`mark_characters`] with the instruction set `isa`, or the slow
    /// `one_by_one` if `isa` is `None`. Returns the blocks of masks and the byte offsets of the odd characters, whose
    /// kind the table does not decide.
    fn marked(isa: Option<Isa>, text: &str) -> (Vec<Block>, Vec<u32>) {
        let (mut words, mut odd) = (Words::default(), vec![7]);
        // Leftovers of an earlier text.
        classify(Isa::PORTABLE, &[b'"'; 300], &mut words);
        classify(Isa::PORTABLE, text.as_bytes(), &mut words);
        if let Some(isa) = isa {
            mark_characters(isa, &TABLE, &mut words, &mut odd);
        } else {
            odd.clear();
            one_by_one(&TABLE, &mut words, &mut odd);
        }
        (words.blocks, odd)
    }

    #[track_caller]
    fn check(text: &str) {
        let expected = marked(None, text);
        for &isa in Isa::available() {
            assert!(marked(Some(isa), text) == expected, "{isa} {text:?}");
        }
    }

    /// Returns a character whose kind is `kind`, at or after the character `first`. So `first`
    /// decides whether it has two or three bytes.
    fn of_kind(kind: u8, first: char) -> char {
        (first..'\u{1000}').find(|&c| described(c).kind == kind).unwrap()
    }

    #[test]
    fn kinds_are_marked_as_their_neighbours_let_them() {
        for first in ['\u{80}', '\u{800}'] {
            let [letter, quoted, single, mark, single_mark, odd] = [
                kind::LETTER,
                kind::QUOTED_LETTER,
                kind::SINGLE,
                kind::MARK,
                kind::SINGLE_MARK,
                kind::ODD,
            ]
            .map(|kind| of_kind(kind, first));
            let length = letter.len_utf8();
            let letters = (1 << length) - 1;
            for (text, expected, odd_places) in [
                (format!("{letter}"), (letters, 0, 0), vec![]),
                (format!("{single}"), (0, letters, 1 | 1 << length), vec![]),
                (format!("a{mark}"), (1 | letters << 1, 0, 0), vec![]),
                (format!("!{mark}"), (0, 0, 0), vec![1]),
                (format!("a{mark}'"), (1, 0, 0), vec![1]),
                (format!("{quoted}!"), (letters, 0, 0), vec![]),
                (format!("{quoted}\""), (0, 0, 0), vec![0]),
                (format!("!{single_mark}"), (0, 0, 0), vec![1]),
                (format!("a{odd}"), (1, 0, 0), vec![1]),
            ] {
                let (blocks, odd) = marked(None, &text);
                let Block { letters, others, breaks, .. } = blocks[0];
                assert_eq!(((letters, others, breaks), odd), (expected, odd_places), "{text:?}");
                check(&text);
            }
            let (blocks, odd) = marked(None, &format!("{single}{single_mark}{single_mark}"));
            assert_eq!(blocks[0].others, (1 << (3 * length)) - 1);
            assert_eq!(blocks[0].breaks, 1 | 1 << length | 1 << (2 * length) | 1 << (3 * length));
            assert!(odd.is_empty());
        }
    }

    #[test]
    fn characters_are_marked_at_every_place_of_a_block() {
        let characters: String = ('\u{80}'..='\u{fff}').step_by(3).collect();
        for shift in 0..64 {
            check(&format!("{}{characters}", "x".repeat(shift)));
        }
    }

    proptest! {
        #[test]
        fn texts_agree(text in "([\u{80}-\u{7ff}]|[\u{800}-\u{9fff}]|[ -z]|\\PC){0,200}") {
            check(&text);
        }
    }
}
