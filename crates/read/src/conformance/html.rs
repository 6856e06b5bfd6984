//! Tests that a page is read the same from a file and from a web archive, in any encoding.

use super::{gzip, options, read_as};
use crate::bytes::PageContent;
use crate::documents::ReadOptions;
use simtool_model::non_document::NonDocument;

#[test]
fn pages_read_the_same_in_files_and_in_web_archives() {
    let head = "<!DOCTYPE html><html><head><title>Title</title><style>p {}</style></head>";
    let page = |charset: &str, body: &str| {
        format!("{head}<meta charset=\"{charset}\"><body><p>{body}</p><p>two &amp; three</p>")
    };
    let text = "Title\n\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}\ntwo & three";
    let utf8 = page("utf-8", "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}").into_bytes();
    let mut cp1251 = page("windows-1251", "").into_bytes();
    let at = memchr::memmem::find(&cp1251, b"<p>").unwrap() + 3;
    cp1251.splice(at..at, *b"\xEF\xF0\xE8\xE2\xE5\xF2");
    let utf16: Vec<u8> = "\u{FEFF}"
        .chars()
        .chain(str::from_utf8(&utf8).unwrap().chars())
        .flat_map(|character| u16::try_from(u32::from(character)).unwrap().to_le_bytes())
        .collect();
    for (name, content) in
        [("a.html", &utf8), ("a", &utf8), ("a.txt", &utf8), ("a.htm", &cp1251), ("a.xhtml", &utf16)]
    {
        let packed = gzip(content);
        let zipped_name = format!("{name}.gz");
        for (name, bytes) in [(name, content), (&zipped_name, &packed)] {
            let seen = read_as(name, bytes, options(1));
            assert_eq!(seen.texts(), [("", text)], "{name}");
            assert!(seen.bytes == *content, "{name}");
            assert_eq!((seen.lost, seen.warned), (vec![], vec![]), "{name}");
        }
        let block = [&b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"[..], content].concat();
        let header =
            format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n", block.len());
        let record = [header.as_bytes(), &block, b"\r\n\r\n"].concat();
        assert_eq!(read_as("a.warc", &record, options(1)).texts(), [("", text)], "{name}");
    }
}

#[test]
fn main_content_is_read_the_same_in_files_and_in_web_archives() {
    let text = "The main content of a page has at least sixty letters, as this sentence has.";
    let with_main = format!("<!DOCTYPE html><nav>Menu</nav><main>{text}</main>");
    let without_main = "<!DOCTYPE html><nav>Menu</nav><p>Short.";
    let options = ReadOptions { content: PageContent::Main, ..options(1) };
    for (page, expected, whole_pages) in [(&*with_main, text, 0), (without_main, "Menu\nShort.", 1)]
    {
        let length = page.len();
        let record = format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\n\
             Content-Length: {length}\r\n\r\n{page}\r\n\r\n"
        );
        for (name, bytes) in [("a.html", page), ("a.warc", &record)] {
            let seen = read_as(name, bytes.as_bytes(), options.clone());
            assert_eq!(seen.texts(), [("", expected)], "{name}");
            assert_eq!(seen.whole_pages, whole_pages, "{name}");
        }
    }
    // A plain text in a web archive and a mail are read as a whole.
    let text = "<main>a</main>";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
        text.len()
    );
    let mail =
        "From: a@b\nSubject: s\nMessage-ID: <1@b>\nContent-Type: text/html\n\n<nav>Menu</nav>";
    for (name, bytes, expected) in [("a.warc", &*record, text), ("a.eml", mail, "s\nMenu")] {
        let seen = read_as(name, bytes.as_bytes(), options.clone());
        assert_eq!(seen.texts()[0].1.trim_end(), expected, "{name}");
        assert_eq!(seen.whole_pages, 0, "{name}");
    }
}

/// Returns a record of a web archive with this block and these header fields, one a line.
fn record(fields: &str, block: &str) -> String {
    let fields = fields.replace('\n', "\r\n");
    format!("WARC/1.0\r\n{fields}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

#[test]
fn texts_of_pages_are_no_documents_next_to_the_pages() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>The text of a page";
    let pdf = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7";
    let converted = "WARC-Type: conversion\nContent-Type: text/plain\n";
    let text = "WARC-Type: resource\nContent-Type: text/plain\n";
    let archive = [
        record(&format!("{text}WARC-Target-URI: urn:text:http://a.example/"), "The text"),
        record(
            "WARC-Type: response\nWARC-Record-ID: <urn:1>\nWARC-Target-URI: http://a.example/",
            page,
        ),
        record(&format!("{text}WARC-Target-URI: urn:textFinal:http://a.example/"), "The text"),
        record(&format!("{converted}WARC-Refers-To: <urn:1>\nWARC-Target-URI: x:1"), "The text"),
        record(&format!("{converted}WARC-Target-URI: http://a.example/"), "The text"),
        record(
            "WARC-Type: response\nWARC-Record-ID: <urn:2>\nWARC-Target-URI: http://b.example/",
            pdf,
        ),
        record(&format!("{converted}WARC-Refers-To: <urn:2>\nWARC-Target-URI: x:2"), "of a PDF"),
        record(
            &format!("{converted}WARC-Refers-To: <urn:3>\nWARC-Target-URI: x:3"),
            "of elsewhere",
        ),
    ]
    .concat();
    let seen = read_as("a.warc", archive.as_bytes(), options(u64::MAX));
    let texts =
        [("http://a.example/", "The text of a page"), ("x:2", "of a PDF"), ("x:3", "of elsewhere")];
    assert_eq!(seen.texts(), texts);
    let counts = [NonDocument::ExtractedText, NonDocument::ConvertedPage, NonDocument::Application];
    assert_eq!(counts.map(|kind| seen.non_documents.of(kind)), [2, 2, 1]);
    assert!(seen.bytes == archive.as_bytes());
}
