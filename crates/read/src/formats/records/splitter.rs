//! The interface of splitters, which divide the bytes of a file into records. Each format whose files are sequences of
//! bytes has one splitter.

use simtool_model::document::Content;

/// Divides the bytes of a file into the records of a format. A splitter gets only a window at a time, the next part of
/// the bytes.
pub(crate) trait Splitter {
    /// Finds the record at the start of `window`, which is not empty. `last` means that no bytes follow the window.
    ///
    /// Returns `SplitStep::More` if the record does not end in the window. The caller then calls again with a longer
    /// window. If `last` is true, `SplitStep::More` means that the record is damaged, because the file ends inside it.
    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a>;

    /// Returns the position in `bytes` at which the first record begins, or `None` if no record begins in `bytes`.
    /// `bytes` start in the middle of a record. [`Splitter::BOUNDARY_BYTES`] bytes before and after the start of a
    /// record must be enough to recognize it.
    fn boundary(&self, bytes: &[u8]) -> Option<usize>;

    /// Returns a description of the bytes that are missing at the end of the file, after its last
    /// record. Returns `None` if the file may end there.
    fn missing_end(&self) -> Option<&'static str> {
        None
    }

    /// Returns the code and the text of a note about the whole file, for example about bytes that belong to no record
    /// and were skipped. Returns `None` if there is nothing to note.
    fn note(&self) -> Option<(&'static str, String)> {
        None
    }

    /// Number of bytes before and after the start of a record that [`Splitter::boundary`] needs to
    /// recognize this start.
    const BOUNDARY_BYTES: usize = 1;

    /// Action of the reader after bytes of the file were lost by damage.
    const AFTER_LOSS: AfterLoss;
}

/// Action of the reader after bytes before the window were lost by damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLoss {
    /// Call the splitter as usual. It recognizes whether a record begins at the start of the
    /// window.
    Continue,
    /// Skip the bytes up to the next start of a record, because they are the end of a damaged record.
    SkipToBoundary,
    /// Stop reading the file.
    Stop,
}

/// The result of searching for a record at the start of a window.
#[derive(Debug)]
pub(crate) enum SplitStep<'a> {
    /// A complete record, or filler: bytes that belong to no record, such as a header row.
    Record {
        /// Number of bytes of the record or filler, including the separator after it. At least 1.
        length: usize,
        /// Whether the bytes are a record, which is numbered and counted. `false` for filler.
        counted: bool,
        /// The document in the record, or the reason why the record has no document.
        content: Content<'a>,
    },
    /// The record does not end within the window, so more bytes are needed.
    More,
}

impl<'a> SplitStep<'a> {
    /// Creates the step for a counted record of `length` bytes.
    pub(crate) fn record(length: usize, content: Content<'a>) -> Self {
        SplitStep::Record { length, counted: true, content }
    }

    /// Creates the step for `length` bytes that belong to no record, such as a header row. These
    /// bytes are not counted as a record, but copies of the file contain them.
    pub(crate) fn filler(length: usize) -> Self {
        SplitStep::Record { length, counted: false, content: Content::PassThrough }
    }
}
