//! How far a long run has come, for a face to show, and whether it is to go on.

use std::fmt::Display;

/// How much there is to do in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Bytes to read.
    Bytes(u64),
    /// Steps of about the same length, of which nobody need know what they are; 0 if their number is
    /// not known.
    Steps(u64),
}

impl Work {
    /// The bytes or steps.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Bytes(amount) | Self::Steps(amount) => amount,
        }
    }
}

/// Takes note of progress; called from any thread.
pub trait Progress: Sync {
    /// A stage begins with so much to do; the one before it is over.
    fn begin(&self, stage: &'static str, work: Work);

    /// So many more bytes or steps are done.
    fn advance(&self, amount: u64);

    /// The stage that is going on has so many of something: rows, terms, pairs.
    fn counted(&self, _what: &'static str, _count: u64) {}

    /// A join was planned, and is about to begin.
    fn planned(&self, _plan: &dyn Display) {}

    /// Whether the caller wants the work to stop; asked every few milliseconds while something is
    /// read or joined, from any thread. Once it says so, the work ends with
    /// [`ErrorKind::Cancelled`].
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
    fn begin(&self, _stage: &'static str, _work: Work) {}
    fn advance(&self, _amount: u64) {}
}

/// Steps that a stage is cut into whose parts are shares of it.
const STEPS: u64 = 1 << 40;

/// A share of a stage: what a part of a recursion is of all of it.
#[derive(Clone, Copy)]
pub struct Share<'p> {
    progress: &'p dyn Progress,
    steps: f64,
}

impl<'p> Share<'p> {
    /// Begins a stage; the share that is all of it.
    pub fn begin(stage: &'static str, progress: &'p dyn Progress) -> Self {
        progress.begin(stage, Work::Steps(STEPS));
        Self { progress, steps: STEPS as f64 }
    }

    /// The share of a stage of which nobody takes note.
    #[must_use]
    pub fn untold() -> Share<'static> {
        Share { progress: &NoProgress, steps: 0.0 }
    }

    /// What `part` of `whole` is of it.
    #[must_use]
    pub fn part(self, part: usize, whole: usize) -> Self {
        Self { steps: self.steps * part as f64 / whole.max(1) as f64, ..self }
    }

    /// It is done.
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
