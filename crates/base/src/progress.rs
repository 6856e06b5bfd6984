//! Progress of a long run, and its cancellation.

use std::fmt::Display;

/// The amount of work of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Bytes to read.
    Bytes(u64),
    /// Steps of about the same length; 0 if their number is not known. The meaning of a step does
    /// not matter to the receiver.
    Steps(u64),
}

impl Work {
    /// Returns the number of bytes or steps.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Bytes(amount) | Self::Steps(amount) => amount,
        }
    }
}

/// Receives progress. Its methods are called from any thread.
pub trait Progress: Sync {
    /// A stage begins with this amount of work, and the stage before it ends.
    fn begin(&self, stage: &'static str, work: Work);

    /// This many more bytes or steps are done.
    fn advance(&self, amount: u64);

    /// Reports a count of the current stage, such as its rows, terms or pairs.
    fn counted(&self, _what: &'static str, _count: u64) {}

    /// A join was planned and is about to begin.
    fn planned(&self, _plan: &dyn Display) {}

    /// Returns whether the caller wants the work to stop. Long work asks this every few
    /// milliseconds, from any thread, and then ends with [`ErrorKind::Cancelled`].
    ///
    /// [`ErrorKind::Cancelled`]: crate::error::ErrorKind::Cancelled
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores progress.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &'static str, _work: Work) {}
    fn advance(&self, _amount: u64) {}
}

/// Number of steps of a stage that is divided into shares. It is large, so that small parts of a
/// recursion still have whole steps.
const STEPS: u64 = 1 << 40;

/// A share of a stage, for recursive work: each part of the recursion owns a share.
#[derive(Clone, Copy)]
pub struct Share<'p> {
    progress: &'p dyn Progress,
    steps: f64,
}

impl<'p> Share<'p> {
    /// Begins a stage and returns the share that is all of it.
    pub fn begin(stage: &'static str, progress: &'p dyn Progress) -> Self {
        progress.begin(stage, Work::Steps(STEPS));
        Self { progress, steps: STEPS as f64 }
    }

    /// Returns a share whose progress is not reported.
    #[must_use]
    pub fn untold() -> Share<'static> {
        Share { progress: &NoProgress, steps: 0.0 }
    }

    /// Returns the share of one part: `part` of `whole`.
    #[must_use]
    pub fn part(self, part: usize, whole: usize) -> Self {
        Self { steps: self.steps * part as f64 / whole.max(1) as f64, ..self }
    }

    /// Reports the share as done.
    // Each part is rounded down, so the sum of all parts never exceeds the steps of the stage.
    #[expect(clippy::cast_sign_loss, reason = "there are no negative shares")]
    pub fn done(self) {
        self.progress.advance(self.steps as u64);
    }

    /// Whether the caller wants the work to stop.
    #[must_use]
    pub fn is_cancelled(self) -> bool {
        self.progress.is_cancelled()
    }
}

impl std::fmt::Debug for Share<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share").field("steps", &self.steps).finish_non_exhaustive()
    }
}
