//! JSON: JSON Lines, in which each line is an object, and other files of JSON objects.

mod edit;
mod fields;
mod json;
mod layout;
mod lines;
mod non_finite;
mod object;
mod quick;
mod strings;
mod value_end;
mod values;

use crate::bytes::without_byte_order_mark;
use crate::formats::{
    AddedRecord, ByteFormat, Columns, Dialect, FieldNames, Fields, Head, InputFormat, Reader,
    RecordEdit, Selector, Separator, SplitJob,
};
use simtool_base::error::Result;

pub(crate) use fields::{WantedFields, field_names};
pub(crate) use json::JSON;
pub(crate) use lines::{JsonLineSplitter, ObjectParser};

/// Entry of JSON Lines in the table of input formats.
pub(crate) static JSON_LINES: JsonLines = JsonLines;

/// The format JSON Lines, in which each line is a JSON object.
#[derive(Debug)]
pub(crate) struct JsonLines;

impl InputFormat for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn title(&self) -> &'static str {
        "JSON Lines"
    }

    fn about(&self) -> &'static str {
        "Each line is a JSON object, and a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    /// Returns whether the content begins like a JSON object, or the file's name has an extension of JSON. A file named
    /// `.json` is included, because it may begin with a damaged line.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_object = starts_with(head.text, *b"{\"") || starts_with(head.text, *b"{}");
        is_object || head.is_named(self) || head.is_named(&JSON)
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for JsonLines {
    fn separator(&self) -> Option<Separator> {
        Some(Separator::Byte(b'\n'))
    }

    fn can_start_inside(&self) -> bool {
        true
    }

    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let is_start = job.is_file_start();
        let wanted = WantedFields::new(wanted);
        let parser = ObjectParser::new(wanted, job.encoding.take());
        job.split(&mut JsonLineSplitter::new(parser, is_start))
    }

    /// Returns a message if the user chose this format for a file that is JSON but not JSON Lines. Returns `None`
    /// otherwise.
    fn refusal(&self, head: &[u8], _text: &Selector) -> Option<String> {
        let advice = "is JSON, but not one object a line. Leave out `format`, or set it to json";
        layout::is_not_lines(without_byte_order_mark(head)).then(|| advice.to_owned())
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        edit::edited(job)
    }

    fn with_fields(&self, job: &AddedRecord<'_>) -> Option<Vec<u8>> {
        edit::with_fields(job)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(field_names)
    }
}

/// Returns whether the first two bytes of `text` that are not white space are `first`.
fn starts_with(text: &[u8], first: [u8; 2]) -> bool {
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.take(2).eq(&first)
}
