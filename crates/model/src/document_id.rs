//! The ID of a document and its type in the input.

use simtool_base::json_text::write_string;
use std::io::{self, Write};

/// ID of a document with its type in the input. JSON outputs write a number as a number, so that the output can be
/// joined with the input by ID.
///
/// ```
/// use simtool_model::document_id::DocumentId;
///
/// let mut out = Vec::new();
/// DocumentId::number(b"12").write_json(&mut out)?;
/// DocumentId::Text(b"012").write_json(&mut out)?;
/// assert_eq!(out, b"12\"012\"");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentId<'a> {
    /// A text, or a value of a type that JSON does not have.
    Text(&'a [u8]),
    /// A number that is valid in JSON. The bytes are its digits as in the input.
    Number(&'a [u8]),
}

impl<'a> DocumentId<'a> {
    /// Creates the ID from the digits of a number in the input. A number that is not valid in JSON, such as `inf`,
    /// becomes a text.
    #[must_use]
    pub fn number(digits: &'a [u8]) -> Self {
        if is_json_number(digits) { Self::Number(digits) } else { Self::Text(digits) }
    }

    /// Returns the bytes of the ID. A text ID and a number ID may have the same bytes.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Text(bytes) | Self::Number(bytes) => bytes,
        }
    }

    /// Returns whether the ID is a number.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Writes the ID as a JSON value.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write_json<W: Write + ?Sized>(self, out: &mut W) -> io::Result<()> {
        match self {
            Self::Text(text) => write_string(out, text),
            Self::Number(digits) => out.write_all(digits),
        }
    }
}

/// Returns whether `digits` is a number in JSON, as RFC 8259 defines it.
fn is_json_number(digits: &[u8]) -> bool {
    let skip_digits = |at: &mut usize| {
        let start = *at;
        *at += digits[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        *at > start
    };
    let has = |at: usize, wanted: &[u8]| digits.get(at).is_some_and(|byte| wanted.contains(byte));
    let mut at = usize::from(has(0, b"-"));
    let has_leading_zero = has(at, b"0") && digits.get(at + 1).is_some_and(u8::is_ascii_digit);
    let mut is_valid = skip_digits(&mut at) && !has_leading_zero;
    if has(at, b".") {
        at += 1;
        is_valid &= skip_digits(&mut at);
    }
    if has(at, b"eE") {
        at += 1;
        at += usize::from(has(at, b"+-"));
        is_valid &= skip_digits(&mut at);
    }
    is_valid && at == digits.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_a_json_parser_accepts() {
        let characters = b"-+.eE01";
        let mut all = vec![String::new()];
        for _ in 0..6 {
            for digits in &all {
                let expected = serde_json::from_str::<serde_json::Number>(digits).is_ok();
                assert_eq!(DocumentId::number(digits.as_bytes()).is_number(), expected, "{digits}");
            }
            let longer = |digits: String| {
                characters.map(|character| format!("{digits}{}", char::from(character)))
            };
            all = all.into_iter().flat_map(longer).collect();
        }
    }

    #[test]
    fn names_of_values_that_are_no_numbers_are_texts() {
        for text in ["", "inf", "NaN", "true", "1 ", "01", "1.", ".5", "+1", "1e", "0x1"] {
            assert!(!DocumentId::number(text.as_bytes()).is_number(), "{text}");
        }
        for digits in ["0", "-0", "12.50", "1E+400", "123456789012345678901234567890"] {
            assert!(DocumentId::number(digits.as_bytes()).is_number(), "{digits}");
        }
    }
}
