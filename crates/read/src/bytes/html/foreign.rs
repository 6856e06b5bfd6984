//! SVG and MathML within a page, where other rules apply: `<title>` and `<style>` are ordinary
//! elements there, and text may be in `<![CDATA[`.
//!
//! This module tracks only the open tags, without a tree of elements. If elements are nested
//! correctly, it follows the HTML standard.

use crate::bytes::html::attributes::Attributes;
use crate::bytes::html::element::ElementName;

/// Names of HTML elements whose start tag ends all open SVG and MathML elements.
const BREAKOUTS: [ElementName; 44] = [
    ElementName::new("b"),
    ElementName::new("big"),
    ElementName::new("blockquote"),
    ElementName::new("body"),
    ElementName::new("br"),
    ElementName::new("center"),
    ElementName::new("code"),
    ElementName::new("dd"),
    ElementName::new("div"),
    ElementName::new("dl"),
    ElementName::new("dt"),
    ElementName::new("em"),
    ElementName::new("embed"),
    ElementName::new("h1"),
    ElementName::new("h2"),
    ElementName::new("h3"),
    ElementName::new("h4"),
    ElementName::new("h5"),
    ElementName::new("h6"),
    ElementName::new("head"),
    ElementName::new("hr"),
    ElementName::new("i"),
    ElementName::new("img"),
    ElementName::new("li"),
    ElementName::new("listing"),
    ElementName::new("menu"),
    ElementName::new("meta"),
    ElementName::new("nobr"),
    ElementName::new("ol"),
    ElementName::new("p"),
    ElementName::new("pre"),
    ElementName::new("ruby"),
    ElementName::new("s"),
    ElementName::new("small"),
    ElementName::new("span"),
    ElementName::new("strike"),
    ElementName::new("strong"),
    ElementName::new("sub"),
    ElementName::new("sup"),
    ElementName::new("table"),
    ElementName::new("tt"),
    ElementName::new("u"),
    ElementName::new("ul"),
    ElementName::new("var"),
];
const SVG: ElementName = ElementName::new("svg");
const MATH: ElementName = ElementName::new("math");
/// SVG elements whose content is HTML.
const IN_SVG: [ElementName; 3] =
    [ElementName::new("desc"), ElementName::new("foreignobject"), ElementName::new("title")];
/// MathML elements whose content is HTML.
const IN_MATH: [ElementName; 5] = [
    ElementName::new("mi"),
    ElementName::new("mn"),
    ElementName::new("mo"),
    ElementName::new("ms"),
    ElementName::new("mtext"),
];
/// MathML element whose content is HTML if its attribute `encoding` is `text/html` or
/// `application/xhtml+xml`.
const ANNOTATION: ElementName = ElementName::new("annotation-xml");
/// HTML element whose start tag ends all open SVG and MathML elements if it has one of the
/// attributes in [`OF_FONTS`].
const FONT: ElementName = ElementName::new("font");
const OF_FONTS: [&str; 3] = ["color", "face", "size"];

/// Largest number of nested elements that [`Foreign`] tracks. Elements at a greater depth are
/// ignored. Browsers limit the depth of elements, too.
const DEEPEST: usize = 512;

/// State that shows whether the current position in a page is in HTML, SVG or MathML.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Open elements that changed the language of the content, innermost last. They are `svg`,
    /// `math`, and elements inside `svg` or `math` whose content is HTML.
    open: Vec<ElementName>,
}

impl Foreign {
    /// Resets the state for the next page.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// Returns whether no SVG or MathML element is open at the current position.
    pub(super) fn is_nowhere(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether the current position is in SVG or MathML, where the rules of HTML do not
    /// apply. In HTML inside of SVG or MathML, returns `false`.
    pub(super) fn is_here(&self) -> bool {
        matches!(self.open.last(), Some(&(SVG | MATH)))
    }

    /// Updates the state after a start tag. `is_self_closing` means that the tag ends with `/>`.
    pub(super) fn start_tag(
        &mut self,
        name: ElementName,
        attributes: Attributes<'_>,
        is_self_closing: bool,
    ) {
        let holds_html = match self.open.last() {
            Some(&SVG) => IN_SVG.contains(&name),
            Some(&MATH) => {
                IN_MATH.contains(&name) || (name == ANNOTATION && is_of_html(attributes.clone()))
            }
            _ => false,
        };
        let is_root = match self.open.last() {
            Some(&root @ (SVG | MATH)) => name == root,
            _ => matches!(name, SVG | MATH),
        };
        if holds_html || is_root {
            // In SVG and MathML, `/>` ends an element at once, while HTML ignores the slash.
            if !is_self_closing && self.open.len() < DEEPEST {
                self.open.push(name);
            }
        } else if BREAKOUTS.contains(&name) || (name == FONT && is_of_fonts(attributes)) {
            self.break_out();
        }
    }

    /// Updates the state after an end tag.
    pub(super) fn end_tag(&mut self, name: ElementName) {
        if self.open.last() == Some(&name) {
            self.open.pop();
        // The end tags `</p>` and `</br>` leave SVG and MathML like their start tags (HTML
        // standard, section 13.2.6.5).
        } else if name == ElementName::new("p") || name == ElementName::new("br") {
            self.break_out();
        }
    }

    fn break_out(&mut self) {
        while self.is_here() {
            self.open.pop();
        }
    }
}

fn is_of_html(mut attributes: Attributes<'_>) -> bool {
    let encoding = attributes.find(|found| found.name.eq_ignore_ascii_case(b"encoding"));
    encoding.is_some_and(|found| {
        let value = htmlize::unescape_bytes_in(found.value, htmlize::Context::Attribute);
        ["text/html", "application/xhtml+xml"]
            .iter()
            .any(|kind| value.eq_ignore_ascii_case(kind.as_bytes()))
    })
}

fn is_of_fonts(mut attributes: Attributes<'_>) -> bool {
    let is_one = |name: &[u8]| OF_FONTS.iter().any(|of| name.eq_ignore_ascii_case(of.as_bytes()));
    attributes.any(|found| is_one(found.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the position after `tags` is in SVG or MathML. The tags are given without
    /// brackets, for example `svg` and `/svg`.
    fn is_foreign_behind(tags: &[&str]) -> bool {
        let mut foreign = Foreign::default();
        for tag in tags {
            let html = format!("{tag}>");
            let html = html.as_bytes();
            if let Some(tag) = html.strip_prefix(b"/") {
                foreign.end_tag(ElementName::read(tag).0);
                continue;
            }
            let (name, length) = ElementName::read(html);
            let attributes = Attributes::new(html, length);
            let end = attributes.clone().end().unwrap();
            foreign.start_tag(name, attributes, end.is_self_closing);
        }
        foreign.is_here()
    }

    #[test]
    fn svg_and_math_end_with_their_tags() {
        assert!(!is_foreign_behind(&["p"]));
        assert!(is_foreign_behind(&["SVG x=y", "g"]));
        assert!(is_foreign_behind(&["svg", "svg", "/svg"]));
        assert!(!is_foreign_behind(&["svg", "svg", "/svg", "/svg"]));
        assert!(!is_foreign_behind(&["svg/"]));
        assert!(!is_foreign_behind(&["math", "svg", "/math"]));
    }

    #[test]
    fn some_elements_hold_html() {
        assert!(!is_foreign_behind(&["svg", "foreignObject"]));
        assert!(!is_foreign_behind(&["svg", "foreignObject", "/svg"]));
        assert!(is_foreign_behind(&["svg", "foreignObject", "/foreignObject"]));
        assert!(is_foreign_behind(&["svg", "desc/"]));
        assert!(is_foreign_behind(&["svg", "mi"]));
        assert!(!is_foreign_behind(&["math", "mi"]));
        assert!(is_foreign_behind(&["math", "annotation-xml"]));
        assert!(!is_foreign_behind(&["math", "annotation-xml encoding=Text/HTML"]));
        assert!(is_foreign_behind(&["math", "annotation-xml encoding=x encoding=text/html"]));
        assert!(is_foreign_behind(&["math", "mtext", "svg", "desc", "math"]));
    }

    #[test]
    fn elements_of_html_break_out() {
        for tag in ["div", "/p", "/br", "font size=1", "b"] {
            assert!(!is_foreign_behind(&["svg", "svg", tag]), "{tag}");
        }
        for tag in ["/div", "font", "font sized", "a", "style"] {
            assert!(is_foreign_behind(&["svg", "svg", tag]), "{tag}");
        }
        // The tag `p` closes only the elements inside `desc`, whose content is HTML.
        assert!(is_foreign_behind(&["svg", "desc", "svg", "p", "/desc"]));
    }

    #[test]
    fn nesting_is_followed_to_a_limit() {
        let mut foreign = Foreign::default();
        for _ in 0..100_000 {
            foreign.start_tag(SVG, Attributes::new(b">", 0), false);
        }
        assert_eq!(foreign.open.len(), DEEPEST);
    }
}
