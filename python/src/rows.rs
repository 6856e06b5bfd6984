//! Rows that a command on files returns, as Arrow columns.

use crate::capsules::{broken, stream_capsule};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList};

/// Rows of a command on files. `pyarrow.table(rows)` and `polars.DataFrame(rows)` take the columns without a copy. As a
/// sequence, it has a dict for each row. Ids are numbers if all ids of the rows are, and texts otherwise.
///
///     >>> import pathlib, tempfile
///     >>> folder = pathlib.Path(tempfile.mkdtemp())
///     >>> for name in ["a.txt", "b.txt"]:
///     ...     _ = (folder / name).write_text("to be or not to be")
///     >>> rows = simtool.passages_files(folder, words=6)
///     >>> len(rows), rows.column_names[:3], rows[1]["whole"]
///     (2, ['id', 'file', 'record'], True)
#[pyclass(frozen, module = "simtool", sequence)]
pub(crate) struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Rows {
    /// Reads the rows of an Arrow IPC stream. If the command has written the rows to a file, the stream is empty, and
    /// the result has no rows.
    pub(crate) fn of_stream(stream: &[u8]) -> PyResult<Self> {
        if stream.is_empty() {
            return Ok(Self { schema: SchemaRef::new(Schema::empty()), batches: Vec::new() });
        }
        let reader = StreamReader::try_new(stream, None).map_err(broken)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, ArrowError>>().map_err(broken)?;
        Ok(Self { schema, batches })
    }

    /// Returns the row with index `row` of a batch as a dict.
    fn dict<'py>(
        &self,
        py: Python<'py>,
        batch: &RecordBatch,
        row: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            dict.set_item(field.name(), value(py, column, row)?)?;
        }
        Ok(dict)
    }
}

#[pymethods]
impl Rows {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyDict>> {
        let length = self.__len__();
        // A negative index counts from the end, as in a list.
        let place = if index < 0 { length.checked_add_signed(index) } else { Some(index as usize) };
        let mut row = place
            .filter(|&row| row < length)
            .ok_or_else(|| PyIndexError::new_err(format!("{index}: there are {length} rows")))?;
        for batch in &self.batches {
            if row < batch.num_rows() {
                return self.dict(py, batch, row);
            }
            row -= batch.num_rows();
        }
        Err(PyIndexError::new_err("there is no such row"))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// Returns a list with a dict for each row.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                list.append(self.dict(py, batch, row)?)?;
            }
        }
        Ok(list)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows that a wanted schema is ignored.
        drop(requested_schema);
        stream_capsule(py, self.schema.clone(), self.batches.clone())
    }

    fn __repr__(&self) -> String {
        let names = self.column_names().join(", ");
        format!("<{} of {names}>", simtool::stages::quantity::counted(self.__len__() as u64, "row"))
    }
}

/// Returns the value of a column in the row with index `row` as a Python object.
pub(crate) fn value<'py>(
    py: Python<'py>,
    column: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    // The number of a primitive column.
    macro_rules! number {
        ($type:ty) => {
            column.as_primitive::<$type>().value(row).into_pyobject(py)?.into_any()
        };
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into_pyobject(py)?.into_any(),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Boolean => {
            column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()
        }
        DataType::List(_) => list(py, &column.as_list::<i32>().value(row))?,
        DataType::LargeList(_) => list(py, &column.as_list::<i64>().value(row))?,
        DataType::FixedSizeList(..) => list(py, &column.as_fixed_size_list().value(row))?,
        other => return Err(PyRuntimeError::new_err(format!("no value of Python for {other}"))),
    })
}

/// Returns the elements of an array as a Python list. An element can be a list itself, so each element is converted by
/// [`value`].
fn list<'py>(py: Python<'py>, elements: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    for row in 0..elements.len() {
        list.append(value(py, elements, row)?)?;
    }
    Ok(list.into_any())
}
