//! Text files in which form feeds separate documents, and each document begins with its ID.

use crate::bytes::without_byte_order_mark;
use crate::formats::{
    AfterLoss, ByteFormat, Columns, Dialect, Head, InputFormat, Reader, RecordEdit, Separator,
    SplitJob, SplitStep, Splitter,
};
use memchr::memchr;
use simtool_base::error::Result;
use simtool_model::document::{Content, Document};
use simtool_model::document_id::DocumentId;
use std::ops::Range;

/// The byte that separates two documents.
pub(crate) const FORM_FEED: u8 = 0x0c;

/// Entry of form-feed text in the table of input formats.
pub(crate) static FORM_FEED_TEXT: FormFeedText = FormFeedText;

/// The format of text files in which form feeds separate documents.
#[derive(Debug)]
pub(crate) struct FormFeedText;

impl InputFormat for FormFeedText {
    fn name(&self) -> &'static str {
        "form-feed"
    }

    fn title(&self) -> &'static str {
        "form-feed text"
    }

    fn about(&self) -> &'static str {
        "Form feeds separate documents; the first token of a document is its ID"
    }

    /// Returns whether form feeds separate documents that begin with an ID. A file with zero bytes
    /// and an unknown extension is refused, because a form feed has no meaning in a binary file.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_binary = head.named.is_none() && head.has_zero_bytes();
        !is_binary && has_ids_after_form_feeds(head.text, head.is_whole)
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for FormFeedText {
    fn separator(&self) -> Option<Separator> {
        Some(Separator::Byte(FORM_FEED))
    }

    fn can_start_inside(&self) -> bool {
        true
    }

    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        _wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let is_start = job.is_file_start();
        job.split(&mut FormFeeds::new(is_start))
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        job.in_place(b'\n')
    }
}

/// A document of a form-feed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormFeedDocument<'t> {
    /// The ID: the first token of the document, which is not empty.
    pub id: &'t [u8],
    /// The text: everything after the line that holds the ID.
    pub text: &'t [u8],
}

/// Returns whether a byte counts as white space around an ID: space, tab, CR, LF or vertical tab.
pub(crate) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b)
}

/// Returns the documents of `text` in order. Bytes between two form feeds that are only white space are not a document
/// and are skipped.
///
/// `text` is a whole file, or one [`share`] of a file.
pub fn documents(text: &[u8]) -> impl Iterator<Item = FormFeedDocument<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        while let Some(from) = rest {
            let end = memchr(FORM_FEED, from).unwrap_or(from.len());
            rest = from.get(end + 1..);
            if let Some(document) = document(&from[..end]) {
                return Some(document);
            }
        }
        None
    })
}

/// Returns the document in `part`, the bytes between two form feeds. Returns `None` if `part` is only white space.
fn document(part: &[u8]) -> Option<FormFeedDocument<'_>> {
    let start = part.iter().position(|&byte| !is_white_space(byte))?;
    let from_id = &part[start..];
    let id_length = from_id.iter().position(|&byte| is_white_space(byte)).unwrap_or(from_id.len());
    let id = &from_id[..id_length];
    let behind = &from_id[id_length..];
    // The rest of the line of the ID belongs to neither the ID nor the text.
    let line_end = memchr(b'\n', behind).map_or(behind.len(), |at| at + 1);
    Some(FormFeedDocument { id, text: &behind[line_end..] })
}

/// Returns the range of bytes of one share of `text`. `number` is the index of the share, from 0. Threads can read the
/// shares of a text in parallel. A share has all documents whose preceding form feed is at position `number × bytes` or
/// later, and before position `(number + 1) × bytes`. The first share also has the document at the start of the text.
///
/// Together, the first [`share_count`] shares contain every document once, in order.
#[must_use]
pub fn share(text: &[u8], number: usize, bytes: usize) -> Range<usize> {
    let border = |number: usize| {
        let nominal = number.saturating_mul(bytes);
        if number == 0 || nominal >= text.len() {
            return nominal.min(text.len());
        }
        // The two shares next to a border compute this position in the same way. So no document is
        // lost or read twice.
        memchr(FORM_FEED, &text[nominal..]).map_or(text.len(), |at| nominal + at + 1)
    };
    border(number)..border(number + 1)
}

/// Returns the number of shares if `text` is divided into shares of about `bytes` bytes, see [`share`].
#[must_use]
pub fn share_count(text: &[u8], bytes: usize) -> usize {
    text.len().div_ceil(bytes)
}

/// Splitter that divides a text at its form feeds. A record consists of the bytes up to a form
/// feed, and of the form feed itself.
#[derive(Debug)]
pub(crate) struct FormFeeds {
    at_file_start: bool,
}

impl FormFeeds {
    pub(crate) fn new(at_file_start: bool) -> Self {
        Self { at_file_start }
    }
}

impl Splitter for FormFeeds {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let (part, length) = match memchr(FORM_FEED, window) {
            Some(end) => (&window[..end], end + 1),
            None if last => (window, window.len()),
            None => return SplitStep::More,
        };
        // Only the first bytes of a file can be a byte order mark. Elsewhere the same bytes are a
        // character of the text (U+FEFF).
        let at_file_start = std::mem::take(&mut self.at_file_start);
        let part = if at_file_start { without_byte_order_mark(part) } else { part };
        match document(part) {
            Some(FormFeedDocument { id, text }) => {
                let document = Document { id: Some(DocumentId::Text(id)), ..Document::new(text) };
                SplitStep::record(length, Content::Document(document))
            }
            None => SplitStep::filler(length),
        }
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        memchr(FORM_FEED, bytes).map(|at| at + 1)
    }
}

/// Returns whether `text` has form feeds, and the first line of every document in it is a single token. `text` is the
/// start of a file. `whole` means that it is the complete file, so that its last line is complete, too.
fn has_ids_after_form_feeds(text: &[u8], whole: bool) -> bool {
    let mut parts = text.split(|&byte| byte == FORM_FEED).peekable();
    let (mut ids, mut separators) = (0, 0);
    while let Some(part) = parts.next() {
        let complete = parts.peek().is_some();
        separators += usize::from(complete);
        let Some(start) = part.iter().position(|&byte| !is_white_space(byte)) else { continue };
        let part = &part[start..];
        let line = match memchr(b'\n', part) {
            Some(end) => &part[..end],
            None if complete || whole => part,
            // The bytes end inside this line, so its number of tokens is not known.
            None => continue,
        };
        let tokens = line.split(|&byte| is_white_space(byte)).filter(|token| !token.is_empty());
        // Ordinary text may have form feeds between its pages. The first line of such a page has
        // several words.
        if tokens.count() != 1 {
            return false;
        }
        ids += 1;
    }
    separators > 0 && ids > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &[u8], expected: &[(&str, &str)]) {
        let found: Vec<_> = documents(text)
            .map(|d| (String::from_utf8_lossy(d.id), String::from_utf8_lossy(d.text)))
            .collect();
        let found: Vec<_> = found.iter().map(|(id, text)| (&**id, &**text)).collect();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
    }

    #[test]
    fn the_id_is_the_first_token_and_its_line_is_no_content() {
        check(
            b"1-1\r\ntext one\r\n\x0c\r\n1-2\r\ntext two",
            &[("1-1", "text one\r\n"), ("1-2", "text two")],
        );
        check(b"\n\n \x0b\tid the rest\nbody\n", &[("id", "body\n")]);
        check(b"id\rstill the line\nbody", &[("id", "body")]);
    }

    #[test]
    fn parts_without_anything_are_no_documents() {
        check(b"", &[]);
        check(b"\x0c\r\n\x0c \t\x0b\x0c", &[]);
        check(b"a\x0c\x0cb\n\x0c\n", &[("a", ""), ("b", "")]);
    }

    #[test]
    fn a_form_feed_inside_a_line_separates_documents() {
        check(b"id text\nwo\x0crd more\x0cid", &[("id", "wo"), ("rd", ""), ("id", "")]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_alone() {
        check(without_byte_order_mark(b"\xef\xbb\xbfid\nx"), &[("id", "x")]);
        check(without_byte_order_mark(b"id\nx\xef\xbb\xbf"), &[("id", "x\u{feff}")]);
    }

    proptest! {
        #[test]
        fn shares_of_any_size_hold_the_same(text in "[a\\f\n ]{0,60}", bytes in 1usize..70) {
            let text = text.as_bytes();
            let whole: Vec<_> = documents(text).collect();
            let shared: Vec<_> = (0..share_count(text, bytes))
                .flat_map(|number| documents(&text[share(text, number, bytes)]))
                .collect();
            prop_assert_eq!(shared, whole);
        }
    }
}
