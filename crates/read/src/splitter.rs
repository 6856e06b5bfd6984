//! The interface of splitters, which divide the bytes of a file into records. Each byte format has
//! one.

use simtool_model::document::Content;

/// Divides bytes into the records of a format. It sees a window, which is the next part of the
/// bytes.
pub(super) trait Splitter {
    /// Finds the record at the start of `window`, which is not empty. `last` means that no bytes
    /// follow the window.
    ///
    /// `Step::More` asks for a longer window. If `last` is set, it means that the record is
    /// damaged, because the file ends inside it.
    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> Step<'a>;

    /// Returns the position of the first record that begins in `bytes`, which start in the middle
    /// of a record. Returns `None` if no record begins there. [`Splitter::BOUNDARY_BYTES`] bytes
    /// before and after the start of a record must be enough to recognize it.
    fn boundary(&self, bytes: &[u8]) -> Option<usize>;

    /// Number of bytes before and after the start of a record by which [`Splitter::boundary`]
    /// recognizes it.
    const BOUNDARY_BYTES: usize = 1;

    /// The way to go on after bytes of the file were lost by damage.
    const AFTER_LOSS: AfterLoss;
}

/// The way in which a splitter goes on if bytes before the window were lost by damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLoss {
    /// Call the splitter as usual: it recognizes whether a record starts at the window.
    Continue,
    /// Skip the bytes up to the next start of a record, because they are the end of a damaged
    /// record.
    SkipToBoundary,
    /// Stop reading the file.
    Stop,
}

/// The result of searching a record at the start of a window.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A complete record, or filler between records.
    Record {
        /// Number of bytes from the start of the window, including the separator. At least 1.
        length: usize,
        /// Whether the record is counted, which gives it a number. Filler is not counted.
        counted: bool,
        /// The document in the record, or the reason why there is none.
        content: Content<'a>,
    },
    /// The record does not end within the window, so more bytes are needed.
    More,
}

impl<'a> Step<'a> {
    /// Creates the step of a counted record of `length` bytes.
    pub(super) fn record(length: usize, content: Content<'a>) -> Self {
        Step::Record { length, counted: true, content }
    }

    /// Creates the step of `length` bytes that belong to no record, such as a header row. They are
    /// not counted, and copies of the file contain them.
    pub(super) fn filler(length: usize) -> Self {
        Step::Record { length, counted: false, content: Content::PassThrough }
    }
}
