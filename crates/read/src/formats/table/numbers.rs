//! Numbers and booleans of tables as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use std::fmt::Display;
use std::io::Write;

/// Returns whether values of this type are numbers or booleans, so that [`write_number_or_boolean`] can write them.
pub(super) fn is_number_or_boolean(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_number_or_boolean(values),
        DataType::RunEndEncoded(_, values) => is_number_or_boolean(values.data_type()),
        other => other.is_numeric() || *other == DataType::Boolean,
    }
}

/// Appends the number in row `row` in decimal, or the boolean, to `written`. Returns `None` if `column` has another
/// type.
pub(super) fn write_number_or_boolean(
    column: &ArrayRef,
    row: usize,
    written: &mut Vec<u8>,
) -> Option<()> {
    let write = match column.data_type() {
        DataType::Int8 => number::<Int8Type>,
        DataType::Int16 => number::<Int16Type>,
        DataType::Int32 => number::<Int32Type>,
        DataType::Int64 => number::<Int64Type>,
        DataType::UInt8 => number::<UInt8Type>,
        DataType::UInt16 => number::<UInt16Type>,
        DataType::UInt32 => number::<UInt32Type>,
        DataType::UInt64 => number::<UInt64Type>,
        DataType::Float16 => number::<Float16Type>,
        DataType::Float32 => number::<Float32Type>,
        DataType::Float64 => number::<Float64Type>,
        DataType::Decimal32(..) => decimal::<Decimal32Type>,
        DataType::Decimal64(..) => decimal::<Decimal64Type>,
        DataType::Decimal128(..) => decimal::<Decimal128Type>,
        DataType::Decimal256(..) => decimal::<Decimal256Type>,
        DataType::Boolean => boolean,
        _ => return None,
    };
    write(column, row, written)
}

/// Appends the number in row `row` of `column` to `written` in decimal. `T` is the type of the numbers in the column.
pub(super) fn number<T: ArrowPrimitiveType<Native: Display>>(
    column: &ArrayRef,
    row: usize,
    written: &mut Vec<u8>,
) -> Option<()> {
    write!(written, "{}", column.as_primitive::<T>().value(row)).ok()
}

fn decimal<T: DecimalType>(column: &ArrayRef, row: usize, written: &mut Vec<u8>) -> Option<()> {
    write!(written, "{}", column.as_primitive::<T>().value_as_string(row)).ok()
}

fn boolean(column: &ArrayRef, row: usize, written: &mut Vec<u8>) -> Option<()> {
    write!(written, "{}", column.as_boolean().value(row)).ok()
}
