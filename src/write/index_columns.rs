//! What an index knows of documents, as a Parquet file: text for IDs, fingerprints (hexadecimal) and
//! sources, signed 64-bit numbers, times in milliseconds of UTC.

use super::document_columns::{properties, refused};
use super::index_rows::IndexRow;
use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder, TimestampMillisecondBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are encoded at once.
const BATCH_ROWS: usize = 16 << 10;
/// The zone of times.
const ZONE: &str = "UTC";

/// A Parquet file of what an index knows.
pub struct IndexColumns<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    numbers: [Int64Builder; 2],
    texts: [StringBuilder; 2],
    sources: ListBuilder<StringBuilder>,
    times: [TimestampMillisecondBuilder; 2],
    rows: usize,
}

impl<W: Write + Send> fmt::Debug for IndexColumns<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexColumns").field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some(ZONE.into()))
}

impl<W: Write + Send> IndexColumns<W> {
    /// Begins a file, with the recipe of the fingerprints in its metadata.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(out: W, recipe: &str) -> io::Result<Self> {
        let source = Arc::new(Field::new("item", DataType::Utf8, false));
        let schema = Arc::new(Schema::new(vec![
            Field::new("number", DataType::Int64, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("fingerprint", DataType::Utf8, false),
            Field::new("repeats", DataType::Int64, false),
            Field::new("sources", DataType::List(Arc::clone(&source)), false),
            Field::new("first", time_type(), false),
            Field::new("last", time_type(), false),
        ]));
        let properties = properties(recipe).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        let time = || TimestampMillisecondBuilder::new().with_timezone(ZONE);
        Ok(Self {
            writer: writer.map_err(refused)?,
            schema,
            numbers: Default::default(),
            texts: Default::default(),
            sources: ListBuilder::new(StringBuilder::new()).with_field(source),
            times: [time(), time()],
            rows: 0,
        })
    }

    /// Adds a document and its fingerprint, in hexadecimal.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&mut self, row: &IndexRow<'_>, fingerprint: &str) -> io::Result<()> {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.numbers[0].append_value(number(row.number));
        self.numbers[1].append_value(number(row.repeats));
        self.texts[0].append_value(String::from_utf8_lossy(row.id));
        self.texts[1].append_value(fingerprint);
        row.sources.iter().for_each(|source| self.sources.values().append_value(source));
        self.sources.append(true);
        for (column, time) in self.times.iter_mut().zip([row.first, row.last]) {
            column.append_value(number(time.seconds()).saturating_mul(1000));
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> io::Result<()> {
        let [numbers, repeats] = self.numbers.each_mut().map(|column| Arc::new(column.finish()));
        let [ids, fingerprints] = self.texts.each_mut().map(|column| Arc::new(column.finish()));
        let [first, last] = self.times.each_mut().map(|column| Arc::new(column.finish()));
        let sources = Arc::new(self.sources.finish());
        let columns: Vec<ArrayRef> =
            vec![numbers, ids, fingerprints, repeats, sources, first, last];
        self.rows = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(|error| refused(error.into()))?;
        self.writer.write(&batch).map_err(refused)
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<()> {
        self.encode()?;
        self.writer.into_inner().map(drop).map_err(refused)
    }
}
