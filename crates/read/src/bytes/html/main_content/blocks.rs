//! Blocks into which the text of a page is divided. The main content consists of some of them.

use crate::bytes::html::main_content::marks::LeftOut;
use std::ops::Range;

/// Largest number of blocks of a page. A page with more blocks is compared by its whole text, so that the list has a
/// bounded length.
const MOST: usize = 1 << 18;
/// Minimum number of letters in a block that counts as running text.
pub(super) const RUNNING_TEXT: u32 = 80;

/// A run of consecutive text of a page, for example a paragraph. It has no line end within. The main content has all of
/// a block or nothing of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Position in the text at which the block ends.
    end: u32,
    /// Number of bytes of the block that are in links.
    link_bytes: u32,
    /// Number of letters of the block.
    letters: u32,
    pub(super) left_out: LeftOut,
    pub(super) is_chosen: bool,
}

/// Blocks into which the text of a page is divided. A block is a run of text, such as a paragraph.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks that have ended.
    ended: Vec<Block>,
    /// Number of letters before each block. The last element is the number of letters of all blocks. Blocks that are
    /// left out of the main content do not count.
    letters_before: Vec<u32>,
    /// Position in the text at which the current block starts.
    start: usize,
    /// Position in the text at which the current link starts, if the current position is in a link.
    link_start: Option<usize>,
    /// Number of bytes of the current block that are in links that have ended.
    link_bytes: usize,
    is_overfull: bool,
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        let (mut ended, mut letters_before) = Default::default();
        std::mem::swap(&mut ended, &mut self.ended);
        std::mem::swap(&mut letters_before, &mut self.letters_before);
        ended.clear();
        *self = Self { ended, letters_before, ..Self::default() };
    }

    /// Returns the number of blocks that have ended.
    pub(super) fn count(&self) -> usize {
        self.ended.len()
    }

    /// Ends the current block at the end of `text`, the text of the page so far. Does nothing if the block is empty.
    /// `left_out` has the reasons why the block is left out of the main content.
    pub(super) fn end_block(&mut self, text: &[u8], left_out: LeftOut) {
        let end = text.len();
        // The end of the page removes white space at the end of the text.
        if end <= self.start {
            return;
        }
        if let Some(link_start) = &mut self.link_start {
            self.link_bytes += end.saturating_sub(*link_start);
            *link_start = end;
        }
        match u32::try_from(end) {
            Ok(end) if self.ended.len() < MOST => {
                let letters = letters(&text[self.start..]);
                let link_bytes = self.link_bytes as u32;
                self.ended.push(Block { end, link_bytes, letters, left_out, is_chosen: false });
            }
            _ => self.is_overfull = true,
        }
        self.start = end;
        self.link_bytes = 0;
    }

    /// Sums up the letters of the blocks that are not left out of the main content. [`Self::letters`] uses the sums.
    pub(super) fn sum_letters(&mut self) {
        self.letters_before.clear();
        let mut sum = 0;
        self.letters_before.push(sum);
        for block in &self.ended {
            sum += if block.left_out.any() { 0 } else { block.letters };
            self.letters_before.push(sum);
        }
    }

    /// Returns the number of letters of running text in those of `blocks` for which `counts` is true. Running text is
    /// in blocks of at least [`RUNNING_TEXT`] letters that are not mostly links.
    pub(super) fn running(&self, blocks: Range<usize>, counts: impl Fn(&Block) -> bool) -> u32 {
        self.unlinked(blocks, |block| block.letters >= RUNNING_TEXT && counts(block))
    }

    /// Returns the number of letters in those of `blocks` for which `counts` is true. Blocks that are mostly links do
    /// not count.
    pub(super) fn unlinked(&self, blocks: Range<usize>, counts: impl Fn(&Block) -> bool) -> u32 {
        let counted = blocks.filter(|&at| counts(&self.ended[at]) && !self.is_of_links(at));
        counted.map(|at| self.ended[at].letters).sum()
    }

    /// Calls `change` for each block in the range `blocks`, to change the reasons why the block is left out of the main
    /// content.
    pub(super) fn change(&mut self, blocks: Range<usize>, change: impl Fn(&mut LeftOut)) {
        self.ended[blocks].iter_mut().for_each(|block| change(&mut block.left_out));
    }

    /// Returns the number of letters of all blocks, except blocks in hidden elements.
    pub(super) fn visible_letters(&self) -> u32 {
        let visible = self.ended.iter().filter(|block| !block.left_out.is_hidden);
        visible.map(|block| block.letters).sum()
    }

    /// Notes that a link starts at the end of `text`, the text of the page so far. If `is_link` is false, a link ends
    /// there.
    pub(super) fn set_link(&mut self, is_link: bool, text: &[u8]) {
        if let Some(start) = self.link_start {
            self.link_bytes += text.len().saturating_sub(start);
        }
        self.link_start = is_link.then_some(text.len());
    }

    /// Returns the number of letters in the range `blocks`, without the blocks that are left out of the main content.
    /// [`Self::sum_letters`] must be called before.
    pub(super) fn letters(&self, blocks: &Range<usize>) -> u32 {
        self.letters_before[blocks.end] - self.letters_before[blocks.start]
    }

    /// Marks the blocks of a range as chosen for the main content, except the blocks that are left out of it.
    pub(super) fn choose(&mut self, blocks: Range<usize>) {
        for block in &mut self.ended[blocks] {
            block.is_chosen = !block.left_out.any();
        }
    }

    /// Marks all blocks as not chosen for the main content.
    pub(super) fn choose_none(&mut self) {
        self.leave_out(0..self.ended.len());
    }

    /// Marks the blocks of a range as not chosen for the main content.
    pub(super) fn leave_out(&mut self, blocks: Range<usize>) {
        for block in &mut self.ended[blocks] {
            block.is_chosen = false;
        }
    }

    /// Returns whether the block with index `block` is chosen for the main content.
    pub(super) fn is_chosen(&self, block: usize) -> bool {
        self.ended[block].is_chosen
    }

    /// Returns whether all blocks are chosen for the main content.
    pub(super) fn are_all_chosen(&self) -> bool {
        self.ended.iter().all(|block| block.is_chosen)
    }

    /// Returns the number of letters of the blocks that are chosen for the main content.
    pub(super) fn chosen_letters(&self) -> u32 {
        let chosen = self.ended.iter().filter(|block| block.is_chosen);
        chosen.map(|block| block.letters).sum()
    }

    /// Returns whether more than three quarters of the bytes of the block with index `block` are in links.
    pub(super) fn is_of_links(&self, block: usize) -> bool {
        let start = block.checked_sub(1).map_or(0, |last| self.ended[last].end);
        let Block { end, link_bytes, .. } = self.ended[block];
        u64::from(link_bytes) * 4 > u64::from(end - start) * 3
    }

    /// Cuts `text`, the text of the page, to the chosen blocks. Returns `false`, and changes nothing, if the page has
    /// too many blocks.
    pub(super) fn keep_chosen(&self, text: &mut Vec<u8>) -> bool {
        if self.is_overfull {
            return false;
        }
        let (mut start, mut kept) = (0, 0);
        for block in &self.ended {
            let end = text.len().min(block.end as usize);
            let mut range = start..end;
            if range.is_empty() {
                break;
            }
            start = end;
            if block.is_chosen {
                // White space between two words is a single gap, whatever was between them.
                let first = text[range.start];
                if first.is_ascii_whitespace() {
                    kept = with_gap(text, kept, first);
                    range.start += 1;
                }
                let length = range.len();
                text.copy_within(range, kept);
                kept += length;
                continue;
            }
            // The white space at the end of a block left out divides the words around it.
            let last = text[end - 1];
            if last.is_ascii_whitespace() {
                kept = with_gap(text, kept, last);
            }
        }
        text.truncate(kept);
        if text.last().is_some_and(u8::is_ascii_whitespace) {
            text.pop();
        }
        true
    }
}

/// Writes `gap`, a space or line end, after the first `kept` bytes of `text`. `text` must have more bytes. If these
/// bytes already end with a gap, only one gap remains: a line end if one of them is a line end. Nothing is written at
/// the start of the text. Returns the number of bytes with the gap.
fn with_gap(text: &mut [u8], kept: usize, gap: u8) -> usize {
    match kept.checked_sub(1).map(|last| &mut text[last]) {
        None => 0,
        Some(last) if last.is_ascii_whitespace() => {
            if gap == b'\n' {
                *last = gap;
            }
            kept
        }
        Some(_) => {
            text[kept] = gap;
            kept + 1
        }
    }
}

/// Returns the number of letters and digits of `text`, in UTF-8. A character of a script without
/// spaces, such as an ideograph, counts like several letters.
pub(crate) fn letters(text: &[u8]) -> u32 {
    text.iter().map(|&byte| u32::from(LETTERS[usize::from(byte)])).sum()
}

/// Number of letters that a character counts as. The index is the first byte of the character in UTF-8.
static LETTERS: [u8; 256] = letters_by_first_byte();

const fn letters_by_first_byte() -> [u8; 256] {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        letters[byte] = match byte as u8 {
            // Kana, ideographs and Hangul, and ideographs beyond U+FFFF.
            0xE3..=0xED | 0xF0 => 3,
            // Latin letters, and other characters of two or three bytes.
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xC3..=0xEF => 1,
            _ => 0,
        };
        byte += 1;
    }
    letters
}
