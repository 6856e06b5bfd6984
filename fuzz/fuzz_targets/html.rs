//! Any text as a page of HTML: no panic, and the text of the page is that of its twin.
//!
//! The reader of pages is no part of the library's interface, so its sources are compiled here.
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
    // The twin follows any nesting, the reader only so much.
    if page.len() < 2000 {
        assert_eq!(String::from_utf8_lossy(&text(&page)), twin::text(&page));
    }
});
