//! The memory for the pairs that a join finds. If it is too small, the join ends early.

use simtool_base::error::Result;
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of pairs that may always be in memory, even if the run has no memory left within its limit.
const FEW_BYTES: u64 = 2 << 20;

/// Limits of the pairs of a join, and whether the pairs exceed them. All threads of the join share it.
#[derive(Debug)]
pub(crate) struct PairRoom {
    is_exceeded: AtomicBool,
    /// Maximum number of pairs that the join may find.
    most: u64,
    /// Number of pairs that were counted so far.
    pairs: AtomicU64,
    /// Bytes of memory that the pairs have taken so far.
    bytes: AtomicU64,
}

impl PairRoom {
    /// Creates the limits of a join that may find at most `most` pairs. No pairs are counted yet.
    pub(crate) fn new(most: u64) -> Self {
        let [pairs, bytes] = [0, 0].map(AtomicU64::new);
        Self { is_exceeded: AtomicBool::new(false), most, pairs, bytes }
    }

    /// Returns the maximum number of pairs.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Records that the pairs do not fit in memory or are too many, so that the join ends early.
    pub(crate) fn exceed(&self) {
        self.is_exceeded.store(true, Ordering::Relaxed);
    }

    /// Whether the pairs do not fit in memory or are too many. The join has then left out pairs.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// Counts `pairs` more pairs. If all pairs so far are more than `most`, records that they exceed the room.
    pub(crate) fn count(&self, pairs: u64) {
        if self.pairs.fetch_add(pairs, Ordering::Relaxed) + pairs > self.most {
            self.exceed();
        }
    }

    /// Counts `bytes` more bytes of pairs. Returns whether all pairs so far take more than [`FEW_BYTES`]. Pairs beyond
    /// that limit may be kept only if the run has memory left.
    pub(crate) fn has_many(&self, bytes: u64) -> bool {
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > FEW_BYTES
    }
}

/// Calls `find` with limits for the pairs: they must fit in the memory of `context`, and be at most `most`. `find` must
/// leave out pairs beyond these limits, and record in its [`PairRoom`] that it did. Returns `None` if pairs were left
/// out.
///
/// # Errors
///
/// The errors of `find`.
pub(crate) fn if_pairs_fit<T>(
    context: &Context<'_>,
    most: u64,
    find: impl FnOnce(&Context<'_>, &PairRoom) -> Result<T>,
) -> Result<Option<T>> {
    let room = PairRoom::new(most);
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
