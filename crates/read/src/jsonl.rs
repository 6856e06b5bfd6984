//! JSON Lines: every line is an object with a text and perhaps an ID.
//!
//! The text is borrowed from the line where nothing in it is escaped; one of `null` is empty. A line that is no valid
//! object, is nested over 128 deep, or whose text is missing or no string, is a bad record; so is
//! one that has a wanted field twice, since readers disagree on which one counts. Bytes that are
//! no UTF-8, and halves of surrogate pairs, become U+FFFD.

use crate::form_feed::without_byte_order_mark;
use crate::json_strings::{string, unescaped};
use crate::plain_text::{line, next_line};
use crate::window::{AfterLoss, Splitter, Step};
use serde_json::value::RawValue;
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content, Document};
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
    quick_scratch: Scratch,
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
        Self {
            paths,
            at_file_start,
            quick_scratch: Scratch::default(),
            scratch: Scratch::default(),
            mended_line: String::new(),
            bad,
        }
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
        let Self { paths, quick_scratch, scratch, mended_line, bad, .. } = self;
        let (line, mended) = if let Ok(line) = str::from_utf8(line) {
            (line, None)
        } else {
            mended_line.clear();
            mended_line.push_str(&String::from_utf8_lossy(line));
            (mended_line.as_str(), Some("utf8"))
        };
        let parsed = match quick_document(line, paths, quick_scratch) {
            Some(document) => Ok(document),
            None => document(line, paths, scratch),
        };
        let content = match parsed {
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

/// The values of a line's wanted fields.
fn found<'a>(line: &'a str, paths: &FieldPaths) -> Result<Found<'a>, Refusal> {
    if is_too_deep(line.as_bytes(), DEEPEST) {
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
    Ok(found)
}

/// The keys of a line's object, in order; none of a line that holds no object.
pub(super) fn keys(line: &[u8]) -> Vec<String> {
    struct Keys;
    impl<'de> serde::de::Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Vec<String>, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, serde::de::IgnoredAny)) = map.next_entry()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    let line = without_byte_order_mark(line);
    if is_too_deep(line, DEEPEST) {
        return Vec::new();
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    serde::Deserializer::deserialize_map(&mut json, Keys).unwrap_or_default()
}

/// The document of a line.
fn document<'a>(
    line: &'a str,
    paths: &FieldPaths,
    scratch: &'a mut Scratch,
) -> Result<Document<'a>, Refusal> {
    let found = found(line, paths)?;
    let [text_scratch, id_scratch, keep_scratch] = &mut scratch.0;
    let (text, mended) = match found.values[TEXT] {
        Some(text) if text.get().starts_with('"') => unescaped(text, text_scratch),
        // That there is no text is no damage.
        Some(text) if text.get() == "null" => (&[][..], false),
        None => {
            let Bad { code, expected, .. } = Bad::no_text(0);
            return Err((code, expected));
        }
        Some(_) => {
            let field = paths.0[TEXT].join(".");
            let expected = format!("a string in the field \"{field}\" (`text_field`), or null");
            return Err(("json", expected.into()));
        }
    };
    Ok(Document {
        text,
        id: found.values[ID].and_then(|id| as_written(id, id_scratch)),
        field: found.values[KEEP].and_then(|value| as_written(value, keep_scratch)),
        mended: mended.then_some("utf8"),
    })
}

/// The document of a line that holds nothing out of the ordinary, in one pass over the text;
/// `None` leaves the line to [`document`], which gives the same where both give a document.
fn quick_document<'a>(
    line: &'a str,
    paths: &FieldPaths,
    scratch: &'a mut Scratch,
) -> Option<Document<'a>> {
    if paths.0.iter().any(|path| path.len() > 1) {
        return None;
    }
    let [text_scratch, id_scratch, keep_scratch] = &mut scratch.0;
    let mut text_scratch = Some(text_scratch);
    let (mut text, mut values) = (None, [None; 3]);
    let mut rest = line.trim_start_matches(WHITE).strip_prefix('{')?;
    loop {
        rest = rest.trim_start_matches(WHITE).strip_prefix('"')?;
        let end = memchr::memchr3(b'"', b'\\', b'\n', rest.as_bytes())?;
        let key = &rest[..end];
        // Keys of control characters or escapes are left to the parser.
        rest = rest[end..].strip_prefix('"')?;
        if key.bytes().any(|byte| byte < b' ') {
            return None;
        }
        rest = rest.trim_start_matches(WHITE).strip_prefix(':')?.trim_start_matches(WHITE);
        let is = |field: usize| paths.0[field].first().is_some_and(|name| name == key);
        if is(TEXT) && !is(ID) && !is(KEEP) {
            let (content, behind) = string(rest, text_scratch.take()?)?;
            (text, rest) = (Some(content), behind);
        } else {
            let mut json = serde_json::Deserializer::from_str(rest).into_iter::<&'a RawValue>();
            let value = json.next()?.ok()?;
            rest = &rest[json.byte_offset()..];
            if is_too_deep(value.get().as_bytes(), DEEPEST - 1) {
                return None;
            }
            for field in [TEXT, ID, KEEP] {
                if is(field) && values[field].replace(value).is_some() {
                    return None;
                }
            }
        }
        rest = rest.trim_start_matches(WHITE);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    if !rest.strip_prefix('}')?.trim_start_matches(WHITE).is_empty() {
        return None;
    }
    Some(Document {
        text: text?,
        id: values[ID].and_then(|id| as_written(id, id_scratch)),
        field: values[KEEP].and_then(|value| as_written(value, keep_scratch)),
        mended: None,
    })
}

/// JSON's white space.
const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// What the parser says, on one line and without the line number, which is always 1.
fn explanation(error: &serde_json::Error) -> Cow<'static, str> {
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    format!("a JSON object; column {}: {}", error.column(), quoted(reason.as_bytes())).into()
}

/// Whether brackets nest over `deepest` deep. Nearly all values have fewer brackets than that.
fn is_too_deep(json: &[u8], deepest: usize) -> bool {
    if memchr::memchr2_iter(b'[', b'{', json).nth(deepest).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest {
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
    fn a_text_of_null_is_empty() {
        check(r#"{"text": null, "id": "a"}"#, Ok(("", Some("a"), false)));
        check(r#"{"text": null, "text": null}"#, Err("json-dup-key"));
        check(r#"{"text": nul}"#, Err("json"));
        let paths = FieldPaths::new("a.text", "id", None);
        assert_eq!(read(r#"{"a": {"text": null}}"#, &paths).unwrap().0, "");
        assert_eq!(read(r#"{"a": null}"#, &paths).unwrap_err(), Bad::NO_TEXT);
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
        for line in ["[]", "{", "3", r#"{"text": 3}"#, r#"{"text": "x"} y"#] {
            check(line, Err("json"));
        }
        check("{}", Err(Bad::NO_TEXT));
        check(r#"{"TEXT": "x"}"#, Err(Bad::NO_TEXT));
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

    proptest::proptest! {
        #[test]
        fn the_quick_way_agrees_with_the_parser(
            line in "[ {]?[{]?(\"(text|id|k|a\\\\\"|\u{e9})\" ?[:,] ?(\"([a-c\u{e9}/]|\\\\[\"nu0q\\\\]|\\\\u00e9|\\\\ud83d|\\\\ude00|\t){0,12}\"?|-?[0-9.e]{1,4}|null|\\{\\}|\\[1,\"x\"\\])[, ]{0,2}){0,4}[}]{0,2} ?",
        ) {
            let paths = FieldPaths::new("text", "id", Some("k"));
            let (mut quick, mut slow) = (Scratch::default(), Scratch::default());
            if let Some(quick) = quick_document(&line, &paths, &mut quick) {
                proptest::prop_assert_eq!(Ok(quick), document(&line, &paths, &mut slow));
            }
        }
    }

    #[test]
    fn ordinary_lines_take_the_quick_way() {
        let paths = FieldPaths::new("text", "id", None);
        for line in [r#"{"text": "x"}"#, r#" { "id" : 7 , "z": [{}], "text" : "a\nb" } "#] {
            assert!(quick_document(line, &paths, &mut Scratch::default()).is_some(), "{line}");
        }
    }

    #[test]
    fn dots_lead_into_objects() {
        let paths = FieldPaths::new("a.b", "a.c.d", Some("e"));
        let line = r#"{"a": {"b": "x", "c": {"d": 7}}, "e": 1}"#;
        assert_eq!(read(line, &paths).unwrap(), ("x".into(), Some("7".into()), false));
        assert_eq!(read(r#"{"a": "x"}"#, &paths).unwrap_err(), Bad::NO_TEXT);
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
