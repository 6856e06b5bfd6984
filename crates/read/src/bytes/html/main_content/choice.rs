//! Chooses the container of the main content of a page.

use crate::bytes::html::main_content::blocks::Blocks;
use crate::bytes::html::main_content::containers::ContainerKind::{
    self, Article, Generic, Heading, Main, Specific,
};
use crate::bytes::html::main_content::containers::{Container, Containers};
use crate::bytes::html::main_content::density;
use std::ops::Range;

/// Limits for the main content of a page. A page beyond them is compared by its whole text.
struct Limits {
    /// Smallest number of letters of the main content.
    fewest_letters: u32,
    /// Number of letters of running text that may always be left out because of the names of elements,
    /// for example in a request to accept cookies.
    running_by_name: u32,
}

/// Number of letters of running text that may always be outside the main content, for example a comment of a
/// reader. More is allowed only next to a long main content. Otherwise the container is not what its name says,
/// for example if it has only the title of the page.
const RUNNING_ELSEWHERE: u32 = 400;

/// Limits for pages whose main content is in containers.
const IN_CONTAINERS: Limits = Limits { fewest_letters: 10, running_by_name: 2000 };
/// Limits for other pages.
const GUESSED: Limits = Limits { fewest_letters: 60, running_by_name: 500 };

/// Chooses the blocks of the main content. Returns false if the page has no main content.
pub(super) fn choose(blocks: &mut Blocks, containers: &Containers) -> bool {
    let chooser = Chooser { blocks, containers };
    let contained = chooser.marked().or_else(|| chooser.named());
    let limits = if contained.is_some() { IN_CONTAINERS } else { GUESSED };
    if let Some(ranges) = contained {
        for range in ranges {
            blocks.choose(range);
        }
    } else {
        blocks.choose(0..blocks.count());
        density::leave_out_links(blocks);
    }
    for heading in containers.of_kind(Heading) {
        blocks.choose(heading.blocks.clone());
    }
    let chosen = blocks.chosen_letters();
    // If much more running text is left out because of names than is chosen, the names mean something
    // else, or an end tag is missing.
    let of_chosen = chosen.saturating_mul(4);
    let is_enough = chosen >= limits.fewest_letters
        && blocks.running_by_name() <= limits.running_by_name.max(of_chosen)
        && blocks.running_elsewhere() <= RUNNING_ELSEWHERE.max(of_chosen);
    is_enough || blocks.are_all_chosen()
}

/// Blocks and containers of a page, among which the main content is chosen. A block is a run of text, and a container is
/// an element that may contain the main content.
struct Chooser<'b> {
    blocks: &'b Blocks,
    containers: &'b Containers,
}

impl Chooser<'_> {
    /// Returns the blocks in the containers that the page marks as its main content. Returns `None`
    /// if the page has no such container.
    fn marked(&self) -> Option<Vec<Range<usize>>> {
        let specific = self.outermost(Specific);
        let main = self.outermost(Main);
        let articles = self.outermost(Article);
        let of_main = self.letters(&main);
        let of_articles = self.letters(&articles);
        // A known container inside of `<main>` is more exact, unless it is only a small part.
        if !specific.is_empty() && self.letters(&specific) >= of_main / 2 {
            return Some(specific);
        }
        // A page has one article or a list of articles. Comments of readers can be articles, too.
        let article = articles.iter().max_by_key(|range| self.blocks.letters(range));
        if let Some(article) = article
            && self.blocks.letters(article) >= of_main.max(of_articles) / 2
        {
            return Some(vec![article.clone()]);
        }
        [main, articles].into_iter().find(|ranges| !ranges.is_empty())
    }

    /// Returns the blocks in a container whose name suggests that it contains the main content. Returns
    /// `None` if no such container has at least half of the text.
    fn named(&self) -> Option<Vec<Range<usize>>> {
        let containers = || self.containers.of_kind(Generic).map(|container| &container.blocks);
        let most = containers().map(|range| self.blocks.letters(range)).max()?;
        if most < self.blocks.letters(&(0..self.blocks.count())) / 2 {
            return None;
        }
        // The innermost container that has most of the text of the largest one.
        let large = containers().filter(|range| self.blocks.letters(range) >= most / 4 * 3);
        large.min_by_key(|range| range.len()).map(|range| vec![range.clone()])
    }

    /// Returns the blocks in the containers of a kind that have text and are in no other one.
    fn outermost(&self, kind: ContainerKind) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for Container { blocks, .. } in self.containers.of_kind(kind) {
            if self.blocks.letters(blocks) > 0
                && ranges.last().is_none_or(|last| blocks.start >= last.end)
            {
                ranges.push(blocks.clone());
            }
        }
        ranges
    }

    fn letters(&self, ranges: &[Range<usize>]) -> u32 {
        ranges.iter().map(|range| self.blocks.letters(range)).sum()
    }
}
