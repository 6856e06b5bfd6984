//! Divides texts into units: paragraphs, lines or sentences.
//!
//! Each unit begins where the unit before it ends, so white space between two units is part of the first one. A unit
//! may have no words.

use simtool_base::options::Choice;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Unit of text for a search of repeated text: a unit is found only if it is repeated as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextUnit {
    /// The text is not divided. Any consecutive words can be repeated.
    #[default]
    Words,
    /// A paragraph. Blank lines separate paragraphs, and so does the paragraph separator of Unicode.
    Paragraph,
    /// A line. It ends with a line feed, a carriage return, or another line break of Unicode (class BK, CR, LF or NL of
    /// UAX #14).
    Line,
    /// A sentence by the rules of UAX #29. A line break also ends a sentence.
    Sentence,
}

impl Choice for TextUnit {
    const ALL: &'static [Self] = &[Self::Words, Self::Paragraph, Self::Line, Self::Sentence];

    fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Paragraph => "paragraph",
            Self::Line => "line",
            Self::Sentence => "sentence",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Words => "Any consecutive words, wherever they begin and end",
            Self::Paragraph => "Whole paragraphs, which blank lines separate",
            Self::Line => "Whole lines",
            Self::Sentence => {
                "Whole sentences by the rules of Unicode; a line break ends a sentence"
            }
        }
    }
}

impl TextUnit {
    /// Appends the byte ranges of the units of `text` to `units`, in order. Together, the ranges contain all bytes of
    /// the text. Bytes that are not UTF-8 end a sentence.
    ///
    /// ```
    /// use simtool_terms::tokenize::text_units::TextUnit;
    ///
    /// let text = "Dr. No came. \"Who?\" Nobody knew.\nThe end";
    /// let mut units = Vec::new();
    /// TextUnit::Sentence.divide(text.as_bytes(), &mut units);
    /// let sentences: Vec<&str> = units.into_iter().map(|unit| &text[unit]).collect();
    /// assert_eq!(sentences, ["Dr. ", "No came. ", "\"Who?\" ", "Nobody knew.\n", "The end"]);
    /// ```
    pub fn divide(self, text: &[u8], units: &mut Vec<Range<usize>>) {
        match self {
            Self::Words if text.is_empty() => {}
            Self::Words => units.push(0..text.len()),
            Self::Paragraph => paragraphs(text, units),
            Self::Line => units.extend(lines(text)),
            Self::Sentence => sentences(text, units),
        }
    }
}

/// Returns the byte ranges of the lines of a text, including their line breaks.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = start + line_length(&text[start..]);
        let line = start..end;
        start = end;
        (!line.is_empty()).then_some(line)
    })
}

/// Returns the number of bytes of the first line of a text, including its line break.
fn line_length(text: &[u8]) -> usize {
    // Only these bytes can begin a line break. The last two begin characters of two and three bytes.
    let may_break = |byte: &u8| matches!(byte, b'\n'..=b'\r' | 0xC2 | 0xE2);
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(may_break) {
        at += next;
        match &text[at..] {
            // A carriage return and a line feed are one line break.
            [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => return at + 2,
            [b'\n'..=b'\r', ..] => return at + 1,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => return at + 3,
            _ => at += 1,
        }
    }
    text.len()
}

/// Appends the byte ranges of the paragraphs of a text to `units`. The blank line after a paragraph belongs to it.
fn paragraphs(text: &[u8], units: &mut Vec<Range<usize>>) {
    let mut start = 0;
    for line in lines(text) {
        // A blank line has nothing but white space, which can be white space of Unicode.
        let is_blank = || {
            text[line.clone()].utf8_chunks().all(|chunk| {
                chunk.invalid().is_empty() && chunk.valid().chars().all(char::is_whitespace)
            })
        };
        if text[line.clone()].ends_with("\u{2029}".as_bytes()) || is_blank() {
            units.push(start..line.end);
            start = line.end;
        }
    }
    // The last paragraph needs no blank line.
    if start < text.len() {
        units.push(start..text.len());
    }
}

/// Appends the byte ranges of the sentences of a text to `units`.
fn sentences(text: &[u8], units: &mut Vec<Range<usize>>) {
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        // A line feed ends a sentence, so lines are divided one by one, and most need no closer look.
        for line in chunk.valid().split_inclusive('\n') {
            if is_one_sentence(line) {
                units.push(start..start + line.len());
            } else {
                let found = line.split_sentence_bound_indices();
                units.extend(found.map(|(at, sentence)| start + at..start + at + sentence.len()));
            }
            start += line.len();
        }
        let end = start;
        start += chunk.invalid().len();
        match units.last_mut() {
            // The bytes that are no text belong to the sentence before them.
            Some(last) => last.end = start,
            None if start > end => units.push(end..start),
            None => {}
        }
    }
}

/// Returns whether a line is one sentence for certain: it is ASCII, and has no mark that can end a sentence before the
/// end of the line.
fn is_one_sentence(line: &str) -> bool {
    let may_end = |byte: u8| !byte.is_ascii() | matches!(byte, b'.' | b'?' | b'!' | b'\r');
    !line.bytes().fold(false, |may, byte| may | may_end(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(unit: TextUnit, text: &str, expected: &[&str]) {
        let mut units = Vec::new();
        unit.divide(text.as_bytes(), &mut units);
        let found: Vec<&str> = units.into_iter().map(|unit| &text[unit]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_end_with_any_line_break() {
        let text = "a\nb\r\n\rc\u{85}d\u{2028}e\u{2029}f\u{b}g\u{c}âé\u{a0}h";
        let lines = ["a\n", "b\r\n", "\r", "c\u{85}", "d\u{2028}", "e\u{2029}", "f\u{b}", "g\u{c}"];
        check(TextUnit::Line, text, &[&lines[..], &["âé\u{a0}h"]].concat());
        check(TextUnit::Line, "", &[]);
        check(TextUnit::Line, "\n", &["\n"]);
    }

    #[test]
    fn blank_lines_separate_paragraphs() {
        let text = "one\ntwo\r\n \t\r\nthree\n\u{3000}\n\n- four\n.\nfive\u{2029}six";
        let paragraphs =
            ["one\ntwo\r\n \t\r\n", "three\n\u{3000}\n", "\n", "- four\n.\nfive\u{2029}", "six"];
        check(TextUnit::Paragraph, text, &paragraphs);
        // The two bytes of a Windows line break are no blank line.
        check(TextUnit::Paragraph, "a\r\nb\r\n", &["a\r\nb\r\n"]);
    }

    #[test]
    fn sentences_end_with_their_marks() {
        check(
            TextUnit::Sentence,
            "Go! 3.5 m. \u{201e}So?\u{201c} ja",
            &["Go! ", "3.5 m. ", "\u{201e}So?\u{201c} ", "ja"],
        );
        check(TextUnit::Sentence, "好。是！", &["好。", "是！"]);
        let mut units = Vec::new();
        TextUnit::Sentence.divide(b"\xff\xffA b. C\xe4d.", &mut units);
        assert_eq!(units, [0..2, 2..7, 7..9, 9..11]);
    }

    proptest! {
        #[test]
        fn lines_do_not_change_sentences(text in "[a-cA-C .?!\n\r,)\"'0\u{85}\u{b}\u{2028}é。]{0,60}|\\PC{0,20}") {
            let mut units = Vec::new();
            TextUnit::Sentence.divide(text.as_bytes(), &mut units);
            let found: Vec<&str> = units.into_iter().map(|unit| &text[unit]).collect();
            prop_assert_eq!(found, text.split_sentence_bounds().collect::<Vec<_>>());
        }

        #[test]
        fn units_have_all_bytes_of_any_text(pieces in prop::collection::vec(prop_oneof![
            4 => "[a-cA-C ]{1,9}", 2 => "[.?! \n]{1,3}", 1 => "[\r\n\u{85}\u{2028}\u{2029}\u{b}]{1,3}",
            1 => "\\PC{1,3}",
        ].prop_map(String::into_bytes).boxed().prop_union(prop::collection::vec(any::<u8>(), 0..3).boxed()), 0..40)) {
            let text = pieces.concat();
            for unit in TextUnit::ALL {
                let mut units = Vec::new();
                unit.divide(&text, &mut units);
                let mut end = 0;
                for range in units {
                    prop_assert!(range.start == end && range.end > end, "{unit:?}");
                    end = range.end;
                }
                prop_assert_eq!(end, text.len());
            }
        }
    }
}
