//! Collects rows into batches of columns of Arrow.
//!
//! Integers are signed, because some readers turn unsigned integers into decimals. Times are in milliseconds
//! of UTC.

use super::{Column, IdType, RowTable, Value};
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use simtool_base::byte_text::byte_text;
use simtool_base::utc_time::UtcTime;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Number of rows of a batch.
const BATCH_ROWS: usize = 16 << 10;
/// Name of the time zone of columns of times.
const ZONE: &str = "UTC";

/// Collector that converts rows to Arrow record batches, which store each column as an array.
pub(super) struct RowBatches<T: RowTable> {
    columns: &'static [Column<T>],
    schema: SchemaRef,
    buffers: Vec<ColumnBuffer>,
    /// Number of rows in `buffers`.
    buffered: usize,
}

impl<T: RowTable> RowBatches<T> {
    /// Creates batches without rows, with IDs of the type `ids`.
    pub(super) fn new(columns: &'static [Column<T>], ids: IdType) -> Self {
        let buffers: Vec<ColumnBuffer> =
            columns.iter().map(|column| ColumnBuffer::new(&column.value, ids)).collect();
        let named = columns.iter().zip(&buffers);
        let fields: Vec<Field> = named.map(|(column, buffer)| buffer.field(column.name)).collect();
        Self { columns, schema: Arc::new(Schema::new(fields)), buffers, buffered: 0 }
    }

    /// Returns the names and types of the columns.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Appends a row. If this completes a batch of `BATCH_ROWS` rows, returns the batch.
    ///
    /// # Errors
    ///
    /// A value does not have the type of its column.
    pub(super) fn push<'r>(&mut self, row: &'r T::Row<'r>) -> io::Result<Option<RecordBatch>> {
        for (column, buffer) in self.columns.iter().zip(&mut self.buffers) {
            buffer.push(&column.value, row)?;
        }
        self.buffered += 1;
        // Encoding has a fixed cost for each batch of rows, but collected rows take memory.
        if self.buffered == BATCH_ROWS { self.take().map(Some) } else { Ok(None) }
    }

    /// Appends many rows.
    ///
    /// # Errors
    ///
    /// A value does not have the type of its column.
    pub(super) fn extend<'r>(&mut self, rows: &'r [T::Row<'r>]) -> io::Result<()> {
        // Rows are appended column by column, so that the type of each column is looked up once.
        for (column, buffer) in self.columns.iter().zip(&mut self.buffers) {
            buffer.extend(&column.value, rows)?;
        }
        self.buffered += rows.len();
        Ok(())
    }

    /// Returns the collected rows as a batch, which may be smaller than `BATCH_ROWS`. Later rows are collected for
    /// another batch.
    ///
    /// # Errors
    ///
    /// The columns do not have the types of the schema.
    pub(super) fn take(&mut self) -> io::Result<RecordBatch> {
        let columns = self.buffers.iter_mut().map(ColumnBuffer::take).collect();
        self.buffered = 0;
        RecordBatch::try_new(self.schema(), columns).map_err(io::Error::other)
    }
}

impl<T: RowTable> fmt::Debug for RowBatches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowBatches").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// Values of one column that are collected in memory and not encoded yet.
#[derive(Debug)]
enum ColumnBuffer {
    Text(StringBuilder),
    Number(Int64Builder),
    Count(Int32Builder),
    OptionalCount(Int32Builder),
    Flag(BooleanBuilder),
    Ratio(Float64Builder),
    Time(TimestampMillisecondBuilder),
    Texts(ListBuilder<StringBuilder>),
    Ranges(ListBuilder<ListBuilder<Int64Builder>>),
}

impl ColumnBuffer {
    fn new<T: RowTable>(value: &Value<T>, ids: IdType) -> Self {
        match value {
            Value::Id(_) if ids == IdType::Integer => Self::Number(Int64Builder::new()),
            Value::Text(_) | Value::Id(_) | Value::Nested(_) => Self::Text(StringBuilder::new()),
            Value::Number(_) => Self::Number(Int64Builder::new()),
            Value::Count(_) => Self::Count(Int32Builder::new()),
            Value::OptionalCount(_) => Self::OptionalCount(Int32Builder::new()),
            Value::Flag(_) => Self::Flag(BooleanBuilder::new()),
            Value::Ratio(_) => Self::Ratio(Float64Builder::new()),
            Value::Time(_) => Self::Time(TimestampMillisecondBuilder::new().with_timezone(ZONE)),
            Value::Texts(_) => {
                let texts = ListBuilder::new(StringBuilder::new());
                Self::Texts(texts.with_field(list_item(DataType::Utf8)))
            }
            Value::Ranges(_) => {
                let range = ListBuilder::new(Int64Builder::new());
                let ranges = ListBuilder::new(range.with_field(list_item(DataType::Int64)));
                Self::Ranges(ranges.with_field(list_item(range_type())))
            }
        }
    }

    /// Returns the description of the column for the schema: its name, its type, and whether values
    /// may be missing.
    fn field(&self, name: &str) -> Field {
        match self {
            Self::Text(_) => Field::new(name, DataType::Utf8, false),
            Self::Number(_) => Field::new(name, DataType::Int64, false),
            Self::Count(_) => Field::new(name, DataType::Int32, false),
            Self::OptionalCount(_) => Field::new(name, DataType::Int32, true),
            Self::Flag(_) => Field::new(name, DataType::Boolean, false),
            Self::Ratio(_) => Field::new(name, DataType::Float64, true),
            Self::Time(_) => {
                let time = DataType::Timestamp(TimeUnit::Millisecond, Some(ZONE.into()));
                Field::new(name, time, false)
            }
            Self::Texts(_) => Field::new(name, DataType::List(list_item(DataType::Utf8)), false),
            Self::Ranges(_) => Field::new(name, DataType::List(list_item(range_type())), false),
        }
    }

    /// Appends the values of this column for many rows.
    fn extend<'r, T: RowTable>(
        &mut self,
        value: &Value<T>,
        rows: &'r [T::Row<'r>],
    ) -> io::Result<()> {
        match (self, value) {
            // Tables of plain numbers can be long, so their loops do nothing else.
            (Self::Number(buffer), Value::Number(get)) => {
                for row in rows {
                    buffer.append_value(signed(get(row)));
                }
                Ok(())
            }
            (Self::Count(buffer), Value::Count(get)) => {
                for row in rows {
                    buffer.append_value(get(row).cast_signed());
                }
                Ok(())
            }
            (buffer, value) => rows.iter().try_for_each(|row| buffer.push(value, row)),
        }
    }

    /// Appends the value of this column for one row.
    fn push<'r, T: RowTable>(&mut self, value: &Value<T>, row: &'r T::Row<'r>) -> io::Result<()> {
        match (self, value) {
            (Self::Text(buffer), Value::Text(get)) => {
                // Readers reject a file whose strings are not UTF-8.
                buffer.append_value(byte_text(get(row)));
            }
            (Self::Number(buffer), Value::Id(get)) => {
                let digits = str::from_utf8(get(row).bytes()).ok();
                let id = digits.and_then(|digits| digits.parse().ok());
                buffer.append_value(id.ok_or_else(|| io::Error::other("an ID is not an integer"))?);
            }
            (Self::Text(buffer), Value::Id(get)) => {
                buffer.append_value(byte_text(get(row).bytes()));
            }
            (Self::Text(buffer), Value::Nested(nested)) => {
                let mut json = Vec::new();
                (nested.write_json)(row, &mut json)?;
                buffer.append_value(byte_text(&json));
            }
            (Self::Number(buffer), Value::Number(get)) => buffer.append_value(signed(get(row))),
            (Self::Count(buffer), Value::Count(get)) => {
                buffer.append_value(get(row).cast_signed());
            }
            (Self::OptionalCount(buffer), Value::OptionalCount(get)) => {
                buffer.append_option(get(row).map(u32::cast_signed));
            }
            (Self::Flag(buffer), Value::Flag(get)) => buffer.append_value(get(row)),
            (Self::Ratio(buffer), Value::Ratio(get)) => buffer.append_option(get(row)),
            (Self::Time(buffer), Value::Time(get)) => {
                buffer.append_value(milliseconds(get(row)));
            }
            (Self::Texts(buffer), Value::Texts(get)) => {
                for text in get(row) {
                    buffer.values().append_value(text);
                }
                buffer.append(true);
            }
            (Self::Ranges(buffer), Value::Ranges(get)) => {
                // A list for each range, and then one list of them for the row.
                for range in get(row) {
                    let ends = buffer.values();
                    ends.append_value([range.start, range.end].map(|end| Some(signed(end))));
                }
                buffer.append(true);
            }
            // `ColumnBuffer::new` chose the buffer for this type of value, so no other combination occurs.
            _ => {}
        }
        Ok(())
    }

    /// Returns the collected values as an array and empties the buffer.
    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(buffer) => Arc::new(buffer.finish()),
            Self::Number(buffer) => Arc::new(buffer.finish()),
            Self::Count(buffer) | Self::OptionalCount(buffer) => Arc::new(buffer.finish()),
            Self::Flag(buffer) => Arc::new(buffer.finish()),
            Self::Ratio(buffer) => Arc::new(buffer.finish()),
            Self::Time(buffer) => Arc::new(buffer.finish()),
            Self::Texts(buffer) => Arc::new(buffer.finish()),
            Self::Ranges(buffer) => Arc::new(buffer.finish()),
        }
    }
}

/// Returns the description of the elements of a list for the schema. The elements have the name
/// `item`, which is the default of Arrow, and the type `kind`.
fn list_item(kind: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", kind, false))
}

/// Returns the type of a range: a list of its start and its end.
fn range_type() -> DataType {
    DataType::List(list_item(DataType::Int64))
}

fn signed(number: u64) -> i64 {
    // A number that does not fit must not become negative.
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn milliseconds(time: UtcTime) -> i64 {
    signed(time.seconds()).saturating_mul(1000)
}
