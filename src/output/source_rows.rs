//! The output `sources.jsonl`: how many documents of each source were removed, and for which sources.

use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use super::sources::SourceRow;
use crate::write::columns::{
    Column, Nested, OutputDescription, RowTable, Value, describe_columns, write_json_line,
    write_json_object,
};
use simtool_base::error::Result;
use std::io::{self, Write};

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "sources",
        files: &["sources.jsonl"],
        command: "dedup, match",
        description: "Each source with its removed documents and the sources that they repeat, with `--by`.",
        columns: || describe_columns(SourceRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |results| results.findings.plan.source().is_some(),
    write: write_sources,
};

/// Columns of `sources.jsonl`, which has a row for each source.
#[derive(Debug)]
struct SourceRows;

impl RowTable for SourceRows {
    type Row<'r> = SourceRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "source",
            "Name of the source. Empty for documents without one.",
            Value::Text(|row| row.name),
        ),
        Column::new("documents", "Number of its documents.", Value::Number(|row| row.documents)),
        Column::new(
            "removed",
            "Number of documents of the source that are removed.",
            Value::Number(|row| row.removed),
        ),
        Column::new(
            "lost_words",
            "Number of words that these removals lose. Null if they were not counted.",
            Value::OptionalCount(|row| {
                row.lost_words.map(|lost| u32::try_from(lost).unwrap_or(u32::MAX))
            }),
        ),
        Column::new(
            "repeats",
            "The sources of the documents that are kept in place of the removed ones.",
            Value::Nested(Nested {
                columns: || describe_columns(RepeatRows::COLUMNS),
                is_list: true,
                write_json: write_repeats,
            }),
        ),
    ];
}

/// Columns of the repeated sources, which are a list of objects in each row of [`SourceRows`].
#[derive(Debug)]
struct RepeatRows;

impl RowTable for RepeatRows {
    type Row<'r> = (&'r [u8], u64);

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("source", "Name of a source.", Value::Text(|(name, _)| name)),
        Column::new(
            "removed",
            "Number of documents that are removed for documents of this source.",
            Value::Number(|&(_, count)| count),
        ),
    ];
}

fn write_repeats(row: &SourceRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, repeat) in row.repeats.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write_json_object(out, RepeatRows::COLUMNS, repeat)?;
    }
    out.write_all(b"]")
}

fn write_sources(results: &Results<'_>) -> Result<()> {
    results.write_file("sources.jsonl", |out| {
        let mut rows = results.sources.rows();
        rows.try_for_each(|row| write_json_line(out, SourceRows::COLUMNS, &row))
    })
}
