//! How far a long run has come, for a face to show, and whether it is to go on.

use crate::search::planner::Plan;

/// Takes note of progress; called from any thread.
pub trait Progress: Sync {
    /// A stage begins that will read `bytes` bytes, or an unknown number if 0.
    fn begin(&self, stage: &'static str, bytes: u64);

    /// So many more bytes were read.
    fn advance(&self, bytes: u64);

    /// A join was planned, and is about to begin.
    fn planned(&self, _plan: &Plan) {}

    /// Whether the caller wants the work to stop; asked every few milliseconds while something is
    /// read, from any thread. Once it says so, the work ends with [`ErrorKind::Cancelled`].
    ///
    /// [`ErrorKind::Cancelled`]: crate::ErrorKind::Cancelled
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Takes no note.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &'static str, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {}
}
