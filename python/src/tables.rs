//! Tables and columns of the Python package.

use crate::capsules::{array_capsules, broken, schema_capsule, stream_capsule};
use crate::columns::ColumnData;
use crate::plain_values::{Reduced, column_values, reduced};
use crate::rows::value;
use arrow_array::array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PyTuple};
use std::fmt::Write;
use std::sync::Arc;

/// Number of rows of a table that are printed.
const SHOWN: usize = 8;

/// A table: columns of one length. It has Arrow's PyCapsule interface: `pyarrow.table(table)` and
/// `polars.DataFrame(table)` take it without a copy, and so does DuckDB through these libraries.
///
///     >>> table = simtool.deduplicate(["a b c d", "A b, c d!"]).removed
///     >>> table.column_names, len(table), table["kept"].to_pylist()
///     (['row', 'kept', 'similarity'], 1, [0])
///     >>> table.to_pydict()
///     {'row': [1], 'kept': [0], 'similarity': [1.0]}
#[pyclass(frozen, module = "simtool")]
pub(crate) struct Table {
    pub(crate) columns: Vec<Arc<ColumnData>>,
}

impl Table {
    pub(crate) fn new(columns: Vec<Arc<ColumnData>>) -> Self {
        Self { columns }
    }

    pub(crate) fn length(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| column.field());
        SchemaRef::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Returns the first rows as HTML.
    pub(crate) fn html(&self) -> String {
        let mut html = "<table><thead><tr>".to_owned();
        // Writing to a string cannot fail.
        for column in &self.columns {
            let _ = write!(html, "<th>{}</th>", column.name);
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.length().min(SHOWN) {
            html += "<tr>";
            for column in &self.columns {
                let _ = write!(html, "<td>{}</td>", escaped(&column.shown(row)));
            }
            html += "</tr>";
        }
        let _ = write!(html, "</tbody></table><p>{}</p>", self.size());
        html
    }

    fn size(&self) -> String {
        simtool::stages::quantity::counted(self.length() as u64, "row")
    }
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| column.name).collect()
    }

    fn __len__(&self) -> usize {
        self.length()
    }

    fn __getitem__(&self, name: &str) -> PyResult<Column> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map(|column| Column(column.clone())).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
            PyKeyError::new_err(format!("{name}: the columns are {}", names.join(", ")))
        })
    }

    /// Returns a dict of the columns as NumPy arrays, or the array itself if the table has one
    /// column. Numbers are not copied.
    pub(crate) fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A table of one column is usually used as an index of rows, so it needs no dict.
        if let [column] = &self.columns[..] {
            return Column(column.clone()).into_numpy(py);
        }
        let arrays = PyDict::new(py);
        for column in &self.columns {
            arrays.set_item(column.name, Column(column.clone()).into_numpy(py)?)?;
        }
        Ok(arrays.into_any())
    }

    /// Returns a dict of the columns as lists.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lists = PyDict::new(py);
        for column in &self.columns {
            lists.set_item(column.name, Column(column.clone()).to_pylist(py)?)?;
        }
        Ok(lists)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let columns = self.schema().fields().clone();
        schema_capsule(py, &Field::new("", DataType::Struct(columns), false))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let columns = self.columns.iter().map(|column| column.values.clone()).collect();
        // A table without columns does not show the number of its rows, so the number is given, too.
        let rows = RecordBatchOptions::new().with_row_count(Some(self.length()));
        let table = RecordBatch::try_new_with_options(self.schema(), columns, &rows);
        stream_capsule(py, self.schema(), vec![table.map_err(broken)?])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let columns: Vec<_> = self.columns.iter().map(|column| column_values(column)).collect();
        reduced(py, "_table", (columns,))
    }

    fn __repr__(&self) -> String {
        let shown = self.length().min(SHOWN);
        let cells = |column: &Arc<ColumnData>| -> Vec<String> {
            let values = (0..shown).map(|row| column.shown(row));
            std::iter::once(column.name.to_owned()).chain(values).collect()
        };
        let columns: Vec<_> = self.columns.iter().map(cells).collect();
        let widths: Vec<_> = columns
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in 0..=shown {
            let cells = columns
                .iter()
                .zip(&widths)
                .map(|(cells, &width)| format!("{:>width$}", cells[row]));
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        if shown < self.length() {
            text += "…\n";
        }
        text + &format!("[{}]", self.size())
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }
}

/// A column of a table, which Arrow and NumPy take without a copy.
///
///     >>> column = simtool.deduplicate(["a b c d", "e f g h"]).kept["row"]
///     >>> column.name, len(column), column.null_count, column.to_pylist()
///     ('row', 2, 0, [0, 1])
#[pyclass(frozen, module = "simtool")]
pub(crate) struct Column(pub(crate) Arc<ColumnData>);

impl Column {
    fn into_numpy(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let column = Bound::new(py, self)?;
        column.call_method0("to_numpy")
    }
}

#[pymethods]
impl Column {
    /// The name of the column.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// Number of values that are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.values.null_count()
    }

    fn __len__(&self) -> usize {
        self.0.values.len()
    }

    /// Iterates over the values as Python numbers and texts, with `None` for a null.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// The interface by which NumPy reads the numbers without a copy.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some((numbers, width, place)) = self.0.numbers() else {
            let rule = format!("{} has no plain numbers: take to_pylist()", self.0.name);
            return Err(pyo3::exceptions::PyAttributeError::new_err(rule));
        };
        let length = self.__len__();
        let interface = PyDict::new(py);
        if width == 1 {
            interface.set_item("shape", (length,))?;
        } else {
            interface.set_item("shape", (length, width))?;
        }
        interface.set_item("typestr", numbers)?;
        // The flag `true` means read-only: the memory belongs to the column.
        interface.set_item("data", (place, true))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// Returns a NumPy array. Numbers are not copied, except whole numbers with nulls. They become floats, with NaN for
    /// a null. Rows without a fingerprint are zeros.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let (numpy, column) = (py.import("numpy")?, &slf.get().0);
        let array = |values: &Bound<'py, PyAny>| numpy.call_method1("asarray", (values,));
        // NumPy has no null for whole numbers, so they become floats with NaN.
        if let Some(values) = column.values.as_primitive_opt::<UInt32Type>()
            && values.null_count() > 0
        {
            let floats = values.iter().map(|value| value.map_or(f64::NAN, f64::from));
            return array(&floats.collect::<Vec<_>>().into_pyobject(py)?);
        }
        if column.numbers().is_some() {
            return array(slf.as_any());
        }
        // NumPy has no type for texts or lists of any length, so they become Python objects.
        let array = numpy.call_method1("empty", (column.values.len(), "object"))?;
        for (row, value) in slf.get().to_pylist(py)?.iter().enumerate() {
            array.set_item(row, value)?;
        }
        Ok(array)
    }

    /// Returns a list of Python numbers and texts, with `None` for a null.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for row in 0..self.__len__() {
            list.append(value(py, &self.0.values, row)?)?;
        }
        Ok(list)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.field())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        array_capsules(py, &self.0.field(), &self.0.values)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "_column", (column_values(&self.0),))
    }

    fn __repr__(&self) -> String {
        Table::new(vec![self.0.clone()]).__repr__()
    }
}

/// Creates the error for an object that is not a table. `what` is the name of the argument.
pub(crate) fn no_table(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} must be a table of Arrow, or an array of rows and columns"
    ))
}
