//! Writes the items of an evaluation set that documents contain as rows.

use super::named::RECORD_MEANING;
use crate::pipeline::document_names::document_name;
use crate::pipeline::{FoundContamination, ItemInDocument};
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use simtool_model::document_name::DocumentName;
use simtool_read::Corpus;
use std::io::{self, Write};

/// Description of the rows that `simtool contamination` writes.
pub(crate) const OUTPUT: OutputDescription = OutputDescription {
    name: "contamination",
    files: &["contamination.jsonl", "contamination.tsv", "contamination.parquet"],
    command: "contamination",
    description: "Each item and each document that contains it, in the order of the items and then of the documents. \
                  A file of the output folder with --write-kept, and otherwise the file or stream that --output \
                  names.",
    columns: || describe_columns(ContaminationRows::COLUMNS),
};

/// Columns of the output, for example `item_id` and `share`.
#[derive(Debug)]
struct ContaminationRows;

struct ContaminationRow<'r> {
    item: &'r DocumentName<'r>,
    name: &'r DocumentName<'r>,
    found: &'r ItemInDocument,
}

impl RowTable for ContaminationRows {
    type Row<'r> = ContaminationRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("item_id", "ID of the item.", Value::Id(|row| row.item.id())),
        Column::new("id", "ID of a document that contains it.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "share",
            "Share of the item that the document contains, as --measure defines it.",
            Value::Ratio(|row| Some(row.found.share)),
        ),
        Column::new(
            "words",
            "Number of words of the item that the document has.",
            Value::Number(|row| row.found.words.into()),
        ),
        Column::new(
            "item_spans",
            "Numbers of these words in the item, from 0, as ranges; the end is the word after the last one.",
            Value::Ranges(|row| &row.found.item_words),
        ),
        Column::new(
            "spans",
            "Bytes of words of the item in the decoded text of the document, as ranges.",
            Value::Ranges(|row| &row.found.bytes),
        ),
        Column::new(
            "best",
            "Whether better items that are best themselves have less than half of these words of the document. The \
             better item has the greater share, then more words; of equal items, the first is better.",
            Value::Flag(|row| row.found.is_best),
        ),
        // Items of two evaluation sets often have the same IDs.
        Column::new("item_file", "File of the item.", Value::Text(|row| row.item.file_bytes())),
        Column::new("item_record", RECORD_MEANING, Value::Number(|row| row.item.record)),
    ];
}

/// Writes the evaluation items, and the documents that contain them, to `out` as rows in the format `format`.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn write_contamination(
    [items, documents]: [&dyn Corpus; 2],
    found: &FoundContamination,
    format: RowFormat,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let [item_ids, ids] = [&found.items.ids, &found.documents.ids];
    // Both columns of IDs have one type.
    let are_integers = item_ids.are_integers() && ids.are_integers();
    let id_type = IdType::of(are_integers);
    let mut rows = RowsFile::new(out, format, ContaminationRows::COLUMNS, id_type, "")?;
    for found in &found.found {
        rows.write(&ContaminationRow {
            item: &document_name(items, item_ids, found.item),
            name: &document_name(documents, ids, found.document),
            found,
        })?;
    }
    rows.finish()?.flush()
}
