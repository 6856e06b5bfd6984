//! Divides XML into tokens: tags, text, and markup without text.
//!
//! These tokens are used both to divide a file into records and to parse a record, so both steps agree on where an
//! element ends. Whether a token is complete depends only on the bytes of the window. If the window ends inside a
//! token, the caller tries again with a longer window.

use memchr::memmem;
use std::borrow::Cow;

/// A token of XML, borrowed from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'x> {
    Start(Tag<'x>),
    /// An end tag. The bytes are the name of the element.
    End(&'x [u8]),
    /// Text, in which references such as `&amp;` are not resolved.
    Text(&'x [u8]),
    /// The content of a CDATA section.
    Verbatim(&'x [u8]),
    /// A comment, a processing instruction or a document type.
    Remark,
    /// Bytes that begin like markup but are not well-formed. The text describes how valid markup looks.
    Broken(&'static str),
}

/// A start tag, or the tag of an empty element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'x> {
    pub(super) name: &'x [u8],
    /// The bytes of the attributes, between the name and the end of the tag.
    attributes: &'x [u8],
    pub(super) is_empty: bool,
}

const COMMENT: &[u8] = b"<!--";
const CDATA: &[u8] = b"<![CDATA[";
const END_OF_TAG: &str = "a tag that ends with `>`";

/// Returns the token at the start of `bytes` and its length in bytes. Returns `None` if the token does not end in
/// `bytes`, or if `bytes` is empty.
pub(super) fn scan(bytes: &[u8]) -> Option<(Token<'_>, usize)> {
    if *bytes.first()? != b'<' {
        let length = memchr::memchr(b'<', bytes).unwrap_or(bytes.len());
        return Some((Token::Text(&bytes[..length]), length));
    }
    match *bytes.get(1)? {
        b'/' => end_tag(bytes),
        // The declaration of XML is one, too.
        b'?' => behind(bytes, 2, b"?>").map(|length| (Token::Remark, length)),
        b'!' if bytes.starts_with(COMMENT) => {
            behind(bytes, COMMENT.len(), b"-->").map(|length| (Token::Remark, length))
        }
        b'!' if bytes.starts_with(CDATA) => {
            let length = behind(bytes, CDATA.len(), b"]]>")?;
            Some((Token::Verbatim(&bytes[CDATA.len()..length - 3]), length))
        }
        // The window ends inside of `<!--` or `<![CDATA[`.
        b'!' if COMMENT.starts_with(bytes) || CDATA.starts_with(bytes) => None,
        b'!' => declaration_length(bytes).map(|length| (Token::Remark, length)),
        first if is_name_start(first) => start_tag(bytes),
        // Only this byte is wrong. The bytes behind it may be text.
        _ => Some((Token::Broken("`&lt;` in the place of `<`"), 1)),
    }
}

/// Returns the position after the first `end` that begins at position `from` or later. Returns `None` if there is none.
fn behind(bytes: &[u8], from: usize, end: &[u8]) -> Option<usize> {
    memmem::find(&bytes[from..], end).map(|at| from + at + end.len())
}

/// Returns whether a name may begin with this byte. Bytes outside of ASCII count as letters.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b':' || !byte.is_ascii()
}

/// Returns the length in bytes of the name at the start of `bytes`, or `None` if the name does not end in `bytes`.
fn name_length(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| byte.is_ascii_whitespace() || b"/><=\"'".contains(byte))
}

fn end_tag(bytes: &[u8]) -> Option<(Token<'_>, usize)> {
    let end = 2 + memchr::memchr2(b'>', b'<', &bytes[2..])?;
    // The next tag begins before this one has ended.
    if bytes[end] == b'<' {
        return Some((Token::Broken(END_OF_TAG), end));
    }
    Some((Token::End(bytes[2..end].trim_ascii_end()), end + 1))
}

fn start_tag(bytes: &[u8]) -> Option<(Token<'_>, usize)> {
    let name_end = 1 + name_length(&bytes[1..])?;
    let mut at = name_end;
    loop {
        match *bytes.get(at)? {
            b'>' => break,
            // A value that is not closed ends at the next tag, because no value may have this character.
            b'<' => return Some((Token::Broken(END_OF_TAG), at)),
            quote @ (b'"' | b'\'') => {
                at += 1 + memchr::memchr2(quote, b'<', &bytes[at + 1..])?;
                if bytes[at] == b'<' {
                    return Some((Token::Broken("attributes without `<`"), at));
                }
            }
            _ => {}
        }
        at += 1;
    }
    // An unquoted value would end with a slash, too, but such a tag is not valid.
    let is_empty = bytes[at - 1] == b'/';
    let attributes = &bytes[name_end..at - usize::from(is_empty)];
    Some((Token::Start(Tag { name: &bytes[1..name_end], attributes, is_empty }), at + 1))
}

/// Returns the length in bytes of the declaration at the start of `bytes`, such as `<!DOCTYPE a [<!ENTITY b "c">]>`.
/// Returns `None` if it does not end in `bytes`.
fn declaration_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            // A comment may have a single quotation mark, as in `don't`.
            b'<' if bytes[at..].starts_with(COMMENT) => at = behind(bytes, at + 4, b"-->")? - 1,
            b'<' => depth += 1,
            // Declarations in brackets end before the document type does.
            b'>' if depth == 1 => return Some(at + 1),
            b'>' => depth -= 1,
            quote @ (b'"' | b'\'') => at += 1 + memchr::memchr(quote, &bytes[at + 1..])?,
            _ => {}
        }
        at += 1;
    }
}

/// An attribute. References in its value are not resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute<'x> {
    pub(super) name: &'x [u8],
    pub(super) value: &'x [u8],
}

/// Iterator over the attributes of a tag. It returns `Some(None)` and ends if the rest of the tag is not a valid
/// attribute.
pub(super) struct Attributes<'x>(&'x [u8]);

impl<'x> Tag<'x> {
    pub(super) fn attributes(self) -> Attributes<'x> {
        Attributes(self.attributes)
    }

    /// Returns whether all attributes are well-formed.
    pub(super) fn is_valid(self) -> bool {
        self.attributes().all(|attribute| attribute.is_some())
    }
}

impl<'x> Iterator for Attributes<'x> {
    type Item = Option<Attribute<'x>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0 = self.0.trim_ascii_start();
        if self.0.is_empty() {
            return None;
        }
        let attribute = self.take();
        if attribute.is_none() {
            // The iterator ends behind the fault.
            self.0 = &[];
        }
        Some(attribute)
    }
}

impl<'x> Attributes<'x> {
    fn take(&mut self) -> Option<Attribute<'x>> {
        let (name, rest) = self.0.split_at(name_length(self.0)?);
        let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let (quote, value) = value.split_first()?;
        if name.is_empty() || !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let length = memchr::memchr(*quote, value)?;
        self.0 = &value[length + 1..];
        Some(Attribute { name, value: &value[..length] })
    }
}

/// Returns whether the name `found` in a file matches the name `written` by the user. A name that the user writes
/// without the prefix of a namespace matches names with any prefix.
pub(super) fn is_named(found: &[u8], written: &[u8]) -> bool {
    found == written || !written.contains(&b':') && local_name(found) == written
}

/// Returns the name without the prefix of its namespace.
pub(super) fn local_name(name: &[u8]) -> &[u8] {
    &name[prefix_length(name)..]
}

/// Returns the prefix of a name with its colon, or an empty slice if the name has no prefix.
pub(super) fn prefix(name: &[u8]) -> &[u8] {
    &name[..prefix_length(name)]
}

fn prefix_length(name: &[u8]) -> usize {
    memchr::memchr(b':', name).map_or(0, |at| at + 1)
}

/// Length in bytes of the longest reference that is resolved, without its `&` and `;`.
const LONGEST_REFERENCE: usize = 12;

/// Appends `raw` to `out` and resolves the references in it: the five references of XML, such as `&amp;`, and
/// references to characters by number. Other references, for example to entities of a document type, stay as they are.
/// Returns whether there are such other references.
pub(super) fn push_resolved(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut rest = raw;
    let mut has_unknown = false;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        // A text may have an `&` without any `;` behind it, so the search is short.
        let name_end = rest.iter().take(LONGEST_REFERENCE + 1).position(|&byte| byte == b';');
        let found = name_end.and_then(|end| Some((character(&rest[..end])?, end)));
        if let Some((character, end)) = found {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[end + 1..];
        } else {
            // The name of the reference follows as text.
            out.push(b'&');
            has_unknown = true;
        }
    }
    out.extend_from_slice(rest);
    has_unknown
}

/// Returns the character that the reference `name` stands for, or `None` if it is not known.
fn character(name: &[u8]) -> Option<char> {
    match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        [b'#', number @ ..] => {
            let number = str::from_utf8(number).ok()?;
            let number = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            // XML has no zero character.
            char::from_u32(number.ok()?).filter(|&character| character != '\0')
        }
        _ => None,
    }
}

/// Returns the bytes as UTF-8, and whether some of them were replaced because they are not valid in `encoding`. Without
/// an encoding, the bytes stay as they are.
pub(super) fn decoded<'x>(
    bytes: &'x [u8],
    encoding: Option<&'static encoding_rs::Encoding>,
) -> (Cow<'x, [u8]>, bool) {
    let Some(encoding) = encoding else { return (Cow::Borrowed(bytes), false) };
    match encoding.decode_without_bom_handling(bytes) {
        (Cow::Borrowed(text), is_replaced) => (Cow::Borrowed(text.as_bytes()), is_replaced),
        (Cow::Owned(text), is_replaced) => (Cow::Owned(text.into_bytes()), is_replaced),
    }
}
