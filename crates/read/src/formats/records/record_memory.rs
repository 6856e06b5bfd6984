//! Memory that the reader of a file takes for long records and large windows, within the memory limit of the run.

use simtool_base::error::Result;
use simtool_base::memory_turns::{MemoryTurns, Turn};
use simtool_base::quantity::bytes as readable_bytes;
use std::path::Path;

/// Turns in which the readers use much memory, and the file that one of them reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordMemory<'m> {
    pub(crate) turns: &'m MemoryTurns,
    /// Name of the file, for messages.
    pub(crate) file: &'m Path,
}

impl RecordMemory<'_> {
    /// Waits for the turn to use `bytes` bytes of memory. Only one thread at a time may use more than its share, and
    /// its turn ends when the returned value is dropped. Returns `None` without waiting if `bytes` is within the share
    /// of every thread. `what` describes the use of the memory in messages, for example "row group 3".
    ///
    /// # Errors
    ///
    /// The memory limit of the run does not allow `bytes` bytes.
    pub(crate) fn take(self, bytes: u64, what: impl FnOnce() -> String) -> Result<Option<Turn>> {
        self.take_or(bytes, what, "")
    }

    /// Waits for the turn to use `bytes` bytes of memory for a record that is longer than `length` bytes.
    ///
    /// # Errors
    ///
    /// The memory limit of the run does not allow `bytes` bytes.
    pub(crate) fn of_record(self, length: usize, bytes: usize) -> Result<Option<Turn>> {
        let what = || format!("a record of over {}", readable_bytes(length as u64));
        self.take_or(bytes as u64, what, ", or leave it out with a smaller `max_record`")
    }

    /// Does the work of [`Self::take`]. `advice` is the end of the error message.
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
