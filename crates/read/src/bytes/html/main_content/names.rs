//! Table of the class names, identifiers and roles by which pages mark their main content and the
//! parts around it.
//!
//! The rows name kinds of generators and themes, not single sites. A name is compared as a whole
//! first. If it is unknown, its words are compared: `site-nav_left` has the words `site`, `nav` and
//! `left`.

use crate::bytes::html::main_content::containers::ContainerKind::{
    self, Generic, Heading, Specific,
};

/// The meaning of a class name or identifier for the main content of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRole {
    /// The element contains main content.
    Container(ContainerKind),
    /// The element is no part of the main content. The value is the strength of the evidence for that.
    LeftOut(Evidence),
    /// The name is known, and gives the element no special role. The words of the name are not looked up.
    Ordinary,
}

/// Strength of the evidence in the names of an element that it is no part of the main content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// The names do not suggest that the element is no part of the main content.
    #[default]
    None,
    /// The names suggest that the element is no part of the main content. They are overruled if the element contains a
    /// container of main content.
    Weak,
    Strong,
}

const LEFT_OUT: NameRole = NameRole::LeftOut(Evidence::Strong);

/// Names with their meaning. They are compared as a whole, without regard to upper and lower case.
const NAMES: &[(&str, NameRole)] = &[
    // Generators of documentation, wikis, blogs and code hosts.
    ("docs-body", NameRole::Container(Specific)), // themes of Sphinx
    ("rst-content", NameRole::Container(Generic)),
    ("documentwrapper", NameRole::Container(Generic)),
    ("bodywrapper", NameRole::Container(Generic)),
    ("md-content", NameRole::Container(Specific)), // Material for MkDocs
    ("main-content", NameRole::Container(Specific)), // rustdoc
    ("mw-content-text", NameRole::Container(Specific)), // MediaWiki
    ("mw-parser-output", NameRole::Container(Specific)),
    ("displayarea", NameRole::Container(Specific)), // LibreOffice
    ("contents", NameRole::Container(Generic)),     // Doxygen
    ("headertitle", NameRole::Container(Heading)),
    ("markdown-body", NameRole::Container(Specific)), // GitHub, Gitea
    ("entry-content", NameRole::Container(Specific)), // WordPress and other blogs
    ("post-content", NameRole::Container(Specific)),
    ("post-body", NameRole::Container(Specific)),
    ("article-content", NameRole::Container(Specific)),
    ("article-body", NameRole::Container(Specific)),
    ("articlebody", NameRole::Container(Specific)),
    ("story-body", NameRole::Container(Specific)),
    ("field-name-body", NameRole::Container(Specific)), // Drupal
    ("theme-doc-markdown", NameRole::Container(Specific)), // Docusaurus
    ("vp-doc", NameRole::Container(Specific)),          // VitePress
    ("odoc-content", NameRole::Container(Specific)),    // odoc
    ("wiki-content", NameRole::Container(Specific)),    // Confluence
    ("wikipage", NameRole::Container(Specific)),        // Trac
    // Names that many hand-made pages use.
    ("content", NameRole::Container(Generic)),
    ("main", NameRole::Container(Generic)),
    ("maincontent", NameRole::Container(Generic)),
    ("main_content", NameRole::Container(Generic)),
    ("page-content", NameRole::Container(Generic)),
    ("pagecontent", NameRole::Container(Generic)),
    ("body-content", NameRole::Container(Generic)),
    ("bodycontent", NameRole::Container(Generic)),
    ("content-body", NameRole::Container(Generic)),
    ("contentbody", NameRole::Container(Generic)),
    ("body", NameRole::Container(Generic)),
    ("document", NameRole::Container(Generic)),
    ("article", NameRole::Container(Generic)),
    ("post", NameRole::Container(Generic)),
    // Parts around the main content that no word of WORDS marks.
    ("sr-only", LEFT_OUT),
    ("visually-hidden", LEFT_OUT),
    ("visuallyhidden", LEFT_OUT),
    ("screen-reader-text", LEFT_OUT),
    ("skip-link", LEFT_OUT),
    ("skiplink", LEFT_OUT),
    ("spirit-nav", LEFT_OUT),
    ("synthetic-implementations-list", LEFT_OUT), // rustdoc
    ("blanket-implementations-list", LEFT_OUT),
    ("mw-editsection", LEFT_OUT),
    ("printfooter", LEFT_OUT),
    ("catlinks", LEFT_OUT),
    // Lists of links that are the content of a page.
    ("toctree-wrapper", NameRole::Ordinary),
];

/// Words of names that mark a part around the main content, even if the part is inside a container of main content.
const WORDS: &[&str] = &[
    "ads",
    "actions",
    "adsbygoogle",
    "advert",
    "advertisement",
    "advertisements",
    "bio",
    "breadcrumb",
    "breadcrumbs",
    "buttons",
    "comment",
    "comments",
    "consent",
    "cookie",
    "cookies",
    "crumbs",
    "disclaimer",
    "footer",
    "gdpr",
    "headerlink",
    "inherited",
    "menu",
    "menubar",
    "nav",
    "navbar",
    "navfooter",
    "navheader",
    "navi",
    "navigation",
    "navigationbar",
    "newsletter",
    "pager",
    "pagination",
    "permalink",
    "prev",
    "prevnext",
    "profile",
    "recommendations",
    "recommended",
    "related",
    "review",
    "reviews",
    "share",
    "sharing",
    "sidebar",
    "sidenav",
    "signature",
    "social",
    "sponsored",
    "subscribe",
    "tags",
    "toc",
];

/// Words of names that mark a part around the main content, unless the part is inside a container
/// of main content.
const WORDS_OUTSIDE: &[&str] = &[
    "banner",
    "branding",
    "copyright",
    "header",
    "login",
    "logo",
    "masthead",
    "modal",
    "popup",
    "search",
    "searchbox",
    "toolbar",
    "topbar",
];

/// Words of names that mark a part around the main content if the part is a row of a table, such as a
/// member of a class that Doxygen lists again. Elsewhere, they are words of styles.
const WORDS_IN_ROWS: &[&str] = &["inherit"];

/// Words that take away the meaning of the other words of a name, as in `has-sidebar`.
const NEGATIONS: &[&str] = &[
    "below",
    "collapsed",
    "enabled",
    "expanded",
    "has",
    "layout",
    "no",
    "not",
    "open",
    "under",
    "with",
    "without",
];

/// The meaning of a word in the class or identifier of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordRole {
    LeftOut,
    LeftOutOutside,
    LeftOutInRow,
    Negation,
}

/// Entry of the hash table [`TABLE`]: a known name or word, and its meaning.
#[derive(Clone, Copy, Debug)]
struct Known {
    text: &'static str,
    name: Option<NameRole>,
    word: Option<WordRole>,
}

/// Number of slots of the hash table [`TABLE`], a power of two. It is several times the number of
/// known names and words.
const SLOTS: usize = 512;
const FREE: Known = Known { text: "", name: None, word: None };
/// Hash table of the known names and words. The search begins at the slot that the hash names and
/// goes on to the next slots.
static TABLE: [Known; SLOTS] = table();

const fn table() -> [Known; SLOTS] {
    let mut table = [FREE; SLOTS];
    let mut at = 0;
    while at < NAMES.len() {
        let (text, role) = NAMES[at];
        put(&mut table, Known { text, name: Some(role), word: None });
        at += 1;
    }
    put_words(&mut table, WORDS, WordRole::LeftOut);
    put_words(&mut table, WORDS_OUTSIDE, WordRole::LeftOutOutside);
    put_words(&mut table, WORDS_IN_ROWS, WordRole::LeftOutInRow);
    put_words(&mut table, NEGATIONS, WordRole::Negation);
    table
}

const fn put_words(table: &mut [Known; SLOTS], words: &'static [&'static str], role: WordRole) {
    let mut at = 0;
    while at < words.len() {
        put(table, Known { text: words[at], name: None, word: Some(role) });
        at += 1;
    }
}

const fn put(table: &mut [Known; SLOTS], known: Known) {
    let bytes = known.text.as_bytes();
    let (mut hash, mut at) = (NameHash::new(), 0);
    while at < bytes.len() {
        hash = hash.with(bytes[at]);
        at += 1;
    }
    let mut slot = hash.slot();
    while !table[slot].text.is_empty() {
        slot = (slot + 1) % SLOTS;
    }
    table[slot] = known;
}

/// Hash of the bytes of a name or word (FNV-1a). Upper and lower case have the same hash.
#[derive(Clone, Copy, Debug)]
struct NameHash(u64);

impl NameHash {
    const fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    /// Returns the hash of the bytes so far, followed by `byte`.
    const fn with(self, byte: u8) -> Self {
        Self((self.0 ^ byte.to_ascii_lowercase() as u64).wrapping_mul(0x0100_0000_01B3))
    }

    const fn slot(self) -> usize {
        // The highest bits of a product depend on all bytes.
        ((self.0 ^ self.0 >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55) as usize
    }
}

/// Returns the entry of the table for `text`, whose hash is `hash`.
fn find(text: &[u8], hash: NameHash) -> Option<&'static Known> {
    let mut slot = hash.slot();
    loop {
        let known = &TABLE[slot];
        if known.text.is_empty() {
            return None;
        }
        if known.text.as_bytes().eq_ignore_ascii_case(text) {
            return Some(known);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Rules for the comparison of a name with the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameMatching {
    /// Whether the element is inside a container of main content.
    pub(super) is_inside: bool,
    /// Whether the element is a row of a table.
    pub(super) is_row: bool,
    /// Whether the words of the name count. Otherwise only the whole name counts.
    pub(super) has_words: bool,
}

/// Returns the role that the class name or identifier `name` gives to its element. The whole name is looked up first,
/// and then its words. Returns `None` if neither is known, or if a word such as `has` negates the others.
pub(super) fn role_of_name(name: &[u8], matching: NameMatching) -> Option<NameRole> {
    let mut whole = NameHash::new();
    for &byte in name {
        whole = whole.with(byte);
    }
    let known = find(name, whole);
    if let Some(role) = known.and_then(|known| known.name) {
        return Some(role);
    }
    let mut evidence = Evidence::None;
    let mut note = |known: Option<&Known>| match known.and_then(|known| known.word) {
        Some(WordRole::LeftOut) => evidence = Evidence::Strong,
        Some(WordRole::LeftOutInRow) if matching.is_row => evidence = Evidence::Strong,
        Some(WordRole::LeftOutOutside) if !matching.is_inside => {
            evidence = evidence.max(Evidence::Weak);
        }
        Some(_) | None => {}
    };
    note(known);
    // A name of one word was found as a whole, or is unknown.
    if matching.has_words && !name.iter().all(u8::is_ascii_lowercase) {
        for (word, hash) in Words(name) {
            let known = find(word, hash);
            if known.is_some_and(|known| known.word == Some(WordRole::Negation)) {
                return None;
            }
            note(known);
        }
    }
    (evidence != Evidence::None).then_some(NameRole::LeftOut(evidence))
}

/// Iterator over the words of a name, with their hashes. Words are separated by other characters
/// than letters, or by a capital letter after a small one: `mainNav` has two words.
struct Words<'n>(&'n [u8]);

impl<'n> Iterator for Words<'n> {
    type Item = (&'n [u8], NameHash);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.0.iter().position(u8::is_ascii_alphabetic)?;
        let rest = &self.0[start..];
        let mut hash = NameHash::new();
        let mut length = 0;
        let mut before = b'A';
        for &byte in rest {
            let begins_word = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
            if !byte.is_ascii_alphabetic() || begins_word {
                break;
            }
            hash = hash.with(byte);
            before = byte;
            length += 1;
        }
        self.0 = &rest[length..];
        Some((&rest[..length], hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, is_inside: bool, has_words: bool) -> Option<NameRole> {
        role_of_name(name.as_bytes(), NameMatching { is_inside, is_row: false, has_words })
    }

    #[test]
    fn every_known_name_is_found() {
        for &(name, known) in NAMES {
            assert_eq!(role(name, false, true), Some(known), "{name}");
            assert_eq!(role(&name.to_ascii_uppercase(), true, false), Some(known), "{name}");
        }
        for word in WORDS {
            assert_eq!(role(word, true, false), Some(LEFT_OUT), "{word}");
        }
        for word in WORDS_OUTSIDE {
            assert_eq!(role(word, false, true), Some(NameRole::LeftOut(Evidence::Weak)), "{word}");
            assert_eq!(role(word, true, true), None, "{word}");
        }
    }

    #[test]
    fn words_are_whole_words() {
        for name in ["site-nav", "navLeft", "MainMenu", "page__footer", "cookie2", "a:toc.b"] {
            assert_eq!(role(name, false, true), Some(LEFT_OUT), "{name}");
        }
        for name in [
            "naval",
            "canvas",
            "has-sidebar",
            "noSidebar",
            "menu-open",
            "layout_nav",
            "",
            "--",
            "menue",
            "under-menu",
            "text-inherit",
        ] {
            assert_eq!(role(name, false, true), None, "{name}");
        }
        assert_eq!(role("site-nav", false, false), None);
    }
}
