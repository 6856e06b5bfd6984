//! Fingerprints as a column of a Parquet file, `fingerprint`, with null where a row has none.
//!
//! Its type is a fixed number of bytes (2, 4, 8 or 16), the number's highest first, as `simtool`
//! writes it; a 64-bit integer, signed or not, whose bits are the fingerprint's; or text of
//! lower-case hexadecimal digits. Other columns are not read.

use crate::error::{ErrorKind, Result};
use crate::fault::quoted;
use crate::fingerprint_rows::{FingerprintRows, RowNumbers};
use crate::read::hexadecimal::HexadecimalRows;
use crate::read::parquet::{caught, load};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::Path;

const NAME: &str = "fingerprint";
/// Rows decoded at once.
const BATCH_ROWS: usize = 8192;

/// The fingerprints of the Parquet file `bytes`; `path` is for messages.
///
/// # Errors
///
/// The file cannot be decoded, or has no such column.
pub fn read(bytes: &[u8], path: &Path) -> Result<FingerprintRows<'static>> {
    // The decoder wants bytes of its own.
    rows(Bytes::copy_from_slice(bytes))
        .map_err(|expected| ErrorKind::Format { path: path.to_owned(), byte: 0, expected }.into())
}

/// Rows of one of the types.
enum Column {
    Numbers(RowNumbers, u32),
    Digits(HexadecimalRows),
}

fn rows(bytes: Bytes) -> Result<FingerprintRows<'static>, String> {
    let broken = |reason: String| {
        format!("a Parquet file that can be decoded: {}", quoted(reason.as_bytes()))
    };
    let metadata = load(&bytes).map_err(broken)?;
    let schema = metadata.parquet_schema();
    let leaf = schema.columns().iter().position(|column| column.path().string() == NAME);
    let mask = ProjectionMask::leaves(schema, leaf);
    let batches = caught(|| {
        ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata.clone())
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
    });
    let mut batches = batches.map_err(broken)?.map_err(|error| broken(error.to_string()))?;
    let field = metadata.schema().field_with_name(NAME);
    let mut column = match field.map(arrow_schema::Field::data_type) {
        Ok(DataType::FixedSizeBinary(bytes @ (2 | 4 | 8 | 16))) => {
            Column::Numbers(RowNumbers::default(), 8 * bytes.unsigned_abs())
        }
        Ok(DataType::UInt64 | DataType::Int64) => Column::Numbers(RowNumbers::default(), 64),
        Ok(DataType::Utf8 | DataType::Binary) => Column::Digits(HexadecimalRows::default()),
        _ => {
            return Err(format!(
                "a column \"{NAME}\" of 2, 4, 8 or 16 bytes, of 64-bit integers or of \
                 hexadecimal text"
            ));
        }
    };
    let mut row = 0_u64;
    loop {
        let batch = caught(|| batches.next().transpose()).map_err(broken)?;
        let Some(batch) = batch.map_err(|error| broken(error.to_string()))? else { break };
        let array = batch.column(0);
        for at in 0..array.len() {
            column.push(array, at).map_err(|digits| format!("in row {row} {digits}, or null"))?;
            row += 1;
        }
    }
    Ok(match column {
        Column::Numbers(rows, bits) => rows.finish(bits),
        Column::Digits(rows) => rows.finish(),
    })
}

impl Column {
    /// Adds a row; an error is what was expected.
    fn push(&mut self, array: &ArrayRef, at: usize) -> Result<(), String> {
        let is_null = array.is_null(at);
        match self {
            Self::Numbers(rows, _) => {
                rows.push((!is_null).then(|| number(array, at)));
                Ok(())
            }
            Self::Digits(rows) => {
                let digits = match array.data_type() {
                    DataType::Utf8 => array.as_string::<i32>().value(at).as_bytes(),
                    _ => array.as_binary::<i32>().value(at),
                };
                rows.push((!is_null).then_some(digits))
            }
        }
    }
}

/// A value of a column of numbers.
fn number(array: &ArrayRef, at: usize) -> u128 {
    match array.data_type() {
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(at).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at).cast_unsigned().into(),
        _ => {
            let bytes = array.as_fixed_size_binary().value(at);
            bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
        builder::FixedSizeBinaryBuilder,
    };
    use parquet::arrow::ArrowWriter;
    use std::sync::Arc;

    fn file(name: &str, array: ArrayRef) -> Vec<u8> {
        let other: ArrayRef = Arc::new(Float64Array::from(vec![0.5; array.len()]));
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("other", other, false),
            (name, array, true),
        ]);
        let batch = batch.unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn check(array: impl Array + 'static, bits: u32, expected: [Option<u128>; 3]) {
        let mut rows = RowNumbers::default();
        for number in expected {
            rows.push(number);
        }
        let found = read(&file("fingerprint", Arc::new(array)), Path::new("f")).unwrap();
        assert_eq!(found, rows.finish(bits));
    }

    fn binary(rows: [Option<&[u8]>; 3], width: i32) -> impl Array + use<> {
        let mut builder = FixedSizeBinaryBuilder::new(width);
        for row in rows {
            match row {
                Some(bytes) => builder.append_value(bytes).unwrap(),
                None => builder.append_null(),
            }
        }
        builder.finish()
    }

    #[test]
    fn every_type_is_read() {
        let large = Some(1 << 63 | 5);
        check(
            UInt64Array::from(vec![Some(1 << 63 | 5), None, Some(0)]),
            64,
            [large, None, Some(0)],
        );
        check(
            Int64Array::from(vec![Some(i64::MIN + 5), None, Some(0)]),
            64,
            [large, None, Some(0)],
        );
        let text = StringArray::from(vec![None, Some("00ff"), Some("f000")]);
        check(text, 16, [None, Some(0xFF), Some(0xF000)]);
        let mut wide = [0; 16];
        (wide[0], wide[15]) = (0x80, 3);
        let wide = binary([Some(&wide), None, Some(&[255; 16])], 16);
        check(wide, 128, [Some(1 << 127 | 3), None, Some(u128::MAX)]);
        check(binary([Some(&[1, 2]), None, None], 2), 16, [Some(0x102), None, None]);
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |bytes: &[u8], expected: &str| {
            let error = read(bytes, Path::new("f")).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let numbers = || Arc::new(UInt64Array::from(vec![1, 2, 3]));
        refused(&file("hash", numbers()), "expected a column \"fingerprint\" of 2, 4, 8");
        let float = Arc::new(Float64Array::from(vec![0.5]));
        refused(&file("fingerprint", float), "expected a column \"fingerprint\" of 2, 4, 8");
        let text = Arc::new(StringArray::from(vec!["00ff", "ff"]));
        refused(&file("fingerprint", text), "in row 1 4 digits 0-9a-f");
        let whole = file("fingerprint", numbers());
        for end in 4..whole.len() {
            refused(&whole[..end], "can be decoded");
        }
    }
}
