//! Reads the start of an XML document: its encoding, its root element, and the elements that may be records.

use super::known_roots::{KnownRoot, textless};
use super::record::field_names;
use super::selected::names_record;
use super::tokens::{Tag, Token, local_name, scan};
use crate::bytes::without_byte_order_mark;
use crate::formats::Selector;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use simtool_base::fault::quoted;

/// Number of bytes at the start of a file in which the XML declaration must end.
const DECLARATION_BYTES: usize = 1 << 10;
/// Largest number of different elements that are counted to guess which elements are the records.
const MOST_ELEMENTS: usize = 100;
/// Largest number of fields that a message lists.
const MOST_FIELDS: usize = 12;

/// Returns the encoding that the document declares, such as ISO-8859-1. Returns `None` if it declares no encoding, or
/// one that is not known.
pub(super) fn declared_encoding(head: &[u8]) -> Option<&'static Encoding> {
    let head = &head[..head.len().min(DECLARATION_BYTES)];
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memmem::find(declaration, b"?>")?];
    let at = memchr::memmem::find(declaration, b"encoding")? + b"encoding".len();
    let value = declaration[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let label = &value[..memchr::memchr(*quote, value)?];
    let encoding = Encoding::for_label_no_replacement(label)?;
    // A declaration that can be read byte by byte is not in UTF-16.
    let is_utf16 = [UTF_16LE, UTF_16BE].contains(&encoding);
    Some(if is_utf16 { UTF_8 } else { encoding })
}

/// Returns the tag of the root element of a document that begins with `head`. Returns `None` if the document does not
/// begin with an element, or if `head` ends before the tag does.
pub(super) fn root_tag(head: &[u8]) -> Option<Tag<'_>> {
    let mut rest = without_byte_order_mark(head);
    loop {
        let (token, length) = scan(rest)?;
        match token {
            Token::Start(tag) => return Some(tag),
            Token::Remark => {}
            Token::Text(text) if text.trim_ascii().is_empty() => {}
            _ => return None,
        }
        rest = &rest[length..];
    }
}

/// Returns whether a file whose name has no extension of XML is an XML document. This is so if it begins with an XML
/// declaration, or if its root element is a known one and names its namespace.
pub(super) fn begins_xml(head: &[u8]) -> bool {
    let start = without_byte_order_mark(head).trim_ascii_start();
    if start.starts_with(b"<?xml") {
        return root_tag(head).is_some();
    }
    // Dumps of wikis have no declaration. A name such as `article` alone could be that of a part of a page.
    let Some(root) = root_tag(head).filter(|_| start.starts_with(b"<")) else { return false };
    let names_space =
        root.attributes().flatten().any(|attribute| attribute.name.starts_with(b"xmlns"));
    names_space && KnownRoot::from_name(local_name(root.name)).is_some()
}

/// Returns a message if no records can be read from a document that begins with `head`. Returns `None` otherwise.
/// `text` selects the text.
pub(super) fn refusal(head: &[u8], text: &Selector) -> Option<String> {
    let Some(root) = root_tag(head) else {
        return Some("is no XML: it begins with no element. Read it with `format=text`".to_owned());
    };
    let name = local_name(root.name);
    if let Some(description) = textless(name) {
        return Some(format!("is {description}"));
    }
    if names_record(text) || KnownRoot::from_name(name).is_some() {
        return None;
    }
    let shown = quoted(root.name);
    // A document of one record has no repeated element at the depth of records.
    let record = likely_record(head).unwrap_or(root.name);
    let record = quoted(local_name(record));
    let mut fields = likely_fields(head, &record);
    fields.truncate(MOST_FIELDS);
    // Attributes of a record are seldom its text.
    let likely = fields.iter().find(|field| !field.contains('@')).or(fields.first());
    let example = likely.map_or_else(|| record.clone(), |field| format!("{record}.{field}"));
    let there = if fields.is_empty() {
        String::new()
    } else {
        format!("; the first one has {}", fields.join(", "))
    };
    Some(format!(
        "is XML with the root element {shown}, whose records are not known. Name the element of a record and the path from it \
         to the text, for example `text_field={example}`{there}. To read the file as one text, use `format=text`"
    ))
}

/// Number of elements with the same name at the same depth.
struct Repeated<'x> {
    depth: usize,
    name: &'x [u8],
    count: usize,
}

/// Returns the name of the elements that are probably the records. It is the first name that several elements have at
/// the same depth, at the smallest such depth. Returns `None` if no name is repeated.
fn likely_record(head: &[u8]) -> Option<&[u8]> {
    let mut rest = without_byte_order_mark(head);
    let mut depth = 0_usize;
    let mut elements: Vec<Repeated<'_>> = Vec::new();
    while let Some((token, length)) = scan(rest) {
        match token {
            Token::Start(tag) => {
                let is_same = |known: &Repeated<'_>| known.depth == depth && known.name == tag.name;
                if let Some(known) = elements.iter().position(is_same) {
                    // Elements with this name are repeated, in one parent or in several.
                    elements[known].count += 1;
                } else if elements.len() < MOST_ELEMENTS {
                    elements.push(Repeated { depth, name: tag.name, count: 1 });
                }
                depth += usize::from(!tag.is_empty);
            }
            Token::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest = &rest[length..];
    }
    let repeated = elements.iter().filter(|element| element.count > 1);
    repeated.min_by_key(|element| element.depth).map(|element| element.name)
}

/// Returns the names of the fields of the first element with the name `record`. Returns an empty list if this element
/// does not end in `head`.
fn likely_fields(head: &[u8], record: &str) -> Vec<String> {
    let mut rest = head;
    while let Some((token, length)) = scan(rest) {
        if let Token::Start(tag) = token
            && local_name(tag.name) == record.as_bytes()
        {
            return field_names(rest);
        }
        rest = &rest[length..];
    }
    Vec::new()
}
