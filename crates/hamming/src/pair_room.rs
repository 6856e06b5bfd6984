//! The memory for the pairs that a join finds. If it is too small, the join ends early.

use simtool_base::error::Result;
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// Mark that the pairs of a join do not fit in memory. All threads of the join share it.
#[derive(Debug, Default)]
pub(crate) struct PairRoom {
    is_exceeded: AtomicBool,
}

impl PairRoom {
    /// Records that the pairs do not fit in memory.
    pub(crate) fn exceed(&self) {
        self.is_exceeded.store(true, Ordering::Relaxed);
    }

    /// Whether the pairs do not fit in memory. The join has then left pairs out.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }
}

/// Calls `find`, which must leave out pairs that do not fit in the memory of `context` and record that in
/// the given room. Returns `None` if pairs were left out.
///
/// # Errors
///
/// The errors of `find`.
pub(crate) fn if_pairs_fit<T>(
    context: &Context<'_>,
    find: impl FnOnce(&Context<'_>, &PairRoom) -> Result<T>,
) -> Result<Option<T>> {
    let room = PairRoom::default();
    let progress = StopWithoutRoom { progress: context.progress(), room: &room };
    let found = find(&context.with_progress(&progress), &room);
    // A join that ended early may return an error, which means nothing.
    if room.is_exceeded() { Ok(None) } else { found.map(Some) }
}

/// Receiver of progress that passes all reports on. It cancels the work when the pairs do not fit in
/// memory.
struct StopWithoutRoom<'p> {
    progress: &'p dyn Progress,
    room: &'p PairRoom,
}

impl Progress for StopWithoutRoom<'_> {
    fn begin(&self, stage: &'static str, work: Work) {
        self.progress.begin(stage, work);
    }

    fn advance(&self, amount: u64) {
        self.progress.advance(amount);
    }

    fn counted(&self, what: &'static str, count: u64) {
        self.progress.counted(what, count);
    }

    fn planned(&self, plan: &dyn Display) {
        self.progress.planned(plan);
    }

    fn is_cancelled(&self) -> bool {
        self.room.is_exceeded() || self.progress.is_cancelled()
    }
}
