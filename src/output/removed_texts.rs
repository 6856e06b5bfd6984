//! Lists the texts that copies of files lack because they were cut out.

use super::named::RECORD_MEANING;
use crate::pipeline::document_names::document_name;
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use crate::write::output_folder::OutputFolder;
use simtool_base::error::{Error, Result};
use simtool_model::document::{Content, DocOrdinal, DocumentIds};
use simtool_model::document_name::DocumentName;
use simtool_read::{Collection, Corpus, Event};
use std::io::Write;
use std::ops::{ControlFlow, Range};

/// Description of the list of the texts that were cut.
pub(super) const OUTPUT: OutputDescription = OutputDescription {
    name: "removed_texts",
    files: &["removed_texts.jsonl", "removed_texts.tsv", "removed_texts.parquet"],
    command: "passages",
    description: "Each text that the copies lack: each cut of a document, or the whole text of a removed document. In \
                  reading order. Written with --write-removed.",
    columns: || describe_columns(RemovedTextRows::COLUMNS),
};

/// Columns of the output `removed_texts`.
#[derive(Debug)]
pub(super) struct RemovedTextRows;

pub(super) struct RemovedTextRow<'r> {
    name: &'r DocumentName<'r>,
    bytes: Range<usize>,
    text: &'r [u8],
}

impl RowTable for RemovedTextRows {
    type Row<'r> = RemovedTextRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "byte_start",
            "First byte of the cut in the decoded text, from 0.",
            Value::Number(|row| row.bytes.start as u64),
        ),
        Column::new(
            "byte_end",
            "Byte after the last one.",
            Value::Number(|row| row.bytes.end as u64),
        ),
        Column::new("text", "The text that was cut.", Value::Text(|row| row.text)),
    ];
}

/// Reads the files again, and writes a row for each text that their copies lack. `removed` returns the ranges of bytes
/// that the copy of a document lacks, or `None` if it lacks the whole document.
///
/// # Errors
///
/// A file cannot be read, or the rows cannot be written.
pub(super) fn write_removed_texts(
    folder: &OutputFolder,
    format: RowFormat,
    files: &Collection,
    ids: &DocumentIds,
    removed: &dyn Fn(DocOrdinal) -> Option<Vec<Range<usize>>>,
) -> Result<()> {
    let file = format!("{}.{}", OUTPUT.name, format.extension());
    let failed = |error| Error::io(folder.name(&file), "write", error);
    let id_type = IdType::of(ids.are_integers());
    let mut out = folder.file(&file)?;
    let rows = RowsFile::new(&mut out, format, RemovedTextRows::COLUMNS, id_type, "");
    let mut rows = rows.map_err(failed)?;
    for shard in 0..files.shard_count() {
        let documents = ids.first_of_shard(shard).0..ids.end_of_shard(shard).0;
        let mut all = documents.clone().map(|document| removed(DocOrdinal(document)));
        if all.all(|removed| removed.is_some_and(|cuts| cuts.is_empty())) {
            continue;
        }
        let mut next = documents.start;
        files.read_shard(shard, &mut |event| {
            let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
            let Content::Document(document) = record.content else {
                return Ok(ControlFlow::Continue(()));
            };
            let name = &document_name(files, ids, next);
            let whole = 0..document.text.len();
            for bytes in removed(DocOrdinal(next)).unwrap_or_else(|| vec![whole]) {
                let text = document.text.get(bytes.clone()).unwrap_or_default();
                let row = RemovedTextRow { name, bytes, text };
                rows.write(&row).map_err(failed)?;
            }
            next += 1;
            Ok(ControlFlow::Continue(()))
        })?;
    }
    rows.finish().and_then(Write::flush).map_err(failed)
}
