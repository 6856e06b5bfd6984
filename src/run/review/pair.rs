//! Shows a pair of documents: both texts as they were compared, and where they differ.

use crate::pipeline::compare::ReadDocument;
use crate::write::text_difference::{Piece, Shown, text_difference};
use serde_json::{Value, json};

/// Maximum number of bytes of each text that are compared. Longer texts are cut around their first difference.
const COMPARED: usize = 1 << 20;
/// Number of bytes before the first difference that are shown of a cut text.
const BEFORE: usize = 1 << 12;
/// Number of equal words that are shown before and after each difference.
const CONTEXT: usize = 40;
/// Number of words of a comparison that are shown at first.
pub(super) const WORDS: usize = 3000;
/// Maximum number of words of a comparison that are shown.
const MOST_WORDS: usize = 100_000;

/// Returns the parts of the comparison of the kept and the removed text: each is a list of its kind and its text, or of its
/// kind and the number of words that are not shown.
pub(super) fn pieces(texts: [&[u8]; 2], words: usize) -> Value {
    let (cut_before, texts) = around_difference(texts);
    let texts = texts.map(String::from_utf8_lossy);
    // A page with millions of words would take the browser too long.
    let words = words.clamp(1, MOST_WORDS);
    let shown = Shown { context: CONTEXT, words };
    let pieces =
        text_difference(&texts[0], &texts[1], shown).into_iter().map(|piece| match piece {
            Piece::Both(text) => json!(["both", text]),
            Piece::Left(text) => json!(["kept", text]),
            Piece::Right(text) => json!(["removed", text]),
            Piece::Equal(words) => json!(["equal", words]),
            Piece::Unread(kept, removed) => json!(["unread", kept, removed]),
        });
    let cut = (cut_before.start > 0).then(|| json!(["equal bytes", cut_before.start]));
    let rest = cut_before.rest;
    let rest = (rest != [0, 0]).then(|| json!(["unread bytes", rest[0], rest[1]]));
    cut.into_iter().chain(pieces).chain(rest).collect()
}

/// Numbers of bytes of long texts that are not compared.
struct CutBytes {
    /// Bytes at the beginning, which are equal.
    start: usize,
    /// Bytes at the end of each text.
    rest: [usize; 2],
}

/// Returns the parts of two texts around their first difference, which are short enough to be compared.
fn around_difference(texts: [&[u8]; 2]) -> (CutBytes, [&[u8]; 2]) {
    if texts.iter().all(|text| text.len() <= COMPARED) {
        return (CutBytes { start: 0, rest: [0, 0] }, texts);
    }
    // Comparing bytes is fast even for texts of many megabytes.
    let [kept, removed] = texts;
    let equal = kept.iter().zip(removed).take_while(|(a, b)| a == b).count();
    let start = character_start(kept, equal.saturating_sub(BEFORE));
    let ends = texts.map(|text| character_start(text, text.len().min(start + COMPARED)));
    let rest = [kept.len() - ends[0], removed.len() - ends[1]];
    (CutBytes { start, rest }, [&kept[start..ends[0]], &removed[start..ends[1]]])
}

/// Returns the offset of the character at `at`, so that a text is not cut inside a character.
fn character_start(text: &[u8], at: usize) -> usize {
    // A byte of the form 10xxxxxx does not begin a character.
    (0..=at).rev().find(|&at| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(0)
}

/// Returns whether two texts are short enough that their shingles and lost words are counted while a person waits.
pub(super) fn are_short(texts: [&[u8]; 2]) -> bool {
    texts.iter().all(|text| text.len() <= 4 * COMPARED)
}

/// Returns the facts about a document that was read again.
pub(super) fn facts(document: &ReadDocument) -> Value {
    json!({
        "format": document.format.name(),
        "bytes": document.text.len(),
        "left_out": document.left_out(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_50_mb_is_cut_around_its_difference() {
        let long = "é".repeat(25 << 20);
        let other = format!("{}x{}", &long[..40 << 20], &long[40 << 20..]);
        let pieces = pieces([long.as_bytes(), other.as_bytes()], WORDS);
        assert_eq!(pieces[0][0], "equal bytes");
        let last = pieces.as_array().unwrap().last().unwrap();
        assert_eq!(last[0], "unread bytes");
        let (text, ..) = (pieces.to_string().len(), ());
        assert!(text < 5 << 20, "{text}");
    }

    #[test]
    fn differences_are_marked() {
        let pieces = pieces([b"a quick <b>", b"a red <b>"], WORDS);
        let expected =
            json!([["both", "a "], ["kept", "quick "], ["removed", "red "], ["both", "<b>"]]);
        assert_eq!(pieces, expected);
    }
}
