//! The output `quarantine.jsonl`: the records that could not be read as documents.

use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::pipeline::Quarantined;
use crate::write::columns::{
    Column, OutputDescription, RowTable, Value, describe_columns, write_json_line,
};
use simtool_base::error::Result;
use std::path::Path;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "quarantine",
        files: &["quarantine.jsonl"],
        command: "dedup, match",
        description: "Each record that could not be read as a document, and what is wrong with it.",
        columns: || describe_columns(QuarantineRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |_| true,
    write: write_quarantine,
};

/// Columns of the output `quarantine.jsonl`, for example `file` and `expected`.
#[derive(Debug)]
struct QuarantineRows;

struct QuarantineRow<'r> {
    file: &'r Path,
    bad: Quarantined<'r>,
}

impl RowTable for QuarantineRows {
    type Row<'r> = QuarantineRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "file",
            "File of the record.",
            Value::Text(|row| row.file.as_os_str().as_encoded_bytes()),
        ),
        Column::new(
            "record",
            "Number of the record in the file, from 0. Empty lines count, too.",
            Value::Number(|row| row.bad.record),
        ),
        Column::new(
            "byte",
            "Offset of the record in the file, after decompression.",
            Value::Number(|row| row.bad.byte),
        ),
        Column::new(
            "length",
            "Length of the record in bytes.",
            Value::Number(|row| row.bad.length),
        ),
        Column::new(
            "code",
            "Stable name of the fault.",
            Value::Text(|row| row.bad.code.as_bytes()),
        ),
        Column::new(
            "expected",
            "Description of a good record.",
            Value::Text(|row| row.bad.expected.as_bytes()),
        ),
    ];
}

fn write_quarantine(results: &Results<'_>) -> Result<()> {
    results.write_file("quarantine.jsonl", |out| {
        for side in results.findings.sides.iter() {
            for bad in side.read.quarantined.iter() {
                let row = QuarantineRow { file: side.collection.file_name(bad.file), bad };
                write_json_line(out, QuarantineRows::COLUMNS, &row)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_file_the_place_the_code_and_the_expectation() {
        let bad = Quarantined {
            file: 0,
            record: 3,
            byte: 45,
            length: 12,
            code: "json",
            expected: "a \"string\"",
        };
        let row = QuarantineRow { file: Path::new("a/b.jsonl"), bad };
        let mut out = Vec::new();
        write_json_line(&mut out, QuarantineRows::COLUMNS, &row).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"file\":\"a/b.jsonl\",\"record\":3,\"byte\":45,\"length\":12,\"code\":\"json\",\
             \"expected\":\"a \\\"string\\\"\"}\n"
        );
    }
}
