//! The values that decide which of several documents is kept. They are converted to the text that a file would have,
//! and the library parses this text.

use crate::capsules::Imported;
use crate::numbers;
use crate::texts::{self, ImportedTexts, imported, is_missing};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString};
use simtool::Config;
use simtool::pipeline::document_fields::DocumentField;

/// Returns the values of all fields that the settings compare, in the order of the fields. A field with a name is a
/// column of the table `texts`. A field without a name has the values or the column that `keep_field` gives. `input`
/// must be imported from `texts`.
pub(crate) fn all<'py>(
    config: &Config,
    keep_field: Option<&Bound<'py, PyAny>>,
    texts: &Bound<'py, PyAny>,
    input: &ImportedTexts<'py>,
) -> PyResult<Vec<Vec<String>>> {
    let values = |field: &DocumentField| match (&field.name, keep_field) {
        (Some(name), _) => {
            of(field.setting, PyString::new(texts.py(), name).as_any(), texts, input)
        }
        (None, Some(given)) => of(field.setting, given, texts, input),
        // The settings were checked, so no field lacks both.
        (None, None) => Ok(Vec::new()),
    };
    config.fields.iter().map(values).collect()
}

/// Returns the values of a field as text. `given` is the name of a column in the table `given_texts`, or has the values
/// themselves. `input` must be imported from `given_texts`. A missing value becomes an empty text. `setting` is the
/// option to which the values belong.
fn of<'py>(
    setting: &str,
    given: &Bound<'py, PyAny>,
    given_texts: &Bound<'py, PyAny>,
    input: &ImportedTexts<'py>,
) -> PyResult<Vec<String>> {
    let Ok(name) = given.cast::<PyString>() else { return values(given) };
    if let ImportedTexts::Arrow(arrow, _) = input {
        return of_arrow(arrow, Some((setting, name.to_str()?)));
    }
    let column =
        given_texts.get_item(name).ok().filter(|column| !column.is_instance_of::<PyString>());
    let column = column.ok_or_else(|| {
        let known = texts::column_names(given_texts).join(", ");
        no_column(setting, name.to_str().unwrap_or_default(), &known)
    })?;
    of(setting, &column, given_texts, input)
}

/// Returns the given values as text. A missing value becomes an empty text.
pub(crate) fn values(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match imported(given)? {
        Some(arrow) => of_arrow(&arrow, None),
        None => given.try_iter()?.map(|value| written(&value?)).collect(),
    }
}

/// Creates the error for a name that no column has. `known` lists the names of the columns.
fn no_column(setting: &str, name: &str, known: &str) -> PyErr {
    let among = if known.is_empty() { String::new() } else { format!(": {known}") };
    let rule = "must be a column of the table of the texts";
    // Only this option also takes the values.
    let values = if setting == "keep_field" { ", or the values themselves" } else { "" };
    PyValueError::new_err(format!("{setting} {name}: {rule}{among}{values}"))
}

fn of_arrow(arrow: &Imported, column: Option<(&str, &str)>) -> PyResult<Vec<String>> {
    let number = match (arrow.columns(), column) {
        (Some(columns), None) if columns.len() == 1 => Some(0),
        (Some(_), None) => {
            let rule = "keep_field: must be one column of values, not a table of several";
            return Err(PyTypeError::new_err(rule));
        }
        (None, None) => None,
        (_, Some((setting, name))) => {
            let known = || no_column(setting, name, &arrow.column_names().join(", "));
            Some(arrow.column_number(name).ok_or_else(known)?)
        }
    };
    let mut values = Vec::new();
    let is_text = texts::is_text(arrow.data_type(number));
    for part in arrow.parts(number) {
        if is_text {
            let mut texts = Vec::new();
            texts::push(part, &mut texts)?;
            values.extend(texts.into_iter().map(|text| String::from_utf8_lossy(text).into_owned()));
            continue;
        }
        let written = numbers::written(part.array)?.into_iter().enumerate();
        values.extend(
            written.map(|(row, value)| if part.is_valid(row) { value } else { String::new() }),
        );
    }
    Ok(values)
}

/// Formats a Python value as text.
fn written(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if is_missing(value) {
        return Ok(String::new());
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    let is_plain = value.is_instance_of::<PyString>() || value.is_instance_of::<PyFloat>();
    // The attributes recognize whole numbers (NumPy's, too), decimals and fractions, and points in
    // time.
    if is_plain
        || ["__index__", "__float__", "isoformat"]
            .iter()
            .any(|&of| value.hasattr(of).unwrap_or(false))
    {
        return value.str()?.extract();
    }
    let class = value.get_type().name()?;
    let rule =
        format!("keep_field: values must be numbers, texts, points in time or None, not {class}");
    Err(PyTypeError::new_err(rule))
}
