//! Chooses the container of the main content of a page.

use crate::bytes::html::main_content::blocks::{Block, Blocks, RUNNING_TEXT};
use crate::bytes::html::main_content::containers::ContainerKind::{
    self, Article, Generic, Heading, Main, Named, Specific,
};
use crate::bytes::html::main_content::containers::{Container, Containers};
use crate::bytes::html::main_content::density;
use crate::bytes::html::main_content::marks::LeftOut;
use simtool_model::page_text::PageText;
use std::ops::Range;

/// Limits that a choice of the main content must meet. If no choice meets them, a page is compared by its whole text.
struct Limits {
    /// Smallest number of letters of the main content.
    fewest_letters: u32,
    /// Number of letters of running text that may always be left out because of the class or identifier of an element,
    /// for example in a request to accept cookies.
    running_by_name: u32,
}

/// Number of letters of running text that may always be outside the chosen containers, for example a comment of a
/// reader. A long main content allows more. Even more text there shows that the containers are wrong, for example that
/// they have only the title of the page.
const RUNNING_ELSEWHERE: u32 = 400;

/// Limits for a main content that is chosen by containers, such as the element `<main>`.
const IN_CONTAINERS: Limits = Limits { fewest_letters: 10, running_by_name: 2000 };
/// Limits for a main content that is chosen without containers: all blocks that are not left out, except lists of
/// links.
const GUESSED: Limits = Limits { fewest_letters: 60, running_by_name: 500 };

/// Smallest number of letters of running text that can overrule the reason why the text is left out. So much text may
/// be the main content, although it is hidden or has a class such as `comments`.
const FEWEST_OVERRULING: u32 = 240;
/// Divisor of the letters of the chosen text. Hidden running text is content, too, if it has at least a third as many
/// letters.
const SHOWN_A_HIDDEN: u32 = 3;
/// Divisor of the visible letters of a page. A main content with less than a tenth of these letters is reported as
/// [`PageText::Little`].
const VISIBLE_A_CHOSEN: u32 = 10;

/// Marks the blocks of the main content as chosen. Returns the kind of text that they are, for example
/// [`PageText::Main`]. [`PageText::Whole`] means that the page has no main content.
pub(super) fn choose(blocks: &mut Blocks, containers: &Containers) -> PageText {
    overrule_names(blocks, containers);
    let mut is_enough = choose_visible(blocks, containers);
    // Pages that are sent in portions have their text in hidden elements, which a script shows.
    // Others hide the panels of tabs and accordions.
    let all = 0..blocks.count();
    let hidden = blocks.running(all.clone(), |block| {
        block.left_out == LeftOut { is_hidden: true, ..LeftOut::default() }
    });
    let is_hidden = hidden >= FEWEST_OVERRULING.max(blocks.chosen_letters() / SHOWN_A_HIDDEN);
    if is_hidden {
        blocks.change(all, |left_out| left_out.is_hidden = false);
        is_enough = choose_visible(blocks, containers);
    }
    if !is_enough && !blocks.are_all_chosen() {
        PageText::Whole
    } else if is_hidden {
        PageText::Hidden
    } else if blocks.chosen_letters() < blocks.visible_letters() / VISIBLE_A_CHOSEN {
        PageText::Little
    } else {
        PageText::Main
    }
}

/// Keeps text that is left out only because of the class or identifier of an element, if it is much of the page. A name
/// such as `comments` is only a hint, because a page may consist of comments.
fn overrule_names(blocks: &mut Blocks, containers: &Containers) {
    let all = 0..blocks.count();
    let shown = |block: &Block| !block.left_out.any();
    let unnamed = blocks.running(all.clone(), shown);
    let named = blocks.running(all.clone(), is_by_name);
    let letters = blocks.unlinked(all.clone(), shown) + blocks.unlinked(all, is_by_name);
    let least_running = if named > unnamed.max(FEWEST_OVERRULING) {
        // Names that leave out most of the page do not mean what they say.
        RUNNING_TEXT
    } else {
        unnamed.midpoint(named).max(FEWEST_OVERRULING)
    };
    for Container { blocks: part, .. } in containers.of_kind(Named) {
        if blocks.running(part.clone(), is_by_name) >= least_running
            || blocks.unlinked(part.clone(), is_by_name) > letters / 2
        {
            blocks.change(part.clone(), |left_out| left_out.by_name = false);
        }
    }
}

/// Chooses the blocks of the main content among those that are not left out. Tries containers that the page marks, then
/// containers with a suitable name, then the whole page, until one of them has enough text. Returns whether one has.
fn choose_visible(blocks: &mut Blocks, containers: &Containers) -> bool {
    blocks.sum_letters();
    let chooser = Chooser { blocks, containers };
    let [marked, named] = [chooser.marked(), chooser.named()];
    [marked, named].into_iter().flatten().any(|ranges| choose_in(blocks, containers, Some(ranges)))
        || choose_in(blocks, containers, None)
}

/// Chooses the blocks in the ranges `contained`, or all blocks of the page if it is `None`. Lists of links next to
/// enough running text are not chosen. Returns whether the chosen blocks are enough for a main content.
fn choose_in(
    blocks: &mut Blocks,
    containers: &Containers,
    contained: Option<Vec<Range<usize>>>,
) -> bool {
    blocks.choose_none();
    let limits = if contained.is_some() { IN_CONTAINERS } else { GUESSED };
    if let Some(ranges) = contained {
        for range in ranges {
            blocks.choose(range);
        }
        // The content of a container may be lists of links.
        density::leave_out_links(blocks, |running| running / 3);
    } else {
        blocks.choose(0..blocks.count());
        density::leave_out_links(blocks, |running| running.saturating_mul(2));
    }
    for heading in containers.of_kind(Heading) {
        blocks.choose(heading.blocks.clone());
    }
    let all = 0..blocks.count();
    let chosen = blocks.chosen_letters();
    let by_name = blocks.running(all.clone(), is_by_name);
    let elsewhere = blocks.running(all, |block| !block.left_out.any() && !block.is_chosen);
    // If much more running text is left out because of names than is chosen, the names mean something
    // else, or an end tag is missing.
    let of_chosen = chosen.saturating_mul(4);
    chosen >= limits.fewest_letters
        && by_name <= limits.running_by_name.max(of_chosen)
        && elsewhere <= RUNNING_ELSEWHERE.max(of_chosen)
}

/// Returns whether a block is left out only because of the class or identifier of an element.
fn is_by_name(block: &Block) -> bool {
    block.left_out == LeftOut { by_name: true, ..LeftOut::default() }
}

/// Blocks and containers of a page, among which the main content is chosen. A block is a run of text, and a container is
/// an element that may contain the main content.
struct Chooser<'b> {
    blocks: &'b Blocks,
    containers: &'b Containers,
}

impl Chooser<'_> {
    /// Returns the blocks in the containers that the page marks as its main content. Returns `None`
    /// if no such container has enough of the text of the page.
    fn marked(&self) -> Option<Vec<Range<usize>>> {
        let specific = self.outermost(Specific);
        let main = self.outermost(Main);
        let articles = self.outermost(Article);
        let of_main = self.letters(&main);
        let of_articles = self.letters(&articles);
        let all = self.blocks.letters(&(0..self.blocks.count()));
        // A known container inside of `<main>` is more exact, unless it is only a small part.
        if !specific.is_empty() && self.letters(&specific) >= (of_main / 2).max(all / 5) {
            return Some(specific);
        }
        // A page has one article or a list of articles. Comments of readers can be articles, too, and
        // so can cards of related pages.
        let article = articles.iter().max_by_key(|range| self.blocks.letters(range));
        if let Some(article) = article
            && self.blocks.letters(article) >= all.div_ceil(2)
        {
            return Some(vec![article.clone()]);
        }
        if !main.is_empty() && of_main >= all / 3 {
            return Some(main);
        }
        (!articles.is_empty() && of_articles >= all / 2).then_some(articles)
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

    /// Returns the ranges of blocks of the containers of this kind that have text and are not inside another container
    /// of this kind.
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
