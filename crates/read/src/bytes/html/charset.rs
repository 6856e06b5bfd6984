//! Decodes the bytes of a page into characters.

use crate::bytes::html::attributes::{Attribute, Attributes};
use crate::bytes::html::element::{Element, ElementName};
use crate::bytes::html::{behind_tag, end_of_comment, raw_text};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use std::borrow::Cow;

/// Number of bytes at the start of a page that are searched for the declaration of its encoding. The
/// HTML standard searches 1,024 bytes first (section 13.2.3.2), and obeys later declarations, too
/// (section 13.2.3.5).
const DECLARED_WITHIN: usize = 64 << 10;
/// Smallest number of bytes outside of ASCII that show that a text is UTF-8, although it declares an
/// encoding whose characters have several bytes. Two such characters can be valid UTF-8 by chance.
const CLEARLY_UTF8: usize = 6;

/// Returns the page as UTF-8, and whether invalid bytes had to be replaced. The encoding of the page
/// comes from the first of these sources that is present: the byte order mark, `named`, the bytes if
/// they are clearly UTF-8, the `charset` in `content_type`, the declaration in the page, and a guess
/// from the bytes. `content_type` is the value of the HTTP header `Content-Type`. `named` is the
/// encoding that the user names.
pub(crate) fn decode<'p>(
    page: &'p [u8],
    content_type: &[u8],
    named: Option<&'static Encoding>,
) -> (Cow<'p, str>, bool) {
    decode_as(page, named, || of_header(content_type).or_else(|| declared_in(page)))
}

/// Returns plain text as UTF-8, and whether invalid bytes had to be replaced. The encoding has the same
/// sources as that of a page, except that a text cannot declare its encoding itself.
pub(crate) fn decode_text<'t>(
    text: &'t [u8],
    content_type: &[u8],
    named: Option<&'static Encoding>,
) -> (Cow<'t, str>, bool) {
    decode_as(text, named, || of_header(content_type))
}

/// Returns `text` as UTF-8, and whether invalid bytes were replaced. The encoding of `text` is `named`, or else the
/// result of `declared`, or else a guess from the bytes.
fn decode_as<'t>(
    text: &'t [u8],
    named: Option<&'static Encoding>,
    declared: impl FnOnce() -> Option<&'static Encoding>,
) -> (Cow<'t, str>, bool) {
    let encoding = named.unwrap_or_else(|| match declared() {
        Some(declared) if is_clearly_utf8(text, declared) => UTF_8,
        Some(declared) => declared,
        None => guess(text),
    });
    // If the text has a byte order mark, `decode` uses the encoding of this mark instead.
    let (decoded, _, is_replaced) = encoding.decode(text);
    (decoded, is_replaced)
}

/// Returns whether `text` is UTF-8 although it declares the encoding `declared`, as many pages do by mistake. Text of
/// another encoding is hardly ever valid UTF-8, unless it is very short.
fn is_clearly_utf8(text: &[u8], declared: &'static Encoding) -> bool {
    let least = if declared.is_single_byte() { 1 } else { CLEARLY_UTF8 };
    declared != UTF_8
        && simdutf8::basic::from_utf8(text).is_ok()
        && text.iter().filter(|byte| !byte.is_ascii()).take(least).count() == least
}

/// Returns the encoding that a header `Content-Type` names.
fn of_header(content_type: &[u8]) -> Option<&'static Encoding> {
    charset(content_type).and_then(Encoding::for_label_no_replacement)
}

/// Returns the encoding that an element `<meta>` of the page names (section 13.2.3.2 of the HTML
/// standard). Text, comments, scripts and the attributes of other elements name no encoding.
fn declared_in(page: &[u8]) -> Option<&'static Encoding> {
    let page = &page[..page.len().min(DECLARED_WITHIN)];
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', &page[at..])? + 1;
        let is_end = page[at..].starts_with(b"/");
        let start = at + usize::from(is_end);
        at = match page[start..] {
            [b'a'..=b'z' | b'A'..=b'Z', ..] => {
                let (name, length) = ElementName::read(&page[start..]);
                let mut meta = Meta::default();
                let end = Attributes::new(page, start + length).visit(|named| meta.note(named))?;
                if let Some(encoding) = meta.encoding().filter(|_| name == META && !is_end) {
                    return Some(encoding);
                }
                match name.element() {
                    _ if is_end => end.at,
                    Element::Script => raw_text::end_of_script(page, end.at),
                    Element::Title | Element::Textarea | Element::LeftOut => {
                        raw_text::end_of_raw_text(page, end.at, &page[start..start + length])
                    }
                    _ => end.at,
                }
            }
            [b'!', b'-', b'-', ..] if !is_end => end_of_comment(page, start + 3),
            [b'!' | b'?', ..] => behind_tag(page, start),
            _ if is_end => behind_tag(page, start),
            _ => at,
        };
    }
}

const META: ElementName = ElementName::new("meta");

/// Attributes of an element `<meta>` that can declare the encoding of its page.
#[derive(Debug, Default)]
struct Meta<'p> {
    charset: Option<&'p [u8]>,
    content: Option<&'p [u8]>,
    http_equiv: Option<&'p [u8]>,
}

impl<'p> Meta<'p> {
    /// Stores the attribute if it can declare an encoding. If the element has two attributes of the same name, the
    /// first one counts.
    fn note(&mut self, Attribute { name, value }: Attribute<'p>) {
        let known = match name.to_ascii_lowercase().as_slice() {
            b"charset" => &mut self.charset,
            b"content" => &mut self.content,
            b"http-equiv" => &mut self.http_equiv,
            _ => return,
        };
        known.get_or_insert(value);
    }

    /// Returns the encoding that the element declares.
    fn encoding(&self) -> Option<&'static Encoding> {
        let is_type = |value: &&[u8]| value.trim_ascii().eq_ignore_ascii_case(b"content-type");
        let of_type = || self.http_equiv.filter(is_type).and(self.content).and_then(charset);
        let label = self.charset.or_else(of_type)?;
        Encoding::for_label_no_replacement(label).map(|encoding| match encoding {
            // A page in UTF-16 could not declare its encoding in ASCII, so this declaration is wrong.
            _ if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
            _ if encoding == X_USER_DEFINED => WINDOWS_1252,
            other => other,
        })
    }
}

/// Returns the name of the encoding after the first `charset=` in the value of `Content-Type`, or
/// `None` if there is no such name.
fn charset(content_type: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset";
    let mut words = content_type.windows(NAME.len()).enumerate();
    words.find_map(|(at, word)| {
        let rest = content_type[at + NAME.len()..].trim_ascii_start();
        let rest = rest.strip_prefix(b"=").filter(|_| word.eq_ignore_ascii_case(NAME))?;
        let rest = rest.trim_ascii_start();
        let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
        let end = rest.iter().position(|byte| b" \t\r\n\"';>/,".contains(byte));
        let name = &rest[..end.unwrap_or(rest.len())];
        (!name.is_empty()).then_some(name)
    })
}

fn guess(page: &[u8]) -> &'static Encoding {
    // Text of another encoding is hardly ever valid UTF-8, so this check is better than any
    // statistic.
    if str::from_utf8(page).is_ok() {
        return UTF_8;
    }
    guess_encoding(page)
}

/// Guesses the encoding of `text`, which is not UTF-8.
pub(crate) fn guess_encoding(text: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(text, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &[u8], content_type: &str, expected: &str) {
        let decoded = decode(page, content_type.as_bytes(), None).0;
        assert_eq!(decoded, expected, "{}", String::from_utf8_lossy(page));
    }

    #[test]
    fn encodings_are_found() {
        check(b"caf\xE9", "text/html; charset=\"ISO-8859-1\"", "caf\u{e9}");
        check(b"<meta charset='koi8-r'>\xD0", "text/html", "<meta charset='koi8-r'>\u{43f}");
        check("\u{e9}t\u{e9}".as_bytes(), "text/html", "\u{e9}t\u{e9}");
        check(b"\xFF\xFEa\0b\0", "text/html", "ab");
    }

    /// Checks that the page `head` declares the encoding koi8-r if `is_declared` is true, otherwise that it declares no
    /// encoding.
    fn check_declaration(head: &str, is_declared: bool) {
        let page = [head.as_bytes(), b"\xD0"].concat();
        let decoded = decode(&page, b"text/html", None).0;
        assert_eq!(decoded.ends_with('\u{43f}'), is_declared, "{head}");
    }

    #[test]
    fn only_elements_meta_declare_encodings() {
        let equiv = "http-equiv=\"Content-Type\" content=\"text/html; charset = koi8-r\"";
        for head in [
            "<META CHARSET=koi8-r>".to_owned(),
            "<meta name=x charset=\" koi8-r \"/>".to_owned(),
            format!("<meta {equiv}>"),
            format!(
                "<!-- <meta charset=utf-8> --><script src=x charset=utf-8></script><meta {equiv}>"
            ),
            format!("<title><meta charset=utf-8></title>{}<meta {equiv}>", "<link>".repeat(500)),
            "<meta charset=koi8-r charset=utf-8><meta charset=utf-8>".to_owned(),
            "<meta charset=no-such><?x charset=utf-8></a charset=utf-8><meta charset=koi8-r>"
                .to_owned(),
        ] {
            check_declaration(&head, true);
        }
        for head in [
            "<script src=a charset=koi8-r></script>",
            "<script>document.write('<meta charset=koi8-r>')</script>",
            "<link rel=stylesheet charset=\"koi8-r\">",
            "<!-- <meta charset=koi8-r> -->",
            "<a title='<meta charset=koi8-r>' href=\"?charset=koi8-r\">a</a>",
            "<style><meta charset=koi8-r></style>",
            "<meta name=description content=\"charset=koi8-r\">",
            "<meta http-equiv=refresh content=\"0; url=?charset=koi8-r\">",
            "</meta charset=koi8-r>",
            "<p>charset=koi8-r",
            "<meta charset=koi8-r",
        ] {
            check_declaration(head, false);
        }
    }

    #[test]
    fn utf_8_is_readable_whatever_it_declares() {
        let chinese = "<meta charset=gb2312>\u{6e2f}\u{957f}\u{6bcf}";
        check(chinese.as_bytes(), "", chinese);
        check(chinese.as_bytes(), "text/html; charset=big5", chinese);
        check("caf\u{e9}".as_bytes(), "text/html; charset=latin1", "caf\u{e9}");
        check("<meta charset=utf-16>\u{e9}".as_bytes(), "", "<meta charset=utf-16>\u{e9}");
        // Two characters of GBK that are valid UTF-8, too.
        check(b"\xC1\xAA\xCD\xA8", "text/html; charset=gbk", "\u{8054}\u{901a}");
        check(b"\x1B$B$\"\x1B(B", "text/html; charset=iso-2022-jp", "\u{3042}");
    }

    #[test]
    fn an_encoding_that_the_user_names_has_the_last_word() {
        let page = b"<meta charset=utf-8>\xD0\xBF";
        let named =
            |label: &[u8]| decode(page, b"text/html; charset=latin1", Encoding::for_label(label));
        assert!(named(b"koi8-r").0.ends_with("\u{43f}\u{a9}"));
        assert!(named(b"utf-8").0.ends_with("\u{43f}"));
        let named =
            decode_text(b"\xD0", b"text/plain; charset=latin1", Encoding::for_label(b"koi8-r"));
        assert_eq!(named.0, "\u{43f}");
    }

    #[test]
    fn plain_text_does_not_declare_its_encoding() {
        let text = "<meta charset=koi8-r> \u{e9}".as_bytes();
        assert_eq!(decode_text(text, b"text/plain", None).0.as_bytes(), text);
        assert_eq!(decode_text(b"caf\xE9", b"text/plain; charset=latin1", None).0, "caf\u{e9}");
    }
}
