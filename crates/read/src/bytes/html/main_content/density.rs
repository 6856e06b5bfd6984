//! Finds menus and other lists of links by the density of links in the blocks of a page.
//!
//! The rule is one of language-independent features of blocks, as in boilerplate detection by
//! shallow text features (Kohlschütter, Fankhauser and Nejdl 2010), jusText (Pomikálek 2011) and
//! trafilatura (Barbaresi 2021): a run of blocks that are mostly links is no part of
//! the main content of a page that also has running text.

use crate::bytes::html::main_content::blocks::Blocks;
use std::ops::Range;

/// Number of letters of running text that a page must have so that its lists of links are left out.
const FEWEST_RUNNING: u32 = 160;
/// Smallest number of letters of a list of links that is left out. A list is a run of blocks whose text is mostly in
/// links.
const FEWEST_IN_LINKS: u32 = 30;
/// Largest number of letters of a block that only separates links, such as a bar.
const SEPARATOR: u32 = 2;
/// Largest number of letters of a block between links that belongs to their list, such as a price or a
/// date.
const SHORT: u32 = 24;

/// Marks lists of links, such as menus, as not chosen, if the page has enough running text and not too many links.
/// `most_links` gets the number of letters of running text, and returns the largest allowed number of letters in links.
/// If there are more links, the lists may be the content, as in an index.
pub(super) fn leave_out_links(blocks: &mut Blocks, most_links: impl Fn(u32) -> u32) {
    let all = 0..blocks.count();
    let running = blocks.running(all.clone(), |block| block.is_chosen);
    let in_links = all.filter(|&block| blocks.is_chosen(block) && blocks.is_of_links(block));
    let links: u32 = in_links.map(|block| blocks.letters(&(block..block + 1))).sum();
    if running < FEWEST_RUNNING || links > most_links(running) {
        return;
    }
    let mut next = 0;
    while let Some(list) = next_list(blocks, next) {
        next = list.end;
        if blocks.letters(&list) >= FEWEST_IN_LINKS {
            blocks.leave_out(list);
        }
    }
}

/// Returns the range of blocks of the first list of links at or after the block with index `from`, with the short
/// blocks between the links. Most of the letters of a list are in links.
fn next_list(blocks: &Blocks, from: usize) -> Option<Range<usize>> {
    let start = (from..blocks.count()).find(|&block| blocks.is_of_links(block))?;
    let (mut end, mut others, mut pending) = (start, 0, 0);
    let mut links = 0;
    for block in start..blocks.count() {
        let letters = blocks.letters(&(block..block + 1));
        if blocks.is_of_links(block) {
            others += pending;
            links += letters;
            if others > links {
                break;
            }
            (end, pending) = (block + 1, 0);
        } else if letters <= SEPARATOR && end == block {
            end = block + 1;
        } else if letters <= SHORT {
            pending += letters;
        } else {
            break;
        }
    }
    Some(start..end)
}
