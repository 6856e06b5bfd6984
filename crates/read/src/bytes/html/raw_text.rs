//! Finds the end of elements whose content is not markup, such as `<script>`.

use crate::bytes::html::element::ends_name;

/// Returns the position of the first end tag of an element, or the end of the page if there is
/// none. The content of the element begins at `at`, and `name` is the name of the element.
pub(super) fn end_of_raw_text(html: &[u8], at: usize, name: &[u8]) -> usize {
    let found = memchr::memchr_iter(b'<', &html[at..]).find(|less_than| {
        let behind = &html[at + less_than + 1..];
        behind.strip_prefix(b"/").is_some_and(|behind| is_tag(behind, name))
    });
    found.map_or(html.len(), |less_than| at + less_than)
}

/// Returns whether `bytes`, which follow `<` or `</`, are the start of a tag called `name`.
fn is_tag(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && bytes.get(name.len()).is_some_and(|&byte| ends_name(byte))
}

/// State within a script. The meaning of a `<` depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Outside of comments. A `<` may start the end tag of the script, or a comment.
    Plain,
    /// In a comment. A `<` may start the end tag of the script, or an inner script.
    Escaped,
    /// In an inner script in a comment. A `<` may start the end tag of the inner script.
    DoubleEscaped,
}

/// Returns the position of the end tag of a script whose content begins at `at`, or the end of the
/// page if there is none. An inner script, which begins in a comment of the script, has an end tag
/// of its own, which is skipped.
pub(super) fn end_of_script(html: &[u8], mut at: usize) -> usize {
    const NAME: &[u8] = b"script";
    let mut state = Script::Plain;
    // The dashes that end a comment must lie after this position.
    let mut start = at;
    loop {
        let next = match state {
            Script::Plain => memchr::memchr(b'<', &html[at..]),
            Script::Escaped | Script::DoubleEscaped => memchr::memchr2(b'<', b'>', &html[at..]),
        };
        let Some(next) = next else { return html.len() };
        at += next + 1;
        let behind = &html[at..];
        if html[at - 1] == b'>' {
            if html[start..at - 1].ends_with(b"--") {
                state = Script::Plain;
            }
        } else if behind.starts_with(b"!--") && state == Script::Plain {
            state = Script::Escaped;
            // The dashes of `<!--` may also be the dashes of `-->`, as in `<!-->`.
            start = at + 1;
        } else if let Some(name) = behind.strip_prefix(b"/") {
            // In a script within a comment, the first end tag only ends the inner script.
            if is_tag(name, NAME) {
                if state != Script::DoubleEscaped {
                    return at - 1;
                }
                state = Script::Escaped;
            }
        } else if state == Script::Escaped && is_tag(behind, NAME) {
            state = Script::DoubleEscaped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_script(content: &str, ends: bool) {
        let html = format!("{content}</script>");
        let expected = if ends { content.len() } else { html.len() };
        assert_eq!(end_of_script(html.as_bytes(), 0), expected, "{content}");
    }

    #[test]
    fn scripts_in_comments_are_within_scripts() {
        check_script("a < b", true);
        check_script("</scripts></ script>", true);
        check_script("<!--", true);
        check_script("<!--<script>", false);
        check_script("<!--<script></script>", true);
        check_script("<!--<script>--> <script>", true);
        check_script("<!--><script>", true);
        check_script("<!---><script>", true);
        check_script("<!--<script>->", false);
        check_script("<!-- <scripts>", true);
        check_script("<!-- <SCRIPT/", false);
        check_script("<script>", true);
        assert_eq!(end_of_script(b"x</SCRIPT\n", 1), 1);
        assert_eq!(end_of_script(b"x</script", 1), 9);
    }

    #[test]
    fn the_end_tag_has_the_name() {
        assert_eq!(end_of_raw_text(b"<b></style</styles></STYLE >x", 3, b"style"), 19);
        assert_eq!(end_of_raw_text(b"<b></b></style", 0, b"style"), 14);
    }
}
