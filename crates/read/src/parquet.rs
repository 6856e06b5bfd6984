//! Parquet: rows of a file, of which only the needed columns are read.
//!
//! The library can panic on damaged files; that is caught and is a fault like its errors. Sizes
//! that a file declares are checked before anything is decoded.

use crate::window::Damage;
use crate::{Event, Flow, Visit, give, part_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use simtool_base::error::Result;
use simtool_base::fault::quoted;
use simtool_model::document::{Bad, Content, Document, Record};
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Rows decoded at once; a few, since a short file can hold long values many times.
const BATCH_ROWS: usize = 128;
/// Longest column of a row group, in bytes as it declares.
const LONGEST_COLUMN: i64 = 512 << 20;
/// Deepest nesting of a schema.
const DEEPEST_SCHEMA: usize = 64;
/// Most columns of a schema.
const MOST_COLUMNS: usize = 10_000;

/// The columns to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'c> {
    pub(super) text: &'c str,
    pub(super) id: &'c str,
    pub(super) keep: Option<&'c str>,
}

/// Row groups that are read together.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) groups: Range<usize>,
    /// Compressed bytes of all their columns.
    pub(super) bytes: u64,
    pub(super) rows: u64,
}

/// Row groups in shares of at least `bytes` compressed bytes; `None` if the file's footer cannot be
/// read.
pub(super) fn shares(file: &File, bytes: u64) -> Option<Vec<Share>> {
    let metadata = load(file).ok()?;
    let mut shares = Vec::new();
    let (mut first, mut size, mut rows) = (0, 0_u64, 0_u64);
    let groups = metadata.metadata().row_groups();
    for (at, group) in groups.iter().enumerate() {
        size = size.saturating_add(compressed_bytes(group));
        rows = rows.saturating_add(u64::try_from(group.num_rows()).unwrap_or_default());
        if size >= bytes || at + 1 == groups.len() {
            shares.push(Share { groups: first..at + 1, bytes: size, rows });
            (first, size, rows) = (at + 1, 0, 0);
        }
    }
    Some(shares)
}

/// Bytes of all columns of a row group, as it declares.
fn compressed_bytes(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.compressed_size()).unwrap_or_default()
}

/// The paths of the columns; none of a file that cannot be read.
pub(super) fn column_names(path: &Path) -> Vec<String> {
    let metadata = File::open(path).ok().and_then(|file| load(&file).ok());
    let names = |metadata: ArrowReaderMetadata| {
        let columns = metadata.parquet_schema().columns().iter();
        columns.map(|column| column.path().string()).collect()
    };
    metadata.map(names).unwrap_or_default()
}

/// Visits the rows of some row groups, of all if `None`; returns how many rows the file says they
/// have, or how many there are up to where `visit` had enough. `to_fault` makes events of damage and the number of rows that it costs.
///
/// # Errors
///
/// Those of `visit`.
pub(super) fn read(
    file: &File,
    groups: Option<Range<usize>>,
    columns: Columns<'_>,
    longest: usize,
    to_fault: &dyn Fn(Damage, u64) -> Event<'static>,
    visit: &mut Visit<'_>,
) -> Result<u64> {
    let damage = |code, detail, lost| to_fault(Damage { code, byte: 0, detail }, lost);
    let metadata = match load(file) {
        Ok(metadata) => metadata,
        Err(reason) => {
            let fault = damage("parquet-footer", format!("{reason}; no rows were read"), 0);
            return visit(fault).map(|_| 0);
        }
    };
    let selected = match Selected::new(&metadata, columns) {
        Ok(selected) => selected,
        Err(reason) => {
            // It is told once, not for every share of the file.
            if groups.is_none_or(|groups| groups.start == 0) {
                let rows = metadata.metadata().file_metadata().num_rows();
                let rows = u64::try_from(rows).unwrap_or_default();
                return visit(damage("parquet-column", reason, rows)).map(|_| 0);
            }
            return Ok(0);
        }
    };
    let (mut rows, mut bytes) = (0_u64, 0_u64);
    for group in groups.unwrap_or(0..metadata.metadata().num_row_groups()) {
        let declared = metadata.metadata().row_group(group).num_rows();
        let declared = u64::try_from(declared).unwrap_or_default();
        let group_bytes = compressed_bytes(metadata.metadata().row_group(group));
        if let Some(detail) = selected.too_long(&metadata, group) {
            rows = rows.saturating_add(declared);
            if visit(damage("parquet-size", detail, declared))?.is_break() {
                return Ok(rows);
            }
            continue;
        }
        let text_bytes = selected.text_bytes(metadata.metadata().row_group(group));
        let mut group_rows =
            Rows { next: rows, longest, read: 0, text_read: 0, selected: &selected };
        let result = open(file, &metadata, &selected, group).and_then(|mut batches| {
            loop {
                let batch = match caught(|| batches.next().transpose())? {
                    Ok(Some(batch)) => batch,
                    Ok(None) => return Ok(ControlFlow::Continue(())),
                    Err(error) => return Err(error.to_string()),
                };
                if let ended @ ControlFlow::Break(_) = group_rows.visit(&batch, visit) {
                    return Ok(ended);
                }
                let reached = bytes
                    + match text_bytes {
                        Some(all) => part_of(group_bytes, group_rows.text_read, all),
                        None => part_of(group_bytes, group_rows.read, declared),
                    };
                if let ended @ ControlFlow::Break(_) = give(Event::Reached(reached), visit) {
                    return Ok(ended);
                }
            }
        });
        bytes = bytes.saturating_add(group_bytes);
        let read = group_rows.read;
        let rows_before = rows;
        rows = rows.saturating_add(declared.max(read));
        match result {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(ended)) => return ended.map(|()| rows_before + read),
            Err(reason) => {
                let detail = format!(
                    "row group {group}, column \"{}\": {}; {read} of {declared} rows were kept, \
                     the others are lost",
                    quoted(selected.first.as_bytes()),
                    quoted(reason.as_bytes())
                );
                let fault = damage("parquet-page", detail, declared.saturating_sub(read));
                if visit(fault)?.is_break() {
                    return Ok(rows);
                }
            }
        }
    }
    Ok(rows)
}

/// Runs the library; a panic becomes its message.
pub(super) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("the decoder gave up: {}", message.unwrap_or("without a reason"))
    })
}

/// The file's metadata, checked for sizes that no honest file has.
pub(super) fn load<R: ChunkReader>(file: &R) -> Result<ArrowReaderMetadata, String> {
    // The types that Arrow wrote beside Parquet's own would bring dictionaries and views.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = caught(|| ArrowReaderMetadata::load(file, options))?
        .map_err(|error| quoted(error.to_string().as_bytes()))?;
    let schema = metadata.parquet_schema();
    if schema.num_columns() > MOST_COLUMNS {
        return Err(format!("{} columns, over {MOST_COLUMNS}", schema.num_columns()));
    }
    if schema.columns().iter().any(|column| column.path().parts().len() > DEEPEST_SCHEMA) {
        return Err(format!("a schema nested over {DEEPEST_SCHEMA} deep"));
    }
    Ok(metadata)
}

/// The columns that were found.
struct Selected {
    /// The column of the text; where there is none, the one that is shortest, which tells how many
    /// rows there are: what a file declares may be anything.
    text: usize,
    has_text: bool,
    id: Option<usize>,
    keep: Option<usize>,
    /// Path of each of the three in the batches.
    paths: [Option<Vec<String>>; 3],
    /// The name of the first.
    first: String,
}

impl Selected {
    fn new(metadata: &ArrowReaderMetadata, columns: Columns<'_>) -> Result<Self, String> {
        let schema = metadata.parquet_schema();
        let find = |name: &str| {
            let leaf = schema.columns().iter().position(|column| column.path().string() == name);
            // A list has no one value in a row.
            leaf.filter(|&leaf| schema.column(leaf).max_rep_level() == 0)
        };
        let path = |leaf: Option<usize>| Some(schema.column(leaf?).path().parts().to_vec());
        let Some(text) = find(columns.text) else {
            let compressed = |&leaf: &usize| -> i64 {
                let groups = metadata.metadata().row_groups().iter();
                let sizes =
                    groups.filter_map(|group| Some(group.columns().get(leaf)?.compressed_size()));
                sizes.fold(0, i64::saturating_add)
            };
            let shortest = (0..schema.num_columns()).min_by_key(compressed);
            let text = shortest.ok_or("has no columns")?;
            let first = schema.column(text).path().string();
            let paths = [None, None, None];
            return Ok(Self { text, has_text: false, id: None, keep: None, paths, first });
        };
        let physical = schema.column(text).physical_type();
        if !matches!(physical, PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY) {
            let name = quoted(columns.text.as_bytes());
            return Err(format!("the column \"{name}\" holds {physical}, not text"));
        }
        let (id, keep) = (find(columns.id), columns.keep.and_then(find));
        let paths = [path(Some(text)), path(id), path(keep)];
        let first = columns.text.to_owned();
        Ok(Self { text, has_text: true, id, keep, paths, first })
    }

    fn leaves(&self) -> impl Iterator<Item = usize> {
        [Some(self.text), self.id, self.keep].into_iter().flatten()
    }

    /// Bytes of all texts of a row group, if it tells: rows in front may be longer than those behind.
    fn text_bytes(&self, group: &RowGroupMetaData) -> Option<u64> {
        let column = group.columns().get(self.text).filter(|_| self.has_text)?;
        column.unencoded_byte_array_data_bytes()?.try_into().ok()
    }

    /// Says so if a column of the row group is longer than allowed.
    fn too_long(&self, metadata: &ArrowReaderMetadata, group: usize) -> Option<String> {
        let group_metadata = metadata.metadata().row_group(group);
        self.leaves().find_map(|leaf| {
            let column = group_metadata.columns().get(leaf)?;
            let size = column.uncompressed_size();
            (!(0..=LONGEST_COLUMN).contains(&size)).then(|| {
                let name = quoted(column.column_path().string().as_bytes());
                format!(
                    "column \"{name}\" declares {size} bytes in row group {group}, \
                     limit {LONGEST_COLUMN}; its rows were not read"
                )
            })
        })
    }

    /// The values of one of the columns in a batch.
    fn column<'b>(&self, which: usize, batch: &'b RecordBatch) -> Option<&'b ArrayRef> {
        let (first, inner) = self.paths[which].as_ref()?.split_first()?;
        inner.iter().try_fold(batch.column_by_name(first)?, |array, name| {
            array.as_struct_opt()?.column_by_name(name)
        })
    }
}

fn open(
    file: &File,
    metadata: &ArrowReaderMetadata,
    selected: &Selected,
    group: usize,
) -> Result<ParquetRecordBatchReader, String> {
    let file = file.try_clone().map_err(|error| error.to_string())?;
    caught(|| {
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(ProjectionMask::leaves(metadata.parquet_schema(), selected.leaves()))
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS)
            .build()
    })?
    .map_err(|error| error.to_string())
}

/// The rows of a row group as they are visited.
struct Rows<'r> {
    /// Number of the next row.
    next: u64,
    read: u64,
    /// Bytes of their texts.
    text_read: u64,
    longest: usize,
    selected: &'r Selected,
}

impl Rows<'_> {
    fn visit(&mut self, batch: &RecordBatch, visit: &mut Visit<'_>) -> Flow {
        let [text, id, keep] = [0, 1, 2].map(|which| self.selected.column(which, batch));
        let (mut id_written, mut keep_written) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let text = text.and_then(|column| match bytes(column, row) {
                // That there is no text is no damage.
                None if column.is_null(row) => Some(&[][..]),
                text => text,
            });
            let refusal = match text {
                None => Some(("parquet-type", "a text".into())),
                Some(text) if text.len() > self.longest => {
                    let expected = format!("at most {} bytes (`max_record`)", self.longest);
                    Some(("oversize", expected.into()))
                }
                Some(_) => None,
            };
            let length = text.map_or(0, <[u8]>::len) as u64;
            let bad = if self.selected.has_text {
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
                    mended: None,
                }),
            };
            let record = Record { number: self.next, byte: 0, bytes: &[], content };
            self.next += 1;
            self.read += 1;
            self.text_read += length;
            give(Event::Record(record), visit)?;
        }
        ControlFlow::Continue(())
    }
}

/// A text or bytes.
fn bytes(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row).as_bytes()),
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => Some(column.as_fixed_size_binary().value(row)),
        _ => None,
    }
}

/// A value as an ID: text as it is, numbers in decimal, points in time as the number that is
/// stored; `None` for null, the empty text and other types.
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
