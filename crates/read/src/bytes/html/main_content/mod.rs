//! Finds the main content of a page: its text without navigation, header, footer and other parts
//! that many pages of a site share.
//!
//! The text of the page is written once, as for the whole page. Meanwhile it is divided into
//! blocks, and each block notes whether it is in an element that is no part of the main content.
//! At the end of the page the container of the main content is chosen, and the text is cut to its
//! blocks.

mod blocks;
mod choice;
mod containers;
mod density;
mod marks;
mod names;
mod open_elements;
#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod tests;

use crate::bytes::html::element::{Element, ElementName};
use crate::bytes::html::main_content::blocks::Blocks;
use crate::bytes::html::main_content::containers::{ContainerKind, Containers};
use crate::bytes::html::main_content::marks::{Marks, State};
use crate::bytes::html::main_content::open_elements::{OpenElements, is_void};
use crate::bytes::html::visitor::ElementVisitor;
use simtool_model::page_text::PageText;

pub(super) use crate::bytes::html::main_content::blocks::letters;

/// Data of an open element.
#[derive(Clone, Copy, Debug)]
struct OpenData {
    state: State,
    /// Index in `containers` of the container that the element is. `None` if the element is no container.
    container: Option<u16>,
    /// Index in `containers` of the part that is left out because of the class or identifier of the element. `None` if
    /// no such part begins with the element.
    named: Option<u16>,
}

/// Finder of the main content of pages. It can be used for many pages.
#[derive(Debug, Default)]
pub(super) struct MainContent {
    open: OpenElements<OpenData>,
    containers: Containers,
    blocks: Blocks,
    state: State,
}

impl MainContent {
    /// Prepares for the next page.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.containers.clear();
        self.blocks.clear();
        self.state = State::default();
    }

    /// Cuts `text`, the whole text of the page, to the main content. Returns the kind of text that remains. If the page
    /// has no main content, `text` is unchanged, and the kind is [`PageText::Whole`].
    pub(super) fn cut(&mut self, text: &mut Vec<u8>) -> PageText {
        self.close_to(0, text);
        self.end_block(text);
        let part = choice::choose(&mut self.blocks, &self.containers);
        let is_cut = part != PageText::Whole && self.blocks.keep_chosen(text);
        if is_cut { part } else { PageText::Whole }
    }

    fn end_block(&mut self, text: &[u8]) {
        self.blocks.end_block(text, self.state.left_out());
    }

    /// Closes the innermost open elements until `depth` elements are open. `text` is the text of the page so far.
    fn close_to(&mut self, depth: usize, text: &[u8]) {
        if depth == self.open.depth() {
            return;
        }
        while self.open.depth() > depth {
            let Some(data) = self.open.pop() else { break };
            for container in [data.container, data.named].into_iter().flatten() {
                self.end_block(text);
                self.containers.close(container, self.blocks.count());
            }
        }
        let state = self.open.innermost().map_or_else(State::default, |data| data.state);
        self.set_state(state, text);
    }

    fn set_state(&mut self, state: State, text: &[u8]) {
        if state.left_out() != self.state.left_out() {
            self.end_block(text);
        }
        if state.is_link != self.state.is_link {
            self.blocks.set_link(state.is_link, text);
        }
        self.state = state;
    }
}

impl ElementVisitor for MainContent {
    type Marks<'h> = Marks<'h>;

    fn start_tag(&mut self, name: ElementName, element: Element, marks: &Marks<'_>, text: &[u8]) {
        if element == Element::Block {
            self.end_block(text);
        }
        if is_void(name) {
            return;
        }
        self.close_to(self.open.depth_before_start(name, element), text);
        if self.open.push_too_deep() {
            return;
        }
        let (state, kind) = marks.enter(self.state, name, element);
        let named = state.begins_named(self.state).then_some(ContainerKind::Named);
        if kind.is_some() || named.is_some() {
            self.end_block(text);
        }
        let mut open =
            |kind: Option<_>| kind.and_then(|kind| self.containers.open(kind, self.blocks.count()));
        let (container, named) = (open(kind), open(named));
        self.open.push(name, element, OpenData { state, container, named });
        self.set_state(state, text);
    }

    fn end_tag(&mut self, name: ElementName, element: Element, text: &[u8]) {
        if element == Element::Block {
            self.end_block(text);
        }
        let depth = self.open.depth_after_end(name, element);
        self.close_to(depth, text);
    }
}
