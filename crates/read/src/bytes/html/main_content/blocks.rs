//! Blocks into which the text of a page is divided. The main content consists of some of them.

use crate::bytes::html::main_content::marks::LeftOut;
use std::ops::Range;

/// Largest number of blocks of a page. The text of a page with more is not divided, so that the
/// list has a bounded length.
const MOST: usize = 1 << 18;
/// Minimum number of letters in a block that counts as running text.
pub(super) const RUNNING_TEXT: u32 = 80;

/// A run of the text of a page. It has no line end within, and is left out or kept as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Position in the text at which the block ends.
    end: u32,
    /// Number of bytes of the block that are in links.
    link_bytes: u32,
    /// Number of letters in this block and all blocks before it. Blocks that are left out have no letters here. The
    /// number is a running sum, so the letters of a range of blocks are the difference of two sums.
    letters: u32,
    pub(super) is_left_out: bool,
    is_chosen: bool,
}

/// The blocks of the text of a page.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks that have ended.
    ended: Vec<Block>,
    /// Position in the text at which the current block starts.
    start: usize,
    /// Position in the text at which the current link starts, if the current position is in a link.
    link_start: Option<usize>,
    /// Number of bytes of the current block that are in links that have ended.
    link_bytes: usize,
    /// Number of letters of running text in blocks that are left out because of a name. The name is the class or ID
    /// of an element, such as `sidebar`.
    running_by_name: u32,
    is_overfull: bool,
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        ended.clear();
        *self = Self { ended, ..Self::default() };
    }

    /// Returns the number of blocks that have ended.
    pub(super) fn count(&self) -> usize {
        self.ended.len()
    }

    /// Ends the current block at the end of `text`, unless it is empty.
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
                let is_left_out = left_out != LeftOut::No;
                let letters =
                    if left_out == LeftOut::ByTag { 0 } else { letters(&text[self.start..]) };
                let before = self.letters_to(self.ended.len());
                self.ended.push(Block {
                    end,
                    link_bytes: self.link_bytes as u32,
                    letters: before + if is_left_out { 0 } else { letters },
                    is_left_out,
                    is_chosen: false,
                });
                if is_left_out && letters >= RUNNING_TEXT && !self.is_of_links(self.ended.len() - 1)
                {
                    self.running_by_name += letters;
                }
            }
            _ => self.is_overfull = true,
        }
        self.start = end;
        self.link_bytes = 0;
    }

    /// Returns the number of letters of running text in blocks that are left out because of a name.
    pub(super) fn running_by_name(&self) -> u32 {
        self.running_by_name
    }

    /// Returns the number of letters of running text in blocks that are neither chosen nor left out, because
    /// they are outside the container of the main content.
    pub(super) fn running_elsewhere(&self) -> u32 {
        let is_elsewhere = |&block: &usize| {
            let Block { is_left_out, is_chosen, .. } = self.ended[block];
            !is_left_out && !is_chosen && !self.is_of_links(block)
        };
        let elsewhere = (0..self.ended.len()).filter(is_elsewhere);
        let letters = elsewhere.map(|block| self.letters(&(block..block + 1)));
        letters.filter(|&letters| letters >= RUNNING_TEXT).sum()
    }

    /// Notes that a link starts or ends at the end of `text`.
    pub(super) fn set_link(&mut self, is_link: bool, text: &[u8]) {
        if let Some(start) = self.link_start {
            self.link_bytes += text.len().saturating_sub(start);
        }
        self.link_start = is_link.then_some(text.len());
    }

    fn letters_to(&self, block: usize) -> u32 {
        block.checked_sub(1).map_or(0, |last| self.ended[last].letters)
    }

    /// Returns the number of letters in the blocks with these indices, except blocks that are left out.
    pub(super) fn letters(&self, blocks: &Range<usize>) -> u32 {
        self.letters_to(blocks.end) - self.letters_to(blocks.start)
    }

    /// Marks the blocks of a range as chosen, except those left out.
    pub(super) fn choose(&mut self, blocks: Range<usize>) {
        for block in &mut self.ended[blocks] {
            block.is_chosen = !block.is_left_out;
        }
    }

    /// Marks the blocks of a range as not chosen.
    pub(super) fn leave_out(&mut self, blocks: Range<usize>) {
        for block in &mut self.ended[blocks] {
            block.is_chosen = false;
        }
    }

    /// Returns whether all blocks are chosen.
    pub(super) fn are_all_chosen(&self) -> bool {
        self.ended.iter().all(|block| block.is_chosen)
    }

    /// Returns the number of letters of the chosen blocks.
    pub(super) fn chosen_letters(&self) -> u32 {
        let chosen = (0..self.ended.len()).filter(|&block| self.ended[block].is_chosen);
        chosen.map(|block| self.letters(&(block..block + 1))).sum()
    }

    /// Returns whether more than three quarters of the bytes of a block are in links.
    pub(super) fn is_of_links(&self, block: usize) -> bool {
        let start = block.checked_sub(1).map_or(0, |last| self.ended[last].end);
        let Block { end, link_bytes, .. } = self.ended[block];
        u64::from(link_bytes) * 4 > u64::from(end - start) * 3
    }

    /// Cuts `text` to the chosen blocks. Returns whether that was possible.
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

/// Writes a gap behind the first `kept` bytes of `text`, which are shorter than `text`. If they end with a
/// gap, a line end takes the place of a space. Returns the number of bytes with the gap.
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
fn letters(text: &[u8]) -> u32 {
    text.iter().map(|&byte| u32::from(LETTERS[usize::from(byte)])).sum()
}

/// Number of letters that a character counts whose first byte is the index.
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
