//! Reads JSON Lines: every line is an object with a text and perhaps an ID.
//!
//! A text of `null` is empty. Several texts, and the elements of a list of texts, are joined by newlines. If the
//! selector of the text joins fields, numbers and booleans count as texts, too. Bytes that are not UTF-8, and single
//! halves of surrogate pairs, become U+FFFD.
//!
//! A line is a bad record if it is not a valid object, is nested more than 128 levels deep, or has a text that is
//! missing or is neither a string nor a list of strings. The fields that are read are the text, the ID and other fields
//! that the user named. A line that has one of them twice is bad, too, since JSON parsers disagree on which value
//! counts.

use crate::formats::jsonl::fields::{
    ValueScratch, WantedFields, all_as_written, as_id, find_fields,
};
use crate::formats::jsonl::non_finite::without_non_finite;
use crate::formats::jsonl::object::{Refusal, all_strings, elements};
use crate::formats::jsonl::quick::quick_document;
use crate::formats::jsonl::strings::unescaped;
use crate::formats::plain_text::{line, next_line};
use crate::formats::records::stray_bytes::StrayBytes;
use crate::formats::{AfterLoss, Selector, SplitStep, Splitter};
use encoding_rs::{Encoding, UTF_8};
use serde_json::value::RawValue;
use simtool_model::document::{Bad, Content, Document};
use std::borrow::Cow;

/// Splitter that divides JSON Lines at line ends, and extracts the document of each line.
#[derive(Debug)]
pub(crate) struct JsonLineSplitter {
    parser: ObjectParser,
    at_file_start: bool,
    stray: StrayBytes,
}

impl JsonLineSplitter {
    pub(crate) fn new(parser: ObjectParser, at_file_start: bool) -> Self {
        Self { parser, at_file_start, stray: StrayBytes::default() }
    }
}

impl Splitter for JsonLineSplitter {
    const AFTER_LOSS: AfterLoss = AfterLoss::Continue;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if let Some(step) = self.stray.padding(window, last) {
            return step;
        }
        let is_start = self.at_file_start;
        let Some((line, length)) = line(window, last, &mut self.at_file_start) else {
            return SplitStep::More;
        };
        let line = self.stray.without(line, is_start);
        // Blank lines count as records, so that the number of a record is the number of its line.
        if line.iter().all(u8::is_ascii_whitespace) {
            return SplitStep::record(length, Content::PassThrough);
        }
        SplitStep::record(length, self.parser.content(line, length))
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }

    fn note(&self) -> Option<(&'static str, String)> {
        self.stray.note()
    }
}

/// Extracts documents from JSON objects. The memory of a document is reused for the next object.
#[derive(Debug)]
pub(crate) struct ObjectParser {
    wanted: WantedFields,
    quick_scratch: ValueScratch,
    scratch: ValueScratch,
    /// Encoding of the objects. `None` means UTF-8.
    encoding: Option<&'static Encoding>,
    /// Reusable memory for a copy of an object that is not valid UTF-8. The copy is decoded, and invalid bytes are
    /// replaced by U+FFFD.
    decoded_object: String,
    bad: Bad,
}

impl ObjectParser {
    pub(crate) fn new(wanted: WantedFields, encoding: Option<&'static Encoding>) -> Self {
        Self {
            wanted,
            quick_scratch: ValueScratch::default(),
            scratch: ValueScratch::default(),
            encoding,
            decoded_object: String::new(),
            bad: Bad { code: "json", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Extracts the document of `object`, or returns the reason why `object` is a bad record. `length` is the length of
    /// the record in bytes.
    pub(super) fn content<'a>(&'a mut self, object: &'a [u8], length: usize) -> Content<'a> {
        let Self { wanted, quick_scratch, scratch, encoding, decoded_object, bad } = self;
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
        let parsed = match quick_document(object, wanted, quick_scratch) {
            Some(document) => Ok(document),
            None => document(object, wanted, scratch),
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

/// Extracts the document of a line with the parser that validates the whole line, or returns the reason why the line is
/// bad.
pub(super) fn document<'a>(
    line: &'a str,
    wanted: &WantedFields,
    scratch: &'a mut ValueScratch,
) -> Result<Document<'a>, Refusal> {
    let ValueScratch { text, id, fields, part, finite } = scratch;
    let (line, found) = match find_fields(line, wanted) {
        Ok(found) => (line, found),
        // Python writes numbers that JSON does not have. If the line is also bad without them, the
        // refusal of the original line is reported.
        Err(refusal) => match without_non_finite(line, finite) {
            Some(line) => (line, find_fields(line, wanted).map_err(|_| refusal)?),
            None => return Err(refusal),
        },
    };
    let (text, repaired) = match &found.texts {
        _ if wanted.text.alternatives().is_none() => join(all_strings(line), text, part),
        None => {
            let Bad { code, expected, .. } = Bad::no_text(0);
            return Err((code, expected));
        }
        Some(values) => match &values[..] {
            // A text of null is allowed and counts as an empty text.
            [] => (&[][..], false),
            [string] if string.get().starts_with('"') => unescaped(string.get(), text),
            values => join(strings(values, &wanted.text)?.into_iter(), text, part),
        },
    };
    Ok(Document {
        id: found.id.and_then(|value| as_id(value, id)),
        fields: all_as_written(&found.fields, fields),
        repaired: repaired.then_some("utf8"),
        skipped_elements: found.skipped,
        ..Document::new(text)
    })
}

/// Returns the strings in `values`, with their quotes. A value is a string or a list of strings, in which nulls are
/// left out. If `selector`, which has selected the values, joins several fields, numbers and booleans count as strings,
/// too. Otherwise a question would be joined without its answer if the answer is a number.
///
/// # Errors
///
/// A value is neither a string nor a list of strings.
pub(super) fn strings<'a>(
    values: &[&'a RawValue],
    selector: &Selector,
) -> Result<Vec<&'a str>, Refusal> {
    let mut strings = Vec::new();
    for value in values {
        let json = value.get();
        if json.starts_with('[') {
            let elements = elements(json)?.into_iter().map(RawValue::get);
            strings.extend(elements.filter(|element| *element != "null"));
        } else {
            strings.push(json);
        }
    }
    let is_text = |json: &&str| {
        json.starts_with('"') || selector.joins_fields() && is_number_or_boolean(json)
    };
    if !strings.iter().all(is_text) {
        let expected = format!(
            "a string in the field \"{selector}\" (`text_field`), or null, or a list of strings"
        );
        return Err(("json", expected.into()));
    }
    Ok(strings)
}

/// Returns whether a valid value of JSON is a number or a boolean.
fn is_number_or_boolean(json: &str) -> bool {
    // A copy of a line has such a number in the place of `Infinity`, which is no number of JSON.
    !json.starts_with(['"', '{', '[', 'n']) && !json.ends_with("1e999")
}

/// Returns the content of a string without quotes and escapes, or a number or boolean as it is written. Also returns
/// whether half a surrogate pair was replaced. `scratch` is reusable memory.
pub(super) fn content<'a>(json: &'a str, scratch: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    if json.starts_with('"') { unescaped(json, scratch) } else { (json.as_bytes(), false) }
}

/// Joins the contents of `strings` by newlines in `text`. Returns the joined text, and whether half a surrogate pair
/// was replaced. `part` is reusable memory.
fn join<'a, 's>(
    strings: impl Iterator<Item = &'s str>,
    text: &'a mut Vec<u8>,
    part: &mut Vec<u8>,
) -> (&'a [u8], bool) {
    text.clear();
    let mut is_repaired = false;
    for (number, string) in strings.enumerate() {
        if number > 0 {
            text.push(b'\n');
        }
        let (content, is_part_repaired) = content(string, part);
        text.extend_from_slice(content);
        is_repaired |= is_part_repaired;
    }
    (text, is_repaired)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Columns;

    fn wanted(text: &str, id: &str, keep: Option<&str>) -> WantedFields {
        let [text, id] = [text, id].map(Selector::from);
        let fields: Vec<Selector> = keep.into_iter().map(Selector::from).collect();
        WantedFields::new(Columns { text: &text, id: &id, fields: &fields })
    }

    fn read(line: &str, wanted: &WantedFields) -> Result<(String, Option<String>, bool), String> {
        let mut lines = JsonLineSplitter::new(ObjectParser::new(wanted.clone(), None), false);
        match lines.next(line.as_bytes(), true) {
            SplitStep::Record { content: Content::Document(d), .. } => Ok((
                str::from_utf8(d.text).unwrap().to_owned(),
                d.id.map(|id| str::from_utf8(id.bytes()).unwrap().to_owned()),
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
        assert_eq!(read(line, &wanted("text", "id", None)), expected, "{line}");
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
        let paths = wanted("a.text", "id", None);
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
            let paths = wanted("text", "id", Some("k"));
            let (mut quick, mut slow) = (ValueScratch::default(), ValueScratch::default());
            if let Some(quick) = quick_document(&line, &paths, &mut quick) {
                proptest::prop_assert_eq!(Ok(quick), document(&line, &paths, &mut slow));
            }
        }
    }

    #[test]
    fn elements_without_the_field_of_the_text_are_counted() {
        for (line, text, skipped) in [
            (r#"{"m": [{"c": [{"text": "a"}, {"image": 1}, 7]}, {"c": "b"}]}"#, "a\nb", 2),
            (
                r#"{"m": [{"c": []}, {"c": null}, null, {"role": "user"}, {"c": [{"text": null}]}]}"#,
                "",
                1,
            ),
            (r#"{"m": [{"c": [{"text": "a"}]}]}"#, "a", 0),
        ] {
            let mut scratch = ValueScratch::default();
            let document =
                document(line, &wanted("m[].c[].text", "id", None), &mut scratch).unwrap();
            assert_eq!(document.text, text.as_bytes(), "{line}");
            assert_eq!(document.skipped_elements, skipped, "{line}");
        }
    }

    #[test]
    fn ordinary_lines_take_the_quick_way() {
        let paths = wanted("text", "id", None);
        for line in [r#"{"text": "x"}"#, r#" { "id" : 7 , "z": [{}], "text" : "a\nb" } "#] {
            assert!(quick_document(line, &paths, &mut ValueScratch::default()).is_some(), "{line}");
        }
    }

    #[test]
    fn dots_lead_into_objects() {
        let paths = wanted("a.b", "a.c.d", Some("e"));
        let line = r#"{"a": {"b": "x", "c": {"d": 7}}, "e": 1}"#;
        assert_eq!(read(line, &paths).unwrap(), ("x".into(), Some("7".into()), false));
        assert_eq!(read(r#"{"a": "x"}"#, &paths).unwrap_err(), Bad::NO_TEXT);
        let twice = r#"{"a": {"b": "x"}, "a": {"b": "y"}}"#;
        assert_eq!(read(twice, &paths).unwrap_err(), "json-dup-key");
    }

    #[test]
    fn selectors_choose_and_join_fields() {
        let line = r#"{"q": "x\ny", "a": null, "n": 7, "meta.t": "z", "meta": {"t": "w", "u": "v"},
            "m": [{"c": "1"}, {"r": "2"}, {"c": null}, {"c": "3"}], "l": ["4", null, "5"], "o": [true, -1.50], "e": []}"#;
        let line = line.replace('\n', " ");
        for (text, expected) in [
            ("q+meta.u", Ok("x\ny\nv")),
            ("q+a+none", Err(Bad::NO_TEXT)),
            ("q+a+none?", Ok("x\ny")),
            ("q+none,l", Ok("4\n5")),
            ("a+none?", Ok("")),
            ("none+m.c", Err(Bad::NO_TEXT)),
            ("m[].c", Ok("1\n3")),
            ("m[].none", Err(Bad::NO_TEXT)),
            ("l", Ok("4\n5")),
            ("l[]", Ok("4\n5")),
            ("q+l", Ok("x\ny\n4\n5")),
            ("e", Ok("")),
            ("e[].c", Ok("")),
            ("none,a,l,q", Ok("4\n5")),
            ("none,a", Ok("")),
            ("none,q+meta.u,l", Ok("x\ny\nv")),
            ("meta.t", Ok("z")),
            (r"meta\.t", Ok("z")),
            ("meta.u", Ok("v")),
            (r"meta\.u", Err(Bad::NO_TEXT)),
            ("m", Err("json")),
            ("meta", Err("json")),
            ("q+n", Ok("x\ny\n7")),
            ("n+none?", Ok("7")),
            ("n", Err("json")),
            ("q+m", Err("json")),
            ("q+o", Ok("x\ny\ntrue\n-1.50")),
            ("l[][]", Ok("4\n5")),
            ("q[].c", Ok("x\ny")),
            ("meta[].u", Ok("v")),
            ("a[].c", Ok("")),
            ("n[].c", Err(Bad::NO_TEXT)),
        ] {
            let found = read(&line, &wanted(text, "id", None)).map(|(text, ..)| text);
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
        let ids = wanted("q", "none,a,m[].c", None);
        assert_eq!(read(&line, &ids).unwrap().1.as_deref(), Some("1"));
        let twice = r#"{"a": [{"b": "x", "b": "y"}]}"#;
        assert_eq!(read(twice, &wanted("a[].b", "id", None)).unwrap_err(), "json-dup-key");
    }

    #[test]
    fn all_strings_of_a_record_are_its_text() {
        let all = WantedFields::new(Columns {
            text: &Selector::all_strings(),
            id: &Selector::from("id"),
            fields: &[],
        });
        let line = r#"{"id": "a", "n": 1, "q": {"z": ["x\ty", {"w": ""}, null]}, "s": "\ud800"}"#;
        let expected = ("a\nx\ty\n\n\u{FFFD}".to_owned(), Some("a".to_owned()), true);
        assert_eq!(read(line, &all).unwrap(), expected);
        assert_eq!(read(r#"{"n": 1}"#, &all).unwrap().0, "");
        assert_eq!(read("{", &all).unwrap_err(), "json");
    }

    #[test]
    fn numbers_of_python_are_accepted_outside_the_text() {
        let of_n = wanted("text", "id", Some("n"));
        let field = |line: &str| {
            let mut scratch = ValueScratch::default();
            let document = document(line, &of_n, &mut scratch).unwrap();
            document.fields[0].map(|field| str::from_utf8(field).unwrap().to_owned())
        };
        assert_eq!(field(r#"{"text": "NaN", "n": NaN, "z": [Infinity]}"#), None);
        assert_eq!(field(r#"{"text": "x", "n": -Infinity}"#).as_deref(), Some("-1e999"));
        assert_eq!(read(r#"{"text": NaN}"#, &of_n).unwrap().0, "");
        let joined = wanted("text+n", "id", None);
        assert_eq!(read(r#"{"text": "x", "n": NaN}"#, &joined).unwrap().0, "x\n");
        assert_eq!(read(r#"{"text": "x", "n": -Infinity}"#, &joined).unwrap_err(), "json");
        assert_eq!(read(r#"{"text": "NaN Infinity", "n": NaN}"#, &of_n).unwrap().0, "NaN Infinity");
        for line in [r#"{"text": "x", "n": nan}"#, r#"{"text": "x", NaN: 1}"#, r#"{"a": NaN"#] {
            assert_eq!(read(line, &of_n).unwrap_err(), "json", "{line}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        let mut lines =
            JsonLineSplitter::new(ObjectParser::new(wanted("text", "id", None), None), false);
        match lines.next(b"{\"text\": \"a\xFFb\"}\n", false) {
            SplitStep::Record { content: Content::Document(d), length: 16, .. } => {
                assert_eq!((d.text, d.repaired), ("a\u{FFFD}b".as_bytes(), Some("utf8")));
            }
            step => panic!("{step:?}"),
        }
    }
}
