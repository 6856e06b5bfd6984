//! The library's errors as Python's exceptions, with its own words.

use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use simtool::{Error, ErrorKind};
use std::error::Error as _;

/// The exception of an error: `ValueError` for what is wrong with settings and input, `OSError` for what
/// the system refuses, `MemoryError` where there is too little.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    match error.kind() {
        // With its number, Python chooses the class: FileNotFoundError and so on.
        ErrorKind::Io { source, .. } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        ErrorKind::Memory { .. } => PyMemoryError::new_err(message),
        ErrorKind::Loss { .. } | ErrorKind::NothingRead { .. } => PyOSError::new_err(message),
        ErrorKind::NotConserved { .. } | ErrorKind::Cancelled => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
