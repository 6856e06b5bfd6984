//! Numbers, columns and links as plain values of Python, for pickle and copy.

use crate::columns::{ColumnData, Values};
use arrow_array::array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use simtool::stages::closeness::Closeness;
use simtool::stages::similarity::Similarity;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of 64-bit numbers that store two rows and their closeness.
const LINK: usize = 5;
/// Largest number of 64-bit words of a fingerprint. A pickled fingerprint with more words is damaged.
const MOST_WORDS: usize = 1 << 16;

/// Result of `__reduce__`: a function that creates the object, and the arguments of this function.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// Returns the function with the name `function` of the compiled module, and its arguments.
pub(crate) fn reduced<'py, A>(
    py: Python<'py>,
    function: &str,
    arguments: A,
) -> PyResult<Reduced<'py>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
{
    let function = py.import("simtool._simtool")?.getattr(function)?;
    Ok((function, arguments.into_pyobject(py)?))
}

/// Numbers as little-endian bytes, which are the same on every machine.
pub(crate) struct Numbers(pub(crate) Vec<u8>);

impl Numbers {
    pub(crate) fn new(numbers: impl Iterator<Item = u64>) -> Self {
        Self(numbers.flat_map(u64::to_le_bytes).collect())
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }
}

/// Converts the bytes of [`Numbers`] back to numbers.
pub(crate) fn numbers(bytes: &[u8]) -> PyResult<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(damaged());
    }
    Ok(words.iter().map(|&word| u64::from_le_bytes(word)).collect())
}

/// Converts the bytes of [`Numbers`] back to numbers of a smaller type. Returns an error if a number does not fit.
pub(crate) fn small<T: TryFrom<u64>>(bytes: &[u8]) -> PyResult<Vec<T>> {
    numbers(bytes)?.into_iter().map(|number| number.try_into().map_err(|_| damaged())).collect()
}

pub(crate) fn damaged() -> PyErr {
    PyValueError::new_err("the pickled result is damaged")
}

/// Returns a column as plain values: its name, the kind of its values, the count of numbers in a row, its values, the
/// positions at which texts or lists begin, and its validity bitmap.
pub(crate) fn column_values(column: &ColumnData) -> PlainColumn {
    let starts = |starts: &[i64]| Numbers::new(starts.iter().map(|&start| start.cast_unsigned()));
    let rows = |rows: &dyn Array| {
        Numbers::new(rows.as_primitive::<UInt32Type>().values().iter().map(|&row| row.into()))
    };
    let array = &*column.values;
    let (kind, width, values, starts) = match array.data_type() {
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            ("f64", 1, Numbers::new(values.iter().map(|value| value.to_bits())), starts(&[]))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            ("texts", 1, Numbers(texts.value_data().to_vec()), starts(texts.value_offsets()))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            ("lists", 1, rows(lists.values()), starts(lists.value_offsets()))
        }
        DataType::UInt32 => ("u32", 1, rows(array), starts(&[])),
        _ => {
            let (width, words) = column.words().unwrap_or((1, &[]));
            ("words", width, Numbers::new(words.iter().copied()), starts(&[]))
        }
    };
    let validity = (array.null_count() > 0).then(|| {
        let mut bits = vec![0; array.len().div_ceil(8)];
        (0..array.len())
            .filter(|&row| array.is_valid(row))
            .for_each(|row| bits[row / 8] |= 1 << (row % 8));
        bits
    });
    (column.name.to_owned(), kind.to_owned(), width, values.0, starts.0, validity)
}

/// A column as plain values, see [`column_values`].
pub(crate) type PlainColumn = (String, String, usize, Vec<u8>, Vec<u8>, Option<Vec<u8>>);

/// Creates a column from its plain values. Returns an error if they are damaged.
pub(crate) fn column(plain: PlainColumn) -> PyResult<Arc<ColumnData>> {
    let (name, kind, width, values, starts, validity) = plain;
    let parts = |length: usize| -> PyResult<Vec<i64>> {
        let starts: Vec<i64> = small(&starts)?;
        let is_whole = starts.first() == Some(&0) && starts.last() == Some(&(length as i64));
        if is_whole && starts.is_sorted() { Ok(starts) } else { Err(damaged()) }
    };
    let values = match &*kind {
        "u32" => Values::U32(small(&values)?),
        "f64" => Values::F64(numbers(&values)?.into_iter().map(f64::from_bits).collect()),
        "texts" => Values::Texts(parts(values.len())?, values),
        "lists" => {
            let rows: Vec<u32> = small(&values)?;
            Values::Lists(parts(rows.len())?, rows)
        }
        "words" if (1..=MOST_WORDS).contains(&width) => {
            let words = numbers(&values)?;
            if !words.len().is_multiple_of(width) {
                return Err(damaged());
            }
            Values::Words(width, words)
        }
        _ => return Err(damaged()),
    };
    Ok(match validity {
        Some(bits) => ColumnData::with_validity(known_name(&name), values, &bits),
        None => ColumnData::new(known_name(&name), values),
    })
}

/// Returns the name of a column as a text that lives as long as the process. Each name is stored only once, and there
/// are few names.
fn known_name(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// Two rows and their closeness.
pub(crate) type Link = (u32, u32, Option<Closeness>);

/// Returns two rows and their closeness as numbers. Without a similarity, the ratio is 0/0. The last number is the
/// distance plus 1, or 0 without a distance.
pub(crate) fn link(a: u32, b: u32, closeness: Option<Closeness>) -> [u64; LINK] {
    let similarity = closeness.and_then(Closeness::exact_similarity);
    let Similarity { shared, union } = similarity.unwrap_or(Similarity { shared: 0, union: 0 });
    let distance = closeness.and_then(Closeness::distance);
    let distance = distance.map_or(0, |distance| u64::from(distance) + 1);
    [a.into(), b.into(), shared, union, distance]
}

/// Converts the numbers of [`link`] back to rows and closeness. The links must be sorted, and their rows must be below
/// `ends`.
pub(crate) fn links(bytes: &[u8], ends: [u64; 2]) -> PyResult<Vec<Link>> {
    let numbers = numbers(bytes)?;
    let (links, rest) = numbers.as_chunks::<LINK>();
    if !rest.is_empty() || !links.is_sorted_by_key(|&[a, b, ..]| (a, b)) {
        return Err(damaged());
    }
    let read = |&[a, b, shared, union, distance]: &[u64; LINK]| {
        if a >= ends[0] || b >= ends[1] || shared > union {
            return Err(damaged());
        }
        let row = |row: u64| u32::try_from(row).map_err(|_| damaged());
        let similarity = (union > 0).then_some(Similarity { shared, union });
        let distance = distance.checked_sub(1).map(row).transpose()?;
        let closeness = match (similarity, distance) {
            (Some(similarity), Some(distance)) => Some(Closeness::Verified(similarity, distance)),
            (Some(similarity), None) => Some(Closeness::Similarity(similarity)),
            (None, distance) => distance.map(Closeness::Distance),
        };
        Ok((row(a)?, row(b)?, closeness))
    };
    links.iter().map(read).collect()
}
