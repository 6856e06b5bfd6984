//! Divides JSON into records: the objects of an array, or objects one after another.
//!
//! In an array, a record is an element together with the comma and the white space before it. The brackets of the array
//! belong to no record. So a copy without some elements is a valid array once the comma before its first element is
//! left out. Outside an array, a record is a value together with the white space around it.
//!
//! A damaged element is one bad record. Reading continues at the next element if its start is certain, because the
//! elements begin on lines of their own with the same indentation as the first element. Otherwise the rest of the file
//! is one bad record.

use crate::bytes::byte_order_mark::byte_order_mark_length;
use crate::formats::jsonl::lines::ObjectParser;
use crate::formats::jsonl::value_end::{ValueEnd, ValueEndSearch, white_space};
use crate::formats::{AfterLoss, SplitStep, Splitter};
use simtool_model::document::{Bad, Content};
use std::borrow::Cow;

/// Largest length in bytes of the separator between two elements. After damage, the start of an element is recognized
/// by this separator. If the separator is longer, it is not used.
const LONGEST_SEPARATOR: usize = 64;

/// Number of bytes before the damage at which the search for the next element begins. A search from the start of the
/// damaged element could read the same bytes very often.
const SEARCHED_BEFORE_DAMAGE: usize = 64 << 10;

/// Place of the next bytes within the structure of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Outside of an array.
    Outside,
    /// Between the opening bracket of an array and its first element.
    FirstElement,
    /// After an element of an array.
    NextElement,
}

/// Splitter that divides JSON into objects, and extracts the document of each object.
#[derive(Debug)]
pub(super) struct JsonValues {
    parser: ObjectParser,
    search: ValueEndSearch,
    place: Place,
    /// The bytes between two elements of the array, including the opening brace of the second element. Empty if the
    /// elements do not begin on lines of their own.
    separator: Vec<u8>,
    bad: Bad,
}

impl JsonValues {
    pub(super) fn new(parser: ObjectParser) -> Self {
        Self {
            parser,
            search: ValueEndSearch::default(),
            place: Place::Outside,
            separator: Vec::new(),
            bad: Bad { code: "json", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Returns the record at the start of `window`, or the filler, which is bytes that belong to no record. Returns
    /// [`SplitStep::More`] if more bytes are needed. `window` has the next bytes of the file, which are outside an
    /// array.
    fn next_outside<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let start = outer_space(window);
        let rest = &window[start..];
        match rest.first() {
            None if last => return SplitStep::filler(start),
            None => return SplitStep::More,
            Some(b'[') => {
                let inside = 1 + white_space(&rest[1..]);
                match rest.get(inside) {
                    None if !last => return SplitStep::More,
                    Some(b'{') => {
                        self.enter_array(&rest[1..inside]);
                        return SplitStep::filler(start + 1);
                    }
                    Some(b']') => return SplitStep::filler(start + inside + 1),
                    _ => {}
                }
            }
            Some(b'{') => {}
            // Text in the place of JSON is one bad record, however many words it has.
            Some(_) => return self.resume(window, start, last),
        }
        match self.search.find(rest, last) {
            ValueEnd::At(length) => {
                let end = start + length;
                let behind = white_space(&window[end..]);
                if end + behind == window.len() && !last {
                    return SplitStep::More;
                }
                let content = self.parser.content(&window[start..end], end + behind);
                SplitStep::record(end + behind, content)
            }
            ValueEnd::Damaged(at) => self.resume(window, start + at, last),
            ValueEnd::Beyond => SplitStep::More,
        }
    }

    /// Notes that an array begins. `indent` is the white space between its bracket and its first element. If it
    /// contains a line end, the same bytes are expected between two elements.
    fn enter_array(&mut self, indent: &[u8]) {
        self.place = Place::FirstElement;
        self.separator.clear();
        if indent.contains(&b'\n') && indent.len() + 2 <= LONGEST_SEPARATOR {
            self.separator.push(b',');
            self.separator.extend_from_slice(indent);
            self.separator.push(b'{');
        }
    }

    /// Returns the record at the start of `window`, or the filler, which is bytes that belong to no record. Returns
    /// [`SplitStep::More`] if more bytes are needed. `window` has the next bytes of the file, which are inside an
    /// array.
    fn next_in_array<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let is_first = self.place == Place::FirstElement;
        let mut start = white_space(window);
        // A comma is before the first element, too, if the element before it was skipped.
        let has_comma = window.get(start) == Some(&b',');
        if has_comma {
            start += 1 + white_space(&window[start + 1..]);
        }
        match window.get(start) {
            None => return self.end_inside(last),
            Some(b']') => {
                self.place = Place::Outside;
                return SplitStep::filler(start + 1);
            }
            Some(_) if !is_first && !has_comma => return self.resume(window, start, last),
            Some(_) => {}
        }
        match self.search.find(&window[start..], last) {
            ValueEnd::At(length) => {
                self.place = Place::NextElement;
                let end = start + length;
                SplitStep::record(end, self.parser.content(&window[start..end], end))
            }
            ValueEnd::Damaged(at) => self.resume(window, start + at, last),
            ValueEnd::Beyond => self.end_inside(last),
        }
    }

    /// Requests more bytes. If `last` is true, the file ends inside a record, and this record is reported as truncated.
    /// The missing end of the array is then not reported again.
    fn end_inside(&mut self, last: bool) -> SplitStep<'_> {
        if last {
            self.place = Place::Outside;
        }
        SplitStep::More
    }

    /// Returns a bad record for the damaged value at the start of `window`. The record ends before the next element, or
    /// at the end of the file. `damage` is the position in `window` at which the value is damaged.
    fn resume(&mut self, window: &[u8], damage: usize, last: bool) -> SplitStep<'_> {
        let from = damage.saturating_sub(SEARCHED_BEFORE_DAMAGE).max(1).min(window.len());
        let length = match self.boundary(&window[from..]) {
            Some(at) => from + at,
            None if last => {
                self.place = Place::Outside;
                window.len()
            }
            None => return SplitStep::More,
        };
        if self.place == Place::FirstElement {
            self.place = Place::NextElement;
        }
        let expected = format!("JSON; the value is damaged at its byte {damage}").into();
        self.bad = Bad { code: "json", expected, length: length as u64 };
        SplitStep::record(length, Content::Bad(&self.bad))
    }
}

impl Splitter for JsonValues {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;
    const BOUNDARY_BYTES: usize = LONGEST_SEPARATOR;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        match self.place {
            Place::Outside => self.next_outside(window, last),
            Place::FirstElement | Place::NextElement => self.next_in_array(window, last),
        }
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        match self.place {
            // An object at the start of a line is inside no other object, because the lines of a
            // nested object are indented.
            Place::Outside => memchr::memmem::find(bytes, b"\n{").map(|at| at + 1),
            _ if self.separator.is_empty() => None,
            _ => memchr::memmem::find(bytes, &self.separator),
        }
    }

    fn missing_end(&self) -> Option<&'static str> {
        (self.place != Place::Outside).then_some("the bracket ] at the end of the array")
    }
}

/// Returns the number of bytes of white space and byte order marks at the start of `window`.
fn outer_space(window: &[u8]) -> usize {
    let space = white_space(window);
    let mark = space + byte_order_mark_length(&window[space..]);
    mark + white_space(&window[mark..])
}

#[cfg(test)]
mod tests {
    use crate::conformance::{Seen, gzip, options, read_as};
    use crate::documents::ReadOptions;
    use crate::formats::Format;

    /// Reads `content` as a JSON file, and returns the result. Checks that the compressed file has the same result.
    fn read(content: &str, options: &ReadOptions) -> Seen {
        let content = content.as_bytes();
        let options = ReadOptions { format: Format::from_name("json"), ..options.clone() };
        let seen = read_as("a.json", content, options.clone());
        assert_eq!(read_as("a.json.gz", &gzip(content), options), seen);
        assert_eq!(seen.bytes, content);
        seen
    }

    fn check(content: &str, texts: &[&str], bad: &[(u64, &str)]) {
        let seen = read(content, &options(1));
        let found: Vec<&str> = seen.texts().into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, texts, "{content}");
        let found: Vec<_> = seen.bad.iter().map(|bad| (bad.0, bad.3)).collect();
        assert_eq!(found, bad, "{content}");
    }

    #[test]
    fn objects_are_read_in_every_layout() {
        for content in [
            "[{\"text\": \"a\"}, {\"text\": \"b\"}]",
            "\u{FEFF} [ \n{\"text\": \"a\"}\n,\n{\"text\": \"b\"}\n]\n\n",
            "[\r\n  {\r\n    \"text\": \"a\"\r\n  },\r\n  {\r\n    \"text\": \"b\"\r\n  }\r\n]",
            "{\n  \"text\": \"a\"\n}\n{\n  \"text\": \"b\"\n}\n",
            "{\"text\": \"a\"}{\"text\": \"b\"}",
            "[{\"text\": \"a\"}]\n[{\"text\": \"b\"}]\n",
            "[][{\"text\": \"a\"},{\"text\": \"b\"},]",
        ] {
            check(content, &["a", "b"], &[]);
        }
        check("[]", &[], &[]);
        check("[{\"text\": \"]},{\\\"\"}]", &["]},{\""], &[]);
    }

    #[test]
    fn values_without_a_text_are_one_bad_record_each() {
        check(
            "{\n \"name\": \"package\",\n \"files\": [\n  \"a\"\n ]\n}\n",
            &[],
            &[(0, "text-field")],
        );
        check("[1,\n2,\n3]\n", &[], &[(0, "json")]);
        check("words\nand more words\n1\n2\n", &[], &[(0, "json")]);
        check(
            "[{\"text\": \"a\"}, 7, null, {\"text\": 7}]",
            &["a"],
            &[(1, "json"), (2, "json"), (3, "json")],
        );
    }

    #[test]
    fn a_damaged_element_costs_itself_alone() {
        let element = |text: &str| format!("\n  {{\n    \"text\": \"{text}\"\n  }}");
        let array = |middle: &str| format!("[{},{middle},{}\n]\n", element("a"), element("c"));
        for middle in [
            "\n  {\n    \"text\": \"b\n  }",
            "\n  {\n    \"text\": \"b\"\n  ",
            "\n  {\n    \"text\": b\"\n  }",
            "\n  {\n    \"text\" \"b\"\n  }",
            "\n  {\n    \"text\": [\"b\"\n  }",
            "\n  oops",
        ] {
            check(&array(middle), &["a", "c"], &[(1, "json")]);
        }
        let long = element(&"b".repeat(1000));
        let limited = ReadOptions { max_record_bytes: 600, ..options(1) };
        let seen = read(&array(&long), &limited);
        assert_eq!((seen.texts().len(), seen.bad[0].3), (2, "oversize"));
        let objects = "{\n \"text\": \"a\"\n}\n{\n \"text\": \"b\n}\n{\n \"text\": \"c\"\n}\n";
        check(objects, &["a", "c"], &[(1, "json")]);
        // Where the next element begins is not certain, so the rest of the array is lost.
        check("[{\"text\": \"a\"},{\"text\" 1},{\"text\": \"c\"}]", &["a"], &[(1, "json")]);
    }

    #[test]
    fn an_array_that_ends_early_is_reported_once() {
        for (content, bad) in [
            ("[{\"text\": \"a\"}", 1),
            ("[{\"text\": \"a\"},", 1),
            ("[{\"text\": \"a\"}, {\"te", 1),
            ("[{\"text\": \"a\"}\n", 1),
        ] {
            check(content, &["a"], &[(bad, "truncated")]);
        }
        check("{\"text\": \"a\"} {\"text\":", &["a"], &[(1, "truncated")]);
        check("[", &[], &[(0, "truncated")]);
    }

    #[test]
    fn crafted_damage_takes_no_quadratic_time() {
        let nested = "\n{\"a\":[1,".repeat(200_000);
        let seen = read_as("a.json", format!("[{nested}").as_bytes(), options(1));
        assert!(seen.documents.is_empty() && !seen.bad.is_empty());
    }
}
