//! The face for the work of a review: it prints no messages, and its work can be cancelled.

use super::search::WorkState;
use crate::run::face::Face;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::{Progress, Work};
use std::sync::atomic::Ordering;

/// A face that prints no messages. It opens files as `face` does, and an interruption of `face` cancels its work.
pub(super) struct Quiet<'f> {
    pub(super) face: &'f dyn Face,
    /// State of a long search, which the page shows. `None` for work that is too short to be shown.
    pub(super) work: Option<&'f WorkState>,
}

impl Face for Quiet<'_> {
    fn progress(&self) -> &dyn Progress {
        self
    }

    fn access(&self) -> FileAccess {
        self.face.access()
    }
}

impl Progress for Quiet<'_> {
    fn begin(&self, _stage: &'static str, work: Work) {
        if let Some(state) = self.work {
            state.begin(work);
        }
    }

    fn advance(&self, amount: u64) {
        if let Some(state) = self.work {
            state.done.fetch_add(amount, Ordering::Relaxed);
        }
    }

    // Ctrl-C also cancels a search that is running.
    fn is_cancelled(&self) -> bool {
        let is_cancelled = |state: &WorkState| state.is_cancelled.load(Ordering::Relaxed);
        self.face.is_interrupted() || self.work.is_some_and(is_cancelled)
    }
}
