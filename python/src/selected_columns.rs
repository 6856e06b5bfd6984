//! The columns of a table of an engine that selectors select.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simtool::stages::read::{ColumnSteps, NamedColumns, Selector};

/// The columns of the texts, of the IDs, and of the values that decide which document is kept.
type Selected = (Vec<Vec<ColumnSteps>>, Vec<ColumnSteps>, Vec<ColumnSteps>);

/// Finds the columns that selectors select, as they are found in files. `schema` is a schema of Arrow
/// as a message of IPC.
///
/// Returns lists of columns with texts to join, in order of preference, then the columns of the ID
/// and of the value that decides which document is kept, in order of preference. A column is a path:
/// names, and `None` for a step from a list to its elements. Without a `text`, all texts are
/// selected.
#[pyfunction]
#[pyo3(signature = (schema, text, id, keep=None))]
pub(crate) fn selected_columns(
    schema: &[u8],
    text: Option<&str>,
    id: &str,
    keep: Option<&str>,
) -> PyResult<Selected> {
    let text_selector = text.map_or_else(Selector::all_strings, Selector::from);
    let keep_selector = keep.map(Selector::from);
    let found =
        NamedColumns::find(schema, &text_selector, &Selector::from(id), keep_selector.as_ref());
    let found = found.map_err(|rule| PyValueError::new_err(format!("text_column: {rule}")))?;
    let missing = |selector: &str| {
        let names = found.all_names.join(", ");
        Err(PyValueError::new_err(format!("column {selector}: must be one of {names}")))
    };
    if found.texts.is_empty() {
        return missing(text_selector.as_str());
    }
    if found.ids.is_empty() {
        return missing(id);
    }
    match keep {
        Some(keep) if found.keeps.is_empty() => missing(keep),
        _ => Ok((found.texts, found.ids, found.keeps)),
    }
}
