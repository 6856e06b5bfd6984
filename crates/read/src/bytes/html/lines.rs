//! Builds the text of a page: a run of white space becomes one space, or a line end.

use crate::bytes::html::eight_bytes::{before_first, equal, less};

/// First byte of the no-break space in UTF-8. Other characters begin with this byte, too.
const BEFORE_NO_BREAK: u8 = 0xC2;
/// Second byte of the no-break space in UTF-8.
const NO_BREAK: u8 = 0xA0;
/// Largest number of bytes that are examined for a named character reference, such as `&rarr;`. All
/// named references are shorter.
const LONGEST_NAME: usize = 40;

/// Writer of the text of a page. The written text has one space between words and no blank lines.
///
/// The only white space in the text is single spaces and line ends, which are called gaps. So the
/// last byte of the text shows whether the text ends with a gap.
#[derive(Debug)]
pub(super) struct HtmlLines<'t> {
    text: &'t mut Vec<u8>,
}

impl<'t> HtmlLines<'t> {
    /// Clears `text` and creates a writer that appends to it.
    pub(super) fn new(text: &'t mut Vec<u8>) -> Self {
        text.clear();
        Self { text }
    }

    /// Finishes the text: removes a space or line end at the end of the text.
    pub(super) fn finish(self) {
        if self.is_at_gap() {
            self.text.pop();
        }
    }

    /// Returns the text so far. It may end with a space or line end.
    pub(super) fn text(&self) -> &[u8] {
        self.text
    }

    /// Ends the current line, unless it is empty.
    pub(super) fn end_of_line(&mut self) {
        match self.text.last_mut() {
            None => {}
            Some(last @ (b' ' | b'\n')) => *last = b'\n',
            Some(_) => self.text.push(b'\n'),
        }
    }

    /// Appends bytes as text. Character references and tags in `bytes` are not interpreted.
    pub(super) fn push_verbatim(&mut self, bytes: &[u8]) {
        let mut at = self.push_run(bytes);
        while let Some(&byte) = bytes.get(at) {
            self.text.push(byte);
            at += 1 + self.push_run(&bytes[at + 1..]);
        }
    }

    /// Appends bytes as text. Character references in `bytes` are resolved, but tags are not
    /// interpreted.
    pub(super) fn push_with_references(&mut self, bytes: &[u8]) {
        let mut at = self.push_until_tag(bytes);
        while at < bytes.len() {
            self.push_less_than();
            at += 1 + self.push_until_tag(&bytes[at + 1..]);
        }
    }

    /// Appends the character `<` to the text.
    pub(super) fn push_less_than(&mut self) {
        self.text.push(b'<');
    }

    /// Appends the text before the first `<` of `bytes`, with its character references resolved.
    /// Returns the number of bytes of `bytes` that were read.
    pub(super) fn push_until_tag(&mut self, bytes: &[u8]) -> usize {
        let mut at = self.push_run(bytes);
        while bytes.get(at) == Some(&b'&') {
            at += self.push_reference(&bytes[at..]);
            at += self.push_run(&bytes[at..]);
        }
        at
    }

    /// Appends the character that a character reference at the start of `bytes` names, for example
    /// `<` for `&lt;`. `bytes` must begin with `&`. A reference that is not valid is appended as it
    /// is. Returns the number of bytes of `bytes` that were read.
    fn push_reference(&mut self, bytes: &[u8]) -> usize {
        // Most character references in pages are one of these four.
        for (reference, byte) in
            [(&b"&lt;"[..], b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&quot;", b'"')]
        {
            if bytes.starts_with(reference) {
                self.text.push(byte);
                return reference.len();
            }
        }
        // A reference by number may have any number of digits.
        let is_number = bytes.get(1) == Some(&b'#');
        let most = if is_number { bytes.len() } else { bytes.len().min(LONGEST_NAME) };
        let start = 1 + usize::from(is_number);
        let word = bytes[start..most].iter().take_while(|byte| byte.is_ascii_alphanumeric());
        let mut length = start + word.count();
        // Some references are valid without a semicolon, for example `&copy`. The library knows
        // them.
        length += usize::from(bytes.get(length) == Some(&b';'));
        let resolved = htmlize::unescape_bytes_in(&bytes[..length], htmlize::Context::General);
        self.push_verbatim(&resolved);
        length
    }

    /// Appends the text before the first `<` or `&` of `bytes`. Each run of white space becomes one
    /// space. Returns the number of bytes of `bytes` that were read.
    fn push_run(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        let mut before = self.gap_bit();
        loop {
            // Eight bytes are copied at once, and then cut off before the first byte that needs
            // special treatment. A byte that is marked by mistake is copied below like any other
            // byte.
            while let Some(&eight) = bytes[at..].first_chunk() {
                let word = u64::from_le_bytes(eight);
                let spaces = equal(word, b' ');
                // A space is repeated if the byte before it is a space. `before` marks the first
                // byte of the word if the text so far ends with a gap.
                let repeated = spaces & (spaces << 8 | before);
                let special = less(word, b' ')
                    | repeated
                    | equal(word, b'<')
                    | equal(word, b'&')
                    | equal(word, BEFORE_NO_BREAK);
                self.text.extend_from_slice(&eight);
                if special != 0 {
                    let plain = before_first(special);
                    self.text.truncate(self.text.len() - eight.len() + plain);
                    at += plain;
                    break;
                }
                at += eight.len();
                before = spaces >> 56;
            }
            match bytes.get(at) {
                None | Some(b'<' | b'&') => return at,
                Some(byte) if byte.is_ascii_whitespace() => {
                    let more = bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace());
                    at += more.count();
                    self.gap();
                }
                Some(&BEFORE_NO_BREAK) if bytes.get(at + 1) == Some(&NO_BREAK) => {
                    at += 2;
                    self.gap();
                }
                Some(&byte) => {
                    self.text.push(byte);
                    at += 1;
                }
            }
            before = self.gap_bit();
        }
    }

    /// Appends a space, unless the text is empty or ends with a space or line end.
    fn gap(&mut self) {
        if !self.is_at_gap() {
            self.text.push(b' ');
        }
    }

    /// Returns whether the text is empty or ends with a space or line end, so that no space may
    /// follow.
    fn is_at_gap(&self) -> bool {
        self.text.last().is_none_or(|last| matches!(last, b' ' | b'\n'))
    }

    /// Returns a mask for the next eight bytes of the page. It marks the first of these bytes by bit 7 if
    /// [`Self::is_at_gap`] is true, and is 0 otherwise.
    fn gap_bit(&self) -> u64 {
        u64::from(self.is_at_gap()) << 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that [`HtmlLines`] turns `bytes` into the text `expected`. The check is repeated with
    /// `bytes` at every offset within a word of eight bytes.
    fn check(bytes: &str, expected: &str) {
        for shift in 0..9 {
            let before = "x".repeat(shift);
            let mut text = b"from before".to_vec();
            let mut lines = HtmlLines::new(&mut text);
            lines.push_with_references(format!("{before}{bytes}").as_bytes());
            lines.finish();
            assert_eq!(
                String::from_utf8(text).unwrap(),
                format!("{before}{expected}"),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn runs_of_white_space_are_one_space() {
        check("a b  c \n\t d\r\x0C\u{A0}e\u{A0}f", "a b c d e f");
        check("a                             b", "a b");
        check("a&nbsp; &Tab;&#10;b &#32;c", "a b c");
        // The characters U+000B, U+2003 and U+0000 do not count as white space.
        check("a\x0Bb\u{B0} !\u{2003}c\0", "a\x0Bb\u{B0} !\u{2003}c\0");
    }

    #[test]
    fn there_is_no_gap_at_the_ends() {
        let mut text = Vec::new();
        let mut lines = HtmlLines::new(&mut text);
        lines.end_of_line();
        lines.push_verbatim(b" \xC2\xA0  a &lt;<b \n");
        lines.end_of_line();
        lines.push_verbatim(b"\t c  ");
        lines.end_of_line();
        lines.finish();
        assert_eq!(text, b"a &lt;<b\nc");
    }

    #[test]
    fn every_byte_is_kept_at_every_place() {
        for byte in (0..=0x7F_u8).filter(|byte| !byte.is_ascii_whitespace()) {
            for (before, behind) in [("a ", "b"), ("a", " b"), ("\u{e9} ", "!"), ("!!!", "  x")] {
                let bytes = format!("{before}{}{behind}", char::from(byte));
                check(&bytes, &bytes.replace("  ", " "));
            }
        }
    }

    #[test]
    fn numbers_may_be_long() {
        check(&format!("&#{}65;a&#x{};", "0".repeat(1000), "1".repeat(1000)), "Aa\u{FFFD}");
        check(&format!("&copy{};", "a".repeat(1000)), &format!("\u{A9}{};", "a".repeat(1000)));
        check("&CounterClockwiseContourIntegral;", "\u{2233}");
    }
}
