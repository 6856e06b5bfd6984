//! Names of HTML elements, and their roles for the text of a page.

use crate::bytes::html::eight_bytes::{ONES, before_first, equal, less};

/// Names of block elements. The text of a block is on lines of its own.
pub(super) const BLOCKS: [&str; 42] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "table",
    "td",
    "th",
    "title",
    "tr",
    "ul",
];

/// Names of elements whose content is left out. A browser neither parses this content as markup nor
/// shows it.
const LEFT_OUT: [&str; 6] = ["iframe", "noembed", "noframes", "noscript", "style", "xmp"];

/// The role of an element for the text of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// An element such as `<b>`, which does not end the current line of text. Unknown elements
    /// count as inline, too.
    Inline,
    Block,
    /// The element `<title>`. It is a block, and its content is text with character references but
    /// without tags.
    Title,
    /// The element `<textarea>`. It is inline, and its content is text with character references
    /// but without tags.
    Textarea,
    Script,
    /// The content of the element is left out, for example `<style>`.
    LeftOut,
    /// The element `<plaintext>`. All bytes of the page after its start tag are text, even tags.
    Plaintext,
    /// The element `<svg>` or `<math>`. Its content is SVG or MathML, which have other rules than
    /// HTML.
    ForeignRoot,
}

impl Element {
    /// Returns whether the element can contain other elements of HTML.
    pub(super) fn contains_markup(self) -> bool {
        matches!(self, Self::Inline | Self::Block)
    }
}

/// Name of an element in lower case, as a number that is quick to compare. All names of more than
/// 15 bytes have the same value, because no known element has such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementName(u128);

/// Largest number of bytes of a name that fit into a [`ElementName`].
const LONGEST: usize = 15;

impl ElementName {
    /// Creates a name at compile time. `name` must be in lower case.
    pub(super) const fn new(name: &str) -> Self {
        let bytes = name.as_bytes();
        let (mut key, mut at) = (0, 0);
        while at < bytes.len() {
            key |= (bytes[at] as u128) << (8 * at);
            at += 1;
        }
        Self::with_length(key, at)
    }

    /// Creates a name from its length and its bytes, which are in `key` with the first byte lowest.
    /// The length distinguishes a name from the same name with zero bytes at its end.
    const fn with_length(key: u128, length: usize) -> Self {
        Self(key | (length as u128) << 120)
    }

    /// Reads the name of a tag at the start of `bytes`. The name ends before white space, `/` or
    /// `>`. Returns the name and its length in bytes.
    pub(super) fn read(bytes: &[u8]) -> (Self, usize) {
        // Most names have less than eight bytes.
        if let Some(&first) = bytes.first_chunk() {
            let word = u64::from_le_bytes(first);
            let length = before_first(less(word, b' ' + 1) | equal(word, b'/') | equal(word, b'>'));
            if length < 8 && ends_name(first[length]) {
                let mask = (1 << (8 * length)) - 1;
                // Bit 5 is set in lower-case letters, digits and hyphens, but not in upper-case
                // letters.
                let small = ONES << 5 & mask;
                if word & small == small {
                    return (Self::with_length((word & mask).into(), length), length);
                }
            }
        }
        Self::read_any(bytes)
    }

    fn read_any(bytes: &[u8]) -> (Self, usize) {
        let length = bytes.iter().position(|&byte| ends_name(byte)).unwrap_or(bytes.len());
        let name = bytes[..length.min(LONGEST)].iter().rev();
        let key = name.fold(0, |key, byte| key << 8 | u128::from(byte.to_ascii_lowercase()));
        // No known element has a name of more than [`LONGEST`] bytes, so all longer names share one
        // value.
        let known = if length <= LONGEST { Self::with_length(key, length) } else { Self(0) };
        (known, length)
    }

    pub(super) fn element(self) -> Element {
        let mut slot = self.slot();
        loop {
            match TABLE[slot] {
                (name, element) if name == self => return element,
                (FREE, _) => return Element::Inline,
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    const fn slot(self) -> usize {
        let folded = self.0 as u64 ^ (self.0 >> 64) as u64;
        // The highest eight bits of the product are the index of a slot in a table of 256 slots.
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
    }
}

/// Set of names of elements, in which a search is quick.
#[derive(Debug)]
pub(super) struct NameSet {
    names: &'static [&'static str],
    /// `slots[i]` is true if [`ElementName::slot`] of a name in the set is i. Most names that are not in the set
    /// are recognized by this alone.
    slots: [bool; SLOTS],
}

impl NameSet {
    /// Creates the set of these names at compile time. They must be in lower case.
    pub(super) const fn new(names: &'static [&'static str]) -> Self {
        let mut slots = [false; SLOTS];
        let mut at = 0;
        while at < names.len() {
            slots[ElementName::new(names[at]).slot()] = true;
            at += 1;
        }
        Self { names, slots }
    }

    pub(super) fn contains(&self, name: ElementName) -> bool {
        self.slots[name.slot()] && self.names.iter().any(|known| ElementName::new(known) == name)
    }
}

/// Returns whether the name of a tag ends if `byte` follows.
pub(super) fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'/' || byte == b'>'
}

/// Number of slots of the hash table [`TABLE`], which is the number of values of [`ElementName::slot`].
/// The table has about four times as many slots as known names, so every search soon reaches a free
/// slot.
const SLOTS: usize = 256;
/// Value that marks a free slot of [`TABLE`]. No known element has this name.
const FREE: ElementName = ElementName(0);
/// Hash table of the known elements. The search for an element begins at the slot [`ElementName::slot`]
/// and goes on to the next slots, up to the element or a free slot.
static TABLE: [(ElementName, Element); SLOTS] = table();

const fn table() -> [(ElementName, Element); SLOTS] {
    let mut table = [(FREE, Element::Inline); SLOTS];
    put(&mut table, "title", Element::Title);
    put(&mut table, "textarea", Element::Textarea);
    put(&mut table, "script", Element::Script);
    put(&mut table, "plaintext", Element::Plaintext);
    put(&mut table, "svg", Element::ForeignRoot);
    put(&mut table, "math", Element::ForeignRoot);
    let mut at = 0;
    while at < LEFT_OUT.len() {
        put(&mut table, LEFT_OUT[at], Element::LeftOut);
        at += 1;
    }
    at = 0;
    while at < BLOCKS.len() {
        put(&mut table, BLOCKS[at], Element::Block);
        at += 1;
    }
    table
}

/// Inserts an element and its role into the hash table. Does nothing if the table already contains
/// the element.
const fn put(table: &mut [(ElementName, Element); SLOTS], name: &str, element: Element) {
    let name = ElementName::new(name);
    let mut slot = name.slot();
    while table[slot].0.0 != FREE.0 {
        if table[slot].0.0 == name.0 {
            return;
        }
        slot = (slot + 1) % SLOTS;
    }
    table[slot] = (name, element);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_to_their_end() {
        for (tag, name) in [
            ("p>", "p"),
            ("H1 class", "h1"),
            ("br/>xxxxx", "br"),
            ("section\tx", "section"),
            ("BlockQuote>", "blockquote"),
            ("annotation-xml>", "annotation-xml"),
            ("a<b c", "a<b"),
            ("a\x01b>xxxx", "a\x01b"),
            ("div", "div"),
            ("abcdefghi", "abcdefghi"),
        ] {
            let read = ElementName::read(tag.as_bytes());
            assert_eq!(read, (ElementName::new(name), name.len()), "{tag}");
        }
        // Only letters are converted to lower case.
        assert_ne!(ElementName::read(b"h\x11>xxxxxx").0, ElementName::new("h1"));
        assert_ne!(ElementName::read(b"p\0>xxxxxx").0, ElementName::new("p"));
        assert_eq!(ElementName::read(b"abcdefghijklmnopqr>"), (FREE, 18));
    }

    #[test]
    fn elements_are_found_by_name() {
        for block in BLOCKS {
            let element = if block == "title" { Element::Title } else { Element::Block };
            assert_eq!(ElementName::new(block).element(), element, "{block}");
        }
        for name in LEFT_OUT {
            assert_eq!(ElementName::new(name).element(), Element::LeftOut, "{name}");
        }
        assert_eq!(ElementName::new("script").element(), Element::Script);
        assert_eq!(ElementName::new("math").element(), Element::ForeignRoot);
        for name in ["span", "a", "code", "i", "b", "em", "x", "h7"] {
            assert_eq!(ElementName::new(name).element(), Element::Inline, "{name}");
        }
        assert_eq!(FREE.element(), Element::Inline);
    }
}
