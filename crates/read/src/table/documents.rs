//! Converts rows of Arrow's record batches to documents.

use crate::{Event, Flow, Visit, give};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;
use simtool_model::document::{Bad, Content, Document, Record};
use std::fmt::Display;
use std::io::Write;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Paths to three columns of a record batch: the text, the ID, and the field that decides which
/// documents are kept. A path is `None` if the file lacks the column. A path of several names leads
/// into columns of structs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnPaths {
    /// Path to the column with the text. If it is `None`, every row is a bad record.
    pub(crate) text: Option<Vec<String>>,
    pub(crate) id: Option<Vec<String>>,
    pub(crate) keep: Option<Vec<String>>,
}

/// Returns the values of the column to which `path` leads. Returns `None` if `path` is `None` or
/// leads to no column.
///
/// # Errors
///
/// The column is a dictionary, and a key in it refers to a value that does not exist.
fn column_at(batch: &RecordBatch, path: Option<&Vec<String>>) -> Result<Option<ArrayRef>, String> {
    let Some((first, inner)) = path.and_then(|path| path.split_first()) else { return Ok(None) };
    let outer = batch.column_by_name(first);
    let column = outer.and_then(|outer| {
        inner.iter().try_fold(outer, |array, name| array.as_struct_opt()?.column_by_name(name))
    });
    let Some(column) = column else { return Ok(None) };
    match column.as_any_dictionary_opt() {
        // Each row of a dictionary is a key. The values of the keys are looked up for all rows at
        // once.
        Some(keyed) => {
            let values = take(keyed.values(), keyed.keys(), None);
            values.map(Some).map_err(|error| error.to_string())
        }
        None => Ok(Some(Arc::clone(column))),
    }
}

/// State while the rows of a group of a table are visited as records.
pub(crate) struct VisitedRows<'r> {
    /// Number of the next record.
    pub(crate) next: u64,
    /// Number of rows visited so far.
    pub(crate) read: u64,
    /// Number of bytes of text in the rows visited so far.
    pub(crate) text_read: u64,
    /// Length of the longest allowed text, in bytes. A row with a longer text is a bad record.
    pub(crate) longest: usize,
    /// Code of the bad records of a column for the text whose type is not text, for example
    /// `parquet-type`.
    pub(crate) type_code: &'static str,
    pub(crate) paths: &'r ColumnPaths,
}

impl VisitedRows<'_> {
    /// Visits every row of a record batch as a record.
    ///
    /// # Errors
    ///
    /// A column cannot be decoded. The error is the reason, and no row of the batch was visited.
    pub(crate) fn visit(
        &mut self,
        batch: &RecordBatch,
        visit: &mut Visit<'_>,
    ) -> Result<Flow, String> {
        let text = caught(|| column_at(batch, self.paths.text.as_ref()))??;
        let id = caught(|| column_at(batch, self.paths.id.as_ref()))??;
        let keep = caught(|| column_at(batch, self.paths.keep.as_ref()))??;
        let columns = [text.as_ref(), id.as_ref(), keep.as_ref()];
        Ok(self.visit_rows(batch.num_rows(), columns, visit))
    }

    /// Visits `count` rows of a record batch as records. The three arrays hold the values of the
    /// text, of the ID, and of the field that decides which documents are kept.
    fn visit_rows(
        &mut self,
        count: usize,
        [text, id, keep]: [Option<&ArrayRef>; 3],
        visit: &mut Visit<'_>,
    ) -> Flow {
        let mut id_written = Vec::new();
        let mut keep_written = Vec::new();
        for row in 0..count {
            let text = text.and_then(|column| match bytes(column, row) {
                // A text of null is allowed and counts as an empty text.
                None if column.is_null(row) => Some(&[][..]),
                text => text,
            });
            let refusal = match text {
                None => Some((self.type_code, "a text".into())),
                Some(text) if text.len() > self.longest => {
                    let expected = format!("at most {} bytes (`max_record`)", self.longest);
                    Some(("oversize", expected.into()))
                }
                Some(_) => None,
            };
            let length = text.map_or(0, <[u8]>::len) as u64;
            let bad = if self.paths.text.is_some() {
                refusal.map(|(code, expected)| Bad { code, expected, length })
            } else {
                Some(Bad::no_text(0))
            };
            let content = match &bad {
                Some(bad) => Content::Bad(bad),
                None => Content::Document(Document {
                    id: id.and_then(|column| value(column, row, &mut id_written)),
                    text: text.unwrap_or_default(),
                    field: keep.and_then(|column| value(column, row, &mut keep_written)),
                    repaired: None,
                }),
            };
            // A row has no byte offset in the file, since its columns are stored separately.
            let record = Record { number: self.next, byte: 0, bytes: &[], content };
            self.next += 1;
            self.read += 1;
            self.text_read += length;
            give(Event::Record(record), visit)?;
        }
        ControlFlow::Continue(())
    }
}

/// Runs `work`, which calls a library, and turns a panic into an error with the panic's message.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("the decoder gave up: {}", message.unwrap_or("without a reason"))
    })
}

/// Returns the bytes of the value in row `row`, if the column has a type of text or bytes. Returns
/// `None` for null and for other types.
fn bytes(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8View => Some(column.as_string_view().value(row).as_bytes()),
        DataType::BinaryView => Some(column.as_binary_view().value(row)),
        DataType::Utf8 => Some(column.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row).as_bytes()),
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => Some(column.as_fixed_size_binary().value(row)),
        _ => None,
    }
}

/// Returns the value in row `row` as the text of an ID. A text is returned as it is, a number in
/// decimal, and a time as the stored number. `written` is reusable memory for the digits. Returns
/// `None` for null, for an empty text, and for other types.
fn value<'v>(column: &'v ArrayRef, row: usize, written: &'v mut Vec<u8>) -> Option<&'v [u8]> {
    fn number<T: ArrowPrimitiveType<Native: Display>>(
        column: &ArrayRef,
        row: usize,
        written: &mut Vec<u8>,
    ) -> Option<()> {
        write!(written, "{}", column.as_primitive::<T>().value(row)).ok()
    }
    if column.is_null(row) {
        return None;
    }
    if let Some(text) = bytes(column, row) {
        return (!text.is_empty()).then_some(text);
    }
    written.clear();
    match column.data_type() {
        DataType::Int8 => number::<Int8Type>(column, row, written),
        DataType::Int16 => number::<Int16Type>(column, row, written),
        DataType::Int32 => number::<Int32Type>(column, row, written),
        DataType::Int64 => number::<Int64Type>(column, row, written),
        DataType::UInt8 => number::<UInt8Type>(column, row, written),
        DataType::UInt16 => number::<UInt16Type>(column, row, written),
        DataType::UInt32 => number::<UInt32Type>(column, row, written),
        DataType::UInt64 => number::<UInt64Type>(column, row, written),
        DataType::Float32 => number::<Float32Type>(column, row, written),
        DataType::Float64 => number::<Float64Type>(column, row, written),
        DataType::Date32 => number::<Date32Type>(column, row, written),
        DataType::Timestamp(TimeUnit::Second, _) => {
            number::<TimestampSecondType>(column, row, written)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            number::<TimestampMillisecondType>(column, row, written)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            number::<TimestampMicrosecondType>(column, row, written)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            number::<TimestampNanosecondType>(column, row, written)
        }
        DataType::Boolean => write!(written, "{}", column.as_boolean().value(row)).ok(),
        _ => None,
    }?;
    Some(written)
}
