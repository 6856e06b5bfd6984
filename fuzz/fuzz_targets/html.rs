//! Reads any text as a page of HTML. The reader must not panic, and the text of the page must equal
//! the result of its slow twin. The main content of the page has no twin.
//!
//! The reader of pages is not part of the library's interface, so its sources are compiled here.
#![no_main]

use bytes::PageContent;
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/read/src/bytes/html/mod.rs"]
#[allow(dead_code, unused_imports, reason = "bytes are decoded elsewhere")]
mod html;

/// The module that the sources import from their crate.
mod bytes {
    pub(crate) use crate::html;
    pub(crate) use simtool::stages::read::PageContent;
}

fn text_of(page: &str, content: PageContent) -> Vec<u8> {
    let mut text = Vec::new();
    html::HtmlText::new(content).extract(page, &mut text);
    text
}

fn text(page: &str) -> Vec<u8> {
    text_of(page, PageContent::All)
}

#[path = "../../crates/read/src/bytes/html/twin.rs"]
mod twin;

fuzz_target!(|page: &[u8]| {
    let page = String::from_utf8_lossy(page);
    drop(text_of(&page, PageContent::Main));
    // The twin follows any nesting, the reader only to a limit, so long pages are not compared.
    if page.len() < 2000 {
        assert_eq!(String::from_utf8_lossy(&text(&page)), twin::text(&page));
    }
});
