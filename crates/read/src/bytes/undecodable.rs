//! Documents whose bytes are not text in the encoding with which they were read.
//!
//! Such a document must not be compared. For example, if two texts in windows-1251 are read as UTF-8, only their digits
//! and Latin letters remain. They seem to be equal if these characters are equal.

use simtool_model::document::{Bad, Document};
use std::borrow::Cow;

/// Number of characters among which at most one may be replaced. If a larger fraction of the characters of a document
/// was replaced, the document is undecodable. Single wrong bytes, for example quotation marks of another encoding in an
/// English text, do not change which texts are similar.
const CHARACTERS_A_REPLACED_ONE: usize = 100;

/// Returns the fault of a document in which too many characters were replaced, otherwise `None`. `length` is the length
/// of its record in bytes.
pub(crate) fn fault(document: &Document<'_>, length: u64) -> Option<Bad> {
    // A reader that decodes the text reports whether it replaced anything. Other readers pass on the
    // bytes of the file.
    if document.repaired.is_none() && simdutf8::basic::from_utf8(document.text).is_ok() {
        return None;
    }
    let mut characters = 0;
    let mut replaced = 0;
    for chunk in document.text.utf8_chunks() {
        characters += chunk.valid().chars().count();
        replaced += chunk.valid().matches('\u{FFFD}').count();
        let is_invalid = usize::from(!chunk.invalid().is_empty());
        characters += is_invalid;
        replaced += is_invalid;
    }
    if replaced * CHARACTERS_A_REPLACED_ONE <= characters {
        return None;
    }
    let expected = format!(
        "text in its encoding: {replaced} of {characters} characters cannot be decoded. Name the \
         encoding with `encoding`; for texts that declare none, `detect` guesses it"
    );
    Some(Bad { code: "undecodable", expected: Cow::Owned(expected), length })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_undecodable(text: &[u8], repaired: Option<&'static str>) -> bool {
        let document = Document { repaired, ..Document::new(text) };
        fault(&document, 0).is_some()
    }

    #[test]
    fn more_than_one_replaced_character_in_a_hundred_is_too_many() {
        let text = |letters: usize| [&vec![b'a'; letters][..], b"\xE9"].concat();
        assert!(!is_undecodable(&text(99), None));
        assert!(is_undecodable(&text(98), None));
        let repaired = format!("{}\u{FFFD}", "a".repeat(98));
        assert!(is_undecodable(repaired.as_bytes(), Some("utf8")));
        // The mark of a replacement may be a part of the input.
        assert!(!is_undecodable(repaired.as_bytes(), None));
        assert!(
            !is_undecodable(b"", None) && !is_undecodable("\u{43f}".as_bytes(), Some("http-body"))
        );
        assert!(is_undecodable(b"\xCF\xF0\xE8\xE2\xE5\xF2 www.example.org", None));
    }
}
