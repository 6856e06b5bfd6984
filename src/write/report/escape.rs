//! Escapes text from the input for HTML, for element content and for quoted attributes.
//!
//! Texts, IDs and file names can contain anything, even a script. Everything from the input is written to the
//! page through one of the types of this file.

use crate::write::shortened::shortened;
use simtool_base::byte_text::byte_text;
use std::fmt::{self, Display, Write as _};

/// A line of text, such as a name or an ID. `Display` writes it with the special characters of HTML escaped.
pub(in crate::write) struct EscapedLine<'t>(pub(in crate::write) &'t [u8]);

/// A text of several lines. `Display` writes it with the special characters of HTML escaped, and keeps line
/// ends and tabs.
pub(in crate::write) struct EscapedLines<'t>(pub(in crate::write) &'t str);

impl Display for EscapedLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            chunk.valid().chars().try_for_each(|c| write_character(f, c))?;
            // Bytes that are not text are shown as numbers, so that different names look different.
            f.write_str(&byte_text(chunk.invalid()))?;
        }
        Ok(())
    }
}

impl Display for EscapedLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\n' | '\t' => f.write_char(c)?,
                // The two characters of a Windows line end are one line end.
                '\r' if rest.peek() == Some(&'\n') => {}
                c => write_character(f, c)?,
            }
        }
        Ok(())
    }
}

/// A name, and the maximum number of characters that are shown of it. `Display` writes the name as an HTML
/// element. The middle of a longer name is left out, and the tooltip shows the name up to [`WHOLE`]
/// characters.
pub(in crate::write) struct EscapedName<'t>(
    pub(in crate::write) &'t [u8],
    pub(in crate::write) usize,
);

/// Maximum number of characters of the tooltip of a name that was cut.
const WHOLE: usize = 800;

impl Display for EscapedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text, most) = *self;
        let shown = shortened(text, most);
        f.write_str("<bdi class=\"name\"")?;
        if shown.is_cut {
            write!(f, " title=\"{}\"", EscapedLine(shortened(text, WHOLE).text.as_bytes()))?;
        }
        write!(f, ">{}</bdi>", EscapedLine(shown.text.as_bytes()))
    }
}

fn write_character(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '&' => f.write_str("&amp;"),
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        c if is_hidden(c) => write!(f, "{}", c.escape_unicode()),
        c => f.write_char(c),
    }
}

/// Returns whether a character is written as an escape, because readers could not see it or because it would
/// change the page. Examples are controls, characters that change the direction of text or break lines,
/// invisible tags and marks, and noncharacters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
        || (c as u32 & 0xfffe) == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle_and_keep_it_in_the_title() {
        assert_eq!(EscapedName(b"a/b", 3).to_string(), "<bdi class=\"name\">a/b</bdi>");
        assert_eq!(
            EscapedName("\u{e4}bcdefgh<".as_bytes(), 5).to_string(),
            "<bdi class=\"name\" title=\"\u{e4}bcdefgh&lt;\">\u{e4}b\u{2026}h&lt;</bdi>"
        );
        assert_eq!(shortened(b"\xffabc", 4).text, "\\x\u{2026}c");
        assert!(EscapedName("a".repeat(100_000).as_bytes(), 40).to_string().len() < 1000);
    }

    #[test]
    fn markup_and_hidden_characters_are_shown() {
        let text = "<a href=\"x\">'&\u{202e}\u{7}\u{85}\u{1b}]0;\u{7}";
        assert_eq!(
            EscapedLine(text.as_bytes()).to_string(),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\\u{202e}\\u{7}\\u{85}\\u{1b}]0;\\u{7}"
        );
        assert_eq!(EscapedLine(b"a\n\xff").to_string(), "a\\u{a}\\xff");
        assert_eq!(EscapedLines("a\r\n\tb\rc\u{2066}").to_string(), "a\n\tb\\u{d}c\\u{2066}");
        assert_eq!(
            EscapedLines("\u{5d0} e\u{301} \u{4e2d}").to_string(),
            "\u{5d0} e\u{301} \u{4e2d}"
        );
    }
}
