//! Advice for JSON files that do not have one object per line.

use crate::form_feed::without_byte_order_mark;
use crate::jsonl::starts_with;
use simtool_model::compression::Compression;
use std::path::Path;

/// Returns a message if the file starts like a JSON array, or like a JSON object of several lines.
/// The message contains a command that converts the file to one object per line. Files that need
/// this message are not read, for two reasons. The start of a record depends on everything before
/// it, so threads could not share a large file. And a copy without some elements of an array needs
/// more than the bytes of the other elements, because the commas must be correct.
pub(super) fn advice(head: &[u8], compression: Compression, name: &Path) -> Option<String> {
    let text = without_byte_order_mark(head).trim_ascii_start();
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let (what, filter, large) = if starts_with(text, *b"[{") {
        let large = "; if memory is short for that, jq -cn --stream \
                     'fromstream(1|truncate_stream(inputs))' instead of jq -c '.[]'";
        ("one JSON array", "'.[]'", large)
    } else if first_line == b"{" && starts_with(text, *b"{\"") {
        ("JSON of several lines an object", ".", "")
    } else {
        return None;
    };
    let name = name.to_string_lossy();
    let input = quoted_for_shell(&name);
    let stem = match compression {
        Compression::None => &*name,
        _ => name.rsplit_once('.').map_or(&*name, |n| n.0),
    };
    let output = quoted_for_shell(&format!("{}.jsonl", stem.strip_suffix(".json").unwrap_or(stem)));
    let command = match compression.program() {
        _ if &*name == "-" => {
            format!("put jq -c {filter} in front, as in … | jq -c {filter} | simtool …")
        }
        None => format!("jq -c {filter} {input} > {output}"),
        Some(program) => format!("{program} -dc {input} | jq -c {filter} > {output}"),
    };
    Some(format!("is {what}, and read is a JSON object a line: {command}{large}"))
}

/// Returns a word for a shell command, in quotes if that is necessary.
fn quoted_for_shell(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_is_no_lines_gets_a_command() {
        let hint = |name: &str, content: &str, compression| {
            advice(content.as_bytes(), compression, Path::new(name))
        };
        let array = hint("in/a.json", " [\n  {", Compression::None).unwrap();
        let command = "is one JSON array, and read is a JSON object a line: \
                       jq -c '.[]' in/a.json > in/a.jsonl; if memory";
        assert!(array.starts_with(command), "{array}");
        let pretty = hint("it's.json.gz", "\u{feff}{\r\n  \"text\": 1", Compression::Gzip).unwrap();
        let command = r"gzip -dc 'it'\''s.json.gz' | jq -c . > 'it'\''s.jsonl'";
        assert!(pretty.ends_with(command), "{pretty}");
        let piped = hint("-", "[{", Compression::None).unwrap();
        assert!(piped.contains("as in … | jq -c '.[]' | simtool …; if"), "{piped}");
        for lines in ["{\"a\":\n", "{\n{\"a\": 1}\n", "{\n}", "[]", "[1]", "", "{"] {
            assert_eq!(hint("a.json", lines, Compression::None), None, "{lines}");
        }
    }
}
