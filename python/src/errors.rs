//! Converts the library's errors into exceptions of Python, with the library's messages.

use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use simtool::{Error, ErrorKind};

pyo3::create_exception!(
    simtool,
    IndexLockedError,
    PyOSError,
    "Another process writes to the index. Try again when it has ended.\n\n    \
     >>> issubclass(simtool.IndexLockedError, OSError)\n    \
     True"
);

/// Returns the exception for an error: `ValueError` for wrong settings and input, `OSError` for failures of the
/// operating system, and `MemoryError` if there is too little memory.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.with_cause();
    match error.kind() {
        // From the error number Python chooses the class, for example `FileNotFoundError`.
        ErrorKind::Io { source, .. } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        ErrorKind::Memory { .. } => PyMemoryError::new_err(message),
        ErrorKind::Loss { .. } | ErrorKind::Changed { .. } | ErrorKind::NothingRead { .. } => {
            PyOSError::new_err(message)
        }
        ErrorKind::Locked { .. } => IndexLockedError::new_err(message),
        ErrorKind::NotConserved { .. } | ErrorKind::Cancelled => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
