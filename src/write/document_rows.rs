//! Rows that name documents: what was removed, what is close, and clusters; as JSON Lines,
//! TSV or Parquet.

use crate::write::row_fields::{RowKind, Value};
use crate::write::tsv_field::write_field;
use simtool_base::json_text::write_string;
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;
use std::io::{self, Write};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object a line.
    JsonLines,
    /// Fields between tabs, under a line of their names; a tab, line end or backslash in a field is
    /// `\t`, `\n`, `\r` or `\\`.
    Tsv,
    /// Columns, compressed with Zstandard, with the recipe in the metadata.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl RowFormat {
    /// All of them.
    #[cfg(feature = "parquet")]
    pub const ALL: [Self; 3] = [Self::JsonLines, Self::Tsv, Self::Parquet];
    /// All of them, in a build without Parquet.
    #[cfg(not(feature = "parquet"))]
    pub const ALL: [Self; 2] = [Self::JsonLines, Self::Tsv];

    /// What such a file holds, for help.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::JsonLines => "One JSON object a line",
            Self::Tsv => "Fields between tabs",
            #[cfg(feature = "parquet")]
            Self::Parquet => "Columns, compressed with Zstandard",
        }
    }

    /// The ending of a file of such rows, which is also the name that options use.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Tsv => "tsv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

/// Writes rows of one kind.
#[derive(Debug)]
pub struct DocumentRows<W: Write + Send>(Rows<W>);

#[derive(Debug)]
enum Rows<W: Write + Send> {
    JsonLines(W, RowKind),
    Tsv(W, RowKind),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::document_columns::DocumentColumns<W>>),
}

impl<W: Write + Send> DocumentRows<W> {
    /// Rows to `out`, beginning with the names of the fields and the recipe where the format has a
    /// place for them.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(mut out: W, format: RowFormat, kind: RowKind, recipe: &str) -> io::Result<Self> {
        #[cfg(not(feature = "parquet"))]
        let _ = recipe;
        Ok(Self(match format {
            RowFormat::JsonLines => Rows::JsonLines(out, kind),
            RowFormat::Tsv => {
                write_field_names(&mut out, kind)?;
                Rows::Tsv(out, kind)
            }
            #[cfg(feature = "parquet")]
            RowFormat::Parquet => {
                let columns = super::document_columns::DocumentColumns::new(out, kind, recipe)?;
                Rows::Parquet(Box::new(columns))
            }
        }))
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(
        &mut self,
        documents: [&DocumentName<'_>; 2],
        closeness: Option<Closeness>,
    ) -> io::Result<()> {
        match &mut self.0 {
            Rows::JsonLines(out, kind) => write_object(out, *kind, documents, closeness),
            Rows::Tsv(out, kind) => write_fields(out, *kind, documents, closeness),
            #[cfg(feature = "parquet")]
            Rows::Parquet(columns) => columns.write(documents, closeness),
        }
    }

    /// Gives the writer back, with all rows written to it.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self.0 {
            Rows::JsonLines(out, _) | Rows::Tsv(out, _) => out,
            #[cfg(feature = "parquet")]
            Rows::Parquet(columns) => columns.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

fn write_object(
    out: &mut dyn Write,
    kind: RowKind,
    documents: [&DocumentName<'_>; 2],
    closeness: Option<Closeness>,
) -> io::Result<()> {
    for (at, (name, field)) in kind.fields().iter().enumerate() {
        write!(out, "{}\"{name}\":", if at == 0 { '{' } else { ',' })?;
        match field.of(documents, closeness) {
            Value::Text(text) => write_string(out, text)?,
            Value::Number(number) => write!(out, "{number}")?,
            // The shortest decimal that gives the same number back.
            Value::Ratio(Some(ratio)) => write!(out, "{ratio}")?,
            Value::Count(Some(count)) => write!(out, "{count}")?,
            Value::Ratio(None) | Value::Count(None) => out.write_all(b"null")?,
        }
    }
    out.write_all(b"}\n")
}

fn write_field_names(out: &mut dyn Write, kind: RowKind) -> io::Result<()> {
    let names: Vec<&str> = kind.fields().iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", names.join("\t"))
}

fn write_fields(
    out: &mut dyn Write,
    kind: RowKind,
    documents: [&DocumentName<'_>; 2],
    closeness: Option<Closeness>,
) -> io::Result<()> {
    for (at, (_, field)) in kind.fields().iter().enumerate() {
        if at > 0 {
            out.write_all(b"\t")?;
        }
        match field.of(documents, closeness) {
            Value::Text(text) => write_field(out, text)?,
            Value::Number(number) => write!(out, "{number}")?,
            Value::Ratio(Some(ratio)) => write!(out, "{ratio}")?,
            Value::Count(Some(count)) => write!(out, "{count}")?,
            Value::Ratio(None) | Value::Count(None) => {}
        }
    }
    out.write_all(b"\n")
}

/// Writes a cluster as a JSON object: the kept document and the removed ones.
///
/// # Errors
///
/// Those of `out`.
pub fn write_cluster<'d>(
    out: &mut dyn Write,
    kept: &DocumentName<'_>,
    removed: impl Iterator<Item = (DocumentName<'d>, Option<Closeness>)>,
) -> io::Result<()> {
    out.write_all(b"{\"kept\":{")?;
    kept.write_fields(out)?;
    out.write_all(b"},\"removed\":[")?;
    for (number, (document, closeness)) in removed.enumerate() {
        out.write_all(if number == 0 { b"{" } else { b",{" })?;
        document.write_fields(out)?;
        write_closeness(out, closeness)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]}\n")
}

fn write_closeness(out: &mut dyn Write, closeness: Option<Closeness>) -> io::Result<()> {
    // The shortest decimal that gives the same number back.
    match closeness.and_then(Closeness::similarity) {
        Some(similarity) => write!(out, ",\"similarity\":{similarity}")?,
        None => out.write_all(b",\"similarity\":null")?,
    }
    match closeness.and_then(Closeness::distance) {
        Some(distance) => write!(out, ",\"distance\":{distance}"),
        None => out.write_all(b",\"distance\":null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::similarity::Similarity;
    use std::borrow::Cow;
    use std::path::Path;

    fn name(id: &str, record: u64) -> DocumentName<'_> {
        DocumentName { id: Cow::Borrowed(id.as_bytes()), file: Path::new("in/a.jsonl"), record }
    }

    fn rows(format: RowFormat, kind: RowKind) -> String {
        String::from_utf8(row_bytes(format, kind)).unwrap()
    }

    fn row_bytes(format: RowFormat, kind: RowKind) -> Vec<u8> {
        let mut rows = DocumentRows::new(Vec::new(), format, kind, "test").unwrap();
        let similarity = Similarity { shared: 1, union: 3 };
        let documents = [&name("a\t\"x\"", 3), &name("b", 0)];
        rows.write(documents, Some(Closeness::Similarity(similarity))).unwrap();
        rows.write(documents, Some(Closeness::Distance(2))).unwrap();
        rows.write(documents, None).unwrap();
        rows.finish().unwrap()
    }

    #[test]
    fn rows_of_json_lines() {
        let names = r#"{"id":"a\t\"x\"","file":"in/a.jsonl","record":3,"kept_id":"b","kept_file":"in/a.jsonl","kept_record":0"#;
        let expected = format!(
            "{names},\"similarity\":0.3333333333333333,\"distance\":null}}\n\
             {names},\"similarity\":null,\"distance\":2}}\n\
             {names},\"similarity\":null,\"distance\":null}}\n"
        );
        assert_eq!(rows(RowFormat::JsonLines, RowKind::Removed), expected);
    }

    #[test]
    fn rows_of_tsv() {
        let names = "a\\t\"x\"\tin/a.jsonl\t3\tb\tin/a.jsonl\t0";
        let expected = format!(
            "a_id\ta_file\ta_record\tb_id\tb_file\tb_record\tsimilarity\tdistance\n\
             {names}\t0.3333333333333333\t\n{names}\t\t2\n{names}\t\t\n"
        );
        assert_eq!(rows(RowFormat::Tsv, RowKind::Pair), expected);
    }

    #[test]
    fn rows_of_ids() {
        let (json, tsv) = (RowFormat::JsonLines, RowFormat::Tsv);
        assert_eq!(rows(json, RowKind::RemovedId), "{\"id\":\"a\\t\\\"x\\\"\"}\n".repeat(3));
        assert_eq!(rows(tsv, RowKind::RemovedId), "id\na\\t\"x\"\na\\t\"x\"\na\\t\"x\"\n");
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn rows_of_parquet() {
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Float64Type, Int32Type, Int64Type};
        use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
        let bytes = bytes::Bytes::from(row_bytes(RowFormat::Parquet, RowKind::Removed));
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let recipe = metadata.iter().find(|pair| pair.key == "simtool.recipe").unwrap();
        assert_eq!(recipe.value.as_deref(), Some("test"));
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 3);
        let schema = batch.schema();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let expected =
            "id file record kept_id kept_file kept_record similarity distance".split(' ');
        assert_eq!(names, expected.collect::<Vec<_>>());
        assert_eq!(batch["id"].as_string::<i32>().value(1), "a\t\"x\"");
        assert_eq!(batch["kept_file"].as_string::<i32>().value(0), "in/a.jsonl");
        assert_eq!(batch["record"].as_primitive::<Int64Type>().values()[..], [3, 3, 3]);
        let similarities = batch["similarity"].as_primitive::<Float64Type>();
        assert_eq!(similarities.iter().collect::<Vec<_>>(), [Some(1.0 / 3.0), None, None]);
        let distances = batch["distance"].as_primitive::<Int32Type>();
        assert_eq!(distances.iter().collect::<Vec<_>>(), [None, Some(2), None]);
        let ids = bytes::Bytes::from(row_bytes(RowFormat::Parquet, RowKind::RemovedId));
        let mut ids = ParquetRecordBatchReaderBuilder::try_new(ids).unwrap().build().unwrap();
        assert_eq!(ids.next().unwrap().unwrap().num_columns(), 1);
    }

    #[test]
    fn a_cluster_is_one_object() {
        let mut out = Vec::new();
        let removed = [(name("b", 1), Some(Closeness::Distance(0))), (name("c", 2), None)];
        write_cluster(&mut out, &name("a", 0), removed.into_iter()).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"kept\":{\"id\":\"a\",\"file\":\"in/a.jsonl\",\"record\":0},\"removed\":[\
             {\"id\":\"b\",\"file\":\"in/a.jsonl\",\"record\":1,\"similarity\":null,\"distance\":0},\
             {\"id\":\"c\",\"file\":\"in/a.jsonl\",\"record\":2,\"similarity\":null,\"distance\":null}]}\n"
        );
    }
}
