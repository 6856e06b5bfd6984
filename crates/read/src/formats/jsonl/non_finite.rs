//! Lines with the numbers `NaN`, `Infinity` and `-Infinity`, which Python writes but JSON does not
//! have.

use crate::formats::jsonl::object::string_length;

/// Words that Python writes for numbers, and JSON values of the same length that replace them. `NaN` becomes an empty
/// string, which counts as a missing value.
const REPLACED: [(&str, &str); 2] = [("NaN", "\"\" "), ("Infinity", "1e999   ")];

/// Returns the line with valid JSON values in place of `NaN` and `Infinity` outside of strings. The result is stored in
/// `replaced`, and is as long as the line. Returns `None` if the line contains neither word.
pub(super) fn without_non_finite<'r>(line: &str, replaced: &'r mut String) -> Option<&'r str> {
    let is_in_line = |word: &str| memchr::memmem::find(line.as_bytes(), word.as_bytes()).is_some();
    if !REPLACED.iter().any(|(word, _)| is_in_line(word)) {
        return None;
    }
    replaced.clear();
    let mut rest = line;
    while let Some(quote) = memchr::memchr(b'"', rest.as_bytes()) {
        let (outside, from_quote) = rest.split_at(quote);
        // A string without an end reaches to the end of the line, which is then invalid anyway.
        let length = string_length(from_quote).unwrap_or(from_quote.len());
        let (string, behind) = from_quote.split_at(length);
        replaced.push_str(&finite(outside));
        replaced.push_str(string);
        rest = behind;
    }
    replaced.push_str(&finite(rest));
    Some(replaced)
}

/// Replaces the words in `outside`, a text outside of strings, by valid values. A word before a colon stays as it is,
/// because a key must not become valid.
fn finite(outside: &str) -> String {
    REPLACED.iter().fold(outside.to_owned(), |text, (word, value)| {
        let mut parts = text.split(word);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_key = part.trim_ascii_start().starts_with(':');
            replaced.push_str(if is_key { word } else { value });
            replaced.push_str(part);
        }
        replaced
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_of_strings_are_replaced_by_values_of_their_length() {
        let line = r#"{"NaN": NaN, "a": [-Infinity,Infinity], "b": "NaN \" Infinity"}"#;
        let mut scratch = String::new();
        let replaced = without_non_finite(line, &mut scratch).unwrap();
        assert_eq!(replaced, r#"{"NaN": "" , "a": [-1e999   ,1e999   ], "b": "NaN \" Infinity"}"#);
        assert_eq!(replaced.len(), line.len());
        assert!(without_non_finite(r#"{"a": 1}"#, &mut scratch).is_none());
        assert_eq!(without_non_finite("NaN \"NaN", &mut scratch), Some("\"\"  \"NaN"));
    }
}
