//! Rows that name documents as a Parquet file: text for IDs and files, signed 64-bit record
//! numbers (some readers make decimals of unsigned ones), nulls where a method has no similarity or
//! distance.

use crate::closeness::Closeness;
use crate::document_name::DocumentName;
use crate::write::document_rows::RowKind;
use arrow_array::builder::{Float64Builder, Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are encoded at once.
const BATCH_ROWS: usize = 16 << 10;

/// The columns of one document: ID, file and record.
#[derive(Debug, Default)]
pub(super) struct NameColumns {
    ids: StringBuilder,
    files: StringBuilder,
    records: Int64Builder,
}

impl NameColumns {
    /// The columns' names behind a prefix, and their types.
    pub(super) const FIELDS: [(&'static str, DataType); 3] =
        [("id", DataType::Utf8), ("file", DataType::Utf8), ("record", DataType::Int64)];

    /// Adds a row.
    pub(super) fn push(&mut self, document: &DocumentName<'_>) {
        self.ids.append_value(String::from_utf8_lossy(&document.id));
        self.files.append_value(document.file.to_string_lossy());
        self.records.append_value(document.record.cast_signed());
    }

    /// The columns, which begin anew.
    pub(super) fn take(&mut self) -> [ArrayRef; 3] {
        [
            Arc::new(self.ids.finish()),
            Arc::new(self.files.finish()),
            Arc::new(self.records.finish()),
        ]
    }
}

/// How files of documents are written: compressed, with the recipe that made them in the metadata.
pub(super) fn properties(recipe: &str) -> WriterPropertiesBuilder {
    let metadata = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![
            metadata("simtool.format", "1"),
            metadata("simtool.recipe", recipe),
        ]))
}

/// A Parquet file of rows that is being written.
#[derive(Debug)]
pub(super) struct DocumentColumns<W: Write + Send> {
    kind: RowKind,
    schema: SchemaRef,
    writer: ArrowWriter<W>,
    names: Vec<NameColumns>,
    similarities: Float64Builder,
    distances: Int32Builder,
    rows: usize,
}

impl<W: Write + Send> DocumentColumns<W> {
    /// A file without rows, with the recipe that made them in its metadata.
    pub(super) fn new(out: W, kind: RowKind, recipe: &str) -> io::Result<Self> {
        let mut fields = Vec::new();
        for prefix in kind.prefixes() {
            let columns = if kind.only_ids() { 1 } else { 3 };
            for (name, data) in NameColumns::FIELDS.into_iter().take(columns) {
                fields.push(Field::new(format!("{prefix}{name}"), data, false));
            }
        }
        if !kind.only_ids() {
            fields.push(Field::new("similarity", DataType::Float64, true));
            fields.push(Field::new("distance", DataType::Int32, true));
        }
        let schema = Arc::new(Schema::new(fields));
        let properties = properties(recipe).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        let names = kind.prefixes().iter().map(|_| NameColumns::default()).collect();
        Ok(Self {
            kind,
            schema,
            writer: writer.map_err(refused)?,
            names,
            similarities: Float64Builder::new(),
            distances: Int32Builder::new(),
            rows: 0,
        })
    }

    /// Adds a row.
    pub(super) fn write(
        &mut self,
        documents: [&DocumentName<'_>; 2],
        closeness: Option<Closeness>,
    ) -> io::Result<()> {
        for (columns, document) in self.names.iter_mut().zip(documents) {
            columns.push(document);
        }
        self.similarities.append_option(closeness.and_then(Closeness::similarity));
        let distance = closeness.and_then(Closeness::distance);
        self.distances.append_option(distance.map(u32::cast_signed));
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> io::Result<()> {
        let mut columns: Vec<ArrayRef> = Vec::new();
        for names in &mut self.names {
            let [ids, files, records] = names.take();
            columns.push(ids);
            if !self.kind.only_ids() {
                columns.extend([files, records]);
            }
        }
        let (similarities, distances) = (self.similarities.finish(), self.distances.finish());
        if !self.kind.only_ids() {
            columns.push(Arc::new(similarities));
            columns.push(Arc::new(distances));
        }
        self.rows = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.writer.write(&batch.map_err(|error| refused(error.into()))?).map_err(refused)
    }

    /// Writes the rest of the file and gives `out` back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.encode()?;
        self.writer.into_inner().map_err(refused)
    }
}

/// What the library says, or the error of the writer under it.
fn refused(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
