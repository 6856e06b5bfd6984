//! Reads WARC and WET files. Their records have a header and a block, and the header states the length of the block.
//!
//! The text of `conversion` records is used as it is. `response` records are documents if they have HTML or plain text.
//! `resource` records are documents if they have HTML or any kind of text. Texts of responses and resources are decoded
//! from their encoding, and the text of HTML is extracted. All other records are not documents. Records that repeat a
//! page are not documents either: the texts that Browsertrix extracts, and conversions of pages of the same file.
//!
//! The ID of a document is its `WARC-Target-URI`, or its `WARC-Record-ID` if it has no URI, unless the user selects
//! another field.
//! A record with a wrong header or length is a bad record, and reading continues at the next line that begins with
//! `WARC/1.`. Additional white space between records is allowed, since a published crawl (CC-MAIN-2018-34) has two
//! bytes too many before every record.

use crate::bytes::HtmlText;
use crate::bytes::html;
use crate::bytes::http::{self, Response, Unreadable, fields, is_html};
use crate::formats::warc::fields::{URI, WarcFields, WarcParts, without_brackets};
use crate::formats::warc::page_records::{PageRecords, is_extracted_text};
use crate::formats::{AfterLoss, Columns, Selector, SplitStep, Splitter, USUAL_ID};
use encoding_rs::Encoding;
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content, Document, FieldValues};
use simtool_model::document_id::DocumentId;
use simtool_model::non_document::NonDocument;
use std::borrow::Cow;

/// Largest allowed length of the header of a record, in bytes.
const LONGEST_HEADER: usize = 64 << 10;
/// Bytes at the start of every record.
const START: &[u8] = b"WARC/";
/// Bytes by which the start of the next record is recognized: a line end, and the start of the
/// first line of a record.
const NEXT: &[u8] = b"\nWARC/1.";
const NO_BLANK_LINE: Cow<'static, str> =
    Cow::Borrowed("a header of at most 65536 bytes that ends with a blank line");
/// Number of bytes of the two line ends CR LF CR LF, which follow the block of a record.
const TAIL: usize = 4;

/// Splitter that divides a WARC file into records. The header of each record states the length of
/// the record's block.
#[derive(Debug)]
pub(super) struct WarcRecords {
    /// Fields that hold the ID. `None` if the user chose no fields for it.
    id: Option<WarcFields>,
    /// Fields whose values are read in addition to the ID.
    fields: Vec<WarcFields>,
    longest: usize,
    /// Encoding that the user chose. With `None`, the encoding is the one that a page declares, or a guess.
    encoding: Option<&'static Encoding>,
    html: HtmlText,
    bodies: [Vec<u8>; 2],
    text: Vec<u8>,
    pages: PageRecords,
    bad: Bad,
}

/// Values of the header fields of one record that are needed.
#[derive(Debug, Default)]
struct WarcHeader<'w> {
    kind: &'w [u8],
    content_type: &'w [u8],
    length: Option<&'w [u8]>,
    uri: Option<&'w [u8]>,
    record_id: Option<&'w [u8]>,
    /// ID of the record from which this record was made.
    refers_to: Option<&'w [u8]>,
    fields: FieldValues<'w>,
    /// Value of the field that the user selected for the ID, if the record has this field.
    id: Option<&'w [u8]>,
}

impl WarcRecords {
    pub(super) fn new(
        wanted: Columns<'_>,
        longest: usize,
        encoding: Option<&'static Encoding>,
        html: HtmlText,
    ) -> Self {
        // The usual selector of IDs is for formats whose fields have no standard names.
        let is_usual = *wanted.id == Selector::from(USUAL_ID);
        let id = (!is_usual).then(|| WarcFields::new(wanted.id));
        Self {
            id,
            fields: wanted.fields.iter().map(WarcFields::new).collect(),
            longest,
            encoding,
            html,
            bodies: [Vec::new(), Vec::new()],
            text: Vec::new(),
            pages: PageRecords::default(),
            bad: Bad { code: "warc-header", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    fn bad(
        &mut self,
        length: usize,
        code: &'static str,
        expected: Cow<'static, str>,
    ) -> SplitStep<'_> {
        self.bad = Bad { code, expected, length: length as u64 };
        SplitStep::record(length, Content::Bad(&self.bad))
    }

    /// Returns a bad record from the start of `window` to the start of the next record, which is searched from position
    /// `from` of the window on. If the window has no next record, the bad record ends at the end of the file if `last`
    /// is true. Otherwise the method returns [`SplitStep::More`] to get more bytes. `last` means that no bytes follow
    /// the window. `code` is the code of the bad record, and `expected` describes how a valid record looks.
    fn resume(
        &mut self,
        window: &[u8],
        from: usize,
        last: bool,
        code: &'static str,
        expected: Cow<'static, str>,
    ) -> SplitStep<'_> {
        match self.boundary(&window[from..]) {
            Some(at) => self.bad(from + at, code, expected),
            None if last => self.bad(window.len(), code, expected),
            None => SplitStep::More,
        }
    }

    fn header(block: &[u8]) -> WarcHeader<'_> {
        let mut header = WarcHeader::default();
        for (name, value) in fields(block) {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("WARC-Type") {
                header.kind = value;
            } else if is("Content-Type") {
                header.content_type = value;
            } else if is("Content-Length") {
                header.length = Some(value);
            } else if is(URI) {
                header.uri = Some(value);
            } else if is("WARC-Record-ID") {
                header.record_id = Some(value);
            } else if is("WARC-Refers-To") {
                header.refers_to = Some(value);
            }
        }
        header
    }

    /// Returns the content of a record with this header and block. `length` is the length of the
    /// whole record in bytes.
    fn content<'a>(
        &'a mut self,
        header: &WarcHeader<'a>,
        block: &'a [u8],
        length: usize,
    ) -> Content<'a> {
        let Self { html, bodies, text, pages, bad, longest, encoding, .. } = self;
        let is = |kind: &[u8]| header.kind.eq_ignore_ascii_case(kind);
        if header.uri.is_some_and(|uri| is_extracted_text(without_brackets(uri))) {
            return Content::NonDocument(NonDocument::ExtractedText);
        }
        let content_type = header.content_type;
        let is_text = content_type.get(..5).is_some_and(|t| t.eq_ignore_ascii_case(b"text/"));
        let response = if is(b"response") {
            match http::document_response(block, *longest, bodies) {
                Ok(Err(kind)) => return Content::NonDocument(kind),
                Ok(Ok(response)) => response,
                Err(why) => {
                    let (code, expected) = match why {
                        Unreadable::Encoding => ("http-body", "an HTTP body in its encoding"),
                        Unreadable::TooLong => ("bomb", "an HTTP body within `max_record`"),
                    };
                    *bad = Bad { code, expected: expected.into(), length: length as u64 };
                    return Content::Bad(bad);
                }
            }
        } else if is(b"resource")
            && (is_html(content_type) || is_text && http::looks_like_text(block))
        {
            let is_html = is_html(content_type);
            Response { content_type, is_html, body: block, is_malformed: false }
        } else if is(b"conversion") {
            return if pages.have(header.refers_to, header.uri) {
                Content::NonDocument(NonDocument::ConvertedPage)
            } else {
                Content::Document(header.document(block))
            };
        } else {
            return Content::NonDocument(kind_without_document(header.kind));
        };
        pages.note(header.record_id, header.uri);
        let mut page_text = None;
        let is_replaced = if response.is_html {
            let (page, is_replaced) = html::decode(response.body, response.content_type, *encoding);
            page_text = Some(html.extract(&page, text));
            is_replaced
        } else {
            let (plain, is_replaced) =
                html::decode_text(response.body, response.content_type, *encoding);
            text.clear();
            text.extend_from_slice(plain.as_bytes());
            is_replaced
        };
        let repaired = if response.is_malformed { Some("http-body") } else { None };
        let repaired = repaired.or(is_replaced.then_some("utf8"));
        Content::Document(Document { repaired, page_text, ..header.document(text) })
    }
}

/// Returns the kind of a record without a document, from its WARC type `record_type`.
fn kind_without_document(record_type: &[u8]) -> NonDocument {
    let kinds = [
        ("warcinfo", NonDocument::Warcinfo),
        ("request", NonDocument::Request),
        ("metadata", NonDocument::Metadata),
        ("revisit", NonDocument::Revisit),
        ("resource", NonDocument::OtherType),
    ];
    let found = kinds.iter().find(|(name, _)| record_type.eq_ignore_ascii_case(name.as_bytes()));
    found.map_or(NonDocument::OtherRecord, |(_, kind)| *kind)
}

impl<'w> WarcHeader<'w> {
    /// Returns the document of a record with this header. Its ID is the value of the field that the user selected, or
    /// else the URI, or else the ID of the record.
    fn document<'a>(&self, text: &'a [u8]) -> Document<'a>
    where
        'w: 'a,
    {
        let id = self.id.or(self.uri).or(self.record_id);
        let id = id.map(without_brackets).filter(|id| !id.is_empty());
        Document { id: id.map(DocumentId::Text), fields: self.fields, ..Document::new(text) }
    }
}

/// Returns the names of the fields of the record at the start of `record`.
pub(super) fn header_names(record: &[u8]) -> Vec<String> {
    header_length(record).map_or_else(Vec::new, |length| super::fields::names(record, length))
}

/// Returns the length in bytes of the header at the start of `record`, including the blank line at its end. Returns
/// `None` if the header has no end.
pub(super) fn header_length(record: &[u8]) -> Option<usize> {
    match header_end(&record[..record.len().min(LONGEST_HEADER)]) {
        HeaderEnd::BlankLine(length) => Some(length),
        HeaderEnd::NextRecord(_) | HeaderEnd::None => None,
    }
}

/// Result of searching the end of a record's header.
enum HeaderEnd {
    /// The header ends with a blank line. The number is the length of the header in bytes,
    /// including the blank line.
    BlankLine(usize),
    /// The header has no blank line before the next record. The number is the position at which the
    /// next record starts.
    NextRecord(usize),
    /// The searched bytes contain neither a blank line nor the start of another record.
    None,
}

/// Finds the end of the header at the start of `bytes`. The search stops at the next record,
/// because a crafted file can consist of nothing but starts of records.
fn header_end(bytes: &[u8]) -> HeaderEnd {
    let end = memchr::memchr_iter(b'\n', bytes).find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some(HeaderEnd::BlankLine(at + 2)),
        [b'\r', b'\n', ..] => Some(HeaderEnd::BlankLine(at + 3)),
        _ if bytes[at..].starts_with(NEXT) => Some(HeaderEnd::NextRecord(at + 1)),
        _ => None,
    });
    end.unwrap_or(HeaderEnd::None)
}

/// Returns the number of bytes of the line ends that follow the block of a record and belong to the record. `behind`
/// has the bytes after the block. `last` means that no bytes follow `behind`. Returns `None` if the record cannot end
/// after the block, because its declared length is wrong. Returns an error if more bytes are needed to decide.
fn tail(behind: &[u8], last: bool) -> Result<Option<usize>, ()> {
    let line_ends = behind.iter().take(TAIL).take_while(|byte| b"\r\n".contains(byte)).count();
    // Two line ends follow each block (ISO 28500, section 4). Some writers use LF instead of CRLF,
    // or leave them out at the end of the file.
    if line_ends == TAIL || (last && line_ends == behind.len()) {
        return Ok(Some(line_ends));
    }
    let rest = &behind[line_ends..];
    if rest.starts_with(START) {
        return Ok(Some(line_ends));
    }
    if !last && START.starts_with(rest) { Err(()) } else { Ok(None) }
}

impl Splitter for WarcRecords {
    const AFTER_LOSS: AfterLoss = AfterLoss::Continue;
    const BOUNDARY_BYTES: usize = NEXT.len();

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        // Additional line ends between records occur in published crawls. They are filler, so
        // copies keep them.
        let blank = window.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if blank > 0 {
            return SplitStep::filler(blank);
        }
        if !window.starts_with(START) {
            if !last && START.starts_with(window) {
                return SplitStep::More;
            }
            return self.resume(
                window,
                0,
                last,
                "warc-header",
                "a line WARC/1.0 or WARC/1.1".into(),
            );
        }
        let seen = &window[..window.len().min(LONGEST_HEADER)];
        let start = match header_end(seen) {
            HeaderEnd::BlankLine(start) => start,
            // A new record begins inside the header, so the rest of this record is lost.
            HeaderEnd::NextRecord(next) => return self.bad(next, "warc-header", NO_BLANK_LINE),
            HeaderEnd::None => {
                return self.resume(window, START.len(), last, "warc-header", NO_BLANK_LINE);
            }
        };
        let header = Self::header(&window[..start]);
        let written = header.length.unwrap_or_default();
        let Some(length) = parse_length(written) else {
            let expected = format!("a Content-Length, not \"{}\"", quoted(written));
            return self.resume(window, start - 1, last, "warc-length", expected.into());
        };
        let end = usize::try_from(length).ok().and_then(|length: usize| start.checked_add(length));
        let behind = match end.and_then(|end| window.get(end..)) {
            Some(behind) => tail(behind, last),
            // If the declared length leads beyond the window and another record starts in the
            // window, the length is wrong.
            None if last || end.is_none_or(|end| end > self.longest) => {
                // The search begins at the last line end of the header, because a record is
                // recognized by the line end before it.
                return match self.boundary(&window[start - 1..]) {
                    Some(at) => self.bad(start - 1 + at, "warc-length", wrong_length(length)),
                    None => SplitStep::More,
                };
            }
            None => return SplitStep::More,
        };
        match (end, behind) {
            (Some(end), Ok(Some(tail))) => {
                let parts = WarcParts { header: &window[..start], block: &window[start..end] };
                let mut values = FieldValues::default();
                for (value, names) in values.iter_mut().zip(&self.fields) {
                    *value = names.value(parts);
                }
                let id = self.id.as_ref().and_then(|names| names.value(parts));
                let header = WarcHeader { id, fields: values, ..header };
                let content = self.content(&header, parts.block, end + tail);
                SplitStep::record(end + tail, content)
            }
            (_, Err(())) => SplitStep::More,
            _ => self.resume(window, start - 1, last, "warc-length", wrong_length(length)),
        }
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memmem::find(bytes, NEXT).map(|at| at + 1)
    }
}

/// Parses the value of the field `Content-Length`. Returns `None` if it is not a number of at most 19 digits.
fn parse_length(written: &[u8]) -> Option<u64> {
    // `parse` would accept a plus sign, which a length must not have. Numbers of up to 19
    // digits fit in 64 bits.
    let has_digits = written.len() <= 19 && written.iter().all(u8::is_ascii_digit);
    str::from_utf8(written).ok().filter(|_| has_digits).and_then(|number| number.parse().ok())
}

fn wrong_length(length: u64) -> Cow<'static, str> {
    format!("a Content-Length that leads to the record's end, not {length}").into()
}
