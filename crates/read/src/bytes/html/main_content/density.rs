//! Finds menus and other lists of links by the density of links in the blocks of a page.
//!
//! The rule is one of language-independent features of blocks, as in boilerplate detection by
//! shallow text features (Kohlschütter, Fankhauser and Nejdl 2010), jusText (Pomikálek 2011) and
//! trafilatura (Barbaresi 2021): a run of blocks that are mostly links is no part of
//! the main content of a page that also has running text.

use crate::bytes::html::main_content::blocks::{Blocks, RUNNING_TEXT};

/// Smallest number of letters of the running text of a page whose lists of links are left out.
const FEWEST_RUNNING: u32 = 160;
/// Smallest number of letters of a run of blocks of links that is left out.
const FEWEST_IN_LINKS: u32 = 30;
/// Largest number of letters of a block that only separates links, such as a bar.
const SEPARATOR: u32 = 2;

/// Takes away the lists of links from the chosen blocks of a page, if the page has running text.
/// Otherwise the lists may be the content, as in an index.
pub(super) fn leave_out_links(blocks: &mut Blocks) {
    let all = 0..blocks.count();
    let running = all.clone().filter(|&block| !blocks.is_of_links(block));
    let running = running.map(|block| blocks.letters(&(block..block + 1)));
    if running.filter(|&letters| letters >= RUNNING_TEXT).sum::<u32>() < FEWEST_RUNNING {
        return;
    }
    let mut next = 0;
    while let Some(start) = (next..all.end).find(|&block| blocks.is_of_links(block)) {
        let is_of_run = |&block: &usize| {
            blocks.is_of_links(block) || blocks.letters(&(block..block + 1)) <= SEPARATOR
        };
        next = (start..all.end).find(|block| !is_of_run(block)).unwrap_or(all.end);
        if blocks.letters(&(start..next)) >= FEWEST_IN_LINKS {
            blocks.leave_out(start..next);
        }
    }
}
