//! Divides an XML document into records, which are elements with one of the selected names.
//!
//! A record is an element and the white space after it. All other bytes, such as the tags of the root element, belong
//! to no record. So a copy without some of the records is well-formed.
//!
//! A record that is not well-formed ends at its end tag, before the next record, or before the end tag of the root
//! element. Reading continues there.

use super::head::root_tag;
use super::record::{Parsed, RecordParser};
use super::selected::Selected;
use super::tokens::{Token, is_named, scan};
use crate::bytes::byte_order_mark::byte_order_mark_length;
use crate::formats::{AfterLoss, Columns, SplitStep, Splitter};
use encoding_rs::Encoding;
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content};
use std::borrow::Cow;

/// Largest number of records without an end for which the rest of the file is searched. More searches would take
/// quadratic time.
const MOST_SEARCHES: u32 = 64;

/// Splitter that divides an XML document into records.
#[derive(Debug)]
pub(super) struct XmlRecords<'w> {
    wanted: Columns<'w>,
    encoding: Option<&'static Encoding>,
    /// Name of the root element, and the parser of its records. `None` until the root element begins.
    document: Option<(Vec<u8>, RecordParser)>,
    /// Whether the root element has ended.
    is_closed: bool,
    has_records: bool,
    searches: u32,
    bad: Bad,
}

impl<'w> XmlRecords<'w> {
    pub(super) fn new(wanted: Columns<'w>, encoding: Option<&'static Encoding>) -> Self {
        Self {
            wanted,
            encoding,
            document: None,
            is_closed: true,
            has_records: false,
            searches: 0,
            bad: Bad { code: "xml", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Returns the number of bytes at the start of `window` that belong to no record.
    fn bytes_before_record(&mut self, window: &[u8]) -> usize {
        let Some((root, parser)) = &self.document else { return 0 };
        let mut at = 0;
        while let Some((token, length)) = scan(&window[at..]) {
            match token {
                Token::Start(tag) => {
                    // Documents that were joined to one file have several roots.
                    if tag.name == root {
                        self.is_closed = tag.is_empty;
                    }
                    if parser.selected.is_record(tag.name) {
                        break;
                    }
                }
                Token::End(name) if name == root => self.is_closed = true,
                _ => {}
            }
            at += length;
        }
        at
    }

    /// Returns the step for the record at the start of the window. If a comment or other markup without an end hides
    /// the next record, the step is a bad record that ends before that record.
    fn record<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        self.has_records = true;
        let Some((root, parser)) = &mut self.document else { return SplitStep::More };
        let (end, fault) = match parser.parse(window) {
            Parsed::Whole(end) => {
                self.is_closed |= ends_root(window, root);
                (Some(end), None)
            }
            Parsed::Broken(expected) => {
                (damaged_end(window, last, root, &mut parser.selected), Some(expected))
            }
            Parsed::Cut(at) if last && self.searches < MOST_SEARCHES => {
                // A comment or section without an end would hide all records behind it.
                self.searches += 1;
                let rest = window.get(at + 1..).unwrap_or_default();
                let next = next_record(rest, &parser.selected).map(|next| at + 1 + next);
                (next, Some(Cow::Borrowed("the end of the markup before the next record")))
            }
            Parsed::Cut(_) => (None, None),
        };
        let Some(end) = end else { return SplitStep::More };
        // With the white space behind it, no blank line is left in a copy without the record.
        let length =
            end + window[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if length == window.len() && !last {
            return SplitStep::More;
        }
        let content = match fault {
            None => parser.content(length),
            Some(expected) => parser.bad(length, expected),
        };
        SplitStep::record(length, content)
    }
}

/// Returns whether the element at the start of `window` is the root element.
fn ends_root(window: &[u8], root: &[u8]) -> bool {
    matches!(scan(window), Some((Token::Start(tag), _)) if tag.name == root)
}

/// Returns the position in `window` at which the record at its start ends, which is not well-formed. `root` is the name
/// of the root element, and `last` means that no bytes follow `window`. Returns `None` if more bytes are needed to find
/// the end.
fn damaged_end(window: &[u8], last: bool, root: &[u8], selected: &mut Selected) -> Option<usize> {
    let (_, mut at) = scan(window)?;
    while let Some((token, length)) = scan(&window[at..]) {
        match token {
            Token::End(name) if selected.is_record(name) => return Some(at + length),
            // The end of the document is no part of the record, so copies have it.
            Token::End(name) if name == root => return Some(at),
            Token::Start(tag) if selected.is_record(tag.name) => {
                // Records inside of records that are not closed would be read again and again.
                selected.may_nest = false;
                return Some(at);
            }
            _ => {}
        }
        at += length;
    }
    last.then_some(window.len())
}

/// Returns the position in `bytes` at which the tag of a record seems to begin, or `None`.
fn next_record(bytes: &[u8], selected: &Selected) -> Option<usize> {
    let mut tags = memchr::memchr_iter(b'<', bytes);
    tags.find(|&at| {
        let name = &bytes[at + 1..];
        let is_record = |record: &Vec<u8>| {
            let end =
                name.iter().position(|byte| byte.is_ascii_whitespace() || b"/><".contains(byte));
            end.is_some_and(|end| is_named(&name[..end], record))
        };
        selected.records.iter().any(is_record)
    })
}

impl Splitter for XmlRecords<'_> {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;
    /// Number of bytes that are enough for the start tag of a record, because names of elements are short.
    const BOUNDARY_BYTES: usize = 1 << 10;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if self.document.is_none() {
            let Some(root) = root_tag(window).map(|tag| tag.name.to_vec()) else {
                if !last {
                    return SplitStep::More;
                }
                self.bad.expected = Cow::Borrowed("an element at the start of the file");
                self.bad.length = window.len() as u64;
                return SplitStep::record(window.len(), Content::Bad(&self.bad));
            };
            let selected = Selected::new(&root, self.wanted, self.encoding);
            self.document = Some((root, RecordParser::new(selected, self.encoding)));
            // The mark belongs to no element.
            let mark = byte_order_mark_length(window);
            if mark > 0 {
                return SplitStep::filler(mark);
            }
        }
        match self.bytes_before_record(window) {
            // A record begins here, or markup that does not end in the window.
            0 => self.record(window, last),
            length => SplitStep::filler(length),
        }
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        let (_, parser) = self.document.as_ref()?;
        next_record(bytes, &parser.selected)
    }

    fn missing_end(&self) -> Option<&'static str> {
        (!self.is_closed).then_some("the end tag of the root element")
    }

    fn note(&self) -> Option<(&'static str, String)> {
        let (root, parser) = self.document.as_ref().filter(|_| !self.has_records)?;
        let records: Vec<String> =
            parser.selected.records.iter().map(|name| format!("<{}>", quoted(name))).collect();
        Some((
            "empty",
            format!(
                "has no element {} in <{}>, so it has no documents. Begin the selector of the text with the name of \
                 the element of a record",
                records.join(" or "),
                quoted(root)
            ),
        ))
    }
}
