//! Finds menus and other lists of links by the density of links in the blocks of a page.
//!
//! The rule is one of language-independent features of blocks, as in boilerplate detection by
//! shallow text features (Kohlschütter, Fankhauser and Nejdl 2010), jusText (Pomikálek 2011) and
//! trafilatura (Barbaresi 2021): a run of blocks that are mostly links is no part of
//! the main content of a page that also has running text.

use crate::bytes::html::main_content::blocks::Blocks;
use std::ops::Range;

/// Smallest number of letters of the running text of a page whose lists of links are left out.
const FEWEST_RUNNING: u32 = 160;
/// Smallest number of letters of a run of blocks of links that is left out.
const FEWEST_IN_LINKS: u32 = 30;
/// Largest number of letters of a block that only separates links, such as a bar.
const SEPARATOR: u32 = 2;
/// Largest number of letters of a block between links that belongs to their list, such as a price or a
/// date.
const SHORT: u32 = 24;
/// Number of letters of running text for each letter of a list of links, from which on a text in a
/// container is no list itself.
const RUNNING_A_LINK: u32 = 3;

/// Takes away the lists of links from the chosen blocks of a page, if the page has running text.
/// Otherwise the lists may be the content, as in an index.
pub(super) fn leave_out_links(blocks: &mut Blocks) {
    if blocks.running(0..blocks.count(), |block| block.is_chosen) < FEWEST_RUNNING {
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

/// Takes away the lists of links from the chosen blocks of a container. The content of the container
/// may be lists of links, unless it has much more running text.
pub(super) fn leave_out_few_links(blocks: &mut Blocks) {
    let all = 0..blocks.count();
    let in_links =
        all.clone().filter(|&block| blocks.is_chosen(block) && blocks.is_of_links(block));
    let links: u32 = in_links.map(|block| blocks.letters(&(block..block + 1))).sum();
    if blocks.running(all, |block| block.is_chosen) >= links.saturating_mul(RUNNING_A_LINK) {
        leave_out_links(blocks);
    }
}

/// Returns the blocks of the first list of links at or after the block `from`, with the short blocks
/// between the links. Most of the letters of a list are in links.
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
