//! Texts from Python strings and from Arrow columns. Nothing is copied.

use crate::capsules::{Imported, Part, unknown, wrong};
use crate::numbers;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Number of strings after which Python's signals are checked, for example Ctrl-C.
const LOOKED_AFTER: usize = 1 << 16;

/// Imported texts. They stay in memory as long as this value exists.
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
                let number = column_number(arrow, column.as_deref())?;
                arrow.parts(number).try_for_each(|part| push(part, &mut rows))?;
                Ok(rows)
            }
        }
    }
}

/// Returns the names of the columns of a table without Arrow's interface: a data frame, a data set or a dict. Returns
/// an empty list for other objects.
pub(crate) fn column_names(object: &Bound<'_, PyAny>) -> Vec<String> {
    let names = ["columns", "column_names"].iter().find_map(|&name| object.getattr(name).ok());
    let names = names.or_else(|| object.call_method0("keys").ok());
    let Some(names) = names.and_then(|names| names.try_iter().ok()) else { return Vec::new() };
    // Data frames may have columns without a name, such as numbers.
    names.flatten().filter_map(|name| name.str().ok()?.extract().ok()).collect()
}

/// Returns an error for a dict of data sets, which `datasets.load_dataset` returns if it is called without a split.
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

/// Creates the error for a column that `object` does not have. `error` is the error of the look-up.
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

/// Imports an object through Arrow's interface. Returns `None` if the object does not have this interface. A lazy frame
/// of polars is collected first.
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

/// Returns whether a value is missing: `None`, NaN, or `NA` and `NaT` of pandas.
pub(crate) fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    is_none(value)
        || value.extract::<f64>().is_ok_and(f64::is_nan)
        || value.get_type().name().is_ok_and(|name| name == "NaTType")
}

/// Returns whether a value is `None`, or `NA` of pandas.
pub(crate) fn is_none(value: &Bound<'_, PyAny>) -> bool {
    // The class is recognized by its name, because pandas may not be installed.
    value.is_none() || value.get_type().name().is_ok_and(|name| name == "NAType")
}

/// Returns whether a column of this type has texts, or only nulls.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Null) || is_given_text(data_type)
}

fn is_given_text(data_type: &DataType) -> bool {
    use DataType::{Dictionary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Dictionary(..))
}

/// Returns the index of the column with the texts, or `None` if the object is not a table.
fn column_number(arrow: &Imported, column: Option<&str>) -> PyResult<Option<usize>> {
    let Some(columns) = arrow.columns() else { return Ok(None) };
    let found: Vec<usize> = (0..columns.len())
        .filter(|&number| match column {
            Some(column) => columns[number].name() == column,
            None => is_given_text(columns[number].data_type()),
        })
        .collect();
    let names = || arrow.column_names().join(", ");
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

/// Adds the texts of an array to `rows`. A missing text becomes an empty slice.
pub(crate) fn push<'i>(part: Part<'i>, rows: &mut Vec<&'i [u8]>) -> PyResult<()> {
    let array = part.array;
    // A damaged array must not lead to reads outside its buffers.
    array.to_data().validate_full().map_err(|error| wrong(&error.to_string()))?;
    rows.reserve(array.len());
    let or_empty =
        |row: usize, text: &'i str| if part.is_valid(row) { text.as_bytes() } else { &[] };
    let all = 0..array.len();
    match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            rows.extend(all.map(|row| or_empty(row, texts.value(row))));
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            rows.extend(all.map(|row| or_empty(row, texts.value(row))));
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            rows.extend(all.map(|row| or_empty(row, texts.value(row))));
        }
        DataType::Null => rows.resize(rows.len() + array.len(), &[]),
        DataType::Dictionary(..) => {
            // The texts of the dictionary are borrowed once, and rows refer to them by keys.
            let dictionary = array.as_any_dictionary();
            let mut values = Vec::new();
            push(Part::of(dictionary.values()), &mut values)?;
            for (row, key) in numbers::integers(dictionary.keys())?.into_iter().enumerate() {
                let value = usize::try_from(key).ok().and_then(|key| values.get(key));
                rows.push(match value {
                    _ if !part.is_valid(row) => &[],
                    Some(value) => value,
                    None => return Err(wrong("a key has no value")),
                });
            }
        }
        other => return Err(unknown("text", other)),
    }
    Ok(())
}
