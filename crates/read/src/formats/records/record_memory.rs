//! The memory that one reading of a file may take for long records and large windows.

use simtool_base::error::Result;
use simtool_base::memory_turns::{MemoryTurns, Turn};
use simtool_base::quantity::bytes as readable_bytes;
use std::path::Path;

/// Turns of the threads that read, and the file that one of them reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordMemory<'m> {
    pub(crate) turns: &'m MemoryTurns,
    /// Name of the file, for messages.
    pub(crate) file: &'m Path,
}

impl RecordMemory<'_> {
    /// Waits for the turn to take `bytes` bytes of memory for `what`, for example "row group 3".
    ///
    /// # Errors
    ///
    /// The memory limit does not allow that many bytes.
    pub(crate) fn take(self, bytes: u64, what: impl FnOnce() -> String) -> Result<Option<Turn>> {
        self.take_or(bytes, what, "")
    }

    /// Waits for the turn to take `bytes` bytes of memory for a record that is longer than `length` bytes.
    ///
    /// # Errors
    ///
    /// The memory limit does not allow such a record.
    pub(crate) fn of_record(self, length: usize, bytes: usize) -> Result<Option<Turn>> {
        let what = || format!("a record of over {}", readable_bytes(length as u64));
        self.take_or(bytes as u64, what, ", or leave it out with a smaller `max_record`")
    }

    /// Does the work of [`Self::take`]. `advice` is the end of the message of the error.
    fn take_or(
        self,
        bytes: u64,
        what: impl FnOnce() -> String,
        advice: &str,
    ) -> Result<Option<Turn>> {
        self.turns.take(bytes).map_err(|too_large| {
            let what = format!("{} in {}", what(), self.file.display());
            too_large.error(what, "does not fit", advice)
        })
    }
}
