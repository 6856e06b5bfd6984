//! Parses the attributes of an HTML tag, and finds the end of the tag.

/// Iterator over the attributes of an HTML tag. It also finds the end of the tag.
#[derive(Clone, Debug)]
pub(super) struct Attributes<'h> {
    html: &'h [u8],
    at: usize,
    end: Option<TagEnd>,
}

/// Position and kind of the end of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagEnd {
    /// Position of the first byte after the tag.
    pub(super) at: usize,
    /// Whether the tag ends with `/>`.
    pub(super) is_self_closing: bool,
}

/// Name and value of an attribute as they are in the page. Character references such as `&amp;` are
/// not yet resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute<'h> {
    pub(super) name: &'h [u8],
    pub(super) value: &'h [u8],
}

impl<'h> Attributes<'h> {
    /// Creates the iterator over the attributes of a tag. `at` is the position after the name of
    /// the tag, in the page `html`.
    pub(super) fn new(html: &'h [u8], at: usize) -> Self {
        Self { html, at, end: None }
    }

    /// Skips all attributes and returns the end of the tag, or `None` if the page ends inside the
    /// tag.
    #[inline]
    pub(super) fn end(self) -> Option<TagEnd> {
        self.visit(|_| {})
    }

    /// Visits all attributes and returns the end of the tag, or `None` if the page ends inside the
    /// tag.
    #[inline]
    pub(super) fn visit(mut self, mut visit: impl FnMut(Attribute<'h>)) -> Option<TagEnd> {
        for attribute in &mut self {
            visit(attribute);
        }
        self.end
    }

    /// Returns whether the byte at the current position is `byte`.
    fn is_at(&self, byte: u8) -> bool {
        self.html.get(self.at) == Some(&byte)
    }

    fn skip_white_space(&mut self) {
        while self.html.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Moves to the first byte for which `is_end` is true, and returns the bytes before it.
    fn take_until(&mut self, is_end: impl Fn(u8) -> bool) -> &'h [u8] {
        let start = self.at;
        while self.html.get(self.at).is_some_and(|&byte| !is_end(byte)) {
            self.at += 1;
        }
        &self.html[start..self.at]
    }

    /// Reads and returns the value of an attribute. The current position is after the `=` of the
    /// attribute.
    fn value(&mut self) -> &'h [u8] {
        self.skip_white_space();
        match self.html.get(self.at) {
            Some(&quote @ (b'"' | b'\'')) => {
                let start = self.at + 1;
                let length = memchr::memchr(quote, &self.html[start..]);
                // If the closing quote is missing, the value goes on to the end of the page.
                let end = length.map_or(self.html.len(), |length| start + length);
                self.at = (end + 1).min(self.html.len());
                &self.html[start..end]
            }
            // A slash is part of a value without quotes, for example in `href=/a/b`.
            _ => self.take_until(|byte| byte.is_ascii_whitespace() || byte == b'>'),
        }
    }
}

impl<'h> Iterator for Attributes<'h> {
    type Item = Attribute<'h>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'h>> {
        let mut is_self_closing = false;
        loop {
            match *self.html.get(self.at)? {
                b'>' => {
                    self.end = Some(TagEnd { at: self.at + 1, is_self_closing });
                    return None;
                }
                // Only a slash directly before the `>` closes the element. A slash elsewhere is
                // ignored.
                b'/' => is_self_closing = true,
                byte if byte.is_ascii_whitespace() => is_self_closing = false,
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        // A name may begin with an equals sign.
        self.at += 1;
        self.take_until(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'='));
        let name = &self.html[start..self.at];
        self.skip_white_space();
        let mut value = &[][..];
        if self.is_at(b'=') {
            self.at += 1;
            value = self.value();
        }
        Some(Attribute { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `tag` has the attributes `expected`, each as `name=value`. `rest` is the text
    /// after the tag, and whether the tag ends with `/>`.
    fn check(tag: &str, expected: &[&str], rest: Option<(&str, bool)>) {
        let mut attributes = Attributes::new(tag.as_bytes(), 0);
        let found: Vec<String> = attributes
            .by_ref()
            .map(|Attribute { name, value }| {
                format!("{}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
            })
            .collect();
        assert_eq!(found, expected, "{tag}");
        let end = attributes.end.map(|end| (&tag[end.at..], end.is_self_closing));
        assert_eq!(end, rest, "{tag}");
    }

    #[test]
    fn quotes_hold_what_would_end_a_tag() {
        check(r#" a="x>y" b='"/>' >z"#, &["a=x>y", "b=\"/>"], Some(("z", false)));
        check(r#" a = "1"b= '2'/>"#, &["a=1", "b=2"], Some(("", true)));
        check(r#" a="1>"#, &["a=1>"], None);
        check(r#" a=""#, &["a="], None);
    }

    #[test]
    fn quotes_that_open_no_value_are_letters() {
        check(r#" "a>b">"#, &["\"a="], Some(("b\">", false)));
        check(r#" a"="b>">c"#, &["a\"=b>"], Some(("c", false)));
        check(r#" ="a>b">"#, &["=\"a="], Some(("b\">", false)));
    }

    #[test]
    fn values_without_quotes_end_with_white_space() {
        check(" a=b/ c=d/>e", &["a=b/", "c=d/"], Some(("e", false)));
        check(" a=b=\"c>d", &["a=b=\"c"], Some(("d", false)));
        check(" a= >b", &["a="], Some(("b", false)));
        check(" a b/c / >d", &["a=", "b=", "c="], Some(("d", false)));
        check("//>", &[], Some(("", true)));
    }
}
