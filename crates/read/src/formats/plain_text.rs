//! Plain text: a file is one document, or it is divided into documents.

use crate::bytes::{is_utf16, without_byte_order_mark};
use crate::formats::form_feed::is_white_space;
use crate::formats::text_blocks::{BlockSplitter, without_blank_lines};
use crate::formats::{
    AfterLoss, ByteFormat, Columns, Dialect, Fields, InputFormat, Reader, RecordEdit, Separator,
    SplitJob, SplitStep, Splitter,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;
use simtool_model::document::{Content, Document};

/// Entry in the table of input formats: plain text, in which a file is one document.
pub(crate) static TEXT: PlainText = PlainText;

/// Entry in the table of input formats: plain text, in which each line is a document.
pub(crate) static LINES: DividedText = DividedText {
    name: "lines",
    about: "Each line is a document",
    separator: Separator::Byte(b'\n'),
};

/// Entry in the table of input formats: plain text, in which each block of lines is a document.
pub(crate) static BLOCKS: DividedText = DividedText {
    name: "blank-lines",
    about: "Blank lines separate documents",
    separator: Separator::BlankLine,
};

/// The format of text files in which the whole file is one document.
#[derive(Debug)]
pub(crate) struct PlainText;

impl InputFormat for PlainText {
    fn name(&self) -> &'static str {
        "text"
    }

    fn title(&self) -> &'static str {
        "text"
    }

    fn about(&self) -> &'static str {
        "The file is one document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text", "md"]
    }

    fn fields(&self) -> Fields {
        Fields::Plain
    }

    fn is_one_document(&self) -> bool {
        true
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for PlainText {
    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        _wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        job.split(&mut WholeText::default())
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        job.in_place(b'\n')
    }

    fn is_readable_in(&self, _encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        true
    }
}

/// A format of text files that are divided into documents. It is never recognized from a file. The user selects it with
/// `--split`.
#[derive(Debug)]
pub(crate) struct DividedText {
    name: &'static str,
    about: &'static str,
    /// The separator that ends every document.
    separator: Separator,
}

impl InputFormat for DividedText {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        "text"
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn fields(&self) -> Fields {
        Fields::Plain
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for DividedText {
    fn separator(&self) -> Option<Separator> {
        Some(self.separator)
    }

    fn can_start_inside(&self) -> bool {
        true
    }

    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        _wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let at_file_start = job.is_file_start();
        match self.separator {
            Separator::Byte(_) => job.split(&mut LineSplitter { at_file_start }),
            Separator::BlankLine => job.split(&mut BlockSplitter { at_file_start }),
        }
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        match self.separator {
            Separator::Byte(_) => job.in_place(b' '),
            Separator::BlankLine => {
                let text = job.edit.edited_part(job.text, 0, b'\n');
                Some(job.replaced([(job.place()?, without_blank_lines(&text).into())]))
            }
        }
    }
}

/// Splitter that returns the whole file as one document.
#[derive(Debug, Default)]
pub(crate) struct WholeText {
    /// Text of a file in UTF-16, decoded to UTF-8.
    decoded: String,
}

impl WholeText {
    /// Returns the text of a whole file, and the code of the repair if invalid bytes were replaced, otherwise `None`.
    pub(crate) fn decoded<'a>(&'a mut self, file: &'a [u8]) -> (&'a [u8], Option<&'static str>) {
        if !is_utf16(file) {
            return (without_byte_order_mark(file), None);
        }
        // Decoding obeys the byte order mark, whatever the encoding is.
        let (decoded, _, is_replaced) = encoding_rs::UTF_8.decode(file);
        self.decoded = decoded.into_owned();
        (self.decoded.as_bytes(), is_replaced.then_some("utf8"))
    }
}

impl Splitter for WholeText {
    const AFTER_LOSS: AfterLoss = AfterLoss::Stop;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if !last {
            return SplitStep::More;
        }
        let (text, repaired) = self.decoded(window);
        let document = Document { repaired, ..Document::new(text) };
        SplitStep::record(window.len(), Content::Document(document))
    }

    fn boundary(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Splitter that divides a text at its line ends. Each line that is not blank is a document.
#[derive(Debug)]
struct LineSplitter {
    at_file_start: bool,
}

impl Splitter for LineSplitter {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let Some((line, length)) = line(window, last, &mut self.at_file_start) else {
            return SplitStep::More;
        };
        // Blank lines count as records, so that the number of a record is the number of its line.
        if line.iter().all(|&byte| is_white_space(byte)) {
            return SplitStep::record(length, Content::PassThrough);
        }
        let document = Document::new(line);
        SplitStep::record(length, Content::Document(document))
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_line(bytes)
    }
}

/// Returns the first line of the window without its line end, and the number of bytes of the window that it takes. The
/// number includes the line end. At the start of a file, a byte order mark is removed from the line, but counts in the
/// number. `at_file_start` says whether the window is there, and is set to `false`.
///
/// Returns `None` if the line does not end in the window. `last` means that no bytes follow the window, so that the
/// last line needs no line end.
pub(crate) fn line<'a>(
    window: &'a [u8],
    last: bool,
    at_file_start: &mut bool,
) -> Option<(&'a [u8], usize)> {
    let (line, length) = match memchr::memchr(b'\n', window) {
        Some(end) => (&window[..end], end + 1),
        None if last => (window, window.len()),
        None => return None,
    };
    // Lines may end with a carriage return and a line feed, as on Windows. The carriage return is
    // not part of the text, since the same line would otherwise differ between systems.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let start = std::mem::take(at_file_start);
    Some((if start { without_byte_order_mark(line) } else { line }, length))
}

/// Returns the position after the first line end in `bytes`, or `None` if there is no line end.
pub(crate) fn next_line(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes).map(|end| end + 1)
}
