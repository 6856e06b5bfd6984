//! Texts from Python's strings and from columns of Arrow. Nothing is copied.

use crate::arrow_c::{ArrayView, Imported, Plain, unknown, wrong};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Number of strings after which signals are checked.
const LOOKED_AFTER: usize = 1 << 16;

/// Imported texts, kept alive for as long as they are borrowed.
pub(crate) enum ImportedTexts<'py> {
    Strings(Vec<Option<Bound<'py, PyString>>>),
    Arrow(Imported, Option<String>),
}

impl<'py> ImportedTexts<'py> {
    /// Imports the texts of an object: any iterable of `str` and `None`, or an object with Arrow's
    /// interface. `column` names the column of a table.
    pub(crate) fn of(object: &Bound<'py, PyAny>, column: Option<String>) -> PyResult<Self> {
        let py = object.py();
        // A `str` is an iterable of its letters. The caller most likely forgot to make a list.
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("texts must be many, not one str: put it in a list"));
        }
        refuse_splits(object)?;
        // Arrow comes first, because data frames are iterables of other things, too.
        if let Some(arrow) = imported(object)? {
            return Ok(Self::Arrow(arrow, column));
        }
        if let Some(column) = column {
            let texts =
                object.get_item(&column).map_err(|error| no_column(object, &column, error))?;
            return Self::of(&texts, None);
        }
        // The iteration of a dict gives its keys, which are no texts.
        if object.is_instance_of::<PyDict>() {
            let keys = column_names(object).join(", ");
            let rule =
                format!("texts: are a dict with the keys {keys}: name one of them with column");
            return Err(PyTypeError::new_err(rule));
        }
        let hint = object.len().unwrap_or(0);
        let mut strings = Vec::with_capacity(hint);
        for (row, text) in object.try_iter()?.enumerate() {
            let text = text?;
            // Ctrl-C has to stop a long iteration.
            if row % LOOKED_AFTER == LOOKED_AFTER - 1 {
                py.check_signals()?;
            }
            strings.push(match text.cast_into::<PyString>() {
                Ok(text) => Some(text),
                Err(other) => {
                    let other = other.into_inner();
                    if !is_missing(&other) {
                        let class = other.get_type().name()?;
                        let rule =
                            format!("the text of row {row} must be str or None, not {class}");
                        return Err(PyTypeError::new_err(rule));
                    }
                    None
                }
            });
        }
        Ok(Self::Strings(strings))
    }

    /// Returns the bytes of each text. A missing text is empty, so that rows keep their numbers.
    pub(crate) fn rows(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Self::Strings(strings) => {
                let mut rows = Vec::with_capacity(strings.len());
                for text in strings {
                    match text {
                        Some(text) => rows.push(text.to_str()?.as_bytes()),
                        None => rows.push(&[][..]),
                    }
                }
                Ok(rows)
            }
            Self::Arrow(arrow, column) => {
                let mut rows = Vec::new();
                let Some(number) = column_number(arrow, column.as_deref())? else {
                    arrow.arrays().try_for_each(|array| push(array, None, &mut rows))?;
                    return Ok(rows);
                };
                for table in arrow.arrays() {
                    push(table.child(number)?, Some(table), &mut rows)?;
                }
                Ok(rows)
            }
        }
    }
}

/// Returns the names of the columns of a table without Arrow's interface: a data frame, a data set or a dict. Other
/// objects have none.
pub(crate) fn column_names(object: &Bound<'_, PyAny>) -> Vec<String> {
    let names = ["columns", "column_names"].iter().find_map(|&name| object.getattr(name).ok());
    let names = names.or_else(|| object.call_method0("keys").ok());
    let Some(names) = names.and_then(|names| names.try_iter().ok()) else { return Vec::new() };
    // Data frames may have columns without a name, such as numbers.
    names.flatten().filter_map(|name| name.str().ok()?.extract().ok()).collect()
}

/// Refuses a dict of data sets, such as `datasets.load_dataset` returns if it is called without a split.
fn refuse_splits(object: &Bound<'_, PyAny>) -> PyResult<()> {
    // The class is recognized by its name, because datasets may not be installed.
    let class = object.get_type().name()?.to_string();
    if !class.ends_with("DatasetDict") {
        return Ok(());
    }
    let splits = object.call_method0("keys")?.try_iter()?;
    let splits: Vec<String> = splits.flatten().filter_map(|key| key.extract().ok()).collect();
    let first = splits.first().map_or("train", String::as_str);
    let rule = format!(
        "texts: are a {class} with the splits {}. Give one of them, such as data[\"{first}\"], or all of them as \
         datasets.concatenate_datasets(list(data.values()))",
        splits.join(", ")
    );
    Err(PyTypeError::new_err(rule))
}

/// Builds the error for a column that `object` does not have. `error` is the error of looking it up.
fn no_column(object: &Bound<'_, PyAny>, column: &str, error: PyErr) -> PyErr {
    let names = column_names(object);
    if names.iter().any(|name| name == column) {
        return error;
    }
    if names.is_empty() {
        let class = object.get_type().name().map_or(String::new(), |name| name.to_string());
        let rule =
            format!("column {column}: is for tables, and the texts are a {class}: leave it out");
        return PyTypeError::new_err(rule);
    }
    PyValueError::new_err(format!("column {column}: must be one of {}", names.join(", ")))
}

/// Imports an object through Arrow's interface, if it has one. A lazy frame of polars is collected first.
pub(crate) fn imported(object: &Bound<'_, PyAny>) -> PyResult<Option<Imported>> {
    // The class is recognized by its name, because polars may not be installed.
    let is_lazy = object.get_type().name().is_ok_and(|name| name == "LazyFrame");
    if is_lazy {
        return imported_now(&object.call_method0("collect")?);
    }
    imported_now(object)
}

fn imported_now(object: &Bound<'_, PyAny>) -> PyResult<Option<Imported>> {
    match Imported::of(object) {
        // Some data frames need pyarrow to export Arrow. They are sequences, too, and are then read
        // as such.
        Err(error) if error.is_instance_of::<PyImportError>(object.py()) => Ok(None),
        done => done,
    }
}

/// Checks whether a value is missing: `None`, NaN, or `NA` and `NaT` of pandas.
pub(crate) fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    is_none(value)
        || value.extract::<f64>().is_ok_and(f64::is_nan)
        || value.get_type().name().is_ok_and(|name| name == "NaTType")
}

/// Checks whether a value is `None`, or `NA` of pandas.
pub(crate) fn is_none(value: &Bound<'_, PyAny>) -> bool {
    // The class is recognized by its name, because pandas may not be installed.
    value.is_none() || value.get_type().name().is_ok_and(|name| name == "NAType")
}

/// Arrow's formats of text columns.
pub(crate) const TEXTS: [&str; 3] = ["u", "U", "vu"];

/// Returns the number of the column with the texts, or `None` if the object is not a table.
fn column_number(arrow: &Imported, column: Option<&str>) -> PyResult<Option<usize>> {
    let field = arrow.field();
    if field.format() != "+s" {
        return Ok(None);
    }
    let children = field.children();
    let names = || children.iter().map(|child| child.name()).collect::<Vec<_>>().join(", ");
    let found: Vec<usize> = (0..children.len())
        .filter(|&number| match column {
            Some(column) => children[number].name() == column,
            None => TEXTS.contains(&children[number].format()) || children[number].has_dictionary(),
        })
        .collect();
    match (&found[..], column) {
        ([number], _) => Ok(Some(*number)),
        (_, Some(column)) => {
            let rule = format!("column {column}: must be one of {}", names());
            Err(PyValueError::new_err(rule))
        }
        (_, None) => {
            let count = found.len();
            let rule =
                format!("column: must name the column of the texts, as {count} of {} are", names());
            Err(PyValueError::new_err(rule))
        }
    }
}

/// A range of rows of an array, with their validity.
pub(crate) struct ArrayRows<'i> {
    /// Position of the first row in the buffers.
    pub(crate) begin: usize,
    pub(crate) length: usize,
    validity: Option<&'i [u8]>,
    of_table: Option<(&'i [u8], usize)>,
}

impl<'i> ArrayRows<'i> {
    /// Returns the range of all rows of `array`. If `array` is a column of `table`, returns the range of the rows of the
    /// table, which can be a part of the column.
    pub(crate) fn of(array: ArrayView<'i>, table: Option<ArrayView<'i>>) -> PyResult<Self> {
        let (skip, length, of_table) = match table {
            Some(table) => (table.offset()?, table.len()?, table.validity()?),
            None => (0, array.len()?, None),
        };
        if skip.checked_add(length).is_none_or(|end| array.len().is_ok_and(|len| end > len)) {
            return Err(wrong("a column that is shorter than the table"));
        }
        let begin = array.offset()?.checked_add(skip).ok_or_else(|| wrong("a huge offset"))?;
        let of_table = of_table.map(|bits| (bits, skip));
        Ok(Self { begin, length, validity: array.validity()?, of_table })
    }

    pub(crate) fn is_valid(&self, at: usize) -> bool {
        let bit = |bits: &[u8], place: usize| bits[place / 8] >> (place % 8) & 1 == 1;
        self.validity.is_none_or(|bits| bit(bits, self.begin + at))
            && self.of_table.is_none_or(|(bits, skip)| bit(bits, skip + at))
    }
}

/// Adds the texts of an array to `rows`. For a column of `table`, only the rows of the table.
pub(crate) fn push<'i>(
    array: ArrayView<'i>,
    table: Option<ArrayView<'i>>,
    rows: &mut Vec<&'i [u8]>,
) -> PyResult<()> {
    let of = ArrayRows::of(array, table)?;
    let (first, begin, length) = (rows.len(), of.begin, of.length);
    let is_valid = |at: usize| of.is_valid(at);
    if array.field().has_dictionary() {
        // The texts of the dictionary are borrowed once, and rows refer to them by keys.
        let mut values = Vec::new();
        push(array.dictionary()?, None, &mut values)?;
        let keys = crate::numbers::integers(array, begin, length)?;
        for (at, key) in keys.into_iter().enumerate() {
            let value = if is_valid(at) {
                let key = usize::try_from(key).ok();
                *key.and_then(|key| values.get(key)).ok_or_else(|| wrong("a key of no value"))?
            } else {
                &[]
            };
            rows.push(value);
        }
        return Ok(());
    }
    match array.field().format() {
        "u" => push_offsets::<i32>(array, begin, length, &is_valid, rows)?,
        "U" => push_offsets::<i64>(array, begin, length, &is_valid, rows)?,
        "vu" => push_views(array, begin, length, &is_valid, rows)?,
        "n" => rows.resize(first + length, &[]),
        format => return Err(unknown("text", format)),
    }
    if let Some(at) = rows[first..].iter().position(|text| std::str::from_utf8(text).is_err()) {
        return Err(PyValueError::new_err(format!("the text of row {} is not UTF-8", first + at)));
    }
    Ok(())
}

fn push_offsets<'i, O: Plain + TryInto<usize>>(
    array: ArrayView<'i>,
    begin: usize,
    length: usize,
    is_valid: &dyn Fn(usize) -> bool,
    rows: &mut Vec<&'i [u8]>,
) -> PyResult<()> {
    if length == 0 {
        return Ok(());
    }
    let end = begin.checked_add(length + 1).ok_or_else(|| wrong("a huge length"))?;
    let offsets = &array.buffer::<O>(1, end)?[begin..];
    let place = |at: usize| offsets[at].try_into().map_err(|_| wrong("a negative offset"));
    let last = place(length)?;
    let values: &[u8] = array.buffer(2, last)?;
    rows.reserve(length);
    let mut start = place(0)?;
    for at in 0..length {
        let end = place(at + 1)?;
        // A damaged array must not lead to reads outside its buffer.
        let text = values.get(start..end).ok_or_else(|| wrong("offsets that do not ascend"))?;
        rows.push(if is_valid(at) { text } else { &[] });
        start = end;
    }
    Ok(())
}

/// Maximum length in bytes of a text that is stored inside its view.
const INLINE: usize = 12;

fn push_views<'i>(
    array: ArrayView<'i>,
    begin: usize,
    length: usize,
    is_valid: &dyn Fn(usize) -> bool,
    rows: &mut Vec<&'i [u8]>,
) -> PyResult<()> {
    if length == 0 {
        return Ok(());
    }
    // The last buffer has the lengths of the buffers with long texts, which come before it.
    let count = array.buffer_count()?;
    let data = count.checked_sub(3).ok_or_else(|| wrong("too few buffers"))?;
    let lengths: &[i64] = array.buffer(count - 1, data)?;
    let long = |number: usize| -> PyResult<&'i [u8]> {
        let length = usize::try_from(lengths[number]).map_err(|_| wrong("a negative length"))?;
        array.buffer(2 + number, length)
    };
    let buffers = (0..data).map(long).collect::<PyResult<Vec<_>>>()?;
    let end = begin.checked_add(length).and_then(|end| end.checked_mul(16));
    let views: &'i [u8] = array.buffer(1, end.ok_or_else(|| wrong("a huge length"))?)?;
    rows.reserve(length);
    for at in 0..length {
        if !is_valid(at) {
            rows.push(&[]);
            continue;
        }
        let view = &views[(begin + at) * 16..][..16];
        let word = |place: usize| {
            // Each number of a view has four bytes, the lowest first.
            u32::from_le_bytes([view[place], view[place + 1], view[place + 2], view[place + 3]])
                as usize
        };
        let size = word(0);
        // A short text is in the view itself. A longer one has the number of its buffer and its start.
        let text = if size <= INLINE {
            Some(&view[4..4 + size])
        } else {
            let (buffer, start) = (buffers.get(word(8)), word(12));
            buffer.and_then(|buffer| buffer.get(start..start.checked_add(size)?))
        };
        rows.push(text.ok_or_else(|| wrong("a view beyond its buffer"))?);
    }
    Ok(())
}
