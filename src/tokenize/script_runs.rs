//! Runs of scripts in a text that is normalized and folded, by how they are cut into tokens.

use super::normalize;
use super::word_roles::is_letter_or_digit;
use std::ops::Range;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};

/// What a character is to the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// An ideograph.
    Han,
    /// What stands in a run of ideographs, but makes none.
    Ascii,
    Kana,
    /// Of another script without spaces.
    Unspaced,
    /// Of the same class as what is before.
    Mark,
    Other,
}

fn class(character: char) -> Class {
    match character {
        '+' | '#' | '&' | '.' | '_' | '%' | '-' => Class::Ascii,
        '\0'..='\x7f' if character.is_ascii_alphanumeric() => Class::Ascii,
        // Also dashes, quotation marks, full stops and brackets of Chinese text.
        '\0'..='\x7f'
        | '\u{2010}'..='\u{203f}'
        | '\u{3001}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}' => Class::Other,
        '\u{4e00}'..='\u{9fff}' => Class::Han,
        // The mark that prolongs is of both, for Unicode.
        '\u{3041}'..='\u{3096}' | '\u{30fc}' => Class::Kana,
        _ if is_combining_mark(character) && !normalize::is_unspaced(character) => Class::Mark,
        '\u{80}'..'\u{e00}' => Class::Other,
        _ => match character.script() {
            Script::Han => Class::Han,
            Script::Hiragana | Script::Katakana => Class::Kana,
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => Class::Unspaced,
            _ => Class::Other,
        },
    }
}

/// How a run is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cutting {
    /// Into Chinese words.
    Chinese,
    /// Into pairs of characters, with ideographs beside it.
    Kana,
    /// Into pairs of characters.
    Unspaced,
    /// Into words.
    Words,
}

/// A run, and how it is cut.
pub(super) type Run = (Cutting, Range<usize>);

/// Replaces `runs` by those of a text that hold a letter or digit.
pub(super) fn find_runs(text: &str, runs: &mut Vec<Run>) {
    runs.clear();
    let mut current: Run = (Cutting::Words, 0..0);
    // Where what may be of a run of ideographs begins, if it is of words otherwise.
    let mut ascii = 0;
    let mut is_last_ascii = false;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let at = text.len() - rest.as_str().len() - character.len_utf8();
        let class = class(character);
        if class == Class::Han {
            // Mostly there are more, of which each would say the same.
            rest = rest.as_str()[ideographs(rest.as_str())..].chars();
        }
        let end = text.len() - rest.as_str().len();
        let cutting = match class {
            Class::Mark => current.0,
            Class::Han => Cutting::Chinese,
            Class::Ascii if current.0 == Cutting::Chinese => Cutting::Chinese,
            Class::Ascii | Class::Other => Cutting::Words,
            Class::Kana => Cutting::Kana,
            Class::Unspaced => Cutting::Unspaced,
        };
        let is_ascii = class == Class::Ascii;
        if is_ascii && !is_last_ascii {
            ascii = at;
        }
        if cutting != current.0 {
            let mut start = at;
            // What stands before an ideograph belongs to it.
            if cutting == Cutting::Chinese && is_last_ascii && current.0 == Cutting::Words {
                start = ascii;
                current.1.end = ascii;
            }
            runs.push(std::mem::replace(&mut current, (cutting, start..at)));
        }
        current.1.end = end;
        is_last_ascii = is_ascii;
    }
    runs.push(current);
    runs.retain(|(_, run)| text[run.clone()].contains(is_letter_or_digit));
}

/// Bytes of ideographs of the largest block, U+4E00 to U+9FFF, that a text begins with.
fn ideographs(text: &str) -> usize {
    let is_one = |bytes: &&[u8]| matches!(bytes, [0xE4, 0xB8..=0xBF, _] | [0xE5..=0xE9, ..]);
    3 * text.as_bytes().chunks_exact(3).take_while(is_one).count()
}

/// Bytes that are looked at before it is asked whether one was found.
const BLOCK_BYTES: usize = 256;

/// Whether a text that is no ASCII may hold a character of a script without spaces.
pub(super) fn may_be_unspaced(text: &[u8]) -> bool {
    let is_first = |byte: u8, next: u8| {
        // All of U+2000 to U+2DFF are of other scripts.
        matches!((byte, next), (0xE0 | 0xE1 | 0xE3.., _) | (0xE2, 0xB8..))
    };
    // Many at once, and no more than are needed.
    (0..text.len()).step_by(BLOCK_BYTES).any(|at| {
        let block = &text[at..text.len().min(at + BLOCK_BYTES + 1)];
        let neighbours = block.iter().zip(block.iter().skip(1));
        neighbours.fold(false, |found, (&byte, &next)| found | is_first(byte, next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class by the properties of Unicode alone.
    fn slow_class(character: char) -> Class {
        let is_of_han_runs = |c: char| c.is_ascii_alphanumeric() || "+#&._%-".contains(c);
        match character.script() {
            _ if character.is_ascii() && is_of_han_runs(character) => Class::Ascii,
            _ if character == '\u{30fc}' => Class::Kana,
            _ if is_combining_mark(character) && !normalize::is_unspaced(character) => Class::Mark,
            Script::Han => Class::Han,
            Script::Hiragana | Script::Katakana => Class::Kana,
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => Class::Unspaced,
            _ => Class::Other,
        }
    }

    #[test]
    fn classes_are_those_of_the_scripts() {
        for character in '\0'..=char::MAX {
            assert_eq!(class(character), slow_class(character), "{}", character.escape_unicode());
        }
    }

    #[test]
    fn ideographs_of_the_largest_block_are_taken_at_once() {
        for (text, bytes) in [
            ("", 0),
            ("a中", 0),
            ("中", 3),
            ("一鿿\u{4dff}", 6),
            ("中々国", 3),
            ("中国 人", 6),
            ("中\u{a000}", 3),
        ] {
            assert_eq!(ideographs(text), bytes, "{text}");
        }
    }

    #[test]
    fn what_may_be_unspaced_is_found_at_every_place() {
        for place in [0, 1, 254, 255, 256, 257, 600] {
            let before = "é".repeat(place / 2) + &" ".repeat(place % 2);
            assert!(!may_be_unspaced(before.as_bytes()));
            for character in ["ก", "⺀", "中", "🈚"] {
                assert!(may_be_unspaced(format!("{before}{character}").as_bytes()), "{place}");
            }
            assert!(!may_be_unspaced(format!("{before}–").as_bytes()), "{place}");
        }
    }
}
