//! Decodes the bytes of a page into characters.

use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// Returns the page as UTF-8, and whether invalid bytes had to be replaced. The encoding of the
/// page comes from the first of these sources that is present: the byte order mark, the `charset`
/// in `content_type`, the `charset` at the start of the page, `usual`, and a guess from the bytes.
/// `content_type` is the value of the HTTP header `Content-Type`.
pub(crate) fn decode<'p>(
    page: &'p [u8],
    content_type: &[u8],
    usual: Option<&'static Encoding>,
) -> (Cow<'p, str>, bool) {
    let declared = charset(content_type)
        // The HTML standard (section 13.2.3.2) looks for a declaration in the first 1,024 bytes.
        .or_else(|| charset(&page[..page.len().min(1024)]))
        .and_then(Encoding::for_label);
    let encoding = declared.or(usual).unwrap_or_else(|| guess(page));
    // If the page has a byte order mark, `decode` uses the encoding of this mark instead.
    let (text, _, replaced) = encoding.decode(page);
    (text, replaced)
}

/// Returns plain text as UTF-8, and whether invalid bytes had to be replaced. `content_type` is the value
/// of the HTTP header. The encoding comes from the byte order mark, from the `charset` in
/// `content_type`, from `usual`, or from a guess. Unlike a page, a text cannot declare its encoding itself.
pub(crate) fn decode_text<'t>(
    text: &'t [u8],
    content_type: &[u8],
    usual: Option<&'static Encoding>,
) -> (Cow<'t, str>, bool) {
    let declared = charset(content_type).and_then(Encoding::for_label);
    let encoding = declared.or(usual).unwrap_or_else(|| guess(text));
    let (decoded, _, is_replaced) = encoding.decode(text);
    (decoded, is_replaced)
}

/// Returns the name of the encoding after the first `charset=` in `text`, or `None` if there is no
/// such name.
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

    #[test]
    fn encodings_are_found() {
        let check = |page: &[u8], content_type: &str, expected: &str| {
            assert_eq!(decode(page, content_type.as_bytes(), None).0, expected);
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

    #[test]
    fn plain_text_does_not_declare_its_encoding() {
        let text = "charset=koi8-r \u{e9}".as_bytes();
        assert_eq!(decode_text(text, b"text/plain", None).0.as_bytes(), text);
        assert_eq!(decode(text, b"text/html", None).0, "charset=koi8-r \u{446}\u{2558}");
        assert_eq!(decode_text(b"caf\xE9", b"text/plain; charset=latin1", None).0, "caf\u{e9}");
    }
}
