//! Rows that the commands `index add`, `filter`, `query`, `stat` and `export` write.

use super::named::RECORD_MEANING;
use crate::write::columns::{
    Column, Nested, OutputDescription, RowTable, Value, describe_columns, write_json_line,
    write_json_object, write_tsv_line,
};
use simtool_base::utc_time::UtcTime;
use simtool_model::document_name::DocumentName;
use std::io::{self, Write};

pub(crate) const REPEATS_OUTPUT: OutputDescription = OutputDescription {
    name: "index-repeats",
    files: &[],
    command: "index add",
    description: "Each document that repeats one in the index, with --json. Without --json, both \
                  IDs and the distance, with tabs between them.",
    columns: || describe_columns(RepeatRows::COLUMNS),
};

pub(crate) const NEAR_OUTPUT: OutputDescription = OutputDescription {
    name: "index-near",
    files: &[],
    command: "index query",
    description: "Each document that is close to one in the index, with --json. Without --json, \
                  both IDs and the distance, with tabs between them.",
    columns: || describe_columns(NearRows::COLUMNS),
};

pub(crate) const EXPORT_OUTPUT: OutputDescription = OutputDescription {
    name: "index-export",
    files: &[],
    command: "index export",
    description: "Every document of the index. In JSON Lines the fingerprint is the last column.",
    columns: || describe_columns(IndexRows::COLUMNS),
};

pub(crate) const DUPLICATES_OUTPUT: OutputDescription = OutputDescription {
    name: "index-duplicates",
    files: &[],
    command: "index filter",
    description: "Each line that was not passed on, in the file of --duplicates.",
    columns: || describe_columns(DuplicateRows::COLUMNS),
};

pub(crate) const SIZE_OUTPUT: OutputDescription = OutputDescription {
    name: "index-size",
    files: &[],
    command: "index stat",
    description: "The size of the index, with --json: one object.",
    columns: || describe_columns(SizeRows::COLUMNS),
};

/// Data of one row, which describes a document of an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexRow<'r> {
    pub(crate) number: u64,
    pub(crate) id: &'r [u8],
    /// Number of documents that were near this document and so were not added.
    pub(crate) repeats: u64,
    /// Names of the sources of the document and its repeats. The source of the document itself is first.
    pub(crate) sources: &'r [&'r str],
    /// Earliest time at which the document or a repeat of it was added.
    pub(crate) first: UtcTime,
    /// Latest time at which the document or a repeat of it was added.
    pub(crate) last: UtcTime,
    /// Fingerprint in hexadecimal digits. Empty if the output does not have it.
    pub(crate) fingerprint: &'r str,
}

/// Columns of the rows about documents of an index.
#[derive(Debug)]
pub(crate) struct IndexRows;

const NUMBER: Column<IndexRows> =
    Column::new("number", "Number of the document in the index.", Value::Number(|row| row.number));
const ID: Column<IndexRows> = Column::new("id", "ID of the document.", Value::Text(|row| row.id));
const FINGERPRINT: Column<IndexRows> = Column::new(
    "fingerprint",
    "Its fingerprint in hexadecimal.",
    Value::Text(|row| row.fingerprint.as_bytes()),
);
const REPEATS: Column<IndexRows> = Column::new(
    "repeats",
    "Number of its repeats that were added.",
    Value::Number(|row| row.repeats),
);
const SOURCES: Column<IndexRows> = Column::new(
    "sources",
    "Names of the sources of the document and its repeats; its own source is first.",
    Value::Texts(|row| row.sources),
);
const FIRST: Column<IndexRows> = Column::new(
    "first",
    "Earliest time at which the document or a repeat was added.",
    Value::Time(|row| row.first),
);
const LAST: Column<IndexRows> = Column::new(
    "last",
    "Latest time at which the document or a repeat was added.",
    Value::Time(|row| row.last),
);

impl IndexRows {
    /// Columns of a document that a query found: all columns except the fingerprint.
    const FOUND: &'static [Column<Self>] = &[NUMBER, ID, REPEATS, SOURCES, FIRST, LAST];

    /// Columns of the documents of an index in JSON Lines. The fingerprint comes last because it is long.
    pub(crate) const JSON_LINES: &'static [Column<Self>] =
        &[NUMBER, ID, REPEATS, SOURCES, FIRST, LAST, FINGERPRINT];
}

impl RowTable for IndexRows {
    type Row<'r> = IndexRow<'r>;

    const COLUMNS: &'static [Column<Self>] =
        &[NUMBER, ID, FINGERPRINT, REPEATS, SOURCES, FIRST, LAST];
}

/// Returns the column with the file of a document. Several outputs have this column.
const fn file_column<T: RowTable>(value: Value<T>) -> Column<T> {
    Column::new("file", "File of the document.", value)
}

const fn record_column<T: RowTable>(value: Value<T>) -> Column<T> {
    Column::new("record", RECORD_MEANING, value)
}

/// Returns the column with the ID of the indexed document that the document of the row repeats.
const fn repeated_column<T: RowTable>(value: Value<T>) -> Column<T> {
    Column::new("repeats", "ID of the document in the index that it repeats.", value)
}

const fn repeated_number_column<T: RowTable>(value: Value<T>) -> Column<T> {
    Column::new("number", "Number of the repeated document in the index.", value)
}

const fn distance_column<T: RowTable>(value: Value<T>) -> Column<T> {
    Column::new("distance", "Number of positions in which the fingerprints differ.", value)
}

/// A document that was not added because it is near a document of the index.
#[derive(Debug)]
pub struct RepeatRow<'r> {
    /// Name of the document that was not added.
    pub name: &'r DocumentName<'r>,
    /// ID of the document of the index that this document repeats.
    pub repeated: &'r [u8],
    /// Number of the document of the index that this document repeats.
    pub number: u64,
    /// Distance between the fingerprints of the two documents.
    pub distance: u32,
}

#[derive(Debug)]
struct RepeatRows;

impl RepeatRows {
    const ID: Column<Self> =
        Column::new("id", "ID of the document that was not added.", Value::Id(|row| row.name.id()));
    const REPEATED: Column<Self> = repeated_column(Value::Text(|row| row.repeated));
    const DISTANCE: Column<Self> = distance_column(Value::Count(|row| row.distance));

    // A line for `cut` and `awk`, so columns may only be added behind these.
    const TEXT: &'static [Column<Self>] = &[Self::ID, Self::REPEATED, Self::DISTANCE];
}

impl RowTable for RepeatRows {
    type Row<'r> = RepeatRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Self::ID,
        file_column(Value::Text(|row| row.name.file_bytes())),
        record_column(Value::Number(|row| row.name.record)),
        Self::REPEATED,
        repeated_number_column(Value::Number(|row| row.number)),
        Self::DISTANCE,
    ];
}

/// Writes a line about a document that was not added because it is near a document of the index. The line is a
/// JSON object, or both IDs and the distance separated by tabs.
///
/// # Errors
///
/// `out` fails.
pub fn write_repeat(out: &mut dyn Write, is_json: bool, row: &RepeatRow<'_>) -> io::Result<()> {
    if is_json {
        write_json_line(out, RepeatRows::COLUMNS, row)
    } else {
        write_tsv_line(out, RepeatRows::TEXT, row)
    }
}

/// A document that was looked up in an index and is near a document of the index.
pub(crate) struct NearRow<'r> {
    pub(crate) name: &'r DocumentName<'r>,
    pub(crate) distance: u32,
    /// The document of the index to which the document `name` is near.
    pub(crate) near: &'r IndexRow<'r>,
}

#[derive(Debug)]
struct NearRows;

impl NearRows {
    const ID: Column<Self> =
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id()));
    const NEAR_ID: Column<Self> =
        Column::new("near", "ID of the document in the index.", Value::Text(|row| row.near.id));
    const DISTANCE: Column<Self> = distance_column(Value::Count(|row| row.distance));

    const TEXT: &'static [Column<Self>] = &[Self::ID, Self::NEAR_ID, Self::DISTANCE];
}

impl RowTable for NearRows {
    type Row<'r> = NearRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Self::ID,
        file_column(Value::Text(|row| row.name.file_bytes())),
        record_column(Value::Number(|row| row.name.record)),
        Self::DISTANCE,
        Column::new(
            "near",
            "The document in the index.",
            Value::Nested(Nested {
                columns: || describe_columns(IndexRows::FOUND),
                is_list: false,
                write_json: |row, out| write_json_object(out, IndexRows::FOUND, row.near),
            }),
        ),
    ];
}

/// Writes a line about a query document that is near a document of the index. The line is a JSON object, or both
/// IDs and the distance separated by tabs.
pub(crate) fn write_near(out: &mut dyn Write, is_json: bool, row: &NearRow<'_>) -> io::Result<()> {
    if is_json {
        write_json_line(out, NearRows::COLUMNS, row)
    } else {
        write_tsv_line(out, NearRows::TEXT, row)
    }
}

/// An input line that a filter did not pass on, because its document is near a document of the index.
#[derive(Debug)]
pub(crate) struct DuplicateRow<'r> {
    /// ID of the document in the line that was not passed on.
    pub(crate) id: &'r [u8],
    /// ID of the document of the index that the document in the line repeats.
    pub(crate) repeated: &'r [u8],
    /// Number of the document of the index that the document in the line repeats.
    pub(crate) number: u64,
    /// Distance between the fingerprints of the two documents.
    pub(crate) distance: u32,
    /// The line, which is a JSON object, without its line end.
    pub(crate) document: &'r [u8],
}

#[derive(Debug)]
struct DuplicateRows;

impl RowTable for DuplicateRows {
    type Row<'r> = DuplicateRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document in the line.", Value::Text(|row| row.id)),
        repeated_column(Value::Text(|row| row.repeated)),
        repeated_number_column(Value::Number(|row| row.number)),
        distance_column(Value::Count(|row| row.distance)),
        Column::new(
            "document",
            "The line itself, with all its fields.",
            Value::Nested(Nested {
                columns: Vec::new,
                is_list: false,
                write_json: |row, out| out.write_all(row.document),
            }),
        ),
    ];
}

/// Writes a row about a line that was not passed on. The row is a JSON object on a line of its own.
pub(crate) fn write_duplicate(out: &mut dyn Write, row: &DuplicateRow<'_>) -> io::Result<()> {
    write_json_line(out, DuplicateRows::COLUMNS, row)
}

/// Size of an index, and the method that compares its documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeRow<'r> {
    pub(crate) method: &'r str,
    pub(crate) documents: u64,
    pub(crate) removed: u64,
    pub(crate) repeats: u64,
    /// Number of different names of sources.
    pub(crate) sources: usize,
    pub(crate) segments: usize,
    /// Number of lookup tables of each segment. If it is 0, a search compares every fingerprint.
    pub(crate) tables: usize,
    pub(crate) bytes: u64,
    pub(crate) generation: u64,
}

#[derive(Debug)]
struct SizeRows;

impl RowTable for SizeRows {
    type Row<'r> = SizeRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "method",
            "Method that compares the documents.",
            Value::Text(|row| row.method.as_bytes()),
        ),
        Column::new(
            "documents",
            "Number of documents, without removed ones.",
            Value::Number(|row| row.documents),
        ),
        Column::new(
            "removed",
            "Number of documents that were removed.",
            Value::Number(|row| row.removed),
        ),
        Column::new(
            "repeats",
            "Number of documents that were near others and so were not added.",
            Value::Number(|row| row.repeats),
        ),
        Column::new(
            "sources",
            "Number of names of sources.",
            Value::Number(|row| row.sources as u64),
        ),
        Column::new(
            "segments",
            "Number of segments, which are searched one after the other.",
            Value::Number(|row| row.segments as u64),
        ),
        Column::new(
            "tables",
            "Number of tables of each segment; 0 if every fingerprint is compared.",
            Value::Number(|row| row.tables as u64),
        ),
        Column::new(
            "bytes",
            "Number of bytes of all segment files.",
            Value::Number(|row| row.bytes),
        ),
        Column::new("generation", "Number of commits so far.", Value::Number(|row| row.generation)),
    ];
}

/// Writes the size of an index as one JSON object.
pub(crate) fn write_size(out: &mut dyn Write, row: &SizeRow<'_>) -> io::Result<()> {
    write_json_line(out, SizeRows::COLUMNS, row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;
    use std::path::Path;

    const KNOWN: IndexRow<'_> = IndexRow {
        number: 7,
        id: b"a\"b",
        repeats: 2,
        sources: &["dump", "crawl 2"],
        first: UtcTime::from_seconds(0),
        last: UtcTime::from_seconds(86_400),
        fingerprint: "00ff",
    };

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_fingerprint_is_the_last_field_of_exported_json() {
        let line = text(|out| write_json_line(out, IndexRows::JSON_LINES, &KNOWN));
        let expected = r#"{"number":7,"id":"a\"b","repeats":2,"sources":["dump","crawl 2"],"first":"1970-01-01T00:00:00Z","last":"1970-01-02T00:00:00Z","fingerprint":"00ff"}"#;
        assert_eq!(line, format!("{expected}\n"));
    }

    #[test]
    fn repeats_and_near_documents_are_lines_or_objects() {
        let id = Cow::Borrowed(&b"x\ty"[..]);
        let name = DocumentName { id, is_number: false, file: Path::new("in"), record: 1 };
        let repeat = RepeatRow { name: &name, repeated: b"c", number: 9, distance: 3 };
        let names = r#"{"id":"x\ty","file":"in","record":1"#;
        assert_eq!(text(|out| write_repeat(out, false, &repeat)), "x\\ty\tc\t3\n");
        let json = text(|out| write_repeat(out, true, &repeat));
        assert_eq!(json, format!("{names},\"repeats\":\"c\",\"number\":9,\"distance\":3}}\n"));
        let near = NearRow { name: &name, distance: 3, near: &KNOWN };
        assert_eq!(text(|out| write_near(out, false, &near)), "x\\ty\ta\"b\t3\n");
        let json = text(|out| write_near(out, true, &near));
        assert!(json.starts_with(&format!("{names},\"distance\":3,\"near\":{{\"number\":7,")));
        assert!(json.ends_with("\"last\":\"1970-01-02T00:00:00Z\"}}\n"));
    }
}
