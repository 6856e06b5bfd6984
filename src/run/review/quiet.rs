//! The face of what a review does while it serves pages: it prints nothing, and can be interrupted.

use crate::run::face::Face;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::{Progress, Work};

/// A face that shows nothing, and otherwise does as another one.
pub(super) struct Quiet<'f>(pub(super) &'f dyn Face);

impl Face for Quiet<'_> {
    fn progress(&self) -> &dyn Progress {
        self
    }

    fn access(&self) -> FileAccess {
        self.0.access()
    }
}

impl Progress for Quiet<'_> {
    fn begin(&self, _stage: &'static str, _work: Work) {}
    fn advance(&self, _amount: u64) {}

    // A search that is being made when the person presses Ctrl-C ends, too.
    fn is_cancelled(&self) -> bool {
        self.0.is_interrupted()
    }
}
