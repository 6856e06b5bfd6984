//! Divides a normalized and folded text into runs. A run is a part of the text that is cut into tokens by one method.

use super::normalize;
use super::word_roles::is_letter_or_digit;
use std::ops::Range;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};

/// Class of a character by its script. The class decides to which run the character belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptClass {
    /// A Chinese ideograph.
    Han,
    /// A character that can continue a run of ideographs, but not start one, such as the letter in
    /// `T恤`.
    Ascii,
    Kana,
    /// A character of another script without spaces, for example Thai.
    Unspaced,
    /// A combining mark, which has the class of the character before it.
    Mark,
    Other,
}

fn class(character: char) -> ScriptClass {
    match character {
        '+' | '#' | '&' | '.' | '_' | '%' | '-' => ScriptClass::Ascii,
        '\0'..='\x7f' if character.is_ascii_alphanumeric() => ScriptClass::Ascii,
        // Next to ASCII, these are dashes, quotation marks, full stops and brackets of Chinese
        // text. They are frequent, so they are decided here without the script tables.
        '\0'..='\x7f'
        | '\u{2010}'..='\u{203f}'
        | '\u{3001}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}' => ScriptClass::Other,
        '\u{4e00}'..='\u{9fff}' => ScriptClass::Han,
        // Unicode assigns U+30FC, the prolonged sound mark, to both Hiragana and Katakana.
        '\u{3041}'..='\u{3096}' | '\u{30fc}' => ScriptClass::Kana,
        _ if is_combining_mark(character) && !normalize::is_unspaced(character) => {
            ScriptClass::Mark
        }
        '\u{80}'..'\u{e00}' => ScriptClass::Other,
        _ => match character.script() {
            Script::Han => ScriptClass::Han,
            Script::Hiragana | Script::Katakana => ScriptClass::Kana,
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => ScriptClass::Unspaced,
            _ => ScriptClass::Other,
        },
    }
}

/// The method by which a run is cut into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cutting {
    /// The run is cut into the Chinese words of a dictionary.
    Chinese,
    /// The run is Japanese and is cut into pairs of neighbouring characters. Adjacent runs of ideographs are cut in the
    /// same way.
    Kana,
    /// The run is cut into pairs of neighbouring characters, because its script has no spaces between words.
    Unspaced,
    /// The run is cut into Unicode words.
    Words,
}

/// The method by which a run is cut, and the byte range of the run.
pub(super) type Run = (Cutting, Range<usize>);

/// Divides `text` into runs. Replaces the content of `runs` by the runs that contain a letter or
/// digit.
pub(super) fn find_runs(text: &str, runs: &mut Vec<Run>) {
    runs.clear();
    let mut current: Run = (Cutting::Words, 0..0);
    // Start of the last run of ASCII characters. It joins a run of ideographs if one follows
    // directly.
    let mut ascii = 0;
    let mut is_last_ascii = false;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let at = text.len() - rest.as_str().len() - character.len_utf8();
        let class = class(character);
        if class == ScriptClass::Han {
            // More ideographs usually follow. They have the same class, so they are skipped
            // together.
            rest = rest.as_str()[ideographs(rest.as_str())..].chars();
        }
        let end = text.len() - rest.as_str().len();
        let cutting = match class {
            ScriptClass::Mark => current.0,
            ScriptClass::Han => Cutting::Chinese,
            ScriptClass::Ascii if current.0 == Cutting::Chinese => Cutting::Chinese,
            ScriptClass::Ascii | ScriptClass::Other => Cutting::Words,
            ScriptClass::Kana => Cutting::Kana,
            ScriptClass::Unspaced => Cutting::Unspaced,
        };
        // ASCII characters before an ideograph belong to its run, but only the next character decides
        // that.
        let is_ascii = class == ScriptClass::Ascii;
        if is_ascii && !is_last_ascii {
            ascii = at;
        }
        if cutting != current.0 {
            let mut start = at;
            // ASCII characters directly before an ideograph belong to its run.
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

/// Returns the number of bytes at the start of `text` that belong to ideographs from U+4E00 to U+9FFF, the largest
/// block of ideographs.
fn ideographs(text: &str) -> usize {
    let is_one = |bytes: &&[u8]| matches!(bytes, [0xE4, 0xB8..=0xBF, _] | [0xE5..=0xE9, ..]);
    3 * text.as_bytes().chunks_exact(3).take_while(is_one).count()
}

/// Number of bytes that are tested in one loop without an early exit, so that the compiler can
/// vectorize it.
const BLOCK_BYTES: usize = 256;

/// Returns whether `text` may contain a character of a script without spaces between words. If the result is `false`,
/// the text contains none.
pub(super) fn may_be_unspaced(text: &[u8]) -> bool {
    let is_first = |byte: u8, next: u8| {
        // U+2000 to U+2DFF, which begin with E2 80 to E2 B7, belong to other scripts.
        matches!((byte, next), (0xE0 | 0xE1 | 0xE3.., _) | (0xE2, 0xB8..))
    };
    // The search stops after the first block that has such a character.
    (0..text.len()).step_by(BLOCK_BYTES).any(|at| {
        let block = &text[at..text.len().min(at + BLOCK_BYTES + 1)];
        let neighbours = block.iter().zip(block.iter().skip(1));
        neighbours.fold(false, |found, (&byte, &next)| found | is_first(byte, next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow twin of [`class`]: computes the class of a character from Unicode properties only.
    fn slow_class(character: char) -> ScriptClass {
        let is_of_han_runs = |c: char| c.is_ascii_alphanumeric() || "+#&._%-".contains(c);
        match character.script() {
            _ if character.is_ascii() && is_of_han_runs(character) => ScriptClass::Ascii,
            _ if character == '\u{30fc}' => ScriptClass::Kana,
            _ if is_combining_mark(character) && !normalize::is_unspaced(character) => {
                ScriptClass::Mark
            }
            Script::Han => ScriptClass::Han,
            Script::Hiragana | Script::Katakana => ScriptClass::Kana,
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => ScriptClass::Unspaced,
            _ => ScriptClass::Other,
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
