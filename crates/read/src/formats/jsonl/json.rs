//! JSON files that are not JSON Lines: an array of objects, or objects one after another.

use crate::bytes::text_encoding::is_safe_separator;
use crate::formats::jsonl::fields::{self, WantedFields};
use crate::formats::jsonl::lines::ObjectParser;
use crate::formats::jsonl::values::JsonValues;
use crate::formats::jsonl::{edit, layout};
use crate::formats::{
    AddedRecord, ByteFormat, Columns, Dialect, FieldNames, Fields, Format, Head, InputFormat,
    Reader, RecordEdit, SplitJob,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;

/// Entry of JSON in the table of input formats.
pub(crate) static JSON: Json = Json;

/// The format JSON, in which a file is an array of objects, one object, or several objects.
#[derive(Debug)]
pub(crate) struct Json;

impl InputFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn title(&self) -> &'static str {
        "JSON"
    }

    fn about(&self) -> &'static str {
        "Each object of the file, or of its array, is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    /// Returns whether the content is JSON and not JSON Lines. If the file's name has the extension of a format without
    /// fields, such as `.txt`, an array does not count as JSON.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_array = head.text.trim_ascii_start().first() == Some(&b'[');
        if layout::is_not_lines(head.text) {
            return !is_array || head.named.is_none_or(Format::has_fields);
        }
        head.is_named(self) && !layout::has_object_line(head.text) && !head.text.is_empty()
    }

    fn leaves_no_empty_copy(&self) -> bool {
        true
    }

    fn leading_separator(&self) -> Option<u8> {
        Some(b',')
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for Json {
    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let parser = ObjectParser::new(WantedFields::new(wanted), job.encoding.take());
        job.split(&mut JsonValues::new(parser))
    }

    /// Returns whether a backslash byte is always a backslash in `encoding`. The end of a string is a quote without a
    /// backslash before it, so a byte of another character must not look like a backslash.
    fn is_readable_in(&self, encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        is_safe_separator(encoding, b'\\')
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        edit::edited(job)
    }

    fn with_fields(&self, job: &AddedRecord<'_>) -> Option<Vec<u8>> {
        edit::with_fields(job)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(|record| fields::field_names(element(record)))
    }
}

/// Returns the bytes of a record without the comma and the white space before its value.
fn element(record: &[u8]) -> &[u8] {
    let element = record.trim_ascii_start();
    element.strip_prefix(b",").unwrap_or(element)
}
