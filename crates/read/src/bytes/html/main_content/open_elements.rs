//! Stack of the open elements of a page. End tags that pages leave out are implied as the HTML
//! standard says, without a tree of the page.

use crate::bytes::html::element::{Element, ElementName, NameSet};

/// Largest number of open elements that are tracked. Elements at a greater depth are counted, so
/// that their end tags close no other element. Browsers limit the depth of elements, too.
const DEEPEST: usize = 512;

const P: ElementName = ElementName::new("p");
const LI: ElementName = ElementName::new("li");
const DT: ElementName = ElementName::new("dt");
const DD: ElementName = ElementName::new("dd");
const TD: ElementName = ElementName::new("td");
const TH: ElementName = ElementName::new("th");
const TR: ElementName = ElementName::new("tr");
const TABLE: ElementName = ElementName::new("table");
const CAPTION: ElementName = ElementName::new("caption");
const DIV: ElementName = ElementName::new("div");
const ADDRESS: ElementName = ElementName::new("address");
const A: ElementName = ElementName::new("a");
const OPTION: ElementName = ElementName::new("option");

/// Elements that have no content and no end tag.
static VOID: NameSet = NameSet::new(&[
    "br", "img", "hr", "input", "meta", "link", "wbr", "area", "base", "col", "embed", "source",
    "track",
]);

/// Stack of open elements, innermost last. `T` is the data of an element.
#[derive(Debug)]
pub(super) struct OpenElements<T> {
    open: Vec<OpenElement<T>>,
    /// Number of open elements that are too deep to be in `open`.
    deeper: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpenElement<T> {
    name: ElementName,
    is_block: bool,
    data: T,
}

impl<T> Default for OpenElements<T> {
    fn default() -> Self {
        Self { open: Vec::new(), deeper: 0 }
    }
}

/// Returns whether the element `name` has no content and no end tag.
pub(super) fn is_void(name: ElementName) -> bool {
    VOID.contains(name)
}

impl<T: Copy> OpenElements<T> {
    /// Returns the data of the innermost open element, if any is open.
    pub(super) fn innermost(&self) -> Option<T> {
        self.open.last().map(|element| element.data)
    }

    /// Closes all elements, before another page is read.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.deeper = 0;
    }

    /// Opens an element that is too deep to be tracked, if the innermost element is the deepest one
    /// that is tracked. Returns whether it did that.
    pub(super) fn push_too_deep(&mut self) -> bool {
        let is_full = self.open.len() == DEEPEST;
        self.deeper += usize::from(is_full);
        is_full
    }

    /// Opens an element inside the innermost open element, and stores `data` with it.
    pub(super) fn push(&mut self, name: ElementName, element: Element, data: T) {
        self.open.push(OpenElement { name, is_block: element == Element::Block, data });
    }

    /// Closes the innermost open element, and returns its data.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.open.pop().map(|element| element.data)
    }

    /// Returns the number of open elements that remain before the start tag `name`. The tag closes elements whose end
    /// tags may be missing, for example an open `<p>` before another `<p>`.
    pub(super) fn depth_before_start(&self, name: ElementName, element: Element) -> usize {
        let mut depth = self.open.len();
        if self.deeper > 0 {
            return depth;
        }
        // A block closes an open paragraph.
        if element == Element::Block {
            depth = self.closed(depth, |open| open.name == P, |open| open.is_block);
        }
        let is_table = |open: &OpenElement<T>| open.name == TABLE;
        match name {
            LI | DT | DD => {
                let is_same = |open: &OpenElement<T>| match name {
                    LI => open.name == LI,
                    _ => matches!(open.name, DT | DD),
                };
                let is_other = |open: &OpenElement<T>| {
                    open.is_block && !matches!(open.name, P | DIV | ADDRESS)
                };
                self.closed(depth, is_same, is_other)
            }
            TD | TH => self.closed(depth, |open| matches!(open.name, TD | TH), is_table),
            TR => self.closed(depth, |open| open.name == TR, is_table),
            A => self.closed(depth, |open| open.name == A, |open| open.is_block),
            OPTION => self.closed(depth, |open| open.name == OPTION, |open| open.is_block),
            _ => depth,
        }
    }

    /// Returns the number of open elements that remain after the end tag `name`. An end tag without
    /// an open element is ignored.
    pub(super) fn depth_after_end(&mut self, name: ElementName, element: Element) -> usize {
        let depth = self.open.len();
        if self.deeper > 0 {
            self.deeper -= 1;
            return depth;
        }
        let is_of_table = matches!(name, TD | TH | TR | TABLE | CAPTION);
        let is_barrier = |open: &OpenElement<T>| match open.name {
            TABLE => true,
            TD | TH | CAPTION => !is_of_table,
            _ => element != Element::Block && open.is_block,
        };
        self.closed(depth, |open| open.name == name, is_barrier)
    }

    /// Returns the number of open elements, without those that are too deep.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Searches the first `depth` open elements for one for which `is_sought` is true, from the innermost outward.
    /// Returns its index, which is the number of elements that contain it. Returns `depth` if there is none, or if an
    /// element for which `is_barrier` is true comes first.
    fn closed(
        &self,
        depth: usize,
        is_sought: impl Fn(&OpenElement<T>) -> bool,
        is_barrier: impl Fn(&OpenElement<T>) -> bool,
    ) -> usize {
        for (outside, open) in self.open[..depth].iter().enumerate().rev() {
            if is_sought(open) {
                return outside;
            }
            if is_barrier(open) {
                break;
            }
        }
        depth
    }
}
