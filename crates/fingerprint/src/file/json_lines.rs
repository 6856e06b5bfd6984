//! Fingerprints as JSON Lines. Each line is an object whose field `fingerprint` is a string of
//! lower-case hexadecimal digits, or null for a row without a fingerprint. Fields that name the
//! document of the row precede it. A reader ignores all other fields.

use super::format::{FileFormat, NameOf};
use super::hexadecimal::write_number;
use reading::{find_ids, has_ids, read};
use simtool_model::fingerprint_rows::FingerprintRows;
use std::io::{self, Write};

/// The format JSON Lines as an entry of [`FILE_FORMATS`](super::FILE_FORMATS), the table of file formats.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "jsonl",
    extensions: &["jsonl"],
    help: "JSON Lines with id, file, record and fingerprint of each document, in reading order",
    marks_missing: true,
    missing_feature: None,
    is_format_of: |bytes| bytes.trim_ascii_start().starts_with(b"{"),
    read: |bytes, path| read(bytes, path),
    write,
    has_ids: |bytes, _| Ok(has_ids(bytes)),
    find_ids: |bytes, _| Ok(find_ids(bytes)),
};

/// Writes one JSON object per line: the `id`, `file` and `record` of the row's document, and its
/// `fingerprint` as a hexadecimal number or null.
///
/// # Errors
///
/// `out` fails.
fn write(rows: &FingerprintRows<'_>, name: &NameOf<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    for row in 0..rows.len() {
        out.write_all(b"{")?;
        name(row as u32).write_fields(out)?;
        match rows.row(row) {
            Some(words) => {
                out.write_all(b",\"fingerprint\":\"")?;
                write_number(words, rows.shape, out)?;
                out.write_all(b"\"}\n")?;
            }
            None => out.write_all(b",\"fingerprint\":null}\n")?,
        }
    }
    Ok(())
}

mod reading {
    use crate::file::format::FoundIds;
    use crate::file::hexadecimal::{HexadecimalRows, lines};
    use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
    use serde_json::value::RawValue;
    use simtool_base::error::{ErrorKind, Result};
    use simtool_base::fault::quoted;
    use simtool_model::fingerprint_rows::FingerprintRows;
    use std::borrow::Cow;
    use std::fmt;
    use std::path::Path;

    const NAME: &str = "fingerprint";
    const ID: &str = "id";
    /// Number of bytes of the shortest possible line, not counting its hexadecimal digits.
    const AROUND: usize = "{\"fingerprint\":\"\"}\n".len();

    /// Reads the fingerprint of each line in `bytes`. All fingerprints must have the same number of digits as the first
    /// one. `path` is for error messages.
    ///
    /// # Errors
    ///
    /// A line is not an object with a valid field `fingerprint`.
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
        let mut rows = HexadecimalRows::for_lines(bytes.len(), AROUND);
        for (start, line) in lines(bytes) {
            push(line, &mut rows).map_err(|expected| ErrorKind::Format {
                path: path.to_owned(),
                byte: start as u64,
                expected,
            })?;
        }
        Ok(rows.finish())
    }

    /// Adds the fingerprint of a line to `rows`. The error is a phrase that describes what was
    /// expected.
    fn push(line: &[u8], rows: &mut HexadecimalRows) -> Result<(), String> {
        let line = str::from_utf8(line).map_err(|_| "a JSON object in UTF-8")?;
        // Raw values borrow from the line. A value is only looked at if its key is the wanted one,
        // so other fields cost no memory.
        let mut json = serde_json::Deserializer::from_str(line);
        let found =
            json.deserialize_map(FieldParser(NAME)).and_then(|found| json.end().map(|()| found));
        let found = found.map_err(|error| explanation(&error))?;
        // Parsers of JSON disagree on which of two equal keys counts (RFC 8259, section 4), so a
        // line with both is refused.
        if found.twice {
            return Err(format!("the field \"{NAME}\" only once"));
        }
        let row = match found.value.map(RawValue::get) {
            Some("null") => None,
            // No digit needs an escape, so the text between the quotes is the string. A value that
            // is not a string is refused like a string without digits.
            value => {
                value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"')).or(Some(""))
            }
        };
        rows.push(row.map(str::as_bytes))
            .map_err(|digits| format!("a field \"{NAME}\" with a string of {digits}, or null"))
    }

    /// Whether the first line has a field `id`. Then the file is assumed to have IDs.
    pub(super) fn has_ids(bytes: &[u8]) -> bool {
        // All lines of a file come from one writer, so they have the same fields. A look at every
        // line would cost as much as reading the IDs.
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        id(first).is_some()
    }

    /// Finds the start of each line. The ID of a row is parsed later from its line, when the ID is needed.
    pub(super) fn find_ids(bytes: &[u8]) -> FoundIds<'_> {
        let behind = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
        let starts = std::iter::once(0).chain(behind).collect();
        FoundIds::Lines { bytes, starts, parse: id }
    }

    /// Returns the field `id` of a line, or `None` if it is missing or null. A number is returned
    /// as the text in the line.
    fn id(line: &[u8]) -> Option<Cow<'_, [u8]>> {
        let mut json = serde_json::Deserializer::from_str(str::from_utf8(line).ok()?);
        let value = json.deserialize_map(FieldParser(ID)).ok()?.value?.get();
        if !value.starts_with('"') {
            return (value != "null").then_some(Cow::Borrowed(value.as_bytes()));
        }
        // Without a backslash there is no escape, and the bytes between the quotes are the ID.
        if !value.contains('\\') {
            return Some(Cow::Borrowed(&value.as_bytes()[1..value.len() - 1]));
        }
        serde_json::from_str(value).ok().map(|id: String| Cow::Owned(id.into_bytes()))
    }

    /// Returns the message of the JSON parser without the line number. The number is always 1,
    /// because each line is parsed separately.
    fn explanation(error: &serde_json::Error) -> String {
        let message = error.to_string();
        let reason =
            message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
        format!("a JSON object; column {}: {}", error.column(), quoted(reason.as_bytes()))
    }

    /// Value of the field that [`FieldParser`] looks for in an object, and whether the object has this field twice.
    #[derive(Default)]
    struct FoundField<'de> {
        value: Option<&'de RawValue>,
        twice: bool,
    }

    /// Parser for a JSON object. It finds the value of the field with this name.
    struct FieldParser(&'static str);

    impl<'de> Visitor<'de> for FieldParser {
        type Value = FoundField<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FoundField<'de>, A::Error> {
            let mut found = FoundField::default();
            while let Some(is_wanted) = map.next_key_seed(KeyParser(self.0))? {
                if is_wanted {
                    found.twice |= found.value.replace(map.next_value()?).is_some();
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }

    /// Parser for a key of a JSON object. It returns whether the key equals the name in this struct.
    struct KeyParser(&'static str);

    impl<'de> DeserializeSeed<'de> for KeyParser {
        type Value = bool;

        fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
            json.deserialize_str(self)
        }
    }

    impl Visitor<'_> for KeyParser {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a key")
        }

        fn visit_str<E>(self, key: &str) -> Result<bool, E> {
            Ok(key == self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::document_name::DocumentName;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use std::borrow::Cow;
    use std::path::Path;

    #[test]
    fn rows_are_objects_with_the_documents_names() {
        let mut rows = RowsBuilder::new(Shape::bits(128));
        rows.push(Some(&[0xFF, 0]));
        rows.push(None);
        rows.push(Some(&[0, 1 << 63]));
        let id = Cow::Borrowed(&b"a\"b"[..]);
        let name = |row: u32| DocumentName {
            id: id.clone(),
            is_number: false,
            file: Path::new("in/x"),
            record: row.into(),
        };
        let mut out = Vec::new();
        write(&rows.finish(), &name, &mut out).unwrap();
        let line = |record, fingerprint: &str| {
            format!(
                "{{\"id\":\"a\\\"b\",\"file\":\"in/x\",\"record\":{record},\
                 \"fingerprint\":{fingerprint}}}\n"
            )
        };
        let [first, third] = [format!("\"{:032x}\"", 0xFF), format!("\"8{:031}\"", 0)];
        let expected = line(0, &first) + &line(1, "null") + &line(2, &third);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn strings_are_rows_and_null_is_a_row_without() {
        let text = b"{\"id\":\"a\",\"fingerprint\":\"00ff\"}\r\n{\"fingerprint\": null}\n\
            {\"fingerprint\":\"8000\",\"file\":{\"fingerprint\":3}}";
        let rows = read(text, Path::new("f.jsonl")).unwrap();
        assert_eq!(rows.words[..], [0xFF, 0, 0x8000]);
        assert_eq!(rows.shape, Shape::bits(16));
        assert_eq!([0, 1, 2].map(|row| rows.has_fingerprint(row)), [true, false, true]);
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
        check("{\"fingerprint\":null,\"fingerprint\":null}", "the field \"fingerprint\" only once");
        check(&format!("{{\"a\":{}", "[".repeat(1 << 20)), "a JSON object; column");
    }
}
