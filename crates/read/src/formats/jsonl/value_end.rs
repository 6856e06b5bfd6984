//! Finds the end of a JSON value without decoding it.

use crate::formats::jsonl::fields::DEEPEST;

/// Depth of nesting at which the search for the end of a value gives up. It is far above the depth that a record may
/// have. So the end of a record that is nested too deep is still found, and no other record is lost.
const DEEPEST_SEARCHED: usize = 8 * DEEPEST;

/// Result of the search for the end of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueEnd {
    /// The value ends. The number is its length in bytes.
    At(usize),
    /// The value is damaged. The number is the position of the damage.
    Damaged(usize),
    /// The value does not end within the searched bytes.
    Beyond,
}

/// The next thing that the grammar of JSON allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
}

/// Search for the end of a value. Its memory is reused for the next search.
#[derive(Debug, Default)]
pub(super) struct ValueEndSearch {
    /// One entry for each open object or array: `true` for an object.
    open: Vec<bool>,
}

impl ValueEndSearch {
    /// Finds the end of the value at the start of `json`. `json` is not empty and does not begin with white space.
    /// `last` means that no bytes follow `json`. Checks the structure of the value: its brackets, commas, colons and
    /// strings. Does not check how numbers, literals and escapes are spelled.
    pub(super) fn find(&mut self, json: &[u8], last: bool) -> ValueEnd {
        self.open.clear();
        let (mut at, mut next) = (0, Next::Value);
        loop {
            if next == Next::CommaOrEnd && self.open.is_empty() {
                return ValueEnd::At(at);
            }
            at += white_space(&json[at..]);
            let Some(&byte) = json.get(at) else { return ValueEnd::Beyond };
            let (length, then) = match (byte, next) {
                (b'"', _) => {
                    let then = match next {
                        Next::Value | Next::ValueOrEnd => Next::CommaOrEnd,
                        Next::Key | Next::KeyOrEnd => Next::Colon,
                        Next::Colon | Next::CommaOrEnd => return ValueEnd::Damaged(at),
                    };
                    match string_length(&json[at..]) {
                        ValueEnd::At(length) => (length, then),
                        ValueEnd::Damaged(inside) => return ValueEnd::Damaged(at + inside),
                        ValueEnd::Beyond => return ValueEnd::Beyond,
                    }
                }
                (b'{' | b'[', Next::Value | Next::ValueOrEnd) => {
                    let is_object = byte == b'{';
                    self.open.push(is_object);
                    if self.open.len() > DEEPEST_SEARCHED {
                        return ValueEnd::Damaged(at);
                    }
                    (1, if is_object { Next::KeyOrEnd } else { Next::ValueOrEnd })
                }
                (b'}', Next::KeyOrEnd | Next::CommaOrEnd)
                | (b']', Next::ValueOrEnd | Next::CommaOrEnd)
                    if self.open.last() == Some(&(byte == b'}')) =>
                {
                    self.open.pop();
                    (1, Next::CommaOrEnd)
                }
                (b',', Next::CommaOrEnd) if self.open.last() == Some(&true) => (1, Next::Key),
                (b',', Next::CommaOrEnd) | (b':', Next::Colon) => (1, Next::Value),
                (_, Next::Value | Next::ValueOrEnd) if is_of_scalar(byte) => {
                    let rest = &json[at..];
                    match rest.iter().position(|&byte| !is_of_scalar(byte)) {
                        Some(length) => (length, Next::CommaOrEnd),
                        None if last => (rest.len(), Next::CommaOrEnd),
                        None => return ValueEnd::Beyond,
                    }
                }
                _ => return ValueEnd::Damaged(at),
            };
            (at, next) = (at + length, then);
        }
    }
}

/// Returns the number of bytes of white space at the start of `json`.
pub(super) fn white_space(json: &[u8]) -> usize {
    json.iter().take_while(|&byte| b" \t\r\n".contains(byte)).count()
}

/// Returns whether the search for the end of a number or a literal such as `true` passes over `byte`. Accepts all bytes
/// except control characters, spaces, quotes and the punctuation of JSON. So a misspelled number or literal ends there,
/// too.
fn is_of_scalar(byte: u8) -> bool {
    !byte.is_ascii_control() && !b" \",:[]{}".contains(&byte)
}

/// Finds the end of the string at the start of `json`. The length includes the quotes.
fn string_length(json: &[u8]) -> ValueEnd {
    let mut at = 1;
    loop {
        let Some(rest) = json.get(at..) else { return ValueEnd::Beyond };
        let Some(found) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
            return ValueEnd::Beyond;
        };
        match rest[found] {
            b'"' => return ValueEnd::At(at + found + 1),
            // A line end inside a string must be escaped, so a quote is missing before it.
            b'\n' => return ValueEnd::Damaged(at + found),
            _ => at += found + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(json: &str) -> ValueEnd {
        ValueEndSearch::default().find(json.as_bytes(), true)
    }

    #[test]
    fn values_end_where_their_last_bracket_is() {
        for value in [
            "{}",
            "[]",
            r#"{"a": [1, {"b": "}\"]"}, null], "c" : -1.5e3}"#,
            "[[], [[1]], {\"x\": {}}]",
            "\"a\\\\\"",
            "true",
        ] {
            assert_eq!(end(value), ValueEnd::At(value.len()), "{value}");
            assert_eq!(end(&format!("{value},[")), ValueEnd::At(value.len()), "{value}");
            assert_eq!(end(&format!("{value} {value}")), ValueEnd::At(value.len()), "{value}");
            for cut in 1..value.len() {
                let cut = ValueEndSearch::default().find(&value.as_bytes()[..cut], false);
                assert_eq!(cut, ValueEnd::Beyond, "{value}");
            }
        }
    }

    #[test]
    fn damage_is_found_near_its_place() {
        for (json, at) in [
            ("{\"a\": \"b\n\"}", 8),
            ("{\"a\" 1}", 5),
            ("{\"a\": 1 \"b\": 2}", 8),
            ("{\"a\": [1}", 8),
            ("{\"a\": 1,\n{\"b\": 2}", 9),
            ("{a: 1}", 1),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("}", 0),
        ] {
            assert_eq!(end(json), ValueEnd::Damaged(at), "{json}");
        }
        let deep = "[".repeat(1 << 20);
        assert_eq!(end(&deep), ValueEnd::Damaged(DEEPEST_SEARCHED));
    }

    proptest::proptest! {
        /// Checks the search against the parser of `serde_json`, which knows the whole grammar. All
        /// scalars are valid, since the search does not check their spelling.
        #[test]
        fn the_end_agrees_with_the_parser(
            json in "[\\[{]([\\[\\]{},: 1]|\"a\"|\"a\": ?|\"\\\\\\\\\"|\n){0,12}[\\]}]?",
        ) {
            let mut values = serde_json::Deserializer::from_str(&json)
                .into_iter::<serde::de::IgnoredAny>();
            if let Some(Ok(_)) = values.next() {
                proptest::prop_assert_eq!(end(&json), ValueEnd::At(values.byte_offset()));
            } else {
                proptest::prop_assert!(!matches!(end(&json), ValueEnd::At(_)), "{}", json);
            }
        }
    }
}
