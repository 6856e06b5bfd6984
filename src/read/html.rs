//! HTML → text: what a reader of the page sees, block by block.
//!
//! Scripts, styles and comments are left out; block elements end a line; runs of white space are
//! one space; character references are resolved as the standard of HTML says.

use encoding_rs::{Encoding, UTF_8};
use lol_html::html_content::{Element, TextType};
use lol_html::{
    ElementContentHandlers, EndTagHandler, HtmlRewriter, MemorySettings, Selector, Settings,
    doc_text,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// Elements that stand on lines of their own, in alphabetical order.
const BLOCKS: [&str; 42] = [
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

/// Most memory for the elements that are open and the tags that are cut: a page can be made of
/// nothing but elements that are never closed, and honest ones take some kilobytes.
const MOST_MEMORY: usize = 64 << 20;

/// Takes the text out of pages, one after the other.
pub(super) struct HtmlText {
    any_element: Selector,
    page: Rc<RefCell<Page>>,
}

/// The text of one page as it comes.
#[derive(Default)]
struct Page {
    text: String,
    /// A text node as it is written, until its end is seen.
    raw: String,
    /// White space that is due before the next character.
    gap: Option<char>,
}

impl HtmlText {
    /// `None` if the library does not know the selector for everything.
    pub(super) fn new() -> Option<Self> {
        Some(Self { any_element: "*".parse().ok()?, page: Rc::default() })
    }

    /// Puts the text of a page into `text`.
    pub(super) fn extract(&self, html: &str, text: &mut String) {
        let mut page = self.page.borrow_mut();
        std::mem::swap(&mut page.text, text);
        page.text.clear();
        page.raw.clear();
        page.gap = None;
        drop(page);
        // The library gives up on nothing but its memory limit. What was gathered before that is
        // the text.
        if self.run(html).is_err() {
            self.page.borrow_mut().gap = None;
        }
        let mut page = self.page.borrow_mut();
        page.end_of_node();
        std::mem::swap(&mut page.text, text);
    }

    fn run(&self, html: &str) -> Result<(), lol_html::errors::RewritingError> {
        let page = Rc::clone(&self.page);
        let on_text = doc_text!(move |chunk| {
            if !matches!(chunk.text_type(), TextType::ScriptData | TextType::RawText) {
                let mut page = page.borrow_mut();
                page.raw.push_str(chunk.as_str());
                if chunk.last_in_text_node() {
                    page.end_of_node();
                }
            }
            Ok(())
        });
        let page = Rc::clone(&self.page);
        let on_element =
            ElementContentHandlers::default().element(move |element: &mut Element<'_, '_>| {
                if BLOCKS.binary_search(&element.tag_name().as_str()).is_ok() {
                    page.borrow_mut().end_of_line();
                    if let Some(handlers) = element.end_tag_handlers() {
                        let page = Rc::clone(&page);
                        let on_end: EndTagHandler<'static> = Box::new(move |_| {
                            page.borrow_mut().end_of_line();
                            Ok(())
                        });
                        handlers.push(on_end);
                    }
                }
                Ok(())
            });
        let settings = Settings::new()
            .with_strict(false)
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MOST_MEMORY))
            .append_document_content_handler(on_text)
            .append_element_content_handler((Cow::Borrowed(&self.any_element), on_element));
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        rewriter.write(html.as_bytes())?;
        rewriter.end()
    }
}

impl std::fmt::Debug for HtmlText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HtmlText").finish_non_exhaustive()
    }
}

impl Page {
    fn end_of_line(&mut self) {
        self.end_of_node();
        self.gap = Some('\n');
    }

    /// Resolves the references of the text node and appends it.
    fn end_of_node(&mut self) {
        let raw = std::mem::take(&mut self.raw);
        self.append(&htmlize::unescape(&raw));
        self.raw = raw;
        self.raw.clear();
    }

    /// Appends with runs of white space as one space.
    fn append(&mut self, text: &str) {
        let is_gap = |c: char| c.is_ascii_whitespace() || c == '\u{A0}';
        for (at, piece) in text.split(is_gap).enumerate() {
            if at > 0 {
                self.gap = self.gap.or(Some(' '));
            }
            if !piece.is_empty() {
                match self.gap.take() {
                    Some(gap) if !self.text.is_empty() => self.text.push(gap),
                    _ => {}
                }
                self.text.push_str(piece);
            }
        }
    }
}

/// The page as UTF-8, and whether bytes had to be replaced. The encoding is that of the byte order
/// mark, the header's `charset`, the page's `meta` element, else a guess.
pub(super) fn decode<'p>(page: &'p [u8], content_type: &[u8]) -> (Cow<'p, str>, bool) {
    let declared = charset(content_type)
        .or_else(|| charset(&page[..page.len().min(1024)]))
        .and_then(Encoding::for_label);
    let encoding = declared.unwrap_or_else(|| guess(page));
    // Decoding obeys a byte order mark.
    let (text, _, replaced) = encoding.decode(page);
    (text, replaced)
}

/// What stands behind the first `charset=`.
fn charset(text: &[u8]) -> Option<&[u8]> {
    let name = b"charset";
    let at = text.windows(name.len()).position(|word| word.eq_ignore_ascii_case(name))?;
    let skip = |bytes: &mut &[u8], these: &[u8]| {
        while bytes.first().is_some_and(|byte| these.contains(byte)) {
            *bytes = &bytes[1..];
        }
    };
    let mut rest = &text[at + name.len()..];
    skip(&mut rest, b" \t");
    rest = rest.strip_prefix(b"=")?;
    skip(&mut rest, b" \t\"'");
    let end = rest.iter().position(|byte| b" \t\r\n\"';>/".contains(byte)).unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

fn guess(page: &[u8]) -> &'static Encoding {
    if str::from_utf8(page).is_ok() {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(page, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        let mut text = "from before".to_owned();
        HtmlText::new().unwrap().extract(html, &mut text);
        assert_eq!(text, expected, "{html}");
    }

    #[test]
    fn blocks_are_lines_and_white_space_is_one_space() {
        check("<p>one  <b>t</b>wo\n three</p><p>four", "one two three\nfour");
        check("a<br>b<div>c</div>d", "a\nb\nc\nd");
        check("<title>T</title><body><table><tr><td>1<td>2</table>", "T\n1\n2");
        check("", "");
    }

    #[test]
    fn scripts_styles_and_comments_are_no_text() {
        check("a<script>if (a < b) x()</script><style>p {}</style><!-- c -->b", "ab");
    }

    #[test]
    fn references_are_resolved() {
        check(
            "caf&eacute;&nbsp;&amp;&lt;&#65;&#x42;&mdash;&unknown; & &#0;",
            "caf\u{e9} &<AB\u{2014}&unknown; & \u{FFFD}",
        );
    }

    #[test]
    fn references_are_those_of_the_standard() {
        // By name; of one character and of two.
        check(
            "&rarr;&CounterClockwiseContourIntegral;&NotEqualTilde;",
            "\u{2192}\u{2233}\u{2242}\u{338}",
        );
        // The longest name counts, and only old ones do without a semicolon.
        check(
            "&notin; &notit; &copy 2020 &ampx &hearts",
            "\u{2209} \u{AC}it; \u{A9} 2020 &x &hearts",
        );
        // By number, as windows-1252 has them; what is no character is replaced.
        check("&#150;&#x80;&#65 &#xD800;&#1114112;&#x;", "\u{2013}\u{20AC}A \u{FFFD}\u{FFFD}&#x;");
        check("<a href='?a=1&copy=2'>x</a>", "x");
    }

    #[test]
    fn the_block_list_can_be_searched() {
        assert!(BLOCKS.is_sorted());
    }

    #[test]
    fn encodings_are_found() {
        let check = |page: &[u8], content_type: &str, expected: &str| {
            assert_eq!(decode(page, content_type.as_bytes()).0, expected);
        };
        check(b"caf\xE9", "text/html; charset=\"ISO-8859-1\"", "caf\u{e9}");
        check(b"<meta charset='koi8-r'>\xD0", "text/html", "<meta charset='koi8-r'>\u{43f}");
        check(
            b"<meta content=\"text/html; charset=utf-8\">\xC3\xA9",
            "",
            "<meta content=\"text/html; charset=utf-8\">\u{e9}",
        );
        check("\u{e9}t\u{e9}".as_bytes(), "text/html", "\u{e9}t\u{e9}");
        check(b"\xFF\xFEa\0b\0", "text/html", "ab");
    }
}
