//! Shows a pair of documents: both texts as they were compared, and where they differ.

use super::moved::{Moved, moved};
use crate::pipeline::compare::ReadDocument;
use crate::write::text_difference::{Piece, Shown, marked_text, text_difference};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of bytes of each text that are compared. Longer texts are cut around their first difference.
const COMPARED: usize = 1 << 20;
/// Number of bytes before the first difference that are shown of a cut text.
const BEFORE: usize = 1 << 12;
/// Number of equal words that are shown before and after each difference.
const CONTEXT: usize = 40;
/// Number of bytes that are shown before and after a passage or the words of an item.
const FOUND_CONTEXT: usize = 2000;
/// Number of words of a comparison that are shown at first.
pub(super) const WORDS: usize = 3000;
/// Maximum number of words of a comparison that are shown.
const MOST_WORDS: usize = 100_000;

/// Returns the comparison of the kept and the removed text as a list of pieces. A piece is a list of its kind and its
/// text, or of its kind and the number of words that are not shown. A passage that changed its place also has a number,
/// which is the same in both texts. `lost` has the byte ranges of the lost words in the removed text, in ascending
/// order. `words` limits the shown words.
pub(super) fn pieces(texts: [&[u8]; 2], lost: &[Range<usize>], words: usize) -> Value {
    let (cut_before, texts) = around_difference(texts);
    let texts = texts.map(String::from_utf8_lossy);
    // The byte ranges hold only if the text is valid UTF-8 and was not changed.
    let lost = if matches!(texts[1], Cow::Borrowed(_)) { lost } else { &[] };
    // A page with millions of words would take the browser too long.
    let words = words.clamp(1, MOST_WORDS);
    let found = text_difference(&texts[0], &texts[1], Shown { context: CONTEXT, words });
    let of_side = |wanted: usize| -> Vec<&str> {
        let parts = found.iter().filter_map(|piece| match piece {
            Piece::Left(text) if wanted == 0 => Some(*text),
            Piece::Right(text) if wanted == 1 => Some(*text),
            _ => None,
        });
        parts.collect()
    };
    let moved = moved(&of_side(0), &of_side(1));
    let mut shown = Vec::new();
    if cut_before.start > 0 {
        shown.push(json!(["equal bytes", cut_before.start]));
    }
    // Moved passages name the part that has them by its number, so the parts of each text are counted.
    let mut parts = [0; 2];
    for piece in found {
        let (side, text) = match piece {
            Piece::Left(text) => (0, text),
            Piece::Right(text) => (1, text),
            Piece::Both(text) => {
                shown.push(json!(["both", text]));
                continue;
            }
            Piece::Equal(words) => {
                shown.push(json!(["equal", words]));
                continue;
            }
            Piece::Unread(kept, removed) => {
                shown.push(json!(["unread", kept, removed]));
                continue;
            }
        };
        // The part is a slice of its text, so the difference of the addresses is its offset.
        let at = text.as_ptr().addr() - texts[side].as_ptr().addr() + cut_before.start;
        let part = OwnPart { side, text, at, lost };
        part.push_to(&mut shown, parts[side], &moved);
        parts[side] += 1;
    }
    if cut_before.rest != [0, 0] {
        shown.push(json!(["unread bytes", cut_before.rest[0], cut_before.rest[1]]));
    }
    shown.into()
}

/// A part of the kept or of the removed text that the other text does not have.
struct OwnPart<'t> {
    /// 0 for the kept text, 1 for the removed one.
    side: usize,
    text: &'t str,
    /// Offset of the part in its text, in bytes.
    at: usize,
    /// Byte ranges of the lost words in the removed text.
    lost: &'t [Range<usize>],
}

impl OwnPart<'_> {
    /// Adds the moved passages of this part to `shown`, and the text between them. `part` is the number of this part,
    /// and `moved` has the moved passages of all parts.
    fn push_to(&self, shown: &mut Vec<Value>, part: usize, moved: &[Moved]) {
        let kind = ["kept", "removed"][self.side];
        let mut inside: Vec<(usize, &Range<usize>)> = (0..)
            .zip(moved)
            .filter(|(_, passage)| passage.parts[self.side] == part)
            .map(|(number, passage)| (number, &passage.bytes[self.side]))
            .collect();
        // The passages are in the order of the removed text. In the kept text they have another order.
        inside.sort_unstable_by_key(|(_, bytes)| bytes.start);
        let mut done = 0;
        for (number, bytes) in inside {
            self.push_rest(shown, done..bytes.start);
            shown.push(json!([kind, &self.text[bytes.clone()], number]));
            done = bytes.end;
        }
        self.push_rest(shown, done..self.text.len());
    }

    /// Adds the text in the range `bytes` of this part to `shown`. The range must have no moved passage. In the removed
    /// text, each sequence of consecutive lost words becomes a separate piece of the kind `lost`. Lost words are words
    /// that the kept document lacks.
    fn push_rest(&self, shown: &mut Vec<Value>, bytes: Range<usize>) {
        if self.side == 0 {
            push(shown, "kept", &self.text[bytes]);
            return;
        }
        // A long text has many lost words, and most of them are in other parts.
        let from = self.lost.partition_point(|word| word.start < self.at + bytes.start);
        let words = self.lost[from..].iter().map(|word| word.start - self.at..word.end - self.at);
        let (mut done, mut lost) = (bytes.start, bytes.start..bytes.start);
        for word in words.take_while(|word| word.end <= bytes.end) {
            // Lost words in sequence are one piece.
            if self.text.get(lost.end..word.start).is_some_and(|gap| gap.trim().is_empty())
                && !lost.is_empty()
            {
                lost.end = word.end;
                continue;
            }
            push(shown, "removed", self.text.get(done..lost.start).unwrap_or_default());
            push(shown, "lost", self.text.get(lost.clone()).unwrap_or_default());
            (done, lost) = (lost.end, word);
        }
        push(shown, "removed", self.text.get(done..lost.start).unwrap_or_default());
        push(shown, "lost", self.text.get(lost.clone()).unwrap_or_default());
        push(shown, "removed", self.text.get(lost.end..bytes.end).unwrap_or_default());
    }
}

/// Adds a piece of a text with its kind, unless the text is empty.
fn push(shown: &mut Vec<Value>, kind: &str, text: &str) {
    if !text.is_empty() {
        shown.push(json!([kind, text]));
    }
}

/// Returns the text of a document in pieces: the byte ranges `found` of a search, and the text around them. Text that
/// is far from the found ranges is not shown. If there are none, returns the beginning of the text.
pub(super) fn found_pieces(text: &[u8], found: &[Range<usize>]) -> Value {
    let mut shown = Vec::new();
    if found.is_empty() {
        let end = character_start(text, text.len().min(COMPARED));
        push(&mut shown, "text", &String::from_utf8_lossy(&text[..end]));
        return shown.into();
    }
    let mut done = 0;
    for (number, span) in found.iter().enumerate() {
        // The text may be shorter than it was when the run read it.
        let (start, end) = (span.start.clamp(done, text.len()), span.end.clamp(done, text.len()));
        push_context(&mut shown, &text[done..start], number > 0, true);
        push(&mut shown, "found", &String::from_utf8_lossy(&text[start..end.max(start)]));
        done = end.max(start);
    }
    push_context(&mut shown, &text[done..], !found.is_empty(), false);
    shown.into()
}

/// Adds the text between two found pieces. If it is long, only its ends are shown: its beginning if `is_behind` a found
/// piece, and its end if `is_before` one.
fn push_context(shown: &mut Vec<Value>, text: &[u8], is_behind: bool, is_before: bool) {
    // Before the first found piece, and behind the last one, only one end is next to a piece.
    let ends = usize::from(is_behind) + usize::from(is_before);
    if text.len() <= ends * FOUND_CONTEXT {
        push(shown, "text", &String::from_utf8_lossy(text));
        return;
    }
    let first = if is_behind { character_start(text, FOUND_CONTEXT) } else { 0 };
    let last = text.len() - if is_before { FOUND_CONTEXT } else { 0 };
    let last = character_start(text, last).max(first);
    push(shown, "text", &String::from_utf8_lossy(&text[..first]));
    shown.push(json!(["gap", last - first]));
    push(shown, "text", &String::from_utf8_lossy(&text[last..]));
}

/// Returns the whole text of an HTML page in pieces. Each piece is a part of `document`, the compared text, or was left
/// out.
pub(super) fn page_pieces(whole: &[u8], document: &[u8]) -> Value {
    let texts = [whole, document].map(String::from_utf8_lossy);
    let pieces = marked_text(&texts[0], &texts[1]).into_iter().map(|piece| match piece {
        // Words that only the document has are rare: the main content writes white space in another way.
        Piece::Both(text) | Piece::Right(text) => json!(["document", text]),
        Piece::Left(text) => json!(["left out", text]),
        Piece::Equal(words) | Piece::Unread(words, _) => json!(["gap", words]),
    });
    pieces.collect()
}

/// Numbers of bytes of two long texts that are not compared.
struct CutBytes {
    /// Number of bytes at the beginning of each text. They are equal in both.
    start: usize,
    /// Number of bytes at the end of each text.
    rest: [usize; 2],
}

/// Returns the parts of two texts around their first difference, which are short enough to be compared, and the numbers
/// of bytes before and after these parts.
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

/// Returns the offset of the first byte of the character that has the byte at `at`, so that a text is not cut inside a
/// character.
fn character_start(text: &[u8], at: usize) -> usize {
    // A byte of the form 10xxxxxx does not begin a character.
    (0..=at).rev().find(|&at| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(0)
}

/// Returns whether two texts are short enough that their shingles and lost words are counted while a person waits.
pub(super) fn are_short(texts: [&[u8]; 2]) -> bool {
    texts.iter().all(|text| text.len() <= 4 * COMPARED)
}

/// Returns facts about a document that was read again, such as its format and its size in bytes.
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
    use std::slice;

    #[test]
    fn a_line_of_50_mb_is_cut_around_its_difference() {
        let long = "é".repeat(25 << 20);
        let other = format!("{}x{}", &long[..40 << 20], &long[40 << 20..]);
        let pieces = pieces([long.as_bytes(), other.as_bytes()], &[], WORDS);
        assert_eq!(pieces[0][0], "equal bytes");
        let last = pieces.as_array().unwrap().last().unwrap();
        assert_eq!(last[0], "unread bytes");
        let (text, ..) = (pieces.to_string().len(), ());
        assert!(text < 5 << 20, "{text}");
    }

    #[test]
    fn differences_are_marked() {
        let pieces = pieces([b"a quick <b>", b"a red <b>"], &[], WORDS);
        let expected =
            json!([["both", "a "], ["kept", "quick "], ["removed", "red "], ["both", "<b>"]]);
        assert_eq!(pieces, expected);
    }

    #[test]
    fn lost_words_and_moved_passages_are_marked() {
        let passage = "one two three four five six seven eight";
        let kept = format!("{passage} start of all that follows here and more words there");
        let removed = format!(
            "start of all that follows here and more words there lost words, then {passage}"
        );
        let at = removed.find("lost").unwrap();
        let pieces =
            pieces([kept.as_bytes(), removed.as_bytes()], &[at..at + 4, at + 5..at + 10], WORDS);
        let pieces = pieces.as_array().unwrap();
        let expected = [
            json!(["lost", "lost words"]),
            json!(["kept", passage, 0]),
            json!(["removed", passage, 0]),
        ];
        for piece in expected {
            assert!(pieces.contains(&piece), "{piece} is not in {pieces:?}");
        }
        // Each text is the same as before.
        for (text, other, kinds) in [
            (&kept, "removed", ["both", "kept", ""]),
            (&removed, "kept", ["both", "removed", "lost"]),
        ] {
            let own = pieces.iter().filter(|piece| kinds.contains(&piece[0].as_str().unwrap()));
            let own: String = own.map(|piece| piece[1].as_str().unwrap()).collect();
            let words = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(words(&own), words(text), "without {other}");
        }
    }

    #[test]
    fn text_around_found_pieces_is_shown() {
        let text = format!("{}found{}", "é".repeat(5000), "x".repeat(3000));
        let pieces = found_pieces(text.as_bytes(), slice::from_ref(&(10_000..10_005)));
        let sizes: Vec<usize> = pieces
            .as_array()
            .unwrap()
            .iter()
            .map(|piece| {
                piece[1].as_u64().map_or_else(|| piece[1].as_str().unwrap().len(), |n| n as usize)
            })
            .collect();
        assert_eq!(sizes, [8000, 2000, 5, 2000, 1000]);
        assert_eq!(pieces[2], json!(["found", "found"]));
        // A file that was cut since the run must not end the server.
        assert_eq!(
            found_pieces(b"short", slice::from_ref(&(100..200))),
            json!([["text", "short"]])
        );
        assert_eq!(found_pieces("é".as_bytes(), &[1..2, 0..1]).as_array().unwrap().len(), 2);
    }

    #[test]
    fn the_main_content_is_marked_in_the_page() {
        let pieces = page_pieces(
            b"menu home a long article about rivers imprint",
            b"a long article about rivers",
        );
        let expected = json!([
            ["left out", "menu home "],
            ["document", "a long article about rivers "],
            ["left out", "imprint"]
        ]);
        assert_eq!(pieces, expected);
    }
}
