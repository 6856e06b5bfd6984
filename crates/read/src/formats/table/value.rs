//! Values of tables as text: IDs, and values that decide which documents are kept.

use crate::formats::table::numbers::{number, write_number_or_boolean};
use crate::formats::table::selected::bytes;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use std::io::Write;

/// Number of bytes of a UUID.
const UUID_BYTES: i32 = 16;

/// Form in which points in time are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As the stored number, so that an ID is the same in every tool.
    Id,
    /// As date and time in UTC, so that times in columns with different units, and texts with dates, can be compared.
    Ordered,
}

/// Returns the value in row `row` as text. A text is returned as it is, and a number in decimal. A value of 16 bytes
/// that is not text is written as a UUID. `written` is reusable memory. Returns `None` for null, for an empty text, and
/// for nested types.
pub(super) fn value<'v>(
    column: &'v ArrayRef,
    row: usize,
    form: Form,
    written: &'v mut Vec<u8>,
) -> Option<&'v [u8]> {
    if column.is_null(row) {
        return None;
    }
    written.clear();
    match bytes(column, row) {
        Some(bytes) if is_uuid(column.data_type(), bytes) => write_uuid(bytes, written),
        Some(text) => return (!text.is_empty()).then_some(text),
        None if form == Form::Ordered => {
            write_time(column, row, written).or_else(|| write_stored(column, row, written))
        }
        None => write_stored(column, row, written),
    }?;
    Some(written)
}

/// Returns whether a value is a UUID in binary form, and not a text of 16 characters.
fn is_uuid(data_type: &DataType, bytes: &[u8]) -> bool {
    let is_text = || str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control));
    *data_type == DataType::FixedSizeBinary(UUID_BYTES) && !is_text()
}

/// Writes a UUID in its usual form, such as `9f809f80-9f80-9f80-9f80-9f809f809f80`.
fn write_uuid(bytes: &[u8], written: &mut Vec<u8>) -> Option<()> {
    for (at, byte) in bytes.iter().enumerate() {
        let dash = if [4, 6, 8, 10].contains(&at) { "-" } else { "" };
        write!(written, "{dash}{byte:02x}").ok()?;
    }
    Some(())
}

/// Writes a point in time as date and time in UTC. Returns `None` for other types.
fn write_time(column: &ArrayRef, row: usize, written: &mut Vec<u8>) -> Option<()> {
    fn time<T>(column: &ArrayRef, row: usize, written: &mut Vec<u8>) -> Option<()>
    where
        T: ArrowPrimitiveType<Native = i64> + ArrowTemporalType,
    {
        let time = column.as_primitive::<T>().value_as_datetime(row)?;
        write!(written, "{time}Z").ok()
    }
    match column.data_type() {
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value_as_date(row)?;
            write!(written, "{date}").ok()
        }
        DataType::Date64 => {
            let date = column.as_primitive::<Date64Type>().value_as_date(row)?;
            write!(written, "{date}").ok()
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => time::<TimestampSecondType>(column, row, written),
            TimeUnit::Millisecond => time::<TimestampMillisecondType>(column, row, written),
            TimeUnit::Microsecond => time::<TimestampMicrosecondType>(column, row, written),
            TimeUnit::Nanosecond => time::<TimestampNanosecondType>(column, row, written),
        },
        _ => None,
    }
}

/// Writes a number, a boolean, or a time as the stored number. Returns `None` for other types.
fn write_stored(column: &ArrayRef, row: usize, written: &mut Vec<u8>) -> Option<()> {
    write_number_or_boolean(column, row, written)
        .or_else(|| stored_time(column.data_type())?(column, row, written))
}

/// Function that writes the value of a column in one row. It returns `None` if there is nothing to write.
type WriteValue = fn(&ArrayRef, usize, &mut Vec<u8>) -> Option<()>;

/// Returns the function that writes a date, time or duration as the stored number. Returns `None` for
/// other types.
fn stored_time(data_type: &DataType) -> Option<WriteValue> {
    Some(match data_type {
        DataType::Date32 => number::<Date32Type>,
        DataType::Date64 => number::<Date64Type>,
        DataType::Time32(TimeUnit::Second) => number::<Time32SecondType>,
        DataType::Time32(_) => number::<Time32MillisecondType>,
        DataType::Time64(TimeUnit::Microsecond) => number::<Time64MicrosecondType>,
        DataType::Time64(_) => number::<Time64NanosecondType>,
        DataType::Timestamp(TimeUnit::Second, _) => number::<TimestampSecondType>,
        DataType::Timestamp(TimeUnit::Millisecond, _) => number::<TimestampMillisecondType>,
        DataType::Timestamp(TimeUnit::Microsecond, _) => number::<TimestampMicrosecondType>,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number::<TimestampNanosecondType>,
        DataType::Duration(TimeUnit::Second) => number::<DurationSecondType>,
        DataType::Duration(TimeUnit::Millisecond) => number::<DurationMillisecondType>,
        DataType::Duration(TimeUnit::Microsecond) => number::<DurationMicrosecondType>,
        DataType::Duration(TimeUnit::Nanosecond) => number::<DurationNanosecondType>,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Decimal128Array, FixedSizeBinaryArray, Float64Array, Time64MicrosecondArray,
        TimestampMillisecondArray,
    };
    use std::sync::Arc;

    fn written(column: impl Array + 'static, form: Form) -> String {
        let column: ArrayRef = Arc::new(column);
        let mut scratch = Vec::new();
        let value = value(&column, 0, form, &mut scratch);
        str::from_utf8(value.unwrap_or(b"none")).unwrap().to_owned()
    }

    #[test]
    fn values_of_all_types_are_written() {
        let decimal = Decimal128Array::from(vec![10_i128.pow(19) + 1]);
        let decimal = decimal.with_precision_and_scale(38, 2).unwrap();
        assert_eq!(written(decimal, Form::Id), "100000000000000000.01");
        assert_eq!(written(Float64Array::from(vec![f64::NAN]), Form::Ordered), "NaN");
        let time = Time64MicrosecondArray::from(vec![5]);
        assert_eq!(written(time, Form::Id), "5");
        let bytes =
            |bytes: &[u8]| FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap();
        assert_eq!(written(bytes(&[0x9f; 16]), Form::Id), "9f9f9f9f-9f9f-9f9f-9f9f-9f9f9f9f9f9f");
        assert_eq!(written(bytes(b"sixteen letters."), Form::Id), "sixteen letters.");
        let stamp = TimestampMillisecondArray::from(vec![1_500]);
        assert_eq!(written(stamp.clone(), Form::Id), "1500");
        assert_eq!(written(stamp, Form::Ordered), "1970-01-01 00:00:01.500Z");
    }
}
