//! XML: dumps of wikis, forums and libraries, feeds, and texts in TEI or JATS.
//!
//! The first name of the selector of the text is the element of a record: in `page.revision.text`, each element `page`
//! is a record. Documents whose root element is known need no selector.
//!
//! Documents may be larger than the memory. They are read by one thread: in the middle of a file, a tag cannot be
//! distinguished from a tag inside of a comment or CDATA section.

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

    /// Returns whether the content begins with the declaration of XML or with a known root element. A page may be
    /// written as XML.
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
