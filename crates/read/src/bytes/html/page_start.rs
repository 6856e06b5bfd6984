//! Recognizes the start of a page.

/// Number of bytes at the start of a file within which the first tag of a page must begin.
const FIRST_TAG_WITHIN: usize = 4 << 10;

/// Returns whether a file that starts with `head` is a page: whether its document type is HTML, or
/// its first tag is `html`, `head` or `body`. White space, comments, and the declaration of XML may
/// come before. `head` has no byte order mark.
pub(crate) fn begins_page(head: &[u8]) -> bool {
    let mut rest = head[..head.len().min(FIRST_TAG_WITHIN)].trim_ascii_start();
    loop {
        let ending: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', b'x', b'm', b'l', ..] => b"?>",
            _ => break,
        };
        let Some(end) = memchr::memmem::find(rest, ending) else { return false };
        rest = rest[end + ending.len()..].trim_ascii_start();
    }
    if let Some(name) = after(rest, b"<!doctype") {
        return after(name.trim_ascii_start(), b"html").is_some_and(ends_name);
    }
    let tags: [&[u8]; 3] = [b"<html", b"<head", b"<body"];
    tags.iter().any(|tag| after(rest, tag).is_some_and(ends_name))
}

/// Returns the bytes after `start`, if `bytes` begin with it in upper or lower case.
fn after<'b>(bytes: &'b [u8], start: &[u8]) -> Option<&'b [u8]> {
    let (first, rest) = bytes.split_at_checked(start.len())?;
    first.eq_ignore_ascii_case(start).then_some(rest)
}

/// Returns whether a name ends before `rest`, so that `<header>` does not count as `<head>`.
fn ends_name(rest: &[u8]) -> bool {
    rest.first().is_none_or(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_recognized_by_their_first_tag() {
        for page in [
            "<!DOCTYPE html><p>a",
            "\r\n <!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
            "<html lang=\"en\">",
            "<HTML>",
            "<head>",
            "<body class=x>",
            "<!-- saved from url=(0014)about:internet -->\n<html>",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0\">",
        ] {
            assert!(begins_page(page.as_bytes()), "{page}");
        }
        for other in [
            "",
            "plain <html>",
            "<header>",
            "<!DOCTYPE svg>",
            "<!doctype htmlx>",
            "<?xml version=\"1.0\"?><rss>",
            "<!-- a comment without an end <html>",
            "{\"html\": \"<html>\"}",
        ] {
            assert!(!begins_page(other.as_bytes()), "{other}");
        }
    }
}
