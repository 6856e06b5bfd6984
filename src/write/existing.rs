//! Decides what happens if the output folder already has results.

use std::io;
use std::path::Path;

/// Rule for an output folder that exists and is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail and leave the folder unchanged.
    Refuse,
    /// Replace the folder if simtool wrote it and everything in it, and nobody changes it during the run.
    /// Fail otherwise.
    Replace,
}

impl Existing {
    /// Returns [`Replace`](Self::Replace) if `force` is true, otherwise [`Refuse`](Self::Refuse).
    #[must_use]
    pub fn by_force(force: bool) -> Self {
        if force { Self::Replace } else { Self::Refuse }
    }
}

/// Message that refuses an output folder because it is not empty.
pub(super) const NOT_EMPTY: &str =
    "is not empty: name another folder, or replace an output of simtool with `force`";
/// Message that refuses to replace a folder that simtool did not write.
pub(super) const NOT_OURS: &str =
    "was not written by simtool, so `force` does not replace it: name another folder";

/// Returns the message that refuses to replace a folder because it contains `file`, which simtool did not write.
pub(super) fn has_foreign(file: &Path) -> String {
    format!(
        "contains {}, which simtool did not write, so `force` does not replace it: move that away, \
         or name another folder",
        file.display()
    )
}

/// Returns the error for a folder that another process changed during the run.
pub(super) fn refusal() -> io::Error {
    let reason = "another process wrote to this folder during the run. Its files were kept and this \
                  run's results were discarded; run again with a different folder";
    io::Error::new(io::ErrorKind::AlreadyExists, reason)
}
