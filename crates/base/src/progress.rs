//! Progress of a long run, and its cancellation.

use std::fmt::Display;

/// The amount of work of a stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Number of bytes to read.
    Bytes(u64),
    /// Number of steps that each take about the same time, or 0 if the number is not known. Each stage has its own kind
    /// of step, for example a document.
    Steps(u64),
}

impl Work {
    /// Returns the number of bytes or steps of this work.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Bytes(amount) | Self::Steps(amount) => amount,
        }
    }
}

/// Receiver of the progress of a run. Any thread may call its methods.
pub trait Progress: Sync {
    /// Called when the stage `stage` begins, after the stage before it has ended. `work` is the amount of work of the
    /// new stage.
    fn begin(&self, stage: &'static str, work: Work);

    /// Called when `amount` more bytes or steps of the current stage are done.
    fn advance(&self, amount: u64);

    /// Called when the current stage has counted something. `what` is a noun for the things, for example `"pairs"`, and
    /// `count` is their number.
    fn counted(&self, _what: &'static str, _count: u64) {}

    /// Called just before a join begins. `plan` is a printable description of how the join will
    /// search for pairs.
    fn planned(&self, _plan: &dyn Display) {}

    /// Returns whether the user wants the work to stop. Long work calls this every few milliseconds, from any thread.
    /// If the result is true, the work ends with [`ErrorKind::Cancelled`].
    ///
    /// [`ErrorKind::Cancelled`]: crate::error::ErrorKind::Cancelled
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Receiver that ignores progress.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &'static str, _work: Work) {}
    fn advance(&self, _amount: u64) {}
}

/// Number of steps of a stage that is divided into [`Share`]s. It is large, so that even a small share has many steps.
const STEPS: u64 = 1 << 40;

/// A fraction of the steps of a stage. Recursive work divides its share among its recursive calls, and each call
/// reports its own share when it is done.
#[derive(Clone, Copy)]
pub struct Share<'p> {
    progress: &'p dyn Progress,
    steps: f64,
}

impl<'p> Share<'p> {
    /// Reports to `progress` that the stage with the name `stage` begins, and returns a share with all its steps.
    pub fn begin(stage: &'static str, progress: &'p dyn Progress) -> Self {
        progress.begin(stage, Work::Steps(STEPS));
        Self { progress, steps: STEPS as f64 }
    }

    /// Returns a share that reports no progress.
    #[must_use]
    pub fn silent() -> Share<'static> {
        Share { progress: &NoProgress, steps: 0.0 }
    }

    /// Returns the fraction `part` / `whole` of this share, for a part of the work.
    #[must_use]
    pub fn part(self, part: usize, whole: usize) -> Self {
        Self { steps: self.steps * part as f64 / whole.max(1) as f64, ..self }
    }

    /// Returns the same share, but with another receiver: it reports to `progress`, and asks `progress` whether to
    /// stop.
    #[must_use]
    pub fn reported_to(self, progress: &dyn Progress) -> Share<'_> {
        Share { progress, steps: self.steps }
    }

    /// Reports all steps of the share as done.
    // The steps of each share are rounded down. So the sum of all shares never exceeds the steps of
    // the stage.
    #[expect(clippy::cast_sign_loss, reason = "there are no negative shares")]
    pub fn done(self) {
        self.progress.advance(self.steps as u64);
    }

    /// Returns whether the user wants the work to stop.
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
