//! Distinguishes files of JSON Lines from files with one JSON array, or with objects over several lines.

use serde::de::IgnoredAny;

/// Returns whether `text`, the start of a file, is JSON but not JSON Lines: an array of objects,
/// an object over several lines, or objects without line ends between them.
pub(super) fn is_not_lines(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    let second = start.get(1..).unwrap_or_default().trim_ascii_start().first();
    match (start.first(), second) {
        (Some(b'['), Some(b'{')) => true,
        (Some(b'{'), Some(b'"' | b'}')) => !begins_with_line(start),
        _ => false,
    }
}

/// Returns whether the object at the start of `text` is the only value on its line, or the first line is damaged and
/// other lines are objects.
fn begins_with_line(text: &[u8]) -> bool {
    let first_end = memchr::memchr(b'\n', text);
    if is_value(&text[..first_end.unwrap_or(text.len())]) {
        return true;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    if let Some(Ok(_)) = values.next() {
        let (value, rest) = text.split_at(values.byte_offset());
        return !value.contains(&b'\n') && rest.trim_ascii_start().first() != Some(&b'{');
    }
    first_end.is_none() || has_object_line(text)
}

/// Returns whether a line of `text` is an object. So a file of JSON Lines is recognized even if its first line is
/// damaged. Lines with white space before the object do not count, because they are usually parts of an object over
/// several lines.
pub(super) fn has_object_line(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"{") && is_value(line))
}

/// Returns whether `line` is one valid JSON value.
fn is_value(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_from_other_json() {
        for lines in [
            "{\"a\": 1}",
            "{\"a\": 1}\n{\"a\": 2}\n",
            "\n {\"a\": {\"b\": [1]}} \r\n{\"a\": 2}",
            "{\"a\": \"cut\n{\"a\": 2}\n",
            "{\"a\": 1,\n{\"a\": 2}\n",
            "{\"a\": 1}}\n{\"a\": 2}\n",
            "{\"a\": cut",
            "{\"a\": 1} x",
            "{}\n{}",
            "[1, 2]",
            "[]",
            "words",
            "",
            "{",
            "{\n{\"a\": 1}\n",
        ] {
            assert!(!is_not_lines(lines.as_bytes()), "{lines}");
        }
        for json in [
            "[{\"a\": 1}]",
            " [\n  {\"a\": 1}",
            "{\n  \"a\": 1\n}\n",
            "{\"a\": [\n1]}",
            "{\"a\": 1}{\"a\": 2}",
            "{\"a\": 1} {\"a\": 2}\n",
            "{\"a\": 1,\n \"b\"",
            "{\n  \"a\": oops\n}\n",
        ] {
            assert!(is_not_lines(json.as_bytes()), "{json}");
        }
    }
}
