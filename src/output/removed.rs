//! The output `removed`: each removed document with the document that is kept in its place.

use super::named::{
    NamedPair, RECORD_MEANING, distance_column, lost_share_column, lost_words_column,
    similarity_column,
};
use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::pipeline::LostWords;
use crate::write::columns::{Column, OutputDescription, RowTable, Value, describe_columns};
use simtool_base::error::Result;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "removed",
        files: &["removed.jsonl", "removed.tsv", "removed.parquet"],
        command: "dedup, match",
        description: "Each removed document, with the document that is kept in its place and how \
                      close the two are. With --output-format ids, only the IDs, or ID, file and record if a kept \
                      document has the ID of a removed one.",
        columns: || describe_columns(RemovedRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |_| true,
    write: write_removed,
};

/// Columns of the output `removed`, for example `id` and `kept_id`.
#[derive(Debug)]
struct RemovedRows;

impl RowTable for RemovedRows {
    type Row<'r> = NamedPair<'r>;

    // The ID must come first, because `--output-format ids` writes only the first column. File and record number must
    // follow, because `--output-format ids` adds them if the IDs do not identify the documents.
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the removed document.", Value::Id(|row| row.first.id())),
        Column::new(
            "file",
            "File of the removed document.",
            Value::Text(|row| row.first.file_bytes()),
        ),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.first.record)),
        Column::new(
            "kept_id",
            "ID of the document that is kept in its place.",
            Value::Id(|row| row.second.id()),
        ),
        Column::new(
            "kept_file",
            "File of the kept document.",
            Value::Text(|row| row.second.file_bytes()),
        ),
        Column::new(
            "kept_record",
            "Number of the kept document's record in its file, from 0.",
            Value::Number(|row| row.second.record),
        ),
        similarity_column(),
        distance_column(),
        lost_words_column(|row| row.lost.map(|lost| lost.lost)),
        lost_share_column(|row| row.lost.map(LostWords::share)),
        // It must come last, because other methods do not write it.
        Column::new(
            "covered_by",
            "Number of kept documents that have its words together, except for those that are lost. The kept document has \
             most of them. Only with the method covered.",
            Value::OptionalCount(|row| row.covered_by),
        ),
    ];
}

fn write_removed(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let originals = results.findings.originals();
    let columns = match (results.outputs.only_ids, results.has_ambiguous_ids) {
        (true, false) => &RemovedRows::COLUMNS[..1],
        // A list of IDs alone would make its reader remove kept documents, too.
        (true, true) => &RemovedRows::COLUMNS[..3],
        (false, _) if results.findings.coverage().is_some() => RemovedRows::COLUMNS,
        (false, _) => &RemovedRows::COLUMNS[..RemovedRows::COLUMNS.len() - 1],
    };
    results.write_rows("removed", columns, |rows| {
        results.findings.removals.iter().enumerate().try_for_each(|(at, removal)| {
            rows.write(&NamedPair {
                first: &documents.name(removal.row),
                second: &originals.name(removal.kept),
                closeness: removal.closeness,
                lost: results.findings.lost_words(removal.row),
                covered_by: results.findings.covered_by(at),
            })
        })
    })
}
