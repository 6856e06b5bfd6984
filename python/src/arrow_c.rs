//! The C data interface of Arrow: its structs, and the import and export of arrays in capsules.
//!
//! Contains all `unsafe` code of the package except the memory map of an index. Imported structs
//! are read as the interface promises: buffers are as long as lengths and offsets say, and nobody
//! changes them. Null pointers, negative numbers and lengths that do not fit are refused.

#![expect(unsafe_code, reason = "the interface is one of C")]

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Flag of a field that may be null.
const NULLABLE: i64 = 2;

/// The type of an array.
#[repr(C)]
pub(crate) struct CSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut CSchema,
    dictionary: *mut CSchema,
    release: Option<unsafe extern "C" fn(*mut CSchema)>,
    private: *mut c_void,
}

/// The buffers of an array.
#[repr(C)]
pub(crate) struct CArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut CArray,
    dictionary: *mut CArray,
    release: Option<unsafe extern "C" fn(*mut CArray)>,
    private: *mut c_void,
}

/// Arrays of one type, one after the other.
#[repr(C)]
pub(crate) struct CStream {
    get_schema: Option<unsafe extern "C" fn(*mut CStream, *mut CSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut CStream, *mut CArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut CStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut CStream)>,
    private: *mut c_void,
}

/// Implements the parts that all structs of the interface share: an empty value, and a release on
/// drop.
macro_rules! owned {
    ($($name:ident { $($field:ident: $empty:expr),* })*) => {$(
        impl $name {
            const EMPTY: Self = Self { $($field: $empty,)* release: None, private: ptr::null_mut() };
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the function was given by whoever filled the struct. It has not been
                    // called yet, because a call clears the field `release`.
                    unsafe { release(self) };
                }
            }
        }

        // SAFETY: the interface allows a struct to be used and released by any one thread.
        unsafe impl Send for $name {}
    )*};
}

owned! {
    CSchema {
        format: ptr::null(), name: ptr::null(), metadata: ptr::null(), flags: 0, n_children: 0,
        children: ptr::null_mut(), dictionary: ptr::null_mut()
    }
    CArray {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0,
        buffers: ptr::null_mut(), children: ptr::null_mut(), dictionary: ptr::null_mut()
    }
    CStream { get_schema: None, get_next: None, get_last_error: None }
}

// ---- in ----

/// Imported arrays of one type, which are borrowed from their producer for as long as this value
/// lives.
pub(crate) struct Imported {
    schema: CSchema,
    arrays: Vec<CArray>,
}

// SAFETY: imported structs and buffers are only read.
unsafe impl Sync for Imported {}

impl Imported {
    /// Imports an object through the methods of the interface. Returns `None` if the object has
    /// none of the methods.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(method) = object.getattr("__arrow_c_stream__") {
            return Self::of_stream(&method.call0()?).map(Some);
        }
        if let Ok(method) = object.getattr("__arrow_c_array__") {
            let pair = method.call0()?;
            let pair = pair.cast::<PyTuple>()?;
            let schema = take(&pair.get_item(0)?, SCHEMA, CSchema::EMPTY)?;
            let array = take(&pair.get_item(1)?, ARRAY, CArray::EMPTY)?;
            return Ok(Some(Self { schema, arrays: vec![array] }));
        }
        Ok(None)
    }

    fn of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut stream = take(capsule, STREAM, CStream::EMPTY)?;
        let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
            return Err(PyValueError::new_err("the Arrow stream lacks its functions"));
        };
        let mut schema = CSchema::EMPTY;
        // SAFETY: the stream was not released, and the place is empty.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        stream.check(code)?;
        let mut arrays = Vec::new();
        loop {
            let mut array = CArray::EMPTY;
            // SAFETY: as above.
            let code = unsafe { get_next(&raw mut stream, &raw mut array) };
            stream.check(code)?;
            if array.release.is_none() {
                return Ok(Self { schema, arrays });
            }
            arrays.push(array);
        }
    }

    /// Returns the imported arrays with their type.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = ArrayView<'_>> {
        self.arrays.iter().map(|array| ArrayView { schema: &self.schema, array })
    }

    /// Returns the type of the arrays.
    pub(crate) fn field(&self) -> Field<'_> {
        Field(&self.schema)
    }
}

impl CStream {
    /// Turns the code that a function of the stream returned into an error.
    fn check(&mut self, code: c_int) -> PyResult<()> {
        if code == 0 {
            return Ok(());
        }
        let message = self.get_last_error.map_or(ptr::null(), |get_last_error| {
            // SAFETY: the stream was not released.
            unsafe { get_last_error(self) }
        });
        let message = if message.is_null() {
            format!("code {code}")
        } else {
            // SAFETY: the message is a C string, valid until the next call of the stream.
            unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
        };
        Err(PyValueError::new_err(format!("the Arrow stream failed: {message}")))
    }
}

/// Moves a struct out of its capsule and leaves an empty one there.
fn take<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr, empty: T) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of that name holds such a struct. This thread is attached to the
    // interpreter, so no other thread uses the capsule.
    Ok(unsafe { pointer.replace(empty) })
}

/// The type of an array.
#[derive(Clone, Copy)]
pub(crate) struct Field<'i>(&'i CSchema);

impl<'i> Field<'i> {
    /// Returns the format string of the type, in the spelling of the interface.
    pub(crate) fn format(self) -> &'i str {
        text(self.0.format)
    }

    /// Returns the name of the field.
    pub(crate) fn name(self) -> &'i str {
        text(self.0.name)
    }

    /// Returns the types of the fields of a struct or list.
    pub(crate) fn children(self) -> Vec<Self> {
        let count = usize::try_from(self.0.n_children).unwrap_or_default();
        // SAFETY: there are as many as it says.
        let children = unsafe { slice(self.0.children.cast_const(), count) }.unwrap_or_default();
        // SAFETY: each is a valid struct that lives as long as its parent.
        children.iter().map(|&child| Self(unsafe { &*child })).collect()
    }

    /// Checks whether the values are positions in a dictionary.
    pub(crate) fn has_dictionary(self) -> bool {
        !self.0.dictionary.is_null()
    }
}

/// Returns a C string as text, and an absent one as empty text.
fn text<'i>(pointer: *const c_char) -> &'i str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the interface's strings are C strings that live as long as their struct, by which
    // callers bound the lifetime.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or_default()
}

/// Returns `count` values at `pointer`. Returns `None` if the pointer is not aligned, or null
/// although there are values.
///
/// # Safety
///
/// `pointer` must have `count` valid values, which nobody changes during the lifetime `'i`.
unsafe fn slice<'i, T>(pointer: *const T, count: usize) -> Option<&'i [T]> {
    if count == 0 {
        return Some(&[]);
    }
    let fits = !pointer.is_null() && pointer.is_aligned();
    // SAFETY: the caller promises that the values are valid.
    fits.then(|| unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// An imported array, or a column of an imported table.
#[derive(Clone, Copy)]
pub(crate) struct ArrayView<'i> {
    schema: &'i CSchema,
    array: &'i CArray,
}

/// Plain numbers: any bytes form a valid value.
pub(crate) trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for i8 {}
impl Plain for u16 {}
impl Plain for i16 {}
impl Plain for u32 {}
impl Plain for i32 {}
impl Plain for u64 {}
impl Plain for i64 {}
impl Plain for u128 {}
impl Plain for f32 {}
impl Plain for f64 {}

impl<'i> ArrayView<'i> {
    pub(crate) fn field(self) -> Field<'i> {
        Field(self.schema)
    }

    /// Number of values.
    pub(crate) fn len(self) -> PyResult<usize> {
        usize::try_from(self.array.length).map_err(|_| wrong("a negative length"))
    }

    /// Returns the position of the first value in the buffers.
    pub(crate) fn offset(self) -> PyResult<usize> {
        usize::try_from(self.array.offset).map_err(|_| wrong("a negative offset"))
    }

    /// Returns the first `count` numbers of a buffer.
    pub(crate) fn buffer<T: Plain>(self, number: usize, count: usize) -> PyResult<&'i [T]> {
        let place = self.buffers()?.get(number).copied().unwrap_or(ptr::null());
        // SAFETY: the interface promises buffers as long as their lengths say; any bytes are numbers.
        unsafe { slice(place.cast::<T>(), count) }
            .ok_or_else(|| wrong("a buffer that is not there"))
    }

    fn buffers(self) -> PyResult<&'i [*const c_void]> {
        let count = usize::try_from(self.array.n_buffers).map_err(|_| wrong("no buffers"))?;
        // SAFETY: there are as many as it says.
        unsafe { slice(self.array.buffers.cast_const(), count) }.ok_or_else(|| wrong("no buffers"))
    }

    /// Returns the number of buffers.
    pub(crate) fn buffer_count(self) -> PyResult<usize> {
        Ok(self.buffers()?.len())
    }

    /// Returns the validity bitmap: one bit for each position of the buffers. Returns `None` if no
    /// value is null.
    pub(crate) fn validity(self) -> PyResult<Option<&'i [u8]>> {
        let is_there = self.buffers()?.first().is_some_and(|place| !place.is_null());
        if self.array.null_count == 0 || !is_there {
            return Ok(None);
        }
        let bits = self.offset()?.checked_add(self.len()?).ok_or_else(|| wrong("a huge length"))?;
        self.buffer(0, bits.div_ceil(8)).map(Some)
    }

    /// Returns one field of a struct, or the values of a list.
    pub(crate) fn child(self, number: usize) -> PyResult<Self> {
        let schema = self.field().children().get(number).map(|field| field.0);
        let count = usize::try_from(self.array.n_children).unwrap_or_default();
        // SAFETY: there are as many as it says.
        let arrays = unsafe { slice(self.array.children.cast_const(), count) }.unwrap_or_default();
        match (schema, arrays.get(number)) {
            // SAFETY: a child is a valid struct that lives as long as its parent.
            (Some(schema), Some(&array)) => Ok(Self { schema, array: unsafe { &*array } }),
            _ => Err(wrong("fewer columns than its type")),
        }
    }

    /// Returns the dictionary that the values of this array refer to.
    pub(crate) fn dictionary(self) -> PyResult<Self> {
        // SAFETY: a dictionary is null, or valid for as long as its array.
        match unsafe { (self.schema.dictionary.as_ref(), self.array.dictionary.as_ref()) } {
            (Some(schema), Some(array)) => Ok(Self { schema, array }),
            _ => Err(wrong("no dictionary")),
        }
    }
}

/// Builds the error for a damaged array, which has `what`.
pub(crate) fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array is damaged: it has {what}"))
}

/// Builds the error for an Arrow type that cannot be read as `what`.
pub(crate) fn unknown(what: &str, format: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} cannot be read from the Arrow type \"{format}\""))
}

// ---- out ----

/// An array to export: its type and its buffers. `owner` keeps the memory of the buffers.
pub(crate) struct Outgoing {
    pub(crate) format: String,
    pub(crate) name: String,
    pub(crate) nullable: bool,
    pub(crate) length: usize,
    pub(crate) nulls: usize,
    /// Addresses of the buffers. A validity bitmap that is not needed is `None`.
    pub(crate) buffers: Vec<Option<*const c_void>>,
    pub(crate) children: Vec<Self>,
    /// Owner of the memory that the buffers point into.
    pub(crate) owner: Owner,
}

/// Keeps the memory of an exported array alive.
pub(crate) type Owner = std::sync::Arc<dyn std::any::Any + Send + Sync>;

// SAFETY: the buffers are only read, and the owner may be shared among threads.
unsafe impl Send for Outgoing {}

struct SchemaPrivate {
    format: CString,
    name: CString,
    children: Vec<*mut CSchema>,
}

struct ArrayPrivate {
    buffers: Vec<*const c_void>,
    children: Vec<*mut CArray>,
    _owner: Owner,
}

impl Outgoing {
    fn schema(&self) -> CSchema {
        let children: Vec<*mut CSchema> =
            self.children.iter().map(|child| Box::into_raw(Box::new(child.schema()))).collect();
        let c_string = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let mut private = Box::new(SchemaPrivate {
            format: c_string(&self.format),
            name: c_string(&self.name),
            children,
        });
        CSchema {
            format: private.format.as_ptr(),
            name: private.name.as_ptr(),
            flags: if self.nullable { NULLABLE } else { 0 },
            n_children: private.children.len() as i64,
            children: private.children.as_mut_ptr(),
            release: Some(release_schema),
            private: Box::into_raw(private).cast(),
            metadata: ptr::null(),
            dictionary: ptr::null_mut(),
        }
    }

    fn array(&self) -> CArray {
        let children: Vec<*mut CArray> =
            self.children.iter().map(|child| Box::into_raw(Box::new(child.array()))).collect();
        let buffers = self.buffers.iter().map(|place| place.unwrap_or(ptr::null())).collect();
        let mut private = Box::new(ArrayPrivate { buffers, children, _owner: self.owner.clone() });
        CArray {
            length: self.length as i64,
            null_count: self.nulls as i64,
            offset: 0,
            n_buffers: private.buffers.len() as i64,
            n_children: private.children.len() as i64,
            buffers: private.buffers.as_mut_ptr(),
            children: private.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private: Box::into_raw(private).cast(),
        }
    }

    /// Returns a capsule with the type of the array.
    pub(crate) fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.schema(), SCHEMA)
    }

    /// Returns two capsules: the type of the array, and the array.
    pub(crate) fn array_capsules<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let array = PyCapsule::new_with_value(py, self.array(), ARRAY)?;
        PyTuple::new(py, [self.schema_capsule(py)?, array])
    }

    /// Returns a capsule with a stream that yields only this array.
    pub(crate) fn stream_capsule(self, py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
        let private = Box::new(StreamPrivate { array: self, is_read: false });
        let stream = CStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private: Box::into_raw(private).cast(),
        };
        PyCapsule::new_with_value(py, stream, STREAM)
    }
}

unsafe extern "C" fn release_schema(schema: *mut CSchema) {
    // SAFETY: `Outgoing::schema` made the struct, and nobody has released it. We allocated its
    // private part and its children as boxes. A consumer may have released single children already.
    unsafe {
        (*schema).release = None;
        let private = Box::from_raw((*schema).private.cast::<SchemaPrivate>());
        private.children.iter().for_each(|&child| drop(Box::from_raw(child)));
    }
}

unsafe extern "C" fn release_array(array: *mut CArray) {
    // SAFETY: the same holds for an array as for a schema.
    unsafe {
        (*array).release = None;
        let private = Box::from_raw((*array).private.cast::<ArrayPrivate>());
        private.children.iter().for_each(|&child| drop(Box::from_raw(child)));
    }
}

struct StreamPrivate {
    array: Outgoing,
    is_read: bool,
}

unsafe extern "C" fn get_schema(stream: *mut CStream, schema: *mut CSchema) -> c_int {
    // SAFETY: the stream is ours, and the target is an empty place for a struct.
    unsafe {
        let private = &*(*stream).private.cast::<StreamPrivate>();
        schema.write(private.array.schema());
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut CStream, array: *mut CArray) -> c_int {
    // SAFETY: the same holds as for the schema.
    unsafe {
        let private = &mut *(*stream).private.cast::<StreamPrivate>();
        let is_over = std::mem::replace(&mut private.is_read, true);
        array.write(if is_over { CArray::EMPTY } else { private.array.array() });
    }
    0
}

unsafe extern "C" fn get_last_error(_stream: *mut CStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut CStream) {
    // SAFETY: the stream is ours and was not released.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private.cast::<StreamPrivate>()));
    }
}
