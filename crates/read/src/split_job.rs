//! A reading of bytes, which a format runs its splitter on.

use crate::Visit;
use crate::splitter::Splitter;
use crate::stream::Stream;
use crate::window::{ToFault, read_slice, read_stream, read_stream_within};
use simtool_base::error::Result;

/// The bytes that a splitter cuts.
pub(super) enum Bytes<'b> {
    /// All of them, in memory.
    Slice(&'b [u8]),
    /// A stream that starts with a record, or with the file.
    Stream(&'b mut dyn Stream),
    /// A stream that starts within a record. A later record must start within this many bytes on
    /// disk.
    Within(&'b mut dyn Stream, u64),
}

/// A reading of one file or part of a file: its bytes, and the visitor of its records.
pub(super) struct SplitJob<'b, 'r, 'v> {
    /// Length of the longest record, in bytes.
    pub(super) longest: usize,
    pub(super) bytes: Bytes<'b>,
    /// Offset in the file of the first byte.
    pub(super) offset: u64,
    /// Makes an event of damage; the flag says whether anything was lost.
    pub(super) to_fault: &'r ToFault<'r>,
    pub(super) visit: &'r mut Visit<'v>,
}

impl SplitJob<'_, '_, '_> {
    /// Returns whether the bytes are those at the start of the file.
    pub(super) fn is_file_start(&self) -> bool {
        self.offset == 0
    }

    /// Visits the records that `splitter` cuts, and returns their number.
    ///
    /// # Errors
    ///
    /// The first error that the visitor returns.
    pub(super) fn split<S: Splitter>(self, splitter: &mut S) -> Result<u64> {
        let Self { longest, bytes, offset, to_fault, visit } = self;
        match bytes {
            Bytes::Slice(bytes) => read_slice(splitter, bytes, offset, longest, visit),
            Bytes::Stream(stream) => {
                read_stream(splitter, stream, offset, longest, to_fault, visit)
            }
            Bytes::Within(stream, searched) => {
                read_stream_within(splitter, stream, (longest, searched), to_fault, visit)
            }
        }
    }
}
