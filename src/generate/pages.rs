//! Writes the HTML pages of a folder as the responses of a web crawl, in WARC and WET files.

use super::crawl_files::write_record;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use simtool_base::stable_hash::{hash, mix};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Invented date of all records in the generated WARC and WET files.
pub const DATE: &str = "2026-01-01T00:00:00Z";

/// A file of a folder that holds an HTML page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFile {
    /// Invented URL of the page. It contains the path of the file in the folder, without `.gz`.
    pub url: String,
    is_packed: bool,
    path: PathBuf,
    bytes: u64,
}

/// Finds the pages in a folder and its subfolders, in the order of their URLs. Pages are regular files with
/// the extension `.html`, `.htm` or `.xhtml`, possibly followed by `.gz`. Links are not followed.
///
/// # Errors
///
/// A folder cannot be read.
pub fn pages_below(folder: &Path) -> io::Result<Vec<PageFile>> {
    let mut found = Vec::new();
    add_pages(folder, "https://docs.example", &mut found)?;
    found.sort_unstable();
    // If a page exists both packed and unpacked, the unpacked file is first and is kept.
    found.dedup_by(|later, first| later.url == first.url);
    Ok(found)
}

fn add_pages(folder: &Path, url: &str, found: &mut Vec<PageFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            add_pages(&path, &below(url, &entry.file_name()), found)?;
        } else if kind.is_file() {
            let has_ending = |name: &Path, endings: &[&str]| {
                let ending = name.extension().unwrap_or_default();
                endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
            };
            let is_packed = has_ending(&path, &["gz"]);
            // The extension before `.gz` shows whether the file is a page.
            let name = if is_packed { path.with_extension("") } else { path.clone() };
            if has_ending(&name, &["html", "htm", "xhtml"]) {
                let url = below(url, name.file_name().unwrap_or_default());
                found.push(PageFile { url, is_packed, path, bytes: entry.metadata()?.len() });
            }
        }
    }
    Ok(())
}

/// Returns the URL of the file `name` in the folder with the URL `url`. All bytes except unreserved
/// characters are escaped (RFC 3986).
fn below(url: &str, name: &OsStr) -> String {
    let mut url = format!("{url}/");
    for &byte in name.as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing into a string does not fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// Divides a list of pages into at most `count` consecutive ranges with about the same number of bytes. No
/// range is empty.
pub fn runs(pages: &[PageFile], count: usize) -> Vec<Range<usize>> {
    let total: u64 = pages.iter().map(|page| page.bytes).sum();
    let (mut runs, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, page) in pages.iter().enumerate() {
        bytes += page.bytes;
        let is_last = at + 1 == pages.len();
        let is_full = bytes * count as u64 >= total * (runs.len() as u64 + 1);
        // The last range takes all remaining pages, so there are never more ranges than wanted.
        if is_last || (is_full && runs.len() + 1 < count) {
            runs.push(start..at + 1);
            start = at + 1;
        }
    }
    runs
}

/// Writes the first record of a WARC file, which describes the file. `name` is the name of the file.
///
/// # Errors
///
/// `out` fails.
pub fn write_first_record(out: &mut impl Write, name: &str) -> io::Result<()> {
    let fields = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", &record_id("warcinfo", name)),
        ("WARC-Date", DATE),
        ("WARC-Filename", name),
        ("Content-Type", "application/warc-fields"),
    ];
    let about = b"software: simtool\r\nformat: WARC File Format 1.0\r\n";
    write_record(out, Compression::default(), &fields, &[about])
}

/// Writes a page as the HTTP response of a crawl, in a record of a WARC file. Returns the number of
/// bytes of the page.
///
/// # Errors
///
/// The page cannot be read, or `out` fails.
pub fn write_response(out: &mut impl Write, page: &PageFile) -> io::Result<u64> {
    let mut body = fs::read(&page.path)?;
    if page.is_packed {
        let packed = std::mem::take(&mut body);
        MultiGzDecoder::new(&packed[..]).read_to_end(&mut body)?;
    }
    let is_xml = page.url.to_ascii_lowercase().ends_with(".xhtml");
    let kind = if is_xml { "application/xhtml+xml" } else { "text/html" };
    let length = body.len();
    let http =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    let fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", &record_id("response", &page.url)),
        ("WARC-Target-URI", &page.url),
        ("WARC-Date", DATE),
        ("Content-Type", "application/http; msgtype=response"),
    ];
    write_record(out, Compression::default(), &fields, &[http.as_bytes(), &body])?;
    Ok(length as u64)
}

/// Writes the visible text of a page as a record of a WET file.
///
/// # Errors
///
/// `out` fails.
pub fn write_conversion(out: &mut impl Write, url: &str, text: &str) -> io::Result<()> {
    let fields = [
        ("WARC-Type", "conversion"),
        ("WARC-Record-ID", &record_id("conversion", url)),
        ("WARC-Refers-To", &record_id("response", url)),
        ("WARC-Target-URI", url),
        ("WARC-Date", DATE),
        ("Content-Type", "text/plain"),
    ];
    write_record(out, Compression::default(), &fields, &[text.as_bytes()])
}

/// Returns a UUID of version 8 for a record. It depends only on the kind of the record and on `name`.
fn record_id(kind: &str, name: &str) -> String {
    let high = hash(format!("{kind} {name}").as_bytes());
    // These bits mark the variant and, below, version 8 of a UUID (RFC 9562).
    let low = mix(high) >> 2 | 1 << 63;
    let high = high & !0xF000 | 0x8000;
    let digits = format!("{high:016x}{low:016x}");
    let (time, rest) = digits.split_at(8);
    let (middle, rest) = rest.split_at(4);
    let (version, rest) = rest.split_at(4);
    let (variant, node) = rest.split_at(4);
    format!("<urn:uuid:{time}-{middle}-{version}-{variant}-{node}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, bytes: u64) -> PageFile {
        PageFile { url: url.to_owned(), is_packed: false, path: PathBuf::new(), bytes }
    }

    #[test]
    fn names_become_urls_without_white_space() {
        assert_eq!(below("https://a", OsStr::new("b c+é.html")), "https://a/b%20c%2B%C3%A9.html");
    }

    #[test]
    fn runs_hold_every_page_and_about_as_many_bytes() {
        let pages: Vec<_> = [5, 1, 1, 1, 1, 1, 10].map(|bytes| page("", bytes)).to_vec();
        assert_eq!(runs(&pages, 2), [0..6, 6..7]);
        assert_eq!(runs(&pages, 4), [0..1, 1..6, 6..7]);
        assert_eq!(runs(&pages[..2], 8), [0..1, 1..2]);
        assert!(runs(&[], 8).is_empty());
        assert_eq!(runs(&[page("", 0), page("", 0)], 2), [0..1, 1..2]);
    }

    #[test]
    fn records_have_ids_of_their_own() {
        let id = record_id("response", "https://a/b");
        assert_eq!(id.len(), "<urn:uuid:00000000-0000-8000-8000-000000000000>".len());
        assert_eq!(&id[24..25], "8");
        assert_ne!(id, record_id("conversion", "https://a/b"));
    }
}
