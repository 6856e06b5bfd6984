//! Elements of a page that may contain its main content.

use std::ops::Range;

/// Kind of an element that matters for the choice of the main content of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    /// An element with the class or identifier that a known generator or theme of sites gives to the main content, or
    /// with `itemprop=articleBody`.
    Specific,
    /// The element `<main>`, or an element with `role=main` or `itemprop=mainContentOfPage`.
    Main,
    /// The element `<article>`, or an element with `role=article`.
    Article,
    /// An element whose class or identifier only suggests that it contains the main content.
    Generic,
    /// The heading of the page, which is outside of the container of the main content.
    Heading,
    /// An element that is left out of the main content because of its class or identifier.
    Named,
}

/// An element that contains main content, or that is left out.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) kind: ContainerKind,
    /// Range of the indexes of the blocks of text in the element.
    pub(super) blocks: Range<usize>,
}

/// Largest number of containers of a page that are noted. Other containers of the page are ignored.
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

    /// Opens a container whose first block has the index `block`. Returns the number with which [`Self::close`] closes
    /// it, or `None` if there are too many containers.
    pub(super) fn open(&mut self, kind: ContainerKind, block: usize) -> Option<u16> {
        if self.found.len() == MOST {
            return None;
        }
        self.found.push(Container { kind, blocks: block..usize::MAX });
        Some((self.found.len() - 1) as u16)
    }

    /// Closes the container with this number. Its last block is the block before index `block`.
    pub(super) fn close(&mut self, number: u16, block: usize) {
        self.found[usize::from(number)].blocks.end = block;
    }

    pub(super) fn of_kind(&self, kind: ContainerKind) -> impl Iterator<Item = &Container> + Clone {
        self.found.iter().filter(move |container| container.kind == kind)
    }
}
