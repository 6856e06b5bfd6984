//! The command-line program `simtool`, run inside the Python process.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with these arguments. The first argument is the name of the program. Returns the exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| simtool_command::run_with(arguments))
}
