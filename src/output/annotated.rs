//! The output `annotated`: copies of the input files in which each record has the columns of the output
//! `documents`.

use super::document_status::DocumentStatus;
use super::documents::{ClusteredDocuments, DocumentRow, DocumentRows};
use super::kept_copies::{CopyRules, write_kept_copies};
use super::output_kind::{KEEP_STAGE, Output};
use super::results::Results;
use crate::write::columns::{Column, OutputDescription, RowTable as _, Value};
use simtool_base::error::{Error, Result};
use simtool_model::document::DocOrdinal;
use simtool_read::{AddedField, AddedFields, AddedKind, AddedValue};
use std::sync::atomic::Ordering;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "annotated",
        files: &[FOLDER],
        command: "dedup",
        description: "A folder with copies of the inputs, in the same formats, in which each record has the \
                      columns tokens to weight of documents, with simtool_ before their names. Written with \
                      --annotate=in-place.",
        columns: Vec::new,
    },
    stage: KEEP_STAGE,
    is_wanted: |results| results.outputs.annotates_copies(),
    write: write_annotated,
};

/// Name of the folder with the copies.
const FOLDER: &str = "annotated";

/// Beginning of the name of each added field. Few records have fields with such names.
const PREFIX: &str = "simtool_";

/// First column of the output `documents` that is added to records. The columns before it, such as `id` and `file`, are
/// not added.
const FIRST_COLUMN: &str = "tokens";

/// Writes copies of all inputs in which each record has the added fields. Formats whose records have no named fields
/// are copied as they are.
fn write_annotated(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let Some(files) = documents.collection.as_files() else {
        let rule = "needs documents that are in files";
        return Err(Error::config("annotate", "in-place", rule));
    };
    let columns = added_columns();
    let fields: Vec<AddedField> = columns.iter().map(added_field).collect();
    let clustered = ClusteredDocuments::new(results);
    let values = |document: DocOrdinal| {
        Some(clustered.visit(document.0, |row| {
            columns.iter().map(|column| added_value(&column.value, row)).collect()
        }))
    };
    let rules = CopyRules {
        added: Some(AddedFields { fields: &fields, values: &values }),
        is_checked: false,
        ..CopyRules::new(&|_| DocumentStatus::Kept, None)
    };
    let folder = results.folder.staging().join(FOLDER);
    let (ids, context) = (&documents.read.ids, results.context);
    let copies = context
        .threads()
        .run(|| write_kept_copies(files, ids, &rules, &folder, context.progress()))??;
    results.unannotated.store(copies.unedited.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// Returns the columns of the output `documents` that the records of the copies get as fields.
fn added_columns() -> &'static [Column<DocumentRows>] {
    let is_first = |column: &Column<DocumentRows>| column.name == FIRST_COLUMN;
    let first = DocumentRows::COLUMNS.iter().position(is_first).unwrap_or(0);
    &DocumentRows::COLUMNS[first..]
}

/// Returns the name and type of the field that records get for a column of the output `documents`.
fn added_field(column: &Column<DocumentRows>) -> AddedField {
    let kind = match column.value {
        Value::Number(_) | Value::Count(_) | Value::OptionalCount(_) => AddedKind::Number,
        Value::Flag(_) => AddedKind::Flag,
        Value::Ratio(_) => AddedKind::Ratio,
        _ => AddedKind::Text,
    };
    AddedField { name: format!("{PREFIX}{}", column.name), kind }
}

/// Returns the value that a record gets for a column. `value` takes it from `row`, the row of the record's document.
fn added_value<'r>(value: &Value<DocumentRows>, row: &'r DocumentRow<'r>) -> AddedValue {
    match value {
        Value::Text(get) => AddedValue::Text(get(row).to_vec()),
        Value::Id(get) if get(row).is_number() => AddedValue::Digits(get(row).bytes().to_vec()),
        Value::Id(get) => AddedValue::Text(get(row).bytes().to_vec()),
        Value::Number(get) => AddedValue::Number(get(row)),
        Value::Count(get) => AddedValue::Number(get(row).into()),
        Value::OptionalCount(get) => {
            get(row).map_or(AddedValue::Missing, |count| AddedValue::Number(count.into()))
        }
        Value::Flag(get) => AddedValue::Flag(get(row)),
        Value::Ratio(get) => get(row).map_or(AddedValue::Missing, AddedValue::Ratio),
        // The output has no column of another type.
        Value::Time(_) | Value::Texts(_) | Value::Ranges(_) | Value::Nested(_) => {
            AddedValue::Missing
        }
    }
}
