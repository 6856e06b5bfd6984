//! The columns that selectors select in a table of an engine.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simtool::stages::read::{ColumnSteps, NamedColumns, Selector};

/// The columns of the texts, of the IDs, and of the values that decide which document is kept.
type Selected = (Vec<Vec<ColumnSteps>>, Vec<ColumnSteps>, Vec<ColumnSteps>);

/// Finds the columns that selectors select, by the same rules as in files. `schema` is an Arrow schema as an IPC
/// message. Without `text`, all texts are selected.
///
/// Returns three values. The first has lists of columns whose texts are joined, in order of preference. The second has
/// the columns of the ID, and the third the columns of the value that decides which document is kept, both in order of
/// preference. A column is a path: names, and `None` for a step from a list to its elements.
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
