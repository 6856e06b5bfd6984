//! Arrow arrays that are exchanged with other libraries, as capsules of Arrow's C data interface. The Arrow crates read
//! and build the structs of the interface.

#![expect(unsafe_code, reason = "the interface is one of C")]

use crate::errors::exception;
use arrow_array::array::{Array, ArrayRef, StructArray, make_array};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Imported arrays of one type. Their memory belongs to the library that exported them.
pub(crate) struct Imported {
    field: FieldRef,
    arrays: Vec<ArrayRef>,
}

/// One imported array, or a column of one imported table.
#[derive(Clone, Copy)]
pub(crate) struct Part<'i> {
    pub(crate) array: &'i dyn Array,
    /// The table that has the column. A row that is null in the table has no value in the column. `None` outside of
    /// tables.
    table: Option<&'i StructArray>,
}

impl Imported {
    /// Imports the arrays of a Python object that has the method `__arrow_c_stream__` or `__arrow_c_array__`. Returns
    /// `None` if the object has neither method.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(method) = object.getattr("__arrow_c_stream__") {
            // The struct is released with its capsule, unless it was moved out.
            let capsule = method.call0()?;
            let place = place(&capsule, STREAM)?;
            // SAFETY: a capsule of that name holds such a struct. This thread is attached to the interpreter, so no
            // other thread uses the capsule.
            let stream = unsafe { ArrayStreamReader::from_raw(place.as_ptr()) }.map_err(failed)?;
            let field = stream.field().clone();
            let arrays = stream.collect::<Result<_, ArrowError>>().map_err(failed)?;
            return Ok(Some(Self { field, arrays }));
        }
        if let Ok(method) = object.getattr("__arrow_c_array__") {
            let pair = method.call0()?;
            let pair = pair.cast::<PyTuple>()?;
            let places = (place(&pair.get_item(0)?, SCHEMA)?, place(&pair.get_item(1)?, ARRAY)?);
            // SAFETY: as above, for both structs.
            let (schema, array) = unsafe {
                (
                    FFI_ArrowSchema::from_raw(places.0.as_ptr()),
                    FFI_ArrowArray::from_raw(places.1.as_ptr()),
                )
            };
            let field = Arc::new(Field::try_from(&schema).map_err(failed)?);
            // SAFETY: the producer promises that the array is of this type.
            let array = make_array(unsafe { from_ffi(array, &schema) }.map_err(failed)?);
            return Ok(Some(Self { field, arrays: vec![array] }));
        }
        Ok(None)
    }

    /// Returns the columns of a table, or `None` if the arrays are not tables.
    pub(crate) fn columns(&self) -> Option<&Fields> {
        match self.field.data_type() {
            DataType::Struct(columns) => Some(columns),
            _ => None,
        }
    }

    /// Returns the index of the column with this name, or `None` if there is none.
    pub(crate) fn column_number(&self, name: &str) -> Option<usize> {
        self.columns()?.iter().position(|column| column.name() == name)
    }

    /// Returns the names of the columns.
    pub(crate) fn column_names(&self) -> Vec<&str> {
        self.columns().into_iter().flatten().map(|column| column.name().as_str()).collect()
    }

    /// Returns the type of a column, or of the arrays if `column` is `None`.
    pub(crate) fn data_type(&self, column: Option<usize>) -> &DataType {
        let of_column = column.and_then(|number| self.columns()?.get(number));
        of_column.map_or(self.field.data_type(), |column| column.data_type())
    }

    /// Returns the parts of the column with index `column`, one for each imported table. If `column` is `None`, returns
    /// the imported arrays.
    pub(crate) fn parts(&self, column: Option<usize>) -> impl Iterator<Item = Part<'_>> {
        // A table may be imported in several parts. Each of these arrays has one part of every column.
        self.arrays.iter().map(move |array| match (column, array.as_struct_opt()) {
            (Some(column), Some(table)) => Part { array: table.column(column), table: Some(table) },
            _ => Part::of(array),
        })
    }
}

impl<'i> Part<'i> {
    /// Creates the part for an array that is not in a table.
    pub(crate) fn of(array: &'i dyn Array) -> Self {
        Self { array, table: None }
    }

    /// Returns whether the row with index `row` has a value, and is not null.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.array.is_valid(row) && self.table.is_none_or(|table| table.is_valid(row))
    }
}

/// Returns the address of the struct in a capsule. Returns an error if the capsule does not have the name `name`.
fn place<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow stream failed: {error}"))
}

/// Creates the error for a damaged array. `why` is the end of the message.
pub(crate) fn wrong(why: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array is damaged: {why}"))
}

/// Creates the error for an Arrow type from which `what` cannot be read.
pub(crate) fn unknown(what: &str, data_type: &DataType) -> PyErr {
    PyTypeError::new_err(format!("{what} cannot be read from the Arrow type {data_type}"))
}

/// Returns the exception for an error of Arrow while it reads or exports arrays that are in memory.
pub(crate) fn broken(error: ArrowError) -> PyErr {
    exception(simtool::Error::io("the rows", "read", std::io::Error::other(error)))
}

/// Returns a capsule with the Arrow type `field`.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    field: &Field,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(field).map_err(broken)?, SCHEMA)
}

/// Returns two capsules: one with the type of an array, and one with the array. Nothing is copied.
pub(crate) fn array_capsules<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
) -> PyResult<Bound<'py, PyTuple>> {
    let array = FFI_ArrowArray::new(&array.to_data());
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema_capsule(py, field)?, array])
}

/// Returns a capsule with a stream of tables. The consumer shares the arrays, so only handles are copied.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
