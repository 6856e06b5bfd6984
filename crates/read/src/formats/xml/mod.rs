//! XML: dumps of wikis, forums and libraries, feeds, and texts in TEI or JATS.
//!
//! The first name of the selector of the text is the element of a record. For example, with `page.revision.text`, each
//! element `page` is a record. If the root element is a known one, no selector is needed.
//!
//! Documents may be larger than the memory. A file is read by one thread, because a tag in the middle of a file cannot
//! be distinguished from a tag inside a comment or CDATA section.

mod head;
mod known_roots;
mod record;
mod records;
mod selected;
#[cfg(test)]
mod tests;
mod tokens;

use crate::bytes::begins_page;
use crate::formats::{
    ByteFormat, Columns, Dialect, FieldNames, Fields, Format, Head, InputFormat, Reader, Selector,
    SplitJob,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;

/// Entry of XML in the table of input formats.
pub(crate) static XML: Xml = Xml;

/// The format XML.
#[derive(Debug)]
pub(crate) struct Xml;

impl InputFormat for Xml {
    fn name(&self) -> &'static str {
        "xml"
    }

    fn title(&self) -> &'static str {
        "XML"
    }

    fn about(&self) -> &'static str {
        "Each element of a dump or feed, such as `<page>`, is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["xml", "rss", "atom"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    /// Returns whether the content begins with an XML declaration or with a known root element, or the file's name has
    /// an extension of XML. An HTML page that is written as XML is not taken for XML.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_page = begins_page(head.text) || head.named == Some(Format::HTML);
        let is_named = head.is_named(self) && head::root_tag(head.text).is_some();
        !is_page && (is_named || head::begins_xml(head.text))
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for Xml {
    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let encoding = job.encoding.take();
        job.split(&mut records::XmlRecords::new(wanted, encoding))
    }

    fn refusal(&self, head: &[u8], text: &Selector) -> Option<String> {
        head::refusal(head, text)
    }

    fn declared_encoding(&self, head: &[u8]) -> Option<&'static Encoding> {
        head::declared_encoding(head)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(record::field_names)
    }
}
