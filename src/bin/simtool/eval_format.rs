//! Format of the results of `simtool eval`.

use crate::args::Call;
use std::ffi::OsStr;

/// Format of the printed results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvalFormat {
    Table,
    Tsv,
    Json,
}

impl EvalFormat {
    /// Returns the format that a call chooses.
    pub(crate) fn of(call: &Call) -> Self {
        match call.value("format").and_then(OsStr::to_str) {
            Some("tsv") => Self::Tsv,
            Some("json") => Self::Json,
            _ => Self::Table,
        }
    }
}
