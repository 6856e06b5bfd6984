//! Reading numbers from Arrow and NumPy: fingerprints, and the rows of pairs.

use crate::arrow_c::{ArrayView, Imported, unknown, wrong};
use crate::tables::no_table;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods, PyDict};
use simtool::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};

/// Reads `length` whole numbers of an array from position `begin` on.
pub(crate) fn integers(array: ArrayView<'_>, begin: usize, length: usize) -> PyResult<Vec<i64>> {
    let end = begin.checked_add(length).ok_or_else(|| wrong("a huge length"))?;
    macro_rules! read {
        ($number:ty) => {
            array.buffer::<$number>(1, end)?[begin..].iter().map(|&number| number.into()).collect()
        };
    }
    Ok(match array.field().format() {
        "c" => read!(i8),
        "C" => read!(u8),
        "s" => read!(i16),
        "S" => read!(u16),
        "i" => read!(i32),
        "I" => read!(u32),
        "l" => array.buffer(1, end)?[begin..].to_vec(),
        "L" => words(array, begin, length)?.iter().map(|word| word.cast_signed()).collect(),
        format => return Err(unknown("whole numbers", format)),
    })
}

/// Reads the whole numbers of an Arrow array.
pub(crate) fn whole_numbers(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    let arrow = Imported::of(given)?.ok_or_else(|| no_table(name))?;
    let mut numbers = Vec::new();
    for array in arrow.arrays() {
        numbers.extend(integers(array, array.offset()?, array.len()?)?);
    }
    Ok(numbers)
}

/// Reads `length` numbers of an array from position `begin` on, as floats.
pub(crate) fn floats(array: ArrayView<'_>, begin: usize, length: usize) -> PyResult<Vec<f64>> {
    let end = begin.checked_add(length).ok_or_else(|| wrong("a huge length"))?;
    Ok(match array.field().format() {
        "f" => array.buffer::<f32>(1, end)?[begin..].iter().map(|&number| number.into()).collect(),
        "g" => array.buffer(1, end)?[begin..].to_vec(),
        _ => integers(array, begin, length)?.into_iter().map(|number| number as f64).collect(),
    })
}

/// Formats `length` numbers of an array as a file would have them. Points in time become the stored
/// number, and NaN becomes empty text.
pub(crate) fn written(array: ArrayView<'_>, begin: usize, length: usize) -> PyResult<Vec<String>> {
    fn texts<T: ToString>(numbers: &[T]) -> Vec<String> {
        numbers.iter().map(ToString::to_string).collect()
    }
    let end = begin.checked_add(length).ok_or_else(|| wrong("a huge length"))?;
    Ok(match array.field().format() {
        "f" | "g" => {
            let written = |number: f64| {
                if number.is_nan() { String::new() } else { number.to_string() }
            };
            floats(array, begin, length)?.into_iter().map(written).collect()
        }
        // Booleans are bits in Arrow.
        "b" => {
            let bits: &[u8] = array.buffer(1, end.div_ceil(8))?;
            let bit = |place: usize| (bits[place / 8] >> (place % 8) & 1 == 1).to_string();
            (begin..end).map(bit).collect()
        }
        "L" => texts(words(array, begin, length)?),
        // Days since 1970 have 32 bits, all other dates and times 64.
        "tdD" => texts(&array.buffer::<i32>(1, end)?[begin..]),
        format if format == "tdm" || format.starts_with("ts") => {
            texts(&array.buffer::<i64>(1, end)?[begin..])
        }
        _ => texts(&integers(array, begin, length)?),
    })
}

/// Returns `length` 64-bit words of an array, signed or not, from position `begin` on.
fn words(array: ArrayView<'_>, begin: usize, length: usize) -> PyResult<&[u64]> {
    let end = begin.checked_add(length).ok_or_else(|| wrong("a huge length"))?;
    Ok(&array.buffer(1, end)?[begin..])
}

/// Reads fingerprints: 64-bit integers or fixed-size lists of them in Arrow, or a NumPy array of
/// one or two dimensions. In a table the column `fingerprint` is read. Distances count bits.
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
    let field = arrow.field();
    let column = match field.format() {
        "+s" => {
            let children = field.children();
            let found = children.iter().position(|child| child.name() == "fingerprint");
            Some(found.or((children.len() == 1).then_some(0)).ok_or_else(|| {
                PyValueError::new_err("fingerprints: a table must have a column \"fingerprint\"")
            })?)
        }
        _ => None,
    };
    let of_column = column.map_or(field, |column| field.children()[column]);
    let width = match of_column.format() {
        "l" | "L" => 1,
        format => {
            let width = format.strip_prefix("+w:").and_then(|width| width.parse::<u32>().ok());
            let is_words = of_column
                .children()
                .first()
                .is_some_and(|words| matches!(words.format(), "l" | "L"));
            width
                .filter(|&width| width > 0 && is_words)
                .ok_or_else(|| unknown("fingerprints", format))?
        }
    };
    let mut rows = RowsBuilder::new(Shape::bits(width * u64::BITS));
    let width = width as usize;
    for part in arrow.arrays() {
        // A sliced table has its own offset, in addition to the offset of its column.
        let (array, skip, length) = match column {
            Some(column) => (part.child(column)?, part.offset()?, part.len()?),
            None => (part, 0, part.len()?),
        };
        let begin = array.offset()?.checked_add(skip).ok_or_else(|| wrong("a huge offset"))?;
        let validity = array.validity()?;
        let words = if array.field().format().starts_with("+w") {
            let values = array.child(0)?;
            // The numbers of all lists are in one child array.
            let begin = values.offset()?.checked_add(begin * width);
            words(values, begin.ok_or_else(|| wrong("a huge offset"))?, length * width)?
        } else {
            words(array, begin, length)?
        };
        for (at, row) in words.chunks_exact(width).enumerate() {
            let place = begin + at;
            let is_valid = validity.is_none_or(|bits| bits[place / 8] >> (place % 8) & 1 == 1);
            rows.push(is_valid.then_some(row));
        }
    }
    Ok(rows.finish())
}
