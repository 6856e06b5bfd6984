//! Splitters: each format of bytes cuts a window into records.

use simtool_model::document::Content;

/// A format that is a sequence of bytes, cut into records.
pub(super) trait Splitter {
    /// Finds the record at the start of `window`. The window is not empty. `last` means that nothing
    /// follows it.
    ///
    /// `Step::More` asks for a longer window. With `last`, only an incomplete record that is
    /// damaged by that may ask for more.
    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> Step<'a>;

    /// Where the first record starts that begins after some byte of `bytes`, which lie within a
    /// record; `None` if none does. Must be found by the last [`Splitter::BOUNDARY_BYTES`] bytes
    /// before it and the first as many after it.
    fn boundary(&self, bytes: &[u8]) -> Option<usize>;

    /// Number of bytes before and after a boundary that show that it is one.
    const BOUNDARY_BYTES: usize = 1;

    /// The behaviour after a loss of bytes.
    const AFTER_LOSS: AfterLoss;
}

/// The behaviour of a splitter when bytes before the window were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLoss {
    /// Go on: it recognizes the start of a record, or says that there is none.
    Continue,
    /// The bytes up to the next boundary are a part of a record.
    SkipToBoundary,
    /// Nothing more can be read.
    Stop,
}

/// The result of looking at a window.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A record of that many bytes, at least one.
    Record {
        /// Bytes, from the start of the window, separator included.
        length: usize,
        /// Whether the record has a number.
        counted: bool,
        /// The document in it, or the reason why there is none.
        content: Content<'a>,
    },
    /// The record does not end within the window.
    More,
}

impl<'a> Step<'a> {
    /// A counted record.
    pub(super) fn record(length: usize, content: Content<'a>) -> Self {
        Step::Record { length, counted: true, content }
    }

    /// Bytes that are no record, and stay.
    pub(super) fn filler(length: usize) -> Self {
        Step::Record { length, counted: false, content: Content::PassThrough }
    }
}
