//! Fingerprints as JSON Lines: each line an object whose field `fingerprint` is a string of
//! lower-case hexadecimal digits, or null for a row without one. Other fields are not looked at.

use crate::error::{ErrorKind, Result};
use crate::fingerprint_rows::FingerprintRows;
use crate::read::hexadecimal::{HexadecimalRows, lines};
use crate::read::jsonl::{FieldPaths, written_text};
use std::path::Path;

/// The fingerprints of the lines `bytes`; `path` is for messages. The first one says how many
/// digits all have.
///
/// # Errors
///
/// A line is no such object.
pub fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    let paths = FieldPaths::new("fingerprint", "id", None);
    let mut rows = HexadecimalRows::default();
    for (start, line) in lines(bytes) {
        push(line, &paths, &mut rows).map_err(|expected| ErrorKind::Format {
            path: path.to_owned(),
            byte: start as u64,
            expected,
        })?;
    }
    Ok(rows.finish())
}

/// Adds the row of a line; an error is what was expected.
fn push(line: &[u8], paths: &FieldPaths, rows: &mut HexadecimalRows) -> Result<(), String> {
    let line = str::from_utf8(line).map_err(|_| "a JSON object in UTF-8")?;
    let row = match written_text(line, paths)? {
        Some("null") => None,
        // No digit needs an escape, so what stands between the quotes is the string; what is no
        // string is refused as one without digits is.
        value => value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"')).or(Some("")),
    };
    rows.push(row.map(str::as_bytes))
        .map_err(|digits| format!("a field \"fingerprint\" with a string of {digits}, or null"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::Lanes;

    #[test]
    fn strings_are_rows_and_null_is_a_row_without() {
        let text = b"{\"id\":\"a\",\"fingerprint\":\"00ff\"}\r\n{\"fingerprint\": null}\n\
            {\"fingerprint\":\"8000\",\"file\":{\"fingerprint\":3}}";
        let rows = read(text, Path::new("f.jsonl")).unwrap();
        assert_eq!(rows.lanes, Lanes::Bits16(vec![0xFF, 0, 0x8000].into()));
        assert_eq!(rows.bits, 16);
        let validity = rows.validity.unwrap();
        assert_eq!([0, 1, 2].map(|row| validity.has_value(row)), [true, false, true]);
    }

    #[test]
    fn other_lines_are_named() {
        let check = |line: &str, expected: &str| {
            let text = format!("{{\"fingerprint\":\"00ff\"}}\n{line}\n");
            let error = read(text.as_bytes(), Path::new("f")).unwrap_err().to_string();
            assert!(error.starts_with("f, byte 23: expected "), "{error}");
            assert!(error.contains(expected), "{error}");
        };
        let string =
            "a field \"fingerprint\" with a string of 4 digits 0-9a-f, as in the first row";
        for line in [
            "{}",
            "{\"fingerprint\":7}",
            "{\"fingerprint\":\"00FF\"}",
            "{\"fingerprint\":\"\"}",
            "{\"fingerprint\":[\"00ff\"]}",
        ] {
            check(line, string);
        }
        check("", "a JSON object; column 0: EOF");
        check("[]", "a JSON object; column");
        check("{\"fingerprint\":null,\"fingerprint\":null}", "every wanted field only once");
    }
}
