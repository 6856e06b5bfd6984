//! Fingerprints as the column `fingerprint` of a Parquet file, with null for a row without a
//! fingerprint.
//!
//! Fingerprints of up to 64 bits are written as signed 64-bit integers with the same bits. Spark
//! has no unsigned integers and turns them into decimals, while `DuckDB`, polars and pandas accept
//! both. Wider fingerprints are written as bytes: whole words, highest byte first. The columns
//! `id`, `file` and `record` name the document of the row. The metadata contains the recipe, and
//! the shape if the type of the column does not determine it.
//!
//! A reader accepts 64-bit integers (signed or not), values of 2, 4 or any multiple of 8 bytes, and
//! text of lower-case hexadecimal digits. It ignores other columns.

use super::checked_rows::ends_in_zeros;
use super::format::{FileFormat, FoundIds, MOST_BITS, NameOf};
use super::hexadecimal::HexadecimalRows;
use super::shape_text::{shape_of, shape_text};
use arrow_array::builder::{FixedSizeBinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bytes::Bytes;
use bytes::buf::Reader;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnPath;
use simtool_base::byte_text::{byte_text, path_text};
use simtool_base::error::{Error, ErrorKind, Result, caught};
use simtool_base::fault::quoted;
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use std::io::{self, Write};
use std::mem::take;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const NAME: &str = "fingerprint";
const ID: &str = "id";
/// Key of the recipe in the metadata of the Parquet file. The recipe says how the fingerprints were
/// made.
const RECIPE: &str = "simtool.recipe";
/// Key of the shape in the metadata of the Parquet file. The shape is the width of a fingerprint
/// and the way in which two fingerprints are compared.
const SHAPE: &str = "simtool.shape";
/// Number of rows that the Parquet library decodes at once.
const READ_ROWS: usize = 8192;
/// Maximum number of rows that are encoded at once.
const WRITE_ROWS: usize = 1 << 16;
/// Maximum number of 64-bit words of fingerprints that are encoded at once.
const WRITE_WORDS: usize = 1 << 19;
/// Maximum number of rows in a row group of the file. The writer keeps a row group in memory until
/// it is complete.
const GROUP_ROWS: usize = 1 << 20;
/// Maximum number of 64-bit words of fingerprints in a row group of the file.
const GROUP_WORDS: usize = 1 << 24;
/// Number of bytes at the end of the file, after the metadata: four bytes for the length of the
/// metadata, and "PAR1".
const FOOTER_BYTES: usize = 8;

/// The Parquet format as an entry of [`FILE_FORMATS`](super::FILE_FORMATS), the table of file formats.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "parquet",
    extensions: &["parquet", "pq"],
    help: "Parquet with id, file, record and fingerprint of each document, in reading order",
    marks_missing: true,
    missing_feature: None,
    is_format_of: |bytes| bytes.starts_with(b"PAR1"),
    read: |bytes, path| read(bytes, path),
    write,
    has_ids,
    find_ids,
};

/// Writes `rows` as a Parquet file, with the ID, file and record of the document of each row.
///
/// # Errors
///
/// `out` fails.
fn write(rows: &FingerprintRows<'_>, name: &NameOf<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let words = rows.shape.words();
    let fields = [
        Field::new("id", DataType::Utf8, false),
        Field::new("file", DataType::Utf8, false),
        Field::new("record", DataType::Int64, false),
        Field::new(NAME, column_type(rows.shape), true),
    ];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let pair = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let mut metadata =
        vec![pair("simtool.format", "1"), pair(RECIPE, rows.recipe.as_deref().unwrap_or_default())];
    if rows.shape != Shape::bits(u64::BITS * words as u32) {
        metadata.push(pair(SHAPE, &shape_text(rows.shape)));
    }
    // A dictionary of values that hardly repeat is in vain.
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(metadata))
        .set_column_dictionary_enabled(ColumnPath::from(NAME), false)
        .set_column_dictionary_enabled(ColumnPath::from("id"), false)
        .set_max_row_group_row_count(Some(GROUP_ROWS.min(GROUP_WORDS / words)))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    let count = rows.len();
    let step = WRITE_ROWS.min(WRITE_WORDS / words);
    for start in (0..count).step_by(step) {
        let columns =
            columns(rows, start..count.min(start + step), name).map_err(io::Error::other)?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
        writer.write(&batch)?;
        // The writer of the library works on a vector. The vector is emptied after each batch, so
        // that the encoded file is never in memory as a whole.
        out.write_all(&take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner()?)
}

/// Returns the type of the column of fingerprints: integers for up to 64 bits, otherwise bytes.
fn column_type(shape: Shape) -> DataType {
    match shape.words() {
        1 => DataType::Int64,
        _ => DataType::FixedSizeBinary(row_bytes(shape)),
    }
}

/// Returns the number of bytes that a fingerprint takes in a column of bytes.
fn row_bytes(shape: Shape) -> i32 {
    8 * (shape.words() as u32).cast_signed()
}

/// Returns the values of the four columns (ID, file, record and fingerprint) for a range of rows.
fn columns(
    rows: &FingerprintRows<'_>,
    range: Range<usize>,
    name: &NameOf<'_, '_>,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut ids = StringBuilder::new();
    let mut files = StringBuilder::new();
    let mut records = Int64Builder::new();
    for row in range.clone() {
        let document = name(row as u32);
        // Text of Parquet must be UTF-8, but names of files and IDs may be any bytes.
        ids.append_value(byte_text(&document.id));
        files.append_value(path_text(document.file));
        records.append_value(document.record.cast_signed());
    }
    let fingerprints: ArrayRef = if rows.shape.words() == 1 {
        let mut numbers = Int64Builder::with_capacity(range.len());
        range.for_each(|row| numbers.append_option(rows.row(row).map(|row| row[0].cast_signed())));
        Arc::new(numbers.finish())
    } else {
        let width = row_bytes(rows.shape);
        let mut numbers = FixedSizeBinaryBuilder::with_capacity(range.len(), width);
        let mut bytes = Vec::new();
        for row in range {
            match rows.row(row) {
                Some(words) => {
                    bytes.clear();
                    // Highest byte first, so that other programs sort and print the values like
                    // numbers.
                    bytes.extend(words.iter().rev().flat_map(|word| word.to_be_bytes()));
                    numbers.append_value(&bytes)?;
                }
                None => numbers.append_null(),
            }
        }
        Arc::new(numbers.finish())
    };
    Ok(vec![
        Arc::new(ids.finish()),
        Arc::new(files.finish()),
        Arc::new(records.finish()),
        fingerprints,
    ])
}

/// Reads the fingerprints of a Parquet file. Only the metadata and the fingerprints of one row
/// group are in memory in addition to the result. `path` is for error messages.
///
/// # Errors
///
/// The file cannot be decoded, or has no column of fingerprints.
fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    let wrong = |expected: String| {
        Error::from(ErrorKind::Format { path: path.to_owned(), byte: 0, expected })
    };
    let broken = |reason: String| broken(path, &reason);
    let metadata = load(bytes).map_err(broken)?;
    let field = metadata.schema().field_with_name(NAME);
    let Some(mut column) = field.ok().and_then(|field| RowColumn::for_type(field.data_type()))
    else {
        return Err(wrong(format!(
            "a column \"{NAME}\" of 64-bit integers, of 2, 4, 8 or another multiple of 8 bytes, or \
             of hexadecimal text"
        )));
    };
    let file = metadata.metadata().file_metadata();
    column.reserve(usize::try_from(file.num_rows()).unwrap_or_default())?;
    let mut columns = metadata.parquet_schema().columns().iter();
    // A field of the schema may be nested and then consists of several columns of the file. A plain
    // field has one column whose path is its name.
    let leaf = columns.position(|column| column.path().string() == NAME);
    let leaf = leaf.ok_or_else(|| broken(format!("\"{NAME}\" is no plain column")))?;
    // Batches are numbered from 0 each, but messages need the row of the file.
    let mut row = 0_u64;
    for_each_array(bytes, path, &metadata, leaf, &mut |array| {
        column.push(array).map_err(|(at, digits)| {
            wrong(format!("in row {} {digits}, or null", row + at as u64))
        })?;
        row += array.len() as u64;
        Ok(())
    })?;
    let value = |key: &str| {
        let pair = file.key_value_metadata()?.iter().find(|pair| pair.key == key)?;
        pair.value.as_deref().filter(|value| !value.is_empty())
    };
    let mut rows = column.finish();
    rows.recipe = value(RECIPE).map(str::to_owned);
    if let Some(text) = value(SHAPE) {
        let declared = shape_of(text).filter(|declared| declared.words() == rows.shape.words());
        // The text comes from the file and may contradict the column. A wrong shape would let joins
        // read beyond the rows, so the number of words must agree.
        let fits = declared.is_some_and(|declared| {
            rows.shape = declared;
            ends_in_zeros(&rows)
        });
        if !fits {
            let shape = quoted(text.as_bytes());
            return Err(wrong(format!("rows of the shape that {SHAPE} describes, {shape}")));
        }
    }
    Ok(rows)
}

/// Decodes the column with index `leaf`, and calls `visit` with its values, one batch at a time.
fn for_each_array(
    bytes: &[u8],
    path: &Path,
    metadata: &ArrowReaderMetadata,
    leaf: usize,
    visit: &mut dyn FnMut(&ArrayRef) -> Result<()>,
) -> Result<()> {
    let broken = |reason: String| broken(path, &reason);
    for group in 0..metadata.metadata().num_row_groups() {
        // Only the bytes of this column are copied for the decoder.
        let section = caught(|| {
            let (start, length) = metadata.metadata().row_group(group).column(leaf).byte_range();
            FilePart::copy_from(bytes, start, length)
        });
        let section = section.and_then(|section| {
            section.ok_or_else(|| format!("row group {group} is beyond the file's end"))
        });
        let section = section.map_err(broken)?;
        let batches = caught(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(section, metadata.clone())
                .with_projection(ProjectionMask::leaves(metadata.parquet_schema(), [leaf]))
                .with_row_groups(vec![group])
                .with_batch_size(READ_ROWS)
                .build()
        });
        let mut batches = batches.map_err(broken)?.map_err(|error| broken(error.to_string()))?;
        loop {
            let batch = caught(|| batches.next().transpose()).map_err(broken)?;
            let Some(batch) = batch.map_err(|error| broken(error.to_string()))? else { break };
            visit(batch.column(0))?;
        }
    }
    Ok(())
}

/// Returns the error for a file that the Parquet library cannot decode.
fn broken(path: &Path, reason: &str) -> Error {
    let reason = quoted(reason.as_bytes());
    let expected = format!("a Parquet file that can be decoded: {reason}");
    ErrorKind::Format { path: path.to_owned(), byte: 0, expected }.into()
}

/// Returns the index of the column of IDs. Returns `None` if there is none, or if its type cannot
/// be printed as an ID.
fn id_leaf(metadata: &ArrowReaderMetadata) -> Option<usize> {
    let field = metadata.schema().field_with_name(ID).ok()?;
    let is_printed =
        matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Int64);
    let leaf = metadata.parquet_schema().columns().iter().position(|c| c.path().string() == ID);
    leaf.filter(|_| is_printed)
}

/// Whether the file has a column `id` of text or numbers.
///
/// # Errors
///
/// The file cannot be decoded.
fn has_ids(bytes: &[u8], path: &Path) -> Result<bool> {
    let metadata = load(bytes).map_err(|reason| broken(path, &reason))?;
    Ok(id_leaf(&metadata).is_some())
}

/// Reads the IDs of all rows of the file into one buffer.
///
/// # Errors
///
/// The file cannot be decoded.
fn find_ids<'a>(bytes: &'a [u8], path: &Path) -> Result<FoundIds<'a>> {
    let mut ids = Vec::new();
    let mut ends = Vec::new();
    for_each_id(bytes, path, &mut |id| {
        ids.extend_from_slice(id);
        ends.push(ids.len());
    })?;
    Ok(FoundIds::Column { ids, ends })
}

/// Calls `visit` with the ID of each row. A null becomes an empty ID.
///
/// # Errors
///
/// The file cannot be decoded.
fn for_each_id(bytes: &[u8], path: &Path, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
    let metadata = load(bytes).map_err(|reason| broken(path, &reason))?;
    let Some(leaf) = id_leaf(&metadata) else { return Ok(()) };
    for_each_array(bytes, path, &metadata, leaf, &mut |array| {
        for at in 0..array.len() {
            match array.data_type() {
                _ if array.is_null(at) => visit(b""),
                DataType::Utf8 => visit(array.as_string::<i32>().value(at).as_bytes()),
                DataType::LargeUtf8 => visit(array.as_string::<i64>().value(at).as_bytes()),
                _ => visit(array.as_primitive::<Int64Type>().value(at).to_string().as_bytes()),
            }
        }
        Ok(())
    })
}

/// Builder of rows of fingerprints from the values of the column `fingerprint`. It has one variant for numbers and
/// bytes, and one for text of hexadecimal digits.
enum RowColumn {
    Words(RowsBuilder),
    Digits(HexadecimalRows),
}

impl RowColumn {
    /// Creates a builder for a column whose type is `data`. Returns `None` if fingerprints cannot
    /// have this type.
    fn for_type(data: &DataType) -> Option<Self> {
        let most = MOST_BITS.cast_signed() / 8;
        let bits = match data {
            DataType::Int64 | DataType::UInt64 => u64::BITS,
            DataType::FixedSizeBinary(bytes)
                if matches!(bytes, 2 | 4) || (bytes % 8 == 0 && (8..=most).contains(bytes)) =>
            {
                8 * bytes.cast_unsigned()
            }
            DataType::Utf8 | DataType::Binary => {
                return Some(Self::Digits(HexadecimalRows::default()));
            }
            _ => return None,
        };
        Some(Self::Words(RowsBuilder::new(Shape::bits(bits))))
    }

    /// Makes room for `rows` more rows.
    fn reserve(&mut self, rows: usize) -> Result<()> {
        match self {
            Self::Words(builder) => builder.reserve(rows),
            // The first value decides the width of the rows, so there is nothing to reserve yet.
            Self::Digits(_) => Ok(()),
        }
    }

    /// Adds the rows of a batch. The error is the index of a row in the batch, and a phrase that
    /// describes what was expected there.
    fn push(&mut self, array: &ArrayRef) -> Result<(), (usize, String)> {
        match self {
            Self::Words(rows) => push_words(array, rows),
            Self::Digits(rows) => {
                for at in 0..array.len() {
                    let digits = match array.data_type() {
                        DataType::Utf8 => array.as_string::<i32>().value(at).as_bytes(),
                        _ => array.as_binary::<i32>().value(at),
                    };
                    let digits = (!array.is_null(at)).then_some(digits);
                    rows.push(digits).map_err(|expected| (at, expected))?;
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> FingerprintRows<'static> {
        match self {
            Self::Words(rows) => rows.finish(),
            Self::Digits(rows) => rows.finish(),
        }
    }
}

/// Adds the rows of a batch whose values are integers or bytes.
fn push_words(array: &ArrayRef, rows: &mut RowsBuilder) {
    let mut words = Vec::new();
    let mut push = |row: Option<&[u64]>| rows.push(row);
    match array.data_type() {
        DataType::Int64 => {
            for number in array.as_primitive::<Int64Type>() {
                push(number.map(|number| [number.cast_unsigned()]).as_ref().map(|row| &row[..]));
            }
        }
        DataType::UInt64 => {
            for number in array.as_primitive::<UInt64Type>() {
                push(number.map(|number| [number]).as_ref().map(|row| &row[..]));
            }
        }
        _ => {
            let word =
                |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
            for number in array.as_fixed_size_binary() {
                words.clear();
                words.extend(number.unwrap_or_default().rchunks(8).map(word));
                push(number.is_some().then_some(&words));
            }
        }
    }
}

/// Parses the metadata at the end of a Parquet file, whose content is `bytes`. The error is the reason in words.
fn load(bytes: &[u8]) -> Result<ArrowReaderMetadata, String> {
    // The types that Arrow stores in addition to Parquet's own would lead to dictionaries and
    // views.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    // A Parquet file ends with its metadata, the length of the metadata in four bytes, and "PAR1". Only
    // this end is copied for the decoder.
    let footer = bytes.last_chunk::<FOOTER_BYTES>().ok_or("it ends before its metadata")?;
    let length = u32::from_le_bytes([footer[0], footer[1], footer[2], footer[3]]) as usize;
    let start = bytes.len().saturating_sub(length.saturating_add(FOOTER_BYTES));
    let end = FilePart { start: start as u64, bytes: Bytes::copy_from_slice(&bytes[start..]) };
    caught(|| ArrowReaderMetadata::load(&end, options))?.map_err(|error| error.to_string())
}

/// A copy of some adjacent bytes of a file, with their byte offset in the file. The decoder needs bytes that it owns,
/// and a copy of the whole file would double the memory.
struct FilePart {
    start: u64,
    bytes: Bytes,
}

impl FilePart {
    /// Copies `length` bytes from offset `start` of the file. Returns `None` if the file is
    /// shorter.
    fn copy_from(bytes: &[u8], start: u64, length: u64) -> Option<Self> {
        let range =
            usize::try_from(start).ok()?..usize::try_from(start.checked_add(length)?).ok()?;
        Some(Self { start, bytes: Bytes::copy_from_slice(bytes.get(range)?) })
    }

    /// Converts `start`, a byte offset in the file, to an offset in this copied part of the file. Fails if `start` is
    /// before this part.
    fn place(&self, start: u64) -> Result<u64, ParquetError> {
        let before = || ParquetError::EOF(format!("byte {start} is not in the column"));
        start.checked_sub(self.start).ok_or_else(before)
    }
}

impl Length for FilePart {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for FilePart {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.bytes.get_read(self.place(start)?)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.bytes.get_bytes(self.place(start)?, length)
    }
}

#[cfg(test)]
mod tests;
