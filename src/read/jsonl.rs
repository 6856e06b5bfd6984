//! JSON Lines: every line is an object with a text and perhaps an ID.
//!
//! The text is borrowed from the line where nothing in it is escaped. A line that is no valid
//! object, is nested over 128 deep, or whose text is missing or no string is a bad record; so is
//! one that has a wanted field twice, since readers disagree on which one counts. Bytes that are
//! no UTF-8, and halves of surrogate pairs, become U+FFFD.

use crate::document::{Bad, Content, Document};
use crate::fault::quoted;
use crate::read::plain_text::{line, next_line};
use crate::read::window::{AfterLoss, Splitter, Step};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Deepest nesting of a line.
const DEEPEST: usize = 128;

/// The fields to take, as paths of keys.
#[derive(Clone, Debug)]
pub(super) struct FieldPaths([Vec<String>; 3]);

const TEXT: usize = 0;
const ID: usize = 1;
const KEEP: usize = 2;

impl FieldPaths {
    /// Dots in the names lead into nested objects.
    pub(super) fn new(text: &str, id: &str, keep: Option<&str>) -> Self {
        let path = |name: &str| name.split('.').map(str::to_owned).collect();
        Self([path(text), path(id), keep.map(path).unwrap_or_default()])
    }
}

/// Splits at line ends and reads each line's fields.
#[derive(Debug)]
pub(super) struct JsonLines {
    paths: FieldPaths,
    at_file_start: bool,
    scratch: Scratch,
    /// A line whose bytes that are no UTF-8 were replaced.
    mended_line: String,
    bad: Bad,
}

/// Unescaped values.
#[derive(Debug, Default)]
struct Scratch([Vec<u8>; 3]);

impl JsonLines {
    pub(super) fn new(paths: FieldPaths, at_file_start: bool) -> Self {
        let bad = Bad { code: "json", expected: Cow::Borrowed(""), length: 0 };
        Self { paths, at_file_start, scratch: Scratch::default(), mended_line: String::new(), bad }
    }
}

impl Splitter for JsonLines {
    const AFTER_LOSS: AfterLoss = AfterLoss::Continue;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> Step<'a> {
        let Some((line, length)) = line(window, last, &mut self.at_file_start) else {
            return Step::More;
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Step::record(length, Content::PassThrough);
        }
        let Self { paths, scratch, mended_line, bad, .. } = self;
        let (line, mended) = if let Ok(line) = str::from_utf8(line) {
            (line, None)
        } else {
            mended_line.clear();
            mended_line.push_str(&String::from_utf8_lossy(line));
            (mended_line.as_str(), Some("utf8"))
        };
        let content = match document(line, paths, scratch) {
            Ok(document) => {
                Content::Document(Document { mended: document.mended.or(mended), ..document })
            }
            Err((code, expected)) => {
                *bad = Bad { code, expected, length: length as u64 };
                Content::Bad(bad)
            }
        };
        Step::record(length, content)
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }
}

type Refusal = (&'static str, Cow<'static, str>);

/// The document of a line.
fn document<'a>(
    line: &'a str,
    paths: &FieldPaths,
    scratch: &'a mut Scratch,
) -> Result<Document<'a>, Refusal> {
    if is_too_deep(line.as_bytes()) {
        return Err(("json-depth", "nesting of at most 128".into()));
    }
    let mut found = Found::default();
    let mut json = serde_json::Deserializer::from_str(line);
    let fields = Fields { paths, depth: 0, wanted: 0b111, found: &mut found };
    serde::Deserializer::deserialize_map(&mut json, fields)
        .and_then(|()| json.end())
        .map_err(|error| ("json", explanation(&error)))?;
    if found.duplicate {
        return Err(("json-dup-key", "every wanted field only once".into()));
    }
    let [text_scratch, id_scratch, keep_scratch] = &mut scratch.0;
    let Some(text) = found.values[TEXT].filter(|value| value.get().starts_with('"')) else {
        return Err(("json", format!("a string in the field {}", paths.0[TEXT].join(".")).into()));
    };
    let (text, mended) = unescaped(text, text_scratch);
    Ok(Document {
        text,
        id: found.values[ID].and_then(|id| as_written(id, id_scratch)),
        field: found.values[KEEP].and_then(|value| as_written(value, keep_scratch)),
        mended: mended.then_some("utf8"),
    })
}

/// What the parser says, on one line and without the line number, which is always 1.
fn explanation(error: &serde_json::Error) -> Cow<'static, str> {
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    format!("a JSON object; column {}: {}", error.column(), quoted(reason.as_bytes())).into()
}

/// Whether brackets nest over [`DEEPEST`] deep. Nearly all lines have fewer brackets than that.
fn is_too_deep(line: &[u8]) -> bool {
    if memchr::memchr2_iter(b'[', b'{', line).nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// The raw values of the wanted fields.
#[derive(Default)]
struct Found<'de> {
    values: [Option<&'de RawValue>; 3],
    duplicate: bool,
}

/// Visits one object on the way along the paths.
struct Fields<'p, 'de> {
    paths: &'p FieldPaths,
    /// How many keys of the paths lie behind.
    depth: usize,
    /// Bit f: path f leads into this object.
    wanted: u8,
    found: &'p mut Found<'de>,
}

impl<'de> serde::de::Visitor<'de> for Fields<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { paths, depth, wanted, found } = self;
        while let Some(mask) = map.next_key_seed(Key { paths, depth, wanted })? {
            if mask == 0 {
                map.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            let value: &'de RawValue = map.next_value()?;
            let mut inner = 0;
            for field in 0..3 {
                if mask >> field & 1 == 0 {
                    continue;
                }
                if paths.0[field].len() > depth + 1 {
                    inner |= 1 << field;
                } else {
                    found.duplicate |= found.values[field].replace(value).is_some();
                }
            }
            if inner != 0 && value.get().starts_with('{') {
                let next = Fields { paths, depth: depth + 1, wanted: inner, found: &mut *found };
                let mut json = serde_json::Deserializer::from_str(value.get());
                serde::Deserializer::deserialize_map(&mut json, next)
                    .map_err(serde::de::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Compares a key with the next key of each path.
struct Key<'p> {
    paths: &'p FieldPaths,
    depth: usize,
    wanted: u8,
}

impl<'de> serde::de::DeserializeSeed<'de> for Key<'_> {
    type Value = u8;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<u8, D::Error> {
        json.deserialize_str(self)
    }
}

impl serde::de::Visitor<'_> for Key<'_> {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<u8, E> {
        let mut mask = 0;
        for (field, path) in self.paths.0.iter().enumerate() {
            let wanted = self.wanted >> field & 1 == 1;
            if wanted && path.get(self.depth).is_some_and(|step| step == key) {
                mask |= 1 << field;
            }
        }
        Ok(mask)
    }
}

/// A value as an ID: a string's content, other values as they are written; `None` for null and
/// the empty string.
fn as_written<'a>(value: &'a RawValue, scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let written = value.get();
    let bytes = match written {
        "null" => return None,
        _ if written.starts_with('"') => unescaped(value, scratch).0,
        _ => written.as_bytes(),
    };
    (!bytes.is_empty()).then_some(bytes)
}

/// The content of a string that the parser has accepted, and whether half a surrogate pair was
/// replaced. What it makes is kept in `scratch`, which only grows.
fn unescaped<'a>(string: &'a RawValue, scratch: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    let quoted = string.get().as_bytes();
    let mut rest = &quoted[1..quoted.len() - 1];
    let Some(first) = memchr::memchr(b'\\', rest) else { return (rest, false) };
    // No escape is shorter than what it means; a block may be copied beyond the end.
    if scratch.len() < rest.len() + BLOCK {
        scratch.resize(rest.len() + BLOCK, 0);
    }
    scratch[..first].copy_from_slice(&rest[..first]);
    rest = &rest[first..];
    let (mut end, mut mended) = (first, false);
    loop {
        let (plain, is_escape) = copy_to_escape(&mut rest, &mut scratch[end..]);
        end += plain;
        if !is_escape {
            return (&scratch[..end], mended);
        }
        let kind = rest.first().copied().unwrap_or(b'\\');
        rest = rest.get(1..).unwrap_or_default();
        let byte = match kind {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = character(&mut rest);
                mended |= character.is_none();
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                end += character.encode_utf8(&mut scratch[end..]).len();
                continue;
            }
            other => other,
        };
        scratch[end] = byte;
        end += 1;
    }
}

/// Bytes looked at and copied at once: escaped text has a line end every few words, and a search
/// and a copy for each piece cost more than the bytes.
const BLOCK: usize = 8;

/// Copies up to the next backslash, if there is one, and goes behind it; how many bytes it copied
/// and whether there was one.
fn copy_to_escape(rest: &mut &[u8], to: &mut [u8]) -> (usize, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut copied = 0;
    while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
        to[copied..copied + BLOCK].copy_from_slice(block);
        // The lowest byte of `differs` that is zero is the first backslash; bytes above it may
        // seem zero too.
        let differs = u64::from_le_bytes(*block) ^ (ONES * u64::from(b'\\'));
        let zeros = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if zeros != 0 {
            let plain = zeros.trailing_zeros() as usize / 8;
            *rest = &rest[plain + 1..];
            return (copied + plain, true);
        }
        copied += BLOCK;
        *rest = behind;
    }
    let escape = rest.iter().position(|&byte| byte == b'\\');
    let plain = escape.unwrap_or(rest.len());
    to[copied..copied + plain].copy_from_slice(&rest[..plain]);
    *rest = rest.get(plain + 1..).unwrap_or_default();
    (copied + plain, escape.is_some())
}

/// The character of one or two `\u` escapes, the first of which is open; `None` for half a pair.
fn character(rest: &mut &[u8]) -> Option<char> {
    let first = unit(rest)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let mut ahead = rest.strip_prefix(b"\\u")?;
    let second = unit(&mut ahead)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    *rest = ahead;
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

/// Four hexadecimal digits.
fn unit(rest: &mut &[u8]) -> Option<u32> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, paths: &FieldPaths) -> Result<(String, Option<String>, bool), String> {
        let mut lines = JsonLines::new(paths.clone(), false);
        match lines.next(line.as_bytes(), true) {
            Step::Record { content: Content::Document(d), .. } => Ok((
                str::from_utf8(d.text).unwrap().to_owned(),
                d.id.map(|id| str::from_utf8(id).unwrap().to_owned()),
                d.mended.is_some(),
            )),
            Step::Record { content: Content::Bad(bad), .. } => Err(bad.code.to_owned()),
            step => Err(format!("{step:?}")),
        }
    }

    fn check(line: &str, expected: Result<(&str, Option<&str>, bool), &str>) {
        let expected = expected
            .map(|(text, id, mended)| (text.to_owned(), id.map(str::to_owned), mended))
            .map_err(str::to_owned);
        assert_eq!(read(line, &FieldPaths::new("text", "id", None)), expected, "{line}");
    }

    #[test]
    fn text_and_id_are_taken_as_written() {
        check(r#"{"id": "a", "text": "x y"}"#, Ok(("x y", Some("a"), false)));
        check(r#" {"text":"","id":12.50,"z":[{}]} "#, Ok(("", Some("12.50"), false)));
        check(r#"{"text": "x", "id": null}"#, Ok(("x", None, false)));
        check(r#"{"text": "x", "id": ""}"#, Ok(("x", None, false)));
        check(r#"{"te\u0078t": "x"}"#, Ok(("x", None, false)));
    }

    #[test]
    fn escapes_are_resolved() {
        check(
            r#"{"text": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"}"#,
            Ok(("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}z", None, false)),
        );
        check(
            r#"{"text": "a\ud800b\udc00\ud800\u0041"}"#,
            Ok(("a\u{FFFD}b\u{FFFD}\u{FFFD}A", None, true)),
        );
    }

    proptest::proptest! {
        /// The parser's own strings are the oracle.
        #[test]
        fn any_text_comes_back(text in "[a\\\\\"\n\u{e9}\u{1F600}\0]{0,40}", spelled in proptest::bool::ANY) {
            let mut json = serde_json::to_string(&text).unwrap();
            if spelled {
                json = text.encode_utf16().fold("\"".to_owned(), |json, unit| {
                    json + &format!("\\u{unit:04X}")
                }) + "\"";
            }
            let line = format!("{{\"text\": {json}}}");
            check(&line, Ok((&text, None, false)));
        }
    }

    #[test]
    fn bad_lines_are_named() {
        for line in
            ["[]", "{", "{}", "3", r#"{"text": 3}"#, r#"{"text": null}"#, r#"{"text": "x"} y"#]
        {
            check(line, Err("json"));
        }
        check(r#"{"text": "x", "text": "y"}"#, Err("json-dup-key"));
        let deep = |n| format!(r#"{{"text": "x", "z": {}{}}}"#, "[".repeat(n), "]".repeat(n));
        check(&deep(127), Ok(("x", None, false)));
        check(&deep(128), Err("json-depth"));
        check(&format!("{{\"text\": \"x\", \"z\": {}", "[".repeat(1 << 20)), Err("json-depth"));
        check(
            &format!(r#"{{"text": "{}"}}"#, "[".repeat(200)),
            Ok((&"[".repeat(200), None, false)),
        );
    }

    #[test]
    fn dots_lead_into_objects() {
        let paths = FieldPaths::new("a.b", "a.c.d", Some("e"));
        let line = r#"{"a": {"b": "x", "c": {"d": 7}}, "e": 1}"#;
        assert_eq!(read(line, &paths).unwrap(), ("x".into(), Some("7".into()), false));
        assert_eq!(read(r#"{"a": "x"}"#, &paths).unwrap_err(), "json");
        let twice = r#"{"a": {"b": "x"}, "a": {"b": "y"}}"#;
        assert_eq!(read(twice, &paths).unwrap_err(), "json-dup-key");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        let mut lines = JsonLines::new(FieldPaths::new("text", "id", None), false);
        match lines.next(b"{\"text\": \"a\xFFb\"}\n", false) {
            Step::Record { content: Content::Document(d), length: 16, .. } => {
                assert_eq!((d.text, d.mended), ("a\u{FFFD}b".as_bytes(), Some("utf8")));
            }
            step => panic!("{step:?}"),
        }
    }
}
