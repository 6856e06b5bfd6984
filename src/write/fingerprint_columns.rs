//! Fingerprints as a Parquet file: the columns `id`, `file` and `record` name the row's document,
//! `fingerprint` holds f/8 bytes, the number's highest first, or null.

use crate::fingerprint_rows::FingerprintRows;
use crate::write::document_columns::{NameColumns, properties};
use crate::write::document_rows::DocumentName;
use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::mem::take;
use std::sync::Arc;

/// Rows that are encoded at once.
const BATCH_ROWS: usize = 1 << 16;

/// Writes `rows` to `out`, their documents named by `name`.
///
/// # Errors
///
/// Those of `out`.
pub fn write_columns<'d>(
    rows: &FingerprintRows<'_>,
    name: &dyn Fn(u32) -> DocumentName<'d>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = rows.lanes.lane_bits() / 8;
    let named = NameColumns::FIELDS.into_iter().map(|(name, data)| Field::new(name, data, false));
    let bytes = DataType::FixedSizeBinary(width.cast_signed());
    let fields: Vec<Field> = named.chain([Field::new("fingerprint", bytes, true)]).collect();
    let schema = Arc::new(Schema::new(fields));
    // A dictionary of values that hardly repeat is in vain.
    let properties = properties(rows.recipe.as_deref().unwrap_or_default())
        .set_column_dictionary_enabled(ColumnPath::from("fingerprint"), false)
        .set_column_dictionary_enabled(ColumnPath::from("id"), false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    let count = rows.lanes.len();
    for start in (0..count).step_by(BATCH_ROWS) {
        let columns = columns(rows, start..count.min(start + BATCH_ROWS), width, name)
            .map_err(io::Error::other)?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
        writer.write(&batch)?;
        out.write_all(&take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner()?)
}

/// The values of some rows.
fn columns<'d>(
    rows: &FingerprintRows<'_>,
    range: std::ops::Range<usize>,
    width: u32,
    name: &dyn Fn(u32) -> DocumentName<'d>,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut names = NameColumns::default();
    let mut fingerprints = FixedSizeBinaryBuilder::new(width.cast_signed());
    for row in range {
        names.push(&name(row as u32));
        match rows.number(row) {
            Some(number) => {
                let bytes = number.to_be_bytes();
                fingerprints.append_value(&bytes[bytes.len() - width as usize..])?;
            }
            None => fingerprints.append_null(),
        }
    }
    let mut columns = names.take().to_vec();
    columns.push(Arc::new(fingerprints.finish()));
    Ok(columns)
}
