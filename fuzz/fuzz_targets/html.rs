//! Reads any text as a page of HTML. The reader must not panic, and the text of the page must equal
//! the result of its slow twin.
//!
//! The reader of pages is not part of the library's interface, so its sources are compiled here.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/read/src/html/mod.rs"]
#[expect(unused_imports, reason = "bytes are decoded elsewhere")]
mod html;

fn text(page: &str) -> Vec<u8> {
    let mut text = Vec::new();
    html::HtmlText::default().extract(page, &mut text);
    text
}

#[path = "../../crates/read/src/html/twin.rs"]
mod twin;

fuzz_target!(|page: &[u8]| {
    let page = String::from_utf8_lossy(page);
    // The twin follows any nesting, the reader only to a limit, so long pages are not compared.
    if page.len() < 2000 {
        assert_eq!(String::from_utf8_lossy(&text(&page)), twin::text(&page));
    }
});
