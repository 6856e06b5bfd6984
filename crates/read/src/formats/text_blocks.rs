//! Plain text in which blank lines separate documents, such as the files of CC-100 and OSCAR.

use crate::bytes::blank_lines::{blank_lines, end_of_blank_line, first_blank_line};
use crate::bytes::byte_order_mark::byte_order_mark_length;
use crate::formats::{AfterLoss, SplitStep, Splitter};
use simtool_model::document::{Content, Document};

/// Smallest number of blocks of a text that seems to consist of many documents. Users get a note about such a text.
const MANY_BLOCKS: usize = 200;

/// Length in bytes of the longest line of a book whose lines are broken at a fixed width.
const LONGEST_LINE_OF_BOOK: usize = 160;

/// Splitter that divides a text at blank lines. Each block of lines is a document.
#[derive(Debug)]
pub(crate) struct BlockSplitter {
    pub(crate) at_file_start: bool,
}

impl Splitter for BlockSplitter {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;
    /// Largest length in bytes of a blank line that is recognized after damage. A blank line with many spaces can be
    /// longer.
    const BOUNDARY_BYTES: usize = 64;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let mark = if self.at_file_start { byte_order_mark_length(window) } else { 0 };
        let blank = mark + blank_lines(&window[mark..]);
        if blank == window.len() && !last {
            return SplitStep::More;
        }
        self.at_file_start = false;
        if blank > 0 {
            return SplitStep::filler(blank);
        }
        let (block, length) = match first_blank_line(window) {
            Some(found) => found,
            None if last => (window.len(), window.len()),
            None => return SplitStep::More,
        };
        let document = Document::new(window[..block].trim_ascii_end());
        SplitStep::record(length, Content::Document(document))
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        end_of_blank_line(bytes)
    }
}

/// Returns the lines of `text` that are not blank. A blank line would divide the text into two documents.
pub(crate) fn without_blank_lines(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).collect::<Vec<_>>().concat()
}

/// Returns whether blank lines seem to separate many documents in `text`, the start of a large text file. Then at least
/// half of the blocks have several lines, and a line that is too long for a book. In a book, blocks are paragraphs.
pub(crate) fn seems_to_have_blocks(text: &[u8]) -> bool {
    let (mut blocks, mut documents, mut at) = (0, 0, 0);
    while let Some((block, end)) = first_blank_line(&text[at..]) {
        let lines = text[at..at + block].trim_ascii_end().split(|&byte| byte == b'\n');
        let (count, longest) = lines
            .fold((0, 0), |(count, longest), line| (count + 1, usize::max(longest, line.len())));
        blocks += 1;
        documents += usize::from(count > 1 && longest > LONGEST_LINE_OF_BOOK);
        at += end;
    }
    blocks >= MANY_BLOCKS && 2 * documents >= blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::TextEncoding;
    use crate::conformance::{gzip, options, read_as};
    use crate::documents::ReadOptions;
    use crate::formats::TextSplit;

    fn by_blank_lines(shard_bytes: u64) -> ReadOptions {
        ReadOptions { split: TextSplit::BlankLines, ..options(shard_bytes) }
    }

    #[test]
    fn blank_lines_separate_documents() {
        let content = "\u{FEFF}\n \r\none\n  more of one\r\n\r\ntwo \n\t\n\n\n three\n";
        let seen = read_as("a.txt", content.as_bytes(), by_blank_lines(1));
        let texts: Vec<_> = seen.documents.iter().map(|d| (d.1, &*d.3)).collect();
        assert_eq!(texts, [(0, "one\n  more of one"), (1, "two"), (2, " three")]);
        assert_eq!(seen.bytes, content.as_bytes());
        for empty in ["\n", " \n\n\r\n"] {
            assert!(read_as("a.txt", empty.as_bytes(), by_blank_lines(1)).documents.is_empty());
        }
    }

    #[test]
    fn shards_and_streams_have_the_same_blocks() {
        let block = |n: usize| format!("first line of {n}\nsecond\n{}", "\n".repeat(n % 3 + 1));
        let content: String = (0..60_000).map(block).collect();
        let whole = read_as("a.txt", content.as_bytes(), by_blank_lines(1 << 30));
        assert_eq!(whole.documents.len(), 60_000);
        assert!(whole.bytes == content.as_bytes());
        let shards = read_as("a.txt", content.as_bytes(), by_blank_lines(300_000));
        assert!(shards == whole);
        assert!(read_as("a.txt.gz", &gzip(content.as_bytes()), by_blank_lines(1)) == whole);
        let encoding = TextEncoding::from_label("latin1").unwrap();
        let decoded = ReadOptions { encoding, ..by_blank_lines(1) };
        assert_eq!(read_as("a.txt", b"\xE9\n\n\xE8", decoded).texts(), [("", "é"), ("", "è")]);
    }

    #[test]
    fn collections_of_blocks_are_told_from_books() {
        let long = "a line without breaks ".repeat(10);
        let block = format!("{long}\na line\n\n");
        assert!(seems_to_have_blocks(block.repeat(300).as_bytes()));
        assert!(!seems_to_have_blocks(block.repeat(100).as_bytes()));
        assert!(!seems_to_have_blocks(format!("{long}\n\n").repeat(300).as_bytes()));
        assert!(!seems_to_have_blocks("a broken\nline\nof a book\n\n".repeat(300).as_bytes()));
        assert!(!seems_to_have_blocks("a line\n".repeat(900).as_bytes()));
    }
}
