//! Memory that the reader of a file takes for long records and large windows, within the memory limit of the run.

use simtool_base::error::Result;
use simtool_base::memory_turns::{MemoryTurns, Turn};
use simtool_base::quantity::bytes as readable_bytes;
use std::path::Path;

/// Means by which the reader of a file gets memory for long records. Only one thread at a time may use more than its
/// share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordMemory<'m> {
    pub(crate) turns: &'m MemoryTurns,
    /// Name of the file, for messages.
    pub(crate) file: &'m Path,
}

impl RecordMemory<'_> {
    /// Waits until this thread may use `bytes` bytes of memory. Only one thread at a time may use more than its share,
    /// and its turn ends when the returned value is dropped. Returns `None` without waiting if `bytes` is within the
    /// share of every thread. `what` describes the use of the memory in messages, for example "row group 3".
    ///
    /// # Errors
    ///
    /// The memory limit of the run does not allow `bytes` bytes.
    pub(crate) fn take(self, bytes: u64, what: impl FnOnce() -> String) -> Result<Option<Turn>> {
        self.take_or(bytes, what, "")
    }

    /// Waits until this thread may use `bytes` bytes of memory for a record that is longer than `length` bytes. The
    /// turn of this thread ends when the returned value is dropped. Returns `None` without waiting if `bytes` is within
    /// the share of every thread.
    ///
    /// # Errors
    ///
    /// The memory limit of the run does not allow `bytes` bytes.
    pub(crate) fn of_record(self, length: usize, bytes: usize) -> Result<Option<Turn>> {
        let what = || format!("a record of over {}", readable_bytes(length as u64));
        self.take_or(bytes as u64, what, ", or leave it out with a smaller `max_record`")
    }

    /// Waits until this thread may use `bytes` bytes of memory, as [`Self::take`] does. If the memory limit is too low,
    /// returns an error. `what` describes the use of the memory in its message, and `advice` is the end of the message.
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
