//! Lists the documents that are copied whole although words of them should be cut.

use super::named::RECORD_MEANING;
use super::results::write_file;
use crate::pipeline::document_names::document_name;
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use crate::write::output_folder::OutputFolder;
use simtool_base::error::Result;
use simtool_model::document::{DocOrdinal, DocumentIds};
use simtool_model::document_name::DocumentName;
use simtool_read::Collection;

/// Description of the list of the documents that could not be cut.
pub(super) const OUTPUT: OutputDescription = OutputDescription {
    name: "uncut",
    files: &["uncut.jsonl", "uncut.tsv", "uncut.parquet"],
    command: "passages, contamination",
    description: "Each document that its copy has whole, with the passages or items, because its text cannot be cut in \
                  its record. In reading order. Written with --write-kept.",
    columns: || describe_columns(UncutRows::COLUMNS),
};

/// Columns of the output `uncut`, for example `id` and `reason`.
#[derive(Debug)]
struct UncutRows;

struct UncutRow<'r> {
    name: &'r DocumentName<'r>,
    reason: &'static str,
}

impl RowTable for UncutRows {
    type Row<'r> = UncutRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "reason",
            "`column` if the text is in several columns of a table, in a nested column, in a list, or in a dictionary of an \
             Arrow file. `record` if the bytes of the record do not have the text as it was read: it was extracted from \
             a page or a mail, it has another encoding, or several columns of CSV have it.",
            Value::Text(|row| row.reason.as_bytes()),
        ),
    ];
}

/// Writes the list of the documents `uncut`, which must be in ascending order.
///
/// # Errors
///
/// The list cannot be written.
pub(super) fn write_uncut(
    folder: &OutputFolder,
    format: RowFormat,
    files: &Collection,
    ids: &DocumentIds,
    uncut: &[DocOrdinal],
) -> Result<()> {
    let id_type = IdType::of(ids.are_integers());
    write_file(folder, &format!("{}.{}", OUTPUT.name, format.extension()), |out| {
        let mut rows = RowsFile::new(out, format, UncutRows::COLUMNS, id_type, "")?;
        for document in uncut {
            let is_in_table =
                |file| files.recognize(file).is_ok_and(|found| found.format.is_table());
            let file = ids.place(*document).file as usize;
            let reason = if is_in_table(file) { "column" } else { "record" };
            let name = &document_name(files, ids, document.0);
            rows.write(&UncutRow { name, reason })?;
        }
        rows.finish().map(drop)
    })
}
