//! Reads JSON Lines: every line is an object with a text and perhaps an ID.
//!
//! A text of `null` is empty. A line is a bad record if it is not a valid object, is nested more
//! than 128 deep, or has a text that is missing or not a string. A line that has one of the fields
//! that are read (text, ID, `keep_field`) twice is bad, too, since JSON parsers disagree on which
//! value counts. Bytes that are not UTF-8, and single halves of surrogate pairs, become U+FFFD.

use crate::jsonl::fields::{
    FieldPaths, ID, KEEP, Refusal, TEXT, ValueScratch, as_written, find_fields,
};
use crate::jsonl::quick::quick_document;
use crate::jsonl::strings::unescaped;
use crate::plain_text::{line, next_line};
use crate::splitter::{AfterLoss, SplitStep, Splitter};
use encoding_rs::{Encoding, UTF_8};
use simtool_model::document::{Bad, Content, Document};
use std::borrow::Cow;

/// Splitter that divides JSON Lines at line ends, and extracts the document of each line.
#[derive(Debug)]
pub(super) struct JsonLineSplitter {
    parser: ObjectParser,
    at_file_start: bool,
}

impl JsonLineSplitter {
    pub(super) fn new(parser: ObjectParser, at_file_start: bool) -> Self {
        Self { parser, at_file_start }
    }
}

impl Splitter for JsonLineSplitter {
    const AFTER_LOSS: AfterLoss = AfterLoss::Continue;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let Some((line, length)) = line(window, last, &mut self.at_file_start) else {
            return SplitStep::More;
        };
        // Blank lines count as records, so that the number of a record is the number of its line.
        if line.iter().all(u8::is_ascii_whitespace) {
            return SplitStep::record(length, Content::PassThrough);
        }
        SplitStep::record(length, self.parser.content(line, length))
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }
}

/// Extracts documents from JSON objects. Its memory is reused by the next object.
#[derive(Debug)]
pub(super) struct ObjectParser {
    paths: FieldPaths,
    quick_scratch: ValueScratch,
    scratch: ValueScratch,
    /// Encoding of the objects, if it is not UTF-8.
    encoding: Option<&'static Encoding>,
    /// Reusable memory for a copy of an object that is not valid UTF-8. In the copy, the bytes are
    /// decoded, and the invalid ones are replaced.
    decoded_object: String,
    bad: Bad,
}

impl ObjectParser {
    pub(super) fn new(paths: FieldPaths, encoding: Option<&'static Encoding>) -> Self {
        Self {
            paths,
            quick_scratch: ValueScratch::default(),
            scratch: ValueScratch::default(),
            encoding,
            decoded_object: String::new(),
            bad: Bad { code: "json", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Extracts the document of `object`, or returns the reason why it is bad. `length` is the
    /// length of the record in bytes.
    pub(super) fn content<'a>(&'a mut self, object: &'a [u8], length: usize) -> Content<'a> {
        let Self { paths, quick_scratch, scratch, encoding, decoded_object, bad } = self;
        let (object, repaired) = match (str::from_utf8(object), *encoding) {
            (Ok(object), None) => (object, None),
            (_, encoding) => {
                let encoding = encoding.unwrap_or(UTF_8);
                let (decoded, is_replaced) = encoding.decode_without_bom_handling(object);
                decoded_object.clear();
                decoded_object.push_str(&decoded);
                (decoded_object.as_str(), is_replaced.then_some("utf8"))
            }
        };
        // The fast path returns `None` for every object that is unusual or bad. The full parser
        // then reads the object again, and only the errors of the full parser are reported.
        let parsed = match quick_document(object, paths, quick_scratch) {
            Some(document) => Ok(document),
            None => document(object, paths, scratch),
        };
        match parsed {
            Ok(document) => {
                Content::Document(Document { repaired: document.repaired.or(repaired), ..document })
            }
            Err((code, expected)) => {
                *bad = Bad { code, expected, length: length as u64 };
                Content::Bad(bad)
            }
        }
    }
}

/// Extracts the document of a line with the full parser, or returns the reason why the line is bad.
pub(super) fn document<'a>(
    line: &'a str,
    paths: &FieldPaths,
    scratch: &'a mut ValueScratch,
) -> Result<Document<'a>, Refusal> {
    let found = find_fields(line, paths)?;
    let [text_scratch, id_scratch, keep_scratch] = &mut scratch.0;
    let (text, repaired) = match found.values[TEXT] {
        Some(text) if text.get().starts_with('"') => unescaped(text, text_scratch),
        // A text of null is allowed and counts as an empty text.
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
        repaired: repaired.then_some("utf8"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, paths: &FieldPaths) -> Result<(String, Option<String>, bool), String> {
        let mut lines = JsonLineSplitter::new(ObjectParser::new(paths.clone(), None), false);
        match lines.next(line.as_bytes(), true) {
            SplitStep::Record { content: Content::Document(d), .. } => Ok((
                str::from_utf8(d.text).unwrap().to_owned(),
                d.id.map(|id| str::from_utf8(id).unwrap().to_owned()),
                d.repaired.is_some(),
            )),
            SplitStep::Record { content: Content::Bad(bad), .. } => Err(bad.code.to_owned()),
            step => Err(format!("{step:?}")),
        }
    }

    fn check(line: &str, expected: Result<(&str, Option<&str>, bool), &str>) {
        let expected = expected
            .map(|(text, id, repaired)| (text.to_owned(), id.map(str::to_owned), repaired))
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
        /// Checks that any string that was encoded as JSON is decoded to the same string.
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
            let (mut quick, mut slow) = (ValueScratch::default(), ValueScratch::default());
            if let Some(quick) = quick_document(&line, &paths, &mut quick) {
                proptest::prop_assert_eq!(Ok(quick), document(&line, &paths, &mut slow));
            }
        }
    }

    #[test]
    fn ordinary_lines_take_the_quick_way() {
        let paths = FieldPaths::new("text", "id", None);
        for line in [r#"{"text": "x"}"#, r#" { "id" : 7 , "z": [{}], "text" : "a\nb" } "#] {
            assert!(quick_document(line, &paths, &mut ValueScratch::default()).is_some(), "{line}");
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
        let mut lines = JsonLineSplitter::new(
            ObjectParser::new(FieldPaths::new("text", "id", None), None),
            false,
        );
        match lines.next(b"{\"text\": \"a\xFFb\"}\n", false) {
            SplitStep::Record { content: Content::Document(d), length: 16, .. } => {
                assert_eq!((d.text, d.repaired), ("a\u{FFFD}b".as_bytes(), Some("utf8")));
            }
            step => panic!("{step:?}"),
        }
    }
}
