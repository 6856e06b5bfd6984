//! Extracts the text of HTML pages: the text that a reader of the page sees, one line per block.
//!
//! Scripts, styles and comments are left out; block elements end a line; runs of white space are
//! one space; character references are resolved as the standard of HTML says.
//!
//! The page is read once, from tag to tag, without a tree of its elements. The page is split into
//! tags and text as the HTML standard requires. The only difference is that the rules at a position
//! depend only on the tags before that position.

mod attributes;
mod charset;
mod eight_bytes;
mod element;
mod foreign;
mod lines;
mod main_content;
mod page_start;
mod raw_text;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;
mod visitor;

pub(crate) use charset::{decode, decode_text, guess_encoding};
pub(crate) use page_start::begins_page;

use crate::bytes::PageContent;
use crate::bytes::html::attributes::Attributes;
use crate::bytes::html::element::{Element, ElementName};
use crate::bytes::html::foreign::Foreign;
use crate::bytes::html::lines::HtmlLines;
use crate::bytes::html::main_content::{MainContent, letters};
use crate::bytes::html::visitor::{AttributeVisitor, ElementVisitor};
use simtool_base::stable_hash::hash;
use simtool_model::page_text::{ExtractedPage, PageText, count_words};
use simtool_model::title_words::TitleWords;

/// The character U+FFFD in UTF-8. It replaces a zero byte where the HTML standard requires that.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
const CDATA: &[u8] = b"[CDATA[";
const NOSCRIPT: ElementName = ElementName::new("noscript");

/// Extracts the text of HTML pages. One extractor can be used for many pages.
#[derive(Debug)]
pub(crate) struct HtmlText {
    foreign: Foreign,
    /// Finder of the main content, if only that is wanted.
    main: Option<MainContent>,
    /// Memory for the text of elements `<noscript>`.
    noscript: Vec<u8>,
    /// Facts about the page that was read last. `None` before the first page.
    page: Option<ExtractedPage>,
}

/// Smallest number of letters in elements `<noscript>` that can be the text of a page. Messages that a
/// page needs scripts are shorter.
const FEWEST_WITHOUT_SCRIPTS: u32 = 240;

impl HtmlText {
    /// Creates an extractor. `content` decides whether it extracts the whole text of a page or only the main content.
    pub(crate) fn new(content: PageContent) -> Self {
        let main = match content {
            PageContent::All => None,
            PageContent::Main => Some(MainContent::default()),
        };
        Self { foreign: Foreign::default(), main, noscript: Vec::new(), page: None }
    }

    /// Replaces the content of `text` by the text of the page `html`, or by its main content if the extractor was made
    /// for that. Returns facts about the page, for example the kind of its text and the number of words that were left
    /// out.
    ///
    /// The page is read as by a browser with scripts, which ignores elements `<noscript>`. If most of
    /// the text is in them, the page is read as by a browser without scripts.
    pub(crate) fn extract(&mut self, html: &str, text: &mut Vec<u8>) -> &ExtractedPage {
        self.noscript.clear();
        let html = html.as_bytes();
        self.read(html, Scripts::Run, text);
        let in_noscript = letters(&self.noscript);
        let has_scripts = in_noscript < FEWEST_WITHOUT_SCRIPTS || in_noscript <= letters(text);
        if !has_scripts {
            self.read(html, Scripts::Off, text);
        }
        let title_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
        let mut part = PageText::All;
        let mut left_out_words = 0;
        if let Some(main) = &mut self.main {
            // Counting words takes little time, compared with the extraction.
            let words = count_words(text);
            part = main.cut(text);
            left_out_words = words.saturating_sub(count_words(text));
        }
        // The whole text begins with the title, which proves nothing about a heading.
        let is_whole = matches!(part, PageText::All | PageText::Whole);
        let from = if is_whole { title_line.len() } else { 0 };
        let title_words = TitleWords::new(&title_line, &text[from..]);
        let part = if has_scripts { part } else { PageText::NoScript };
        let title = hash(&title_line);
        self.page.insert(ExtractedPage { part, title, title_words, left_out_words })
    }

    /// Replaces the content of `text` by the whole text of a page.
    fn read(&mut self, html: &[u8], scripts: Scripts, text: &mut Vec<u8>) {
        let Self { foreign, main, noscript, .. } = self;
        if let Some(main) = main {
            main.clear();
            PageReader { foreign, visitor: main, scripts, noscript }.read(html, text);
        } else {
            PageReader { foreign, visitor: &mut (), scripts, noscript }.read(html, text);
        }
    }
}

/// Whether scripts of the page run. Otherwise the elements `<noscript>` are parts of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scripts {
    Run,
    Off,
}

/// Reads the text of a page, and passes the elements of the page to a visitor.
struct PageReader<'r, V> {
    foreign: &'r mut Foreign,
    visitor: &'r mut V,
    scripts: Scripts,
    /// Text of the elements `<noscript>`, if scripts run.
    noscript: &'r mut Vec<u8>,
}

impl<V: ElementVisitor> PageReader<'_, V> {
    /// Replaces the content of `text` by the text of the page `html`.
    fn read(&mut self, html: &[u8], text: &mut Vec<u8>) {
        self.foreign.clear();
        let mut lines = HtmlLines::new(text);
        let mut at = 0;
        loop {
            at += lines.push_until_tag(&html[at..]);
            at = match html[at..] {
                [] => break,
                [_, b'a'..=b'z' | b'A'..=b'Z', ..] => self.start_tag(html, at, &mut lines),
                [_, b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => self.end_tag(html, at, &mut lines),
                // A wrong end tag such as `</1>` is a comment, and `</>` is ignored.
                [_, b'/', _, ..] => behind_tag(html, at + 2),
                [_, b'?', ..] => behind_tag(html, at + 1),
                [_, b'!', ..] => self.declaration(html, at + 2, &mut lines),
                _ => {
                    lines.push_less_than();
                    at + 1
                }
            };
        }
        lines.finish();
    }

    /// Handles the start tag at position `at`. If the content of the element is not markup, as in
    /// `<script>`, handles the content, too. Returns the position after the handled bytes.
    fn start_tag(&mut self, html: &[u8], at: usize, lines: &mut HtmlLines<'_>) -> usize {
        let at = at + 1;
        let (name, length) = ElementName::read(&html[at..]);
        let attributes = Attributes::new(html, at + length);
        let mut marks = V::Marks::default();
        // A tag that is cut off by the end of the page is ignored.
        let Some(end) = attributes.clone().visit(|attribute| marks.note(attribute)) else {
            return html.len();
        };
        let element = self.element(name);
        if matches!(element, Element::Block | Element::Title) {
            lines.end_of_line();
        }
        // In SVG and MathML, elements such as `title` and `style` have no special content, so the
        // role of the element does not matter.
        if self.foreign.is_here() || element == Element::ForeignRoot {
            self.foreign.start_tag(name, attributes, end.is_self_closing);
            // A tag such as `<div>` ends SVG and MathML, and is an element of the page.
            if element != Element::ForeignRoot && self.foreign.is_nowhere() {
                self.visitor.start_tag(name, element, &marks, lines.text());
            }
            return end.at;
        }
        // Elements within SVG and MathML do not matter to the visitor, even if they are HTML.
        if element.contains_markup() && self.foreign.is_nowhere() && !end.is_self_closing {
            self.visitor.start_tag(name, element, &marks, lines.text());
        }
        let raw_text = || raw_text::end_of_raw_text(html, end.at, &html[at..at + length]);
        match element {
            Element::Inline | Element::Block | Element::ForeignRoot => end.at,
            Element::Title | Element::Textarea => {
                let next = raw_text();
                push_without_zeros(&html[end.at..next], lines, HtmlLines::push_with_references);
                next
            }
            Element::LeftOut => {
                let next = raw_text();
                if name == NOSCRIPT {
                    self.note_noscript(&html[end.at..next]);
                }
                next
            }
            Element::Script => raw_text::end_of_script(html, end.at),
            Element::Plaintext => {
                push_without_zeros(&html[end.at..], lines, HtmlLines::push_verbatim);
                html.len()
            }
        }
    }

    /// Returns the role of an element. Without scripts, `<noscript>` is a block of the page.
    fn element(&self, name: ElementName) -> Element {
        if name == NOSCRIPT && self.scripts == Scripts::Off {
            return Element::Block;
        }
        name.element()
    }

    /// Appends the text of an element `<noscript>` to `self.noscript`. `content` is the HTML inside the element.
    fn note_noscript(&mut self, content: &[u8]) {
        let mut text = Vec::new();
        let mut noscript = Vec::new();
        let foreign = &mut Foreign::default();
        let scripts = Scripts::Off;
        PageReader { foreign, visitor: &mut (), scripts, noscript: &mut noscript }
            .read(content, &mut text);
        self.noscript.append(&mut text);
    }

    /// Handles the end tag at position `at`. Returns the position after the tag.
    fn end_tag(&mut self, html: &[u8], at: usize, lines: &mut HtmlLines<'_>) -> usize {
        let at = at + 2;
        let (name, length) = ElementName::read(&html[at..]);
        let Some(end) = Attributes::new(html, at + length).end() else { return html.len() };
        let element = self.element(name);
        if matches!(element, Element::Block | Element::Title) {
            lines.end_of_line();
        }
        if !self.foreign.is_nowhere() {
            self.foreign.end_tag(name);
        } else if element.contains_markup() {
            self.visitor.end_tag(name, element, lines.text());
        }
        end.at
    }

    /// Handles a comment, a document type or a `CDATA` section, which begins with `<!`. `at` is the
    /// position after `<!`. Returns the position after the comment, document type or section.
    fn declaration(&self, html: &[u8], at: usize, lines: &mut HtmlLines<'_>) -> usize {
        let bytes = &html[at..];
        if bytes.starts_with(b"--") {
            return end_of_comment(html, at + 2);
        }
        // In HTML, `<![CDATA[` begins a comment that ends at the next `>`.
        if self.foreign.is_here() && bytes.starts_with(CDATA) {
            let at = at + CDATA.len();
            let length = memchr::memmem::find(&html[at..], b"]]>");
            let end = length.map_or(html.len(), |length| at + length);
            lines.push_verbatim(&html[at..end]);
            return html.len().min(end + 3);
        }
        behind_tag(html, at)
    }
}

/// Returns the position after the first `>` at or after position `at`, or the end of the page if
/// there is none.
fn behind_tag(html: &[u8], at: usize) -> usize {
    memchr::memchr(b'>', &html[at..]).map_or(html.len(), |length| at + length + 1)
}

/// Returns the position after a comment. `at` is the position after the `<!--` at the start of the
/// comment.
fn end_of_comment(html: &[u8], at: usize) -> usize {
    let ends = memchr::memchr_iter(b'>', &html[at..]).find(|&length| {
        let comment = &html[at..at + length];
        // The standard also ends a comment at `<!-->`, `<!--->` and `--!>`.
        matches!(comment, b"" | b"-") || comment.ends_with(b"--") || comment.ends_with(b"--!")
    });
    ends.map_or(html.len(), |length| at + length + 1)
}

/// Appends bytes to `lines` by calling `push`, with each zero byte replaced by U+FFFD. The HTML
/// standard requires this replacement in elements without tags.
fn push_without_zeros<'t>(
    bytes: &[u8],
    lines: &mut HtmlLines<'t>,
    push: fn(&mut HtmlLines<'t>, &[u8]),
) {
    for (at, piece) in bytes.split(|&byte| byte == 0).enumerate() {
        if at > 0 {
            lines.push_verbatim(REPLACEMENT);
        }
        push(lines, piece);
    }
}
