//! The fields of a WARC record that a selector can name: fields of its header, fields of the HTTP
//! header in its block, and parts of its URI.

use crate::bytes::http::{fields, header_length};
use crate::bytes::uri;
use crate::formats::Selector;

/// Prefix with which users select a field of the HTTP header of a record, such as `http:Last-Modified`.
const HTTP: &str = "http:";
/// Name of the field of the WARC header with the URI of the page.
pub(super) const URI: &str = "WARC-Target-URI";

/// Function that finds a part of a URI.
type PartOfUri = fn(&[u8]) -> &[u8];

/// Names of parts of the URI, each with the function that finds this part.
const PARTS_OF_URI: [(&str, PartOfUri); 2] = [("host", uri::host), ("path", uri::path)];

/// Names of fields of a WARC record, in order of preference. Upper and lower case are equal.
#[derive(Clone, Debug)]
pub(super) struct WarcFields(Vec<String>);

/// Header and block of the record whose fields are looked up.
#[derive(Clone, Copy)]
pub(super) struct WarcParts<'w> {
    pub(super) header: &'w [u8],
    pub(super) block: &'w [u8],
}

impl WarcFields {
    pub(super) fn new(selector: &Selector) -> Self {
        let names = selector.alternative_names().flatten();
        Self(names.map(str::to_owned).collect())
    }

    /// Returns the first value that is not empty, in the order of the names. Returns `None` if the record has none.
    pub(super) fn value<'w>(&self, record: WarcParts<'w>) -> Option<&'w [u8]> {
        let mut values = self.0.iter().filter_map(|name| value(name, record));
        values.find(|value| !value.is_empty())
    }
}

/// Returns the value of the field `name` of a record, or `None` if the record does not have it.
fn value<'w>(name: &str, record: WarcParts<'w>) -> Option<&'w [u8]> {
    if let Some(name) = name.strip_prefix(HTTP) {
        let block = record.block;
        let length = header_length(block).filter(|_| block.starts_with(b"HTTP/"))?;
        return named(&block[..length], name);
    }
    named(record.header, name).or_else(|| {
        let (_, part) = PARTS_OF_URI.iter().find(|(known, _)| *known == name)?;
        named(record.header, URI).map(|uri| part(without_brackets(uri)))
    })
}

/// Returns the value of the field `name` of an HTTP or WARC header, or `None` if the header does not have it.
fn named<'w>(header: &'w [u8], name: &str) -> Option<&'w [u8]> {
    let is_named = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
    fields(header).find(|(field, _)| is_named(field)).map(|(_, value)| value)
}

/// Returns the URI without the angle brackets that some writers put around it.
pub(super) fn without_brackets(uri: &[u8]) -> &[u8] {
    uri.strip_prefix(b"<").and_then(|uri| uri.strip_suffix(b">")).unwrap_or(uri)
}

/// Returns the names of the fields of the record at the start of `record`. `header` is the length of its header in
/// bytes.
pub(super) fn names(record: &[u8], header: usize) -> Vec<String> {
    let (header, block) = record.split_at(header);
    let name = |(name, _)| String::from_utf8_lossy(name).into_owned();
    let mut names: Vec<String> = fields(header).map(name).collect();
    if named(header, URI).is_some() {
        names.extend(PARTS_OF_URI.iter().map(|(name, _)| (*name).to_owned()));
    }
    if let Some(length) = header_length(block).filter(|_| block.starts_with(b"HTTP/")) {
        let in_http = fields(&block[..length]).map(name);
        names.extend(in_http.map(|name| format!("{HTTP}{name}")));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_both_headers_and_of_the_uri_are_found() {
        let header = b"WARC/1.0\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: \
                       <https://me@a.example:8080/x/y?z=1#q>\r\n\r\n";
        let block = b"HTTP/1.1 200 OK\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nEmpty:\r\n\r\nhttp:x: y";
        let record = WarcParts { header, block };
        for (written, expected) in [
            ("warc-date", Some("2026-01-02T03:04:05Z")),
            ("http:last-modified", Some("Thu, 01 Jan 2026 00:00:00 GMT")),
            ("last-modified", None),
            ("http:x", None),
            ("http:Empty,host", Some("a.example")),
            ("none,path", Some("/x/y")),
        ] {
            let found = WarcFields::new(&Selector::from(written)).value(record);
            assert_eq!(found.map(|found| str::from_utf8(found).unwrap()), expected, "{written}");
        }
        let names = names(&[&header[..], block].concat(), header.len());
        let expected =
            ["WARC-Date", "WARC-Target-URI", "host", "path", "http:Last-Modified", "http:Empty"];
        assert_eq!(names, expected);
    }
}
