//! The status of a document in the copy of its file.

use crate::pipeline::stored_bytes::BytesWriter;
use std::ops::Range;

/// Status of a document in the copy of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentStatus {
    /// The record is copied byte for byte.
    Kept,
    /// The record is left out.
    Removed,
    /// The record is copied without these bytes of the text, see [`TextEdit::cuts`](simtool_read::TextEdit::cuts).
    Cut(Vec<Range<usize>>),
}

impl DocumentStatus {
    /// Returns the status of a document that is copied as it is or not at all.
    pub(crate) fn kept_if(is_kept: bool) -> Self {
        if is_kept { Self::Kept } else { Self::Removed }
    }

    /// Appends the status to `out` as bytes. They are hashed to identify a stored copy, so different lists of statuses
    /// become different bytes.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        // The number of a cut document is the number of its cuts plus 2, so it differs from the numbers 0 and 1 of the
        // other statuses.
        match self {
            Self::Removed => out.number(0),
            Self::Kept => out.number(1),
            Self::Cut(cuts) => {
                out.number(cuts.len() as u64 + 2);
                for cut in cuts {
                    out.number(cut.start as u64);
                    out.number(cut.len() as u64);
                }
            }
        }
    }
}
