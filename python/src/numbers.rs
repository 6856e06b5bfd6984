//! Reads numbers from Arrow and NumPy: fingerprints, and the rows of pairs.

use crate::capsules::{Imported, Part, unknown};
use crate::tables::no_table;
use arrow_array::array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods, PyDict};
use simtool::stages::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};

/// Reads the whole numbers of an array.
pub(crate) fn integers(array: &dyn Array) -> PyResult<Vec<i64>> {
    macro_rules! read {
        ($type:ty) => {
            array.as_primitive::<$type>().values().iter().map(|&number| number.into()).collect()
        };
    }
    Ok(match array.data_type() {
        DataType::Int8 => read!(Int8Type),
        DataType::UInt8 => read!(UInt8Type),
        DataType::Int16 => read!(Int16Type),
        DataType::UInt16 => read!(UInt16Type),
        DataType::Int32 => read!(Int32Type),
        DataType::UInt32 => read!(UInt32Type),
        DataType::Int64 => read!(Int64Type),
        DataType::UInt64 => {
            let words = array.as_primitive::<UInt64Type>().values();
            words.iter().map(|word| word.cast_signed()).collect()
        }
        other => return Err(unknown("whole numbers", other)),
    })
}

/// Reads the whole numbers of all parts of a column.
pub(crate) fn integers_of<'i>(parts: impl Iterator<Item = Part<'i>>) -> PyResult<Vec<i64>> {
    Ok(parts.map(|part| integers(part.array)).collect::<PyResult<Vec<_>>>()?.concat())
}

/// Reads the whole numbers of an object with Arrow's interface. `name` is the name of the argument in error messages.
pub(crate) fn whole_numbers(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    integers_of(Imported::of(given)?.ok_or_else(|| no_table(name))?.parts(None))
}

/// Reads the numbers of an array as floats.
fn floats(array: &dyn Array) -> PyResult<Vec<f64>> {
    Ok(match array.data_type() {
        DataType::Float32 => array
            .as_primitive::<Float32Type>()
            .values()
            .iter()
            .map(|&number| number.into())
            .collect(),
        DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        _ => integers(array)?.into_iter().map(|number| number as f64).collect(),
    })
}

/// Reads the numbers of all parts of a column as floats.
pub(crate) fn floats_of<'i>(parts: impl Iterator<Item = Part<'i>>) -> PyResult<Vec<f64>> {
    Ok(parts.map(|part| floats(part.array)).collect::<PyResult<Vec<_>>>()?.concat())
}

/// Formats the values of an array as text, in the form in which a file has them. A point in time becomes the stored
/// number, and NaN becomes an empty text.
pub(crate) fn written(array: &dyn Array) -> PyResult<Vec<String>> {
    fn texts<T: ToString>(numbers: &[T]) -> Vec<String> {
        numbers.iter().map(ToString::to_string).collect()
    }
    Ok(match array.data_type() {
        DataType::Float32 | DataType::Float64 => {
            let written = |number: f64| {
                if number.is_nan() { String::new() } else { number.to_string() }
            };
            floats(array)?.into_iter().map(written).collect()
        }
        DataType::Boolean => {
            array.as_boolean().values().iter().map(|flag| flag.to_string()).collect()
        }
        DataType::UInt64 => texts(array.as_primitive::<UInt64Type>().values()),
        // Points in time are compared as the numbers that are stored.
        DataType::Date32 => texts(array.as_primitive::<Date32Type>().values()),
        DataType::Date64 | DataType::Timestamp(..) => {
            texts(&array.to_data().buffer::<i64>(0)[..array.len()])
        }
        _ => texts(&integers(array)?),
    })
}

/// Reads fingerprints: 64-bit integers or fixed-size lists of them in Arrow, or a NumPy array of one or two dimensions.
/// In a table, the column `fingerprint` is read. The distance of the result is the number of differing bits.
pub(crate) fn fingerprints(object: &Bound<'_, PyAny>) -> PyResult<FingerprintRows<'static>> {
    if let Some(arrow) = Imported::of(object)? {
        return of_arrow(&arrow);
    }
    let numpy = object.py().import("numpy")?;
    let settings = PyDict::new(object.py());
    // Words are read as little-endian bytes, on any machine.
    settings.set_item("dtype", "<u8")?;
    let given = numpy.call_method1("asarray", (object,))?;
    let kind: String = given.getattr("dtype")?.getattr("kind")?.extract()?;
    let array = match &*kind {
        // Other kinds, such as floats, would lose bits and are refused.
        "u" | "i" | "O" => numpy.call_method("ascontiguousarray", (given,), Some(&settings))?,
        _ => {
            let rule = "fingerprints must be whole numbers of 64 bits";
            return Err(PyTypeError::new_err(rule));
        }
    };
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let width = match shape[..] {
        [_] => 1,
        [_, width] if width > 0 => width,
        _ => {
            return Err(PyValueError::new_err(
                "fingerprints must be an array of one or two dimensions",
            ));
        }
    };
    let bytes = array.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let words: Vec<u64> =
        bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let shape = Shape::bits(width as u32 * u64::BITS);
    Ok(FingerprintRows { shape, words: words.into(), validity: None, recipe: None })
}

fn of_arrow(arrow: &Imported) -> PyResult<FingerprintRows<'static>> {
    let column = match arrow.columns() {
        Some(columns) => {
            let only = (columns.len() == 1).then_some(0);
            let found = arrow.column_number("fingerprint").or(only);
            Some(found.ok_or_else(|| {
                PyValueError::new_err("fingerprints: a table must have a column \"fingerprint\"")
            })?)
        }
        None => None,
    };
    let width = match arrow.data_type(column) {
        DataType::Int64 | DataType::UInt64 => 1,
        DataType::FixedSizeList(words, width)
            if *width > 0 && matches!(words.data_type(), DataType::Int64 | DataType::UInt64) =>
        {
            width.cast_unsigned()
        }
        other => return Err(unknown("fingerprints", other)),
    };
    let mut rows = RowsBuilder::new(Shape::bits(width * u64::BITS));
    let width = width as usize;
    for part in arrow.parts(column) {
        // The numbers of all lists are in one array.
        let words = match part.array.as_fixed_size_list_opt() {
            Some(lists) => words(lists.values()),
            None => words(part.array),
        };
        for (row, words) in words.chunks_exact(width).enumerate() {
            rows.push(part.is_valid(row).then_some(words));
        }
    }
    Ok(rows.finish())
}

/// Returns the 64-bit words of an array, signed or not.
fn words(array: &dyn Array) -> Vec<u64> {
    // The sign of a signed number is one of the 64 bits of the word.
    match array.as_primitive_opt::<Int64Type>() {
        Some(words) => words.values().iter().map(|word| word.cast_unsigned()).collect(),
        None => array.as_primitive::<UInt64Type>().values().to_vec(),
    }
}
