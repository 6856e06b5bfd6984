//! HTML → text: what a reader of the page sees, block by block.
//!
//! Scripts, styles and comments are left out; block elements end a line; runs of white space are
//! one space; character references are resolved (by number, and the names of Latin-1 and common
//! punctuation).

use encoding_rs::{Encoding, UTF_8};
use lol_html::html_content::{Element, TextType};
use lol_html::{ElementContentHandlers, EndTagHandler, HtmlRewriter, Selector, Settings, doc_text};
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

/// Names of the characters U+00A0 to U+00FF, in order.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf",
    "laquo", "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro",
    "para", "middot", "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest",
    "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute",
    "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute",
    "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute",
    "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil",
    "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde",
    "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave", "uacute", "ucirc",
    "uuml", "yacute", "thorn", "yuml",
];

/// Other names, with their characters.
const NAMED: [(&str, char); 26] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("sbquo", '\u{201A}'),
    ("ldquo", '\u{201C}'),
    ("rdquo", '\u{201D}'),
    ("bdquo", '\u{201E}'),
    ("hellip", '\u{2026}'),
    ("bull", '\u{2022}'),
    ("lsaquo", '\u{2039}'),
    ("rsaquo", '\u{203A}'),
    ("euro", '\u{20AC}'),
    ("trade", '\u{2122}'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
    ("zwnj", '\u{200C}'),
    ("zwj", '\u{200D}'),
    ("OElig", '\u{152}'),
    ("oelig", '\u{153}'),
];

/// Longest character reference that is looked for.
const LONGEST_REFERENCE: usize = 12;

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
        // The library gives up on nothing but its memory limit, which is not set. What was
        // gathered before that is the text.
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
        let mut rest = raw.as_str();
        while let Some(at) = rest.find('&') {
            self.append(&rest[..at]);
            rest = &rest[at..];
            if let Some((character, length)) = reference(rest) {
                self.append(character.encode_utf8(&mut [0; 4]));
                rest = &rest[length..];
            } else {
                self.append("&");
                rest = &rest[1..];
            }
        }
        self.append(rest);
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

/// The character reference at the start of `text`, which begins with an ampersand, and its length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        None => match LATIN_1.iter().position(|&known| known == name) {
            Some(at) => char::from_u32(0xA0 + at as u32)?,
            None => NAMED.iter().find(|(known, _)| *known == name)?.1,
        },
    };
    Some((character, end + 1))
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
