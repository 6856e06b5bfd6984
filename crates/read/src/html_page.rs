//! HTML files: a file is a page, and its text is a document.

use crate::Price;
use crate::dialect::Dialect;
use crate::format::{ByteFormat, Head, InputFormat, Reader};
use crate::html::{self, HtmlText};
use crate::split_job::SplitJob;
use crate::splitter::{AfterLoss, SplitStep, Splitter};
use crate::table::Columns;
use encoding_rs::Encoding;
use simtool_base::error::Result;
use simtool_model::document::{Content, Document};

/// Entry of HTML in the table of input formats.
pub(super) static HTML: HtmlPage = HtmlPage;

/// Number of bytes at the start of a file within which the first tag of a page must begin.
const FIRST_TAG_WITHIN: usize = 4 << 10;

/// The format of HTML files.
#[derive(Debug)]
pub(super) struct HtmlPage;

impl InputFormat for HtmlPage {
    fn name(&self) -> &'static str {
        "html"
    }

    fn title(&self) -> &'static str {
        "HTML"
    }

    fn about(&self) -> &'static str {
        "The text of the page is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm", "xhtml", "xht"]
    }

    fn looks_like(&self, head: &Head<'_>) -> bool {
        begins_page(head.text)
    }

    fn is_one_document(&self) -> bool {
        true
    }

    /// Returns the highest cost, because the text of the page must be extracted again.
    fn price(&self) -> Price {
        Price::Expensive
    }

    fn has_pages(&self) -> bool {
        true
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for HtmlPage {
    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        _wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let encoding = job.encoding.take();
        let html = HtmlText::new(job.content);
        job.split(&mut WholePage { encoding, html, text: Vec::new() })
    }

    fn is_readable_in(&self, _encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        true
    }

    fn declares_encoding(&self) -> bool {
        true
    }
}

/// Splitter for a file that is one page. It returns the text of the page as one document.
#[derive(Debug)]
struct WholePage {
    /// Encoding of pages that do not declare theirs. `None` means a guess.
    encoding: Option<&'static Encoding>,
    html: HtmlText,
    text: Vec<u8>,
}

impl Splitter for WholePage {
    const AFTER_LOSS: AfterLoss = AfterLoss::Stop;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if !last {
            return SplitStep::More;
        }
        // A file has no HTTP header that names its encoding.
        let (page, is_replaced) = html::decode(window, b"", self.encoding);
        let is_whole_page = !self.html.extract(&page, &mut self.text);
        let repaired = is_replaced.then_some("utf8");
        let document = Document { repaired, is_whole_page, ..Document::new(&self.text) };
        SplitStep::record(window.len(), Content::Document(document))
    }

    fn boundary(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Returns whether a file that starts with `head` is a page: whether its document type is HTML, or
/// its first tag is `html`, `head` or `body`. White space, comments, and the declaration of XML may
/// come before. `head` has no byte order mark.
pub(super) fn begins_page(head: &[u8]) -> bool {
    let mut rest = head[..head.len().min(FIRST_TAG_WITHIN)].trim_ascii_start();
    loop {
        let ending: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', b'x', b'm', b'l', ..] => b"?>",
            _ => break,
        };
        let Some(end) = memchr::memmem::find(rest, ending) else { return false };
        rest = rest[end + ending.len()..].trim_ascii_start();
    }
    if let Some(name) = after(rest, b"<!doctype") {
        return after(name.trim_ascii_start(), b"html").is_some_and(ends_name);
    }
    let tags: [&[u8]; 3] = [b"<html", b"<head", b"<body"];
    tags.iter().any(|tag| after(rest, tag).is_some_and(ends_name))
}

/// Returns the bytes after `start`, if `bytes` begin with it in upper or lower case.
fn after<'b>(bytes: &'b [u8], start: &[u8]) -> Option<&'b [u8]> {
    let (first, rest) = bytes.split_at_checked(start.len())?;
    first.eq_ignore_ascii_case(start).then_some(rest)
}

/// Returns whether a name ends before `rest`, so that `<header>` does not count as `<head>`.
fn ends_name(rest: &[u8]) -> bool {
    rest.first().is_none_or(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_recognized_by_their_first_tag() {
        for page in [
            "<!DOCTYPE html><p>a",
            "\r\n <!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
            "<html lang=\"en\">",
            "<HTML>",
            "<head>",
            "<body class=x>",
            "<!-- saved from url=(0014)about:internet -->\n<html>",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0\">",
        ] {
            assert!(begins_page(page.as_bytes()), "{page}");
        }
        for other in [
            "",
            "plain <html>",
            "<header>",
            "<!DOCTYPE svg>",
            "<!doctype htmlx>",
            "<?xml version=\"1.0\"?><rss>",
            "<!-- a comment without an end <html>",
            "{\"html\": \"<html>\"}",
        ] {
            assert!(!begins_page(other.as_bytes()), "{other}");
        }
    }
}
