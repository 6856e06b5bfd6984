//! JSON Lines: each line is an object.

mod fields;
mod in_memory;
mod lines;
mod not_lines;
mod quick;
mod strings;

use crate::format::{Fields, Head, InputFormat, Reader};
use {
    crate::format::{ByteFormat, FieldNames},
    crate::split_job::SplitJob,
    crate::table::Columns,
    simtool_base::error::Result,
    simtool_model::compression::Compression,
    std::path::Path,
};

pub use in_memory::JsonLinesInMemory;

/// Entry of JSON Lines in the table of input formats.
pub(super) static JSON_LINES: JsonLines = JsonLines;

/// The format JSON Lines, in which each line is a JSON object.
#[derive(Debug)]
pub(super) struct JsonLines;

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
        &["jsonl", "ndjson", "json"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    /// Returns whether the content begins like a JSON object, or the file's name has an extension
    /// of this format. An array of objects is accepted, too, unless the name has the extension of
    /// an input format. Such a file cannot be read, but the user then gets advice about arrays.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_object = starts_with(head.text, *b"{\"") || starts_with(head.text, *b"{}");
        let is_array = head.named.is_none() && starts_with(head.text, *b"[{");
        is_object || is_array || head.is_named(self)
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for JsonLines {
    fn separator(&self) -> Option<u8> {
        Some(b'\n')
    }

    fn can_start_inside(&self) -> bool {
        true
    }

    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _delimiter: Option<u8>,
    ) -> Result<u64> {
        let paths = fields::FieldPaths::new(wanted.text, wanted.id, wanted.keep);
        let is_start = job.is_file_start();
        job.split(&mut lines::JsonLineSplitter::new(paths, is_start))
    }

    fn refusal(&self, head: &[u8], compression: Compression, name: &Path) -> Option<String> {
        not_lines::advice(head, compression, name)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(fields::keys)
    }
}

/// Returns whether the first two bytes of `text` are `first`, if white space is skipped.
fn starts_with(text: &[u8], first: [u8; 2]) -> bool {
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.take(2).eq(&first)
}
