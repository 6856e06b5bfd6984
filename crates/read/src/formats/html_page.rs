//! HTML files: a file is a page, and its text is a document.

use crate::bytes::html;
use crate::bytes::{HtmlText, begins_page};
use crate::formats::{
    AfterLoss, ByteFormat, Columns, Dialect, Head, InputFormat, Price, Reader, SplitJob, SplitStep,
    Splitter,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;
use simtool_model::document::{Content, Document};

/// Entry of HTML in the table of input formats.
pub(crate) static HTML: HtmlPage = HtmlPage;

/// The format of HTML files.
#[derive(Debug)]
pub(crate) struct HtmlPage;

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
    /// Encoding that the user chose. With `None`, the encoding is the one that the page declares, or a guess.
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
        let found = self.html.extract(&page, &mut self.text);
        let repaired = is_replaced.then_some("utf8");
        let document = Document { repaired, page_text: Some(found), ..Document::new(&self.text) };
        SplitStep::record(window.len(), Content::Document(document))
    }

    fn boundary(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}
