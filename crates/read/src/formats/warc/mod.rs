//! WARC and WET, the formats of web crawls.

mod edit;
mod fields;
mod page_records;
mod records;

use crate::bytes::{HtmlText, without_byte_order_mark};
use crate::formats::{
    ByteFormat, Columns, Dialect, FieldNames, Fields, InputFormat, Price, Reader, RecordEdit,
    SplitJob,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;

/// Entry of WARC in the table of input formats.
pub(crate) static WARC: Warc = Warc;

/// The format WARC, which includes WET.
#[derive(Debug)]
pub(crate) struct Warc;

impl InputFormat for Warc {
    fn name(&self) -> &'static str {
        "warc"
    }

    fn title(&self) -> &'static str {
        "WARC"
    }

    fn about(&self) -> &'static str {
        "Each page of a WARC or WET file is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["warc", "wet", "wat"]
    }

    fn fields(&self) -> Fields {
        Fields::Headers
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        without_byte_order_mark(head).starts_with(b"WARC/")
    }

    fn is_packed_by_record(&self) -> bool {
        true
    }

    /// Returns the highest cost, because the text of HTML pages must be extracted in each reading.
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

impl ByteFormat for Warc {
    fn can_start_inside(&self) -> bool {
        true
    }

    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let longest = job.longest;
        let encoding = job.encoding.take();
        let html = HtmlText::new(job.content);
        job.split(&mut records::WarcRecords::new(wanted, longest, encoding, html))
    }

    fn is_readable_in(&self, _encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        true
    }

    fn declares_encoding(&self) -> bool {
        true
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        edit::edited(job)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(records::header_names)
    }
}
