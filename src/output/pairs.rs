//! The output `pairs`: every pair of near-duplicates.

use super::named::{NamedPair, RECORD_MEANING, distance_column, similarity_column};
use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::write::columns::{Column, OutputDescription, RowTable, Value, describe_columns};
use simtool_base::error::Result;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "pairs",
        files: &["pairs.jsonl", "pairs.tsv", "pairs.parquet"],
        command: "dedup, match",
        description: "Every pair of close documents. Written by match, and by dedup with --pairs. The method covered finds no pairs.",
        columns: || describe_columns(PairRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |results| results.outputs.pairs && results.findings.coverage().is_none(),
    write: write_pairs,
};

/// Columns of the output `pairs`, for example `a_id` and `similarity`.
#[derive(Debug)]
struct PairRows;

impl RowTable for PairRows {
    type Row<'r> = NamedPair<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "a_id",
            "ID of the first document; for match, of the query.",
            Value::Id(|row| row.first.id()),
        ),
        Column::new(
            "a_file",
            "File of the first document.",
            Value::Text(|row| row.first.file_bytes()),
        ),
        Column::new("a_record", RECORD_MEANING, Value::Number(|row| row.first.record)),
        Column::new(
            "b_id",
            "ID of the second document; for match, of the document in the corpus.",
            Value::Id(|row| row.second.id()),
        ),
        Column::new(
            "b_file",
            "File of the second document.",
            Value::Text(|row| row.second.file_bytes()),
        ),
        Column::new("b_record", RECORD_MEANING, Value::Number(|row| row.second.record)),
        similarity_column(),
        distance_column(),
    ];
}

fn write_pairs(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let originals = results.findings.originals();
    // In a run on one collection, `documents` and `originals` are the same collection.
    results.write_rows("pairs", PairRows::COLUMNS, |rows| {
        results.findings.close.for_each_pair(|pair| {
            rows.write(&NamedPair {
                first: &documents.name(pair.a),
                second: &originals.name(pair.b),
                closeness: Some(pair.closeness),
                lost: None,
                covered_by: None,
            })
        })
    })
}
