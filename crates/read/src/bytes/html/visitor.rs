//! Visitors of the elements and attributes of a page.

use crate::bytes::html::attributes::Attribute;
use crate::bytes::html::element::{Element, ElementName};

/// Receives the elements of a page while its text is read.
pub(super) trait ElementVisitor {
    /// Attributes of a tag, as far as they matter to the visitor.
    type Marks<'h>: AttributeVisitor<'h>;

    /// Handles the start tag of an element. `marks` has the attributes of the tag. `text` is the text of the page
    /// before the tag.
    fn start_tag(
        &mut self,
        name: ElementName,
        element: Element,
        marks: &Self::Marks<'_>,
        text: &[u8],
    );

    /// Handles the end tag of an element. `text` is the text of the page before the tag.
    fn end_tag(&mut self, name: ElementName, element: Element, text: &[u8]);
}

/// Receives the attributes of a tag while the end of the tag is searched.
pub(super) trait AttributeVisitor<'h>: Default {
    fn note(&mut self, attribute: Attribute<'h>);
}

/// Visitor that ignores all elements.
impl ElementVisitor for () {
    type Marks<'h> = ();

    fn start_tag(&mut self, _: ElementName, _: Element, (): &(), _: &[u8]) {}

    fn end_tag(&mut self, _: ElementName, _: Element, _: &[u8]) {}
}

impl AttributeVisitor<'_> for () {
    #[inline]
    fn note(&mut self, _: Attribute<'_>) {}
}
