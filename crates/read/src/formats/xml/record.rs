//! Parses the record at the start of a window, and finds its text, its ID and its other fields.
//!
//! The record is read once, from tag to tag, and no tree of its elements is built. Each selected path knows how many of
//! its elements are open. While its last element is open, the text in this element is copied.

use super::selected::{Selected, XmlPath, XmlSelector};
use super::tokens::{Tag, Token, decoded, is_named, local_name, prefix, push_resolved, scan};
use crate::bytes::{HtmlText, PageContent};
use crate::formats::FieldPath;
use encoding_rs::Encoding;
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content, Document, MOST_FIELDS};
use simtool_model::document_id::DocumentId;
use simtool_model::non_document::NonDocument;
use std::borrow::Cow;
use std::ops::Range;

/// Largest number of elements that may be nested in each other.
const DEEPEST: usize = 1000;
/// Largest number of field names that are listed for one record.
const MOST_NAMES: usize = 200;
/// Largest number of elements on the path to a field whose name is listed.
const LONGEST_PATH: usize = 30;

/// Result of parsing the record at the start of a window.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The record is complete. The number is the position in the window after its end.
    Whole(usize),
    /// The window ends inside a token. The number is the position of this token.
    Cut(usize),
    /// The record is not well-formed. The text describes how a valid record looks.
    Broken(Cow<'static, str>),
}

/// Parser of records. It holds the selected values of the record that was parsed last.
#[derive(Debug)]
pub(super) struct RecordParser {
    pub(super) selected: Selected,
    encoding: Option<&'static Encoding>,
    /// The values that were found at each path of `selected`.
    found: Vec<FoundTexts>,
    /// Number of selected paths whose last element is open.
    open_paths: usize,
    /// Names of the open elements, as ranges of bytes of the window.
    open_elements: Vec<Range<usize>>,
    /// Whether an element just ended and no text has followed its end tag.
    is_behind_end: bool,
    is_redirect: bool,
    /// Code of a defect of the record that was repaired, otherwise `None`.
    repaired: Option<&'static str>,
    html: HtmlText,
    page: Vec<u8>,
    text: Vec<u8>,
    bad: Bad,
}

/// The values of one path in a record, joined by newlines.
#[derive(Debug, Default)]
struct FoundTexts {
    /// Number of elements of the path that are open.
    matched: usize,
    is_open: bool,
    count: usize,
    /// Whether the values come from elements whose prefix differs from the prefix of the record.
    is_foreign: bool,
    text: Vec<u8>,
    /// Length in bytes of the first value.
    first_length: usize,
    /// Start of the last value in `text`.
    start: usize,
}

impl FoundTexts {
    /// Begins a value. `is_foreign` means that the prefix of its element differs from the prefix of the record.
    /// Elements with the prefix of the record are preferred to elements of the same name with other prefixes. Returns
    /// `false` if the value is ignored for this reason.
    fn begin(&mut self, is_foreign: bool) -> bool {
        if self.count > 0 && is_foreign != self.is_foreign {
            if is_foreign {
                return false;
            }
            // The values so far were those of another namespace.
            self.text.clear();
            self.count = 0;
        }
        self.is_foreign = is_foreign;
        if self.count > 0 {
            self.text.push(b'\n');
        }
        self.start = self.text.len();
        true
    }

    fn end(&mut self) {
        if self.count == 0 {
            self.first_length = self.text.len();
        }
        self.count += 1;
    }

    /// Ends a line, unless the value is empty or ends with white space.
    fn end_line(&mut self) {
        if self.text[self.start..].last().is_some_and(|last| !last.is_ascii_whitespace()) {
            self.text.push(b'\n');
        }
    }

    /// Returns the first value without white space around it, or `None` if it is missing or empty.
    fn first(&self) -> Option<&[u8]> {
        let first = self.text[..self.first_length].trim_ascii();
        (self.count > 0 && !first.is_empty()).then_some(first)
    }
}

impl RecordParser {
    pub(super) fn new(selected: Selected, encoding: Option<&'static Encoding>) -> Self {
        Self {
            found: selected.paths.iter().map(|_| FoundTexts::default()).collect(),
            selected,
            encoding,
            open_paths: 0,
            open_elements: Vec::new(),
            is_behind_end: false,
            is_redirect: false,
            repaired: None,
            html: HtmlText::new(PageContent::All),
            page: Vec::new(),
            text: Vec::new(),
            bad: Bad { code: "xml", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Parses the record at the start of `window`. The window must begin with the start tag of a record. The values are
    /// stored in `self`.
    pub(super) fn parse(&mut self, window: &[u8]) -> Parsed {
        // The memory of the texts is used again.
        for found in &mut self.found {
            let mut text = std::mem::take(&mut found.text);
            text.clear();
            *found = FoundTexts { text, ..FoundTexts::default() };
        }
        self.open_elements.clear();
        (self.open_paths, self.is_behind_end) = (0, false);
        (self.is_redirect, self.repaired) = (false, None);
        let mut at = 0;
        while let Some((token, length)) = scan(&window[at..]) {
            if let Err(expected) = self.take(token, at, window) {
                return Parsed::Broken(format!("{expected} at byte {at} of the record").into());
            }
            at += length;
            // The first token is the tag of the record, so the record has ended.
            if self.open_elements.is_empty() {
                return Parsed::Whole(at);
            }
        }
        Parsed::Cut(at)
    }

    /// Handles the token at position `at` of the window.
    ///
    /// # Errors
    ///
    /// The record is not well-formed. The error describes how a valid record looks.
    fn take(
        &mut self,
        token: Token<'_>,
        at: usize,
        window: &[u8],
    ) -> Result<(), Cow<'static, str>> {
        match token {
            Token::Start(tag) if !tag.is_valid() => Err("attributes with values in quotes".into()),
            Token::Start(tag) if at > 0 && self.is_next(tag) => {
                Err("the end of the record before the next one begins".into())
            }
            Token::Start(_) if self.open_elements.len() >= DEEPEST => {
                Err("nesting of at most 1000 elements".into())
            }
            Token::Start(tag) => {
                self.start(tag, window);
                if tag.is_empty {
                    self.end();
                    // For example the line break `<lb/>` of TEI.
                    self.end_lines();
                } else {
                    self.open_elements.push(at + 1..at + 1 + tag.name.len());
                }
                Ok(())
            }
            Token::End(name) => {
                let open = self.open_elements.pop().map_or(&b""[..], |open| &window[open]);
                if open != name {
                    let [open, name] = [open, name].map(quoted);
                    return Err(format!("</{open}> before </{name}>").into());
                }
                self.end();
                Ok(())
            }
            Token::Text(text) => {
                self.push_text(text, true);
                Ok(())
            }
            Token::Verbatim(text) => {
                self.push_text(text, false);
                Ok(())
            }
            Token::Remark => Ok(()),
            Token::Broken(expected) => Err(expected.into()),
        }
    }

    /// Returns whether a tag inside a record begins the next record, because the end tag of the record is missing.
    fn is_next(&self, tag: Tag<'_>) -> bool {
        !self.selected.may_nest && self.selected.is_record(tag.name)
    }

    /// Handles the start tag of an element: updates the paths that the element continues, and begins the values that it
    /// selects.
    fn start(&mut self, tag: Tag<'_>, window: &[u8]) {
        let depth = self.open_elements.len();
        // Words of two paragraphs would otherwise be one word, as in `</p><p>`.
        if self.is_behind_end && self.open_paths > 0 {
            self.end_lines();
        }
        let record = self.open_elements.first().map_or(tag.name, |open| &window[open.clone()]);
        let is_foreign = prefix(tag.name) != prefix(record);
        if depth == 1 {
            self.is_redirect |=
                self.selected.redirect.is_some_and(|name| local_name(tag.name) == name.as_bytes());
        }
        for number in 0..self.found.len() {
            let path = &self.selected.paths[number];
            let found = &mut self.found[number];
            if depth > 0 {
                // The element must be the next step of the path, behind the steps that are open.
                let is_step = found.matched == depth
                    && path.steps.get(depth - 1).is_some_and(|step| is_named(tag.name, step));
                if !is_step {
                    continue;
                }
            } else if path.record.as_ref().is_some_and(|record| !is_named(tag.name, record)) {
                continue;
            }
            found.matched = depth + 1;
            if depth == path.steps.len() {
                self.select(number, tag, is_foreign);
            }
        }
    }

    /// Begins the value of a path whose last element starts with `tag`. If the path leads to an attribute, takes its
    /// value from the tag instead. `number` is the index of the path.
    fn select(&mut self, number: usize, tag: Tag<'_>, is_foreign: bool) {
        let XmlPath { attribute, steps, .. } = &self.selected.paths[number];
        // A name with a prefix selects only elements with that prefix.
        let is_foreign = is_foreign && !steps.last().is_some_and(|step| step.contains(&b':'));
        let found = &mut self.found[number];
        let Some(attribute) = attribute else {
            if found.begin(is_foreign) {
                found.is_open = true;
                self.open_paths += 1;
            }
            return;
        };
        let mut attributes = tag.attributes().flatten();
        let Some(value) = attributes.find(|known| is_named(known.name, attribute)) else { return };
        if found.begin(is_foreign) {
            self.push_value(number, value.value, true);
            self.end_value(number);
        }
    }

    /// Handles the end of the innermost open element. Its name must already be removed from the open elements.
    fn end(&mut self) {
        let depth = self.open_elements.len();
        for number in 0..self.found.len() {
            let found = &mut self.found[number];
            if found.matched != depth + 1 {
                continue;
            }
            found.matched = depth;
            if std::mem::take(&mut found.is_open) {
                self.open_paths -= 1;
                self.end_value(number);
            }
        }
        self.is_behind_end = true;
    }

    /// Ends the current line in each value whose element is still open. An element that directly follows another one
    /// begins a new line.
    fn end_lines(&mut self) {
        self.found.iter_mut().filter(|found| found.is_open).for_each(FoundTexts::end_line);
    }

    /// Appends text to the values of all paths whose last element is open.
    fn push_text(&mut self, text: &[u8], has_references: bool) {
        self.is_behind_end &= text.is_empty();
        if self.open_paths == 0 {
            return;
        }
        for number in 0..self.found.len() {
            if self.found[number].is_open {
                self.push_value(number, text, has_references);
            }
        }
    }

    fn push_value(&mut self, number: usize, text: &[u8], has_references: bool) {
        let (text, is_replaced) = decoded(text, self.encoding);
        let value = &mut self.found[number].text;
        if has_references {
            if push_resolved(&text, value) && self.repaired.is_none() {
                self.repaired = Some("xml-reference");
            }
        } else {
            value.extend_from_slice(&text);
        }
        if is_replaced {
            self.repaired = Some("utf8");
        }
    }

    /// Ends the value of the path with index `number`. If the value is HTML, replaces it by the text of the HTML.
    fn end_value(&mut self, number: usize) {
        let found = &mut self.found[number];
        let value = &found.text[found.start..];
        if self.selected.paths[number].is_html && memchr::memchr2(b'<', b'&', value).is_some() {
            let value = String::from_utf8_lossy(value);
            self.html.extract(&value, &mut self.page);
            found.text.truncate(found.start);
            found.text.extend_from_slice(&self.page);
        }
        found.end();
    }

    /// Returns the content of the record that was parsed last. `length` is its length in bytes.
    pub(super) fn content(&mut self, length: usize) -> Content<'_> {
        // All redirects have nearly the same text.
        if self.is_redirect {
            return Content::NonDocument(NonDocument::Redirect);
        }
        let Some(texts) = self.chosen(&self.selected.text) else {
            self.bad = Bad::no_text(length as u64);
            return Content::Bad(&self.bad);
        };
        if let [first, rest @ ..] = &texts[..]
            && !rest.is_empty()
        {
            self.text.clear();
            self.text.extend_from_slice(&self.found[*first].text);
            for &number in rest {
                self.text.push(b'\n');
                self.text.extend_from_slice(&self.found[number].text);
            }
        }
        let text = match texts[..] {
            [only] => &self.found[only].text,
            _ => &self.text,
        };
        let mut fields = [None; MOST_FIELDS];
        for (value, selector) in fields.iter_mut().zip(&self.selected.fields) {
            *value = self.one(selector);
        }
        Content::Document(Document {
            id: self.one(&self.selected.id).map(DocumentId::Text),
            fields,
            repaired: self.repaired,
            ..Document::new(text)
        })
    }

    /// Returns the indexes in `found` of the paths of one alternative of `selector`. All required elements of the
    /// alternative are in the record. The first alternative whose last path has text is chosen, otherwise the first
    /// alternative without text there. Returns `None` if the record lacks a required element of each alternative.
    fn chosen(&self, selector: &XmlSelector) -> Option<Vec<usize>> {
        let mut without_text = None;
        let mut first = selector.first;
        for paths in &selector.alternatives {
            let mut number = first;
            first += paths.len();
            let texts = FieldPath::find_all(paths, |_| {
                number += 1;
                (self.found[number - 1].count > 0).then_some(number - 1)
            });
            let Some(texts) = texts else { continue };
            let has_text = |&number: &usize| {
                self.found[number].text.iter().any(|byte| !byte.is_ascii_whitespace())
            };
            // A title alone is not the text of a record whose body is in another element.
            if texts.last().is_some_and(has_text) {
                return Some(texts);
            }
            without_text.get_or_insert(texts);
        }
        without_text
    }

    /// Returns the first value that the paths of a selector find, or `None`.
    fn one(&self, selector: &XmlSelector) -> Option<&[u8]> {
        let count = selector.alternatives.iter().flatten().count();
        // An ID is never joined, so all paths are alternatives.
        let mut found = self.found[selector.first..selector.first + count].iter();
        found.find_map(FoundTexts::first)
    }

    /// Creates the bad record for a record that is not well-formed. `length` is its length in bytes, and `expected`
    /// describes how a valid record looks.
    pub(super) fn bad(&mut self, length: usize, expected: Cow<'static, str>) -> Content<'_> {
        self.bad = Bad { code: "xml", expected, length: length as u64 };
        Content::Bad(&self.bad)
    }
}

/// Returns the names of all elements and attributes with text inside the element at the start of `bytes`, as paths from
/// this element. Returns an empty list if the element does not end in `bytes`.
pub(super) fn field_names(bytes: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some((token, length)) = scan(&bytes[at..]) {
        at += length;
        let mut found = Vec::new();
        match token {
            Token::Start(tag) => {
                let name = String::from_utf8_lossy(tag.name).replace('.', "\\.");
                let path = match &open[..] {
                    [] => String::new(),
                    [_root] => name,
                    [.., parent] => format!("{parent}.{name}"),
                };
                let dot = if path.is_empty() { "" } else { "." };
                let attributes = tag.attributes().flatten();
                found.extend(attributes.map(|attribute| {
                    format!("{path}{dot}@{}", String::from_utf8_lossy(attribute.name))
                }));
                if !tag.is_empty {
                    open.push(path);
                } else if open.is_empty() {
                    return found;
                }
            }
            Token::End(_) => {
                open.pop();
                if open.is_empty() {
                    return names;
                }
            }
            Token::Text(text) | Token::Verbatim(text) => {
                let has_text = !text.trim_ascii().is_empty();
                found.extend(open.last().filter(|path| has_text && !path.is_empty()).cloned());
            }
            Token::Remark => {}
            Token::Broken(_) => break,
        }
        for name in found {
            if names.len() < MOST_NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
        // Bytes between records have no fields.
        if open.is_empty() || open.len() > LONGEST_PATH {
            break;
        }
    }
    Vec::new()
}
