//! Elements of a page that may contain its main content.

use std::ops::Range;

/// Kind of an element that contains main content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    /// The container of a known generator or theme, or the body of an article.
    Specific,
    /// The element `<main>`, or an element with `role=main`.
    Main,
    /// The element `<article>`.
    Article,
    /// An element whose name only suggests that it contains the main content.
    Generic,
    /// The heading of the page, which is outside of the container of the main content.
    Heading,
    /// An element that is left out because of its names.
    Named,
}

/// An element that contains main content, or that is left out.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) kind: ContainerKind,
    /// Numbers of the blocks of text in the element.
    pub(super) blocks: Range<usize>,
}

/// Largest number of containers that are noted. Further ones are ignored.
const MOST: usize = 4096;

/// Containers of a page, in the order of their start tags.
#[derive(Debug, Default)]
pub(super) struct Containers {
    found: Vec<Container>,
}

impl Containers {
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }

    /// Opens a container whose first block is `block`. Returns its number, with which
    /// [`Self::close`] closes it.
    pub(super) fn open(&mut self, kind: ContainerKind, block: usize) -> Option<u16> {
        if self.found.len() == MOST {
            return None;
        }
        self.found.push(Container { kind, blocks: block..usize::MAX });
        Some((self.found.len() - 1) as u16)
    }

    /// Closes the container `number` before the block `block`.
    pub(super) fn close(&mut self, number: u16, block: usize) {
        self.found[usize::from(number)].blocks.end = block;
    }

    pub(super) fn of_kind(&self, kind: ContainerKind) -> impl Iterator<Item = &Container> + Clone {
        self.found.iter().filter(move |container| container.kind == kind)
    }
}
