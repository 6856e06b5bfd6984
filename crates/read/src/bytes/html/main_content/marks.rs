//! The meaning of the tags of a page and of their attributes for its main content.

use crate::bytes::html::attributes::Attribute;
use crate::bytes::html::element::{Element, ElementName, NameSet};
use crate::bytes::html::main_content::containers::ContainerKind;
use crate::bytes::html::main_content::names::{Evidence, NameMatching, NameRole, role_of_name};
use crate::bytes::html::visitor::AttributeVisitor;

const MAIN: ElementName = ElementName::new("main");
const ARTICLE: ElementName = ElementName::new("article");
const HEADER: ElementName = ElementName::new("header");
const SECTION: ElementName = ElementName::new("section");
const TR: ElementName = ElementName::new("tr");
const A: ElementName = ElementName::new("a");
const SPAN: ElementName = ElementName::new("span");

/// Elements that are no part of the main content, wherever they are.
static LEFT_OUT: NameSet =
    NameSet::new(&["nav", "aside", "footer", "button", "select", "template", "dialog", "menu"]);
/// Elements in which names of classes describe code, not parts of the page.
static CODE: NameSet = NameSet::new(&["pre", "code"]);
/// Block elements whose names do not count, because they contain the whole page, or because they
/// are headings, whose identifiers are made of their text.
static WITHOUT_NAMES: NameSet =
    NameSet::new(&["html", "head", "body", "h1", "h2", "h3", "h4", "h5", "h6", "dt"]);
/// Values of the attribute `role` of elements that are no part of the main content.
const ROLES_LEFT_OUT: [&str; 11] = [
    "navigation",
    "banner",
    "contentinfo",
    "search",
    "complementary",
    "dialog",
    "alertdialog",
    "menu",
    "menubar",
    "toolbar",
    "doc-toc",
];
/// Types of schema.org of elements that are no part of the main content.
const TYPES_LEFT_OUT: [&str; 5] =
    ["WPHeader", "WPFooter", "WPSideBar", "SiteNavigationElement", "BreadcrumbList"];

/// Reasons why text is left out of the main content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Left out because of the tag, the role or the schema.org type of an element.
    pub(super) by_tag: bool,
    /// Left out because of the class or identifier of an element.
    pub(super) by_name: bool,
    /// Left out because an element is hidden.
    pub(super) is_hidden: bool,
}

impl LeftOut {
    /// Returns whether the text has any reason to be left out.
    pub(super) fn any(self) -> bool {
        self.by_tag || self.by_name || self.is_hidden
    }
}

/// Facts about the text at a position of a page. They depend on the elements that are open at this position.
#[expect(clippy::struct_excessive_bools, reason = "each is decided by other elements")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Whether an open element is hidden.
    is_hidden: bool,
    /// Whether the tag, role or schema.org type of an open element shows that it is no part of the main content.
    is_around: bool,
    /// Evidence in the classes and identifiers of open elements that they are no part of the main
    /// content.
    named_around: Evidence,
    /// Whether an open element contains main content.
    is_inside: bool,
    is_code: bool,
    pub(super) is_link: bool,
}

impl State {
    /// Returns why text at the position is left out.
    pub(super) fn left_out(self) -> LeftOut {
        LeftOut {
            by_tag: self.is_around,
            by_name: self.named_around != Evidence::None,
            is_hidden: self.is_hidden,
        }
    }

    /// Returns whether an element begins a part that is left out because of a class or identifier. `self` is the state
    /// in the element, and `before` is the state in its parent element. This is so if text is left out for this reason
    /// in `self`, but not in `before`.
    pub(super) fn begins_named(self, before: Self) -> bool {
        self.left_out().by_name && !before.left_out().by_name
    }
}

/// Attributes of a tag that matter for the main content.
#[derive(Debug, Default)]
pub(in crate::bytes::html) struct Marks<'h> {
    class: &'h [u8],
    id: &'h [u8],
    role: &'h [u8],
    /// Value of the attribute `itemprop`.
    property: &'h [u8],
    /// Value of the attribute `itemtype`.
    item_type: &'h [u8],
    is_hidden: bool,
    has_target: bool,
}

impl<'h> AttributeVisitor<'h> for Marks<'h> {
    #[inline]
    fn note(&mut self, Attribute { name, value }: Attribute<'h>) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            2 if is("id") => self.id = value,
            4 if is("href") => self.has_target = true,
            4 if is("role") => self.role = value,
            5 if is("class") => self.class = value,
            5 if is("style") => self.is_hidden |= is_hidden_style(value),
            6 if is("hidden") => self.is_hidden |= !value.eq_ignore_ascii_case(b"until-found"),
            8 if is("itemprop") => self.property = value,
            8 if is("itemtype") => self.item_type = value,
            11 if is("aria-hidden") => self.is_hidden |= value.eq_ignore_ascii_case(b"true"),
            _ => {}
        }
    }
}

/// Returns whether the value of an attribute `style` hides the element.
fn is_hidden_style(style: &[u8]) -> bool {
    style.split(|&byte| byte == b';').any(|rule| {
        let mut parts = rule.splitn(2, |&byte| byte == b':').map(<[u8]>::trim_ascii);
        let is = |part: Option<&[u8]>, known: &str| {
            part.is_some_and(|part| part.eq_ignore_ascii_case(known.as_bytes()))
        };
        let property = parts.next();
        let value = parts.next();
        (is(property, "display") && is(value, "none"))
            || (is(property, "visibility") && is(value, "hidden"))
    })
}

impl Marks<'_> {
    /// Returns the state in an element whose parent has the state `parent`, and the kind of container
    /// that the element is, if it is one.
    pub(super) fn enter(
        &self,
        parent: State,
        name: ElementName,
        element: Element,
    ) -> (State, Option<ContainerKind>) {
        let (of_names, evidence) = self.roles_of_names(parent, name, element);
        // A known container is surer than another word in its names, as in `article-body sidebar-left`.
        let is_sure = of_names == Some(ContainerKind::Specific);
        let evidence = if is_sure { Evidence::None } else { evidence };
        let container = self.container(name, of_names.filter(|_| evidence == Evidence::None));
        let mut state = parent;
        state.is_hidden |= self.is_hidden;
        state.is_code |= CODE.contains(name);
        state.is_link |= name == A && self.has_target;
        match container {
            Some(ContainerKind::Main) => {
                state.is_around = false;
                state.named_around = Evidence::None;
            }
            Some(ContainerKind::Specific | ContainerKind::Article | ContainerKind::Heading) => {
                state.named_around = Evidence::None;
            }
            Some(ContainerKind::Generic) if state.named_around == Evidence::Weak => {
                state.named_around = Evidence::None;
            }
            Some(_) | None => {
                state.is_around |= self.is_around(parent, name);
                state.named_around = state.named_around.max(evidence);
            }
        }
        state.is_inside |= container.is_some_and(|kind| kind != ContainerKind::Heading);
        (state, container)
    }

    /// Returns the kind of container that an element is. `of_names` is the kind that its class and identifier suggest.
    fn container(
        &self,
        name: ElementName,
        of_names: Option<ContainerKind>,
    ) -> Option<ContainerKind> {
        if self.has_property("articleBody") || of_names == Some(ContainerKind::Specific) {
            Some(ContainerKind::Specific)
        } else if name == MAIN || self.has_role("main") || self.has_property("mainContentOfPage") {
            Some(ContainerKind::Main)
        } else if name == ARTICLE || self.has_role("article") {
            Some(ContainerKind::Article)
        } else {
            of_names
        }
    }

    /// Returns whether the tag, role or schema.org type of an element shows that it is no part of the main content.
    /// `parent` is the state in the parent element. A `<header>` inside main content belongs to the content.
    fn is_around(&self, parent: State, name: ElementName) -> bool {
        LEFT_OUT.contains(name)
            || (name == HEADER && !parent.is_inside)
            || (!self.role.is_empty() && ROLES_LEFT_OUT.iter().any(|role| self.has_role(role)))
            || (!self.item_type.is_empty() && TYPES_LEFT_OUT.iter().any(|kind| self.has_type(kind)))
    }

    fn has_role(&self, role: &str) -> bool {
        self.role.eq_ignore_ascii_case(role.as_bytes())
    }

    fn has_property(&self, property: &str) -> bool {
        self.property.eq_ignore_ascii_case(property.as_bytes())
    }

    /// Returns whether the element has a type of schema.org, such as `https://schema.org/WPFooter`.
    fn has_type(&self, kind: &str) -> bool {
        let name = self.item_type.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        name.eq_ignore_ascii_case(kind.as_bytes())
    }

    /// Returns the kind of container that the class and identifier of an element suggest, and the evidence in them that
    /// the element is no part of the main content.
    fn roles_of_names(
        &self,
        parent: State,
        name: ElementName,
        element: Element,
    ) -> (Option<ContainerKind>, Evidence) {
        let is_block = element == Element::Block;
        let has_names = !(self.class.is_empty() && self.id.is_empty());
        let counts = is_block || matches!(name, A | SPAN);
        if !has_names || !counts || parent.is_code || WITHOUT_NAMES.contains(name) {
            return (None, Evidence::None);
        }
        let classes = || self.class.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        let of_class =
            NameMatching { is_inside: parent.is_inside, is_row: name == TR, has_words: is_block };
        let of_id = NameMatching { has_words: is_block && !parent.is_inside, ..of_class };
        let mut container = None;
        let mut evidence = Evidence::None;
        let mut note = |name: &[u8], matching, may_be_around| match role_of_name(name, matching) {
            Some(NameRole::Container(kind)) if is_block => {
                // A known container is surer than one whose name only suggests that it is one.
                if container != Some(ContainerKind::Specific) {
                    container = Some(kind);
                }
            }
            Some(NameRole::LeftOut(found)) if may_be_around => evidence = evidence.max(found),
            Some(_) | None => {}
        };
        classes().for_each(|class| note(class, of_class, true));
        if is_block && !self.id.is_empty() {
            // The identifier of a section is often made of its title.
            let is_section = name == SECTION || classes().any(|class| class == b"section");
            note(self.id, of_id, !is_section);
        }
        (container, evidence)
    }
}
