//! Reduces a whole text to one term, so that texts without words can be compared.
//!
//! Such texts are, for example, rows of emoji. Two of them have the same term only if their normalized and folded
//! characters are the same. Only the amount of white space may differ.

use super::normalize::fold;
use super::pieces::pieces;
use super::symbols::is_visible;
use simtool_base::stable_hash::{StreamedHash, mix};

/// Returns one term for a whole text: a hash of all its characters. Returns `None` if the text consists only of white
/// space, control characters, invisible characters and bytes that are not UTF-8.
///
/// The text is normalized and folded. Each run of white space, control characters and bytes that are not UTF-8 counts
/// as one space. Such a run does not count at the start or end of the text.
///
/// ```
/// use simtool_terms::tokenize::whole_text::whole_text;
///
/// assert_eq!(whole_text(" 🙂\n❤\u{fe0f} ".as_bytes()), whole_text("🙂 ❤".as_bytes()));
/// assert_ne!(whole_text("🙂".as_bytes()), whole_text("🙃".as_bytes()));
/// assert_eq!(whole_text(b" \t"), None);
/// ```
#[must_use]
pub fn whole_text(text: &[u8]) -> Option<u64> {
    let mut all = StreamedHash::default();
    let mut is_empty = true;
    let mut folded = String::new();
    for chunk in pieces(text).flat_map(<[u8]>::utf8_chunks) {
        fold(chunk.valid(), &mut folded);
        for part in folded.split(|character| !is_visible(character)).filter(|part| !part.is_empty())
        {
            if !is_empty {
                all.update(b" ");
            }
            all.update(part.as_bytes());
            is_empty = false;
        }
    }
    // Mixing makes the term differ from the hash of a token with the same characters.
    (!is_empty).then(|| mix(all.digest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::pieces::PIECE_BYTES;
    use simtool_base::stable_hash::hash;

    #[test]
    fn equal_characters_are_one_term() {
        let term = |text: &str| whole_text(text.as_bytes());
        assert_eq!(term("“…”\t→"), Some(mix(hash(b"\"...\" \xe2\x86\x92"))));
        assert_eq!(term("\u{200b}🙂\u{a0}\u{85} 🙂\n"), term("🙂 🙂"));
        assert_ne!(term("🙂🙂"), term("🙂 🙂"));
        assert_ne!(term("+5"), term("-5"));
        assert_eq!(whole_text(b"\xff-\xfe\xff"), term("-"));
        for blank in ["", " \n", "\u{feff}\u{ad}", "\0\u{1b}"] {
            assert_eq!(term(blank), None, "{blank:?}");
        }
    }

    #[test]
    fn long_texts_are_hashed_in_pieces_without_a_seam() {
        let text = "🙂 ".repeat(PIECE_BYTES);
        assert_eq!(whole_text(text.as_bytes()), Some(mix(hash(text.trim_end().as_bytes()))));
    }
}
