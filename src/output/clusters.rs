//! The output `clusters.jsonl`: each kept document with the documents that were removed in its favour.

use super::findings::Side;
use super::named::{NameColumns, RECORD_MEANING};
use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::cluster::{Cluster, Removal};
use crate::write::columns::{
    Column, Nested, OutputDescription, RowTable, Value, describe_columns, write_json_line,
    write_json_object,
};
use simtool_base::error::Result;
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;
use std::io::{self, Write};

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "clusters",
        files: &["clusters.jsonl"],
        command: "dedup, match",
        description: "Each kept document that others were removed for, with all of these.",
        columns: || describe_columns(ClusterRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |_| true,
    write: write_clusters,
};

/// Columns of `clusters.jsonl`, which has a row for each cluster.
#[derive(Debug)]
struct ClusterRows;

struct ClusterRow<'r> {
    cluster: &'r Cluster<'r>,
    documents: Side<'r>,
    originals: Side<'r>,
}

impl RowTable for ClusterRows {
    type Row<'r> = ClusterRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "kept",
            "The document that is kept.",
            Value::Nested(Nested {
                columns: || describe_columns(NameColumns::COLUMNS),
                is_list: false,
                write_json: write_kept,
            }),
        ),
        Column::new(
            "removed",
            "The documents that are removed for it, in reading order.",
            Value::Nested(Nested {
                columns: || describe_columns(MemberRows::COLUMNS),
                is_list: true,
                write_json: write_members,
            }),
        ),
    ];
}

/// Columns of the removed documents, which are a list of objects in each row of [`ClusterRows`].
#[derive(Debug)]
struct MemberRows;

struct MemberRow<'r> {
    name: DocumentName<'r>,
    closeness: Option<Closeness>,
}

impl RowTable for MemberRows {
    type Row<'r> = MemberRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the removed document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "similarity",
            "Its similarity to the kept document, if the method computes it.",
            Value::Ratio(|row| row.closeness.and_then(Closeness::similarity)),
        ),
        Column::new(
            "distance",
            "Its distance from the kept document, if the method has fingerprints.",
            Value::OptionalCount(|row| row.closeness.and_then(Closeness::distance)),
        ),
    ];
}

fn write_kept(row: &ClusterRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    let kept = row.originals.name(row.cluster.kept);
    write_json_object(out, NameColumns::COLUMNS, &kept)
}

fn write_members(row: &ClusterRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, removal) in row.cluster.removed.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        let Removal { row: document, closeness, .. } = **removal;
        let member = MemberRow { name: row.documents.name(document), closeness };
        write_json_object(out, MemberRows::COLUMNS, &member)?;
    }
    out.write_all(b"]")
}

fn write_clusters(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let originals = results.findings.originals();
    results.write_file("clusters.jsonl", |out| {
        results.clusters.iter().try_for_each(|cluster| {
            let row = ClusterRow { cluster, documents, originals };
            write_json_line(out, ClusterRows::COLUMNS, &row)
        })
    })
}
