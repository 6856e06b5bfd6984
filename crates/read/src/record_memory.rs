//! The memory that one reading of a file may take for long records and large windows.

use simtool_base::error::{Error, Result};
use simtool_base::memory_turns::{MemoryTurns, TooLarge, Turn};
use simtool_base::quantity::bytes as readable_bytes;
use std::path::Path;

/// Turns of the threads that read, and the file that one of them reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordMemory<'m> {
    pub(super) turns: &'m MemoryTurns,
    /// Name of the file, for messages.
    pub(super) file: &'m Path,
}

impl RecordMemory<'_> {
    /// Waits for the turn to take `bytes` bytes of memory for `what`, for example "row group 3".
    ///
    /// # Errors
    ///
    /// The memory limit does not allow that many bytes.
    pub(super) fn take(self, bytes: u64, what: impl FnOnce() -> String) -> Result<Option<Turn>> {
        self.turns.take(bytes).map_err(|too_large| self.refused(&what(), too_large, ""))
    }

    /// Waits for the turn to take `bytes` bytes of memory for a record that is longer than `length` bytes.
    ///
    /// # Errors
    ///
    /// The memory limit does not allow such a record.
    pub(super) fn of_record(self, length: usize, bytes: usize) -> Result<Option<Turn>> {
        self.turns.take(bytes as u64).map_err(|too_large| {
            let what = format!("a record of over {}", readable_bytes(length as u64));
            self.refused(&what, too_large, ", or leave it out with a smaller `max_record`")
        })
    }

    /// Returns the error for `what`, which needs more memory than the limit allows. `more_advice` is the end of
    /// the message.
    fn refused(self, what: &str, too_large: TooLarge, more_advice: &str) -> Error {
        // Limits of memory are given in whole megabytes.
        let limit = too_large.needed_limit.div_ceil(1_000_000);
        let rule = format!("does not fit in `max_memory`; allow at least {limit}M{more_advice}");
        Error::limit(format!("{what} in {}", self.file.display()), rule)
    }
}
