//! The output `coverage`: the words of each removed document, with their places in kept documents.

use super::named::RECORD_MEANING;
use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::write::columns::{Column, OutputDescription, RowTable, Value, describe_columns};
use simtool_base::error::Result;
use simtool_coverage::Stretch;
use simtool_model::document_name::DocumentName;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "coverage",
        files: &["coverage.jsonl", "coverage.tsv", "coverage.parquet"],
        command: "dedup, match",
        description: "With the method covered: each stretch of words of a removed document that a kept document has, too. \
                      The stretches of a removed document have each of its words once, except for lost words. Words are \
                      those that are compared: without stop words, and without boilerplate.",
        columns: || describe_columns(CoverageRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |results| results.findings.coverage().is_some(),
    write: write_coverage,
};

/// A stretch (consecutive words of a removed document that are also in a kept one), with the names of the two
/// documents.
struct NamedStretch<'r> {
    removed: DocumentName<'r>,
    kept: DocumentName<'r>,
    stretch: Stretch,
}

/// Columns of the output `coverage`, for example `from_word`.
#[derive(Debug)]
struct CoverageRows;

impl RowTable for CoverageRows {
    type Row<'r> = NamedStretch<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the removed document.", Value::Id(|row| row.removed.id())),
        Column::new(
            "file",
            "File of the removed document.",
            Value::Text(|row| row.removed.file_bytes()),
        ),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.removed.record)),
        Column::new(
            "from_word",
            "Number of the first word of the stretch in the removed document, from 0.",
            Value::Number(|row| row.stretch.words[0].into()),
        ),
        Column::new(
            "to_word",
            "Number of the word behind the stretch. A document with fewer words than a run, or just as many, counts as \
             one word.",
            Value::Number(|row| row.stretch.words[1].into()),
        ),
        Column::new(
            "kept_id",
            "ID of the kept document that has the stretch.",
            Value::Id(|row| row.kept.id()),
        ),
        Column::new(
            "kept_file",
            "File of the kept document.",
            Value::Text(|row| row.kept.file_bytes()),
        ),
        Column::new(
            "kept_record",
            "Number of the kept document's record in its file, from 0.",
            Value::Number(|row| row.kept.record),
        ),
        Column::new(
            "kept_from_word",
            "Number of the first word of the stretch in the kept document, from 0.",
            Value::Number(|row| row.stretch.kept_from.into()),
        ),
    ];
}

fn write_coverage(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let originals = results.findings.originals();
    results.write_rows("coverage", CoverageRows::COLUMNS, |rows| {
        let stretches = results.findings.coverage().map_or(&[][..], |found| &found.stretches);
        stretches.iter().try_for_each(|&stretch| {
            rows.write(&NamedStretch {
                removed: documents.name(stretch.row),
                kept: originals.name(stretch.kept),
                stretch,
            })
        })
    })
}
