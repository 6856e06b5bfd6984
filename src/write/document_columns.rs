//! Rows that name documents as a Parquet file: text for IDs and files, signed 64-bit record
//! numbers (some readers make decimals of unsigned ones), nulls where a method has no similarity or
//! distance.

use crate::write::row_fields::{Field as DocumentField, RowKind, Value};
use arrow_array::builder::{Float64Builder, Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are encoded at once.
const BATCH_ROWS: usize = 16 << 10;

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
    columns: Vec<Column>,
    rows: usize,
}

/// The values of a field, of the rows that are not encoded yet.
#[derive(Debug)]
enum Column {
    Text(StringBuilder),
    Numbers(Int64Builder),
    Ratios(Float64Builder),
    Counts(Int32Builder),
}

impl Column {
    fn new(field: DocumentField) -> Self {
        match field {
            DocumentField::Id(_) | DocumentField::File(_) => Self::Text(StringBuilder::new()),
            DocumentField::Record(_) => Self::Numbers(Int64Builder::new()),
            DocumentField::Similarity => Self::Ratios(Float64Builder::new()),
            DocumentField::Distance => Self::Counts(Int32Builder::new()),
        }
    }

    /// Type of the column, and whether a value may be missing.
    fn data_type(&self) -> (DataType, bool) {
        match self {
            Self::Text(_) => (DataType::Utf8, false),
            Self::Numbers(_) => (DataType::Int64, false),
            Self::Ratios(_) => (DataType::Float64, true),
            Self::Counts(_) => (DataType::Int32, true),
        }
    }

    fn push(&mut self, value: &Value<'_>) {
        match (self, value) {
            (Self::Text(column), Value::Text(text)) => {
                column.append_value(String::from_utf8_lossy(text));
            }
            (Self::Numbers(column), Value::Number(number)) => {
                column.append_value(number.cast_signed());
            }
            (Self::Ratios(column), Value::Ratio(ratio)) => column.append_option(*ratio),
            (Self::Counts(column), Value::Count(count)) => {
                column.append_option(count.map(u32::cast_signed));
            }
            // A column is made for its field.
            _ => {}
        }
    }

    /// The column, which begins anew.
    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Numbers(column) => Arc::new(column.finish()),
            Self::Ratios(column) => Arc::new(column.finish()),
            Self::Counts(column) => Arc::new(column.finish()),
        }
    }
}

impl<W: Write + Send> DocumentColumns<W> {
    /// A file without rows, with the recipe that made them in its metadata.
    pub(super) fn new(out: W, kind: RowKind, recipe: &str) -> io::Result<Self> {
        let columns: Vec<Column> =
            kind.fields().iter().map(|&(_, field)| Column::new(field)).collect();
        let fields = kind.fields().iter().zip(&columns).map(|((name, _), column)| {
            let (data_type, is_nullable) = column.data_type();
            Field::new(*name, data_type, is_nullable)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let properties = properties(recipe).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        Ok(Self { kind, schema, writer: writer.map_err(refused)?, columns, rows: 0 })
    }

    /// Adds a row.
    pub(super) fn write(
        &mut self,
        documents: [&DocumentName<'_>; 2],
        closeness: Option<Closeness>,
    ) -> io::Result<()> {
        for (column, (_, field)) in self.columns.iter_mut().zip(self.kind.fields()) {
            column.push(&field.of(documents, closeness));
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> io::Result<()> {
        let columns = self.columns.iter_mut().map(Column::take).collect();
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
pub(super) fn refused(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
