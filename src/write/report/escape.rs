//! Text from outside, harmless in HTML: in element content and in quoted attributes.

use std::fmt::{self, Display, Write as _};

/// Text of one line: names, IDs, messages.
pub(super) struct Line<'t>(pub(super) &'t [u8]);

/// Text of many lines, whose line ends and tabs stay.
pub(super) struct Lines<'t>(pub(super) &'t str);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            chunk.valid().chars().try_for_each(|c| write_character(f, c))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

impl Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\n' | '\t' => f.write_char(c)?,
                '\r' if rest.peek() == Some(&'\n') => {}
                c => write_character(f, c)?,
            }
        }
        Ok(())
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

/// Whether a character would act on the page instead of standing on it: controls, those that
/// change the direction of text or break lines, invisible tags and marks, and noncharacters.
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
    fn markup_and_hidden_characters_are_shown() {
        let text = "<a href=\"x\">'&\u{202e}\u{7}\u{85}\u{1b}]0;\u{7}";
        assert_eq!(
            Line(text.as_bytes()).to_string(),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\\u{202e}\\u{7}\\u{85}\\u{1b}]0;\\u{7}"
        );
        assert_eq!(Line(b"a\n\xff").to_string(), "a\\u{a}\\xff");
        assert_eq!(Lines("a\r\n\tb\rc\u{2066}").to_string(), "a\n\tb\\u{d}c\\u{2066}");
        assert_eq!(Lines("\u{5d0} e\u{301} \u{4e2d}").to_string(), "\u{5d0} e\u{301} \u{4e2d}");
    }
}
