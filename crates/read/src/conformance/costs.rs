//! Tests that files made to cost much time or memory are read within seconds.

use crate::conformance::{Seen, options, read_as};
use std::time::{Duration, Instant};

/// Longest time that reading a file of about a megabyte may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn read_soon(name: &str, content: &[u8]) -> Seen {
    let started = Instant::now();
    let seen = read_as(name, content, options(1));
    assert!(started.elapsed() < PATIENCE, "{name} took {:?}", started.elapsed());
    seen
}

#[test]
fn quotes_that_are_never_closed_do_not_cost_the_rest_of_the_table_for_every_line() {
    // Each line opens a quote that is never closed. So at the start of every line, the parser takes
    // the rest of the file for one row.
    let rows = format!("id,text\n1,good\n{}", "x\",\"\n".repeat(100_000));
    let seen = read_soon("a.csv", rows.as_bytes());
    assert_eq!(seen.texts(), [("1", "good")]);
    assert!(seen.bytes == rows.as_bytes());
}

#[test]
fn headers_that_never_end_are_not_searched_to_their_limit() {
    let records = "WARC/1.0\n".repeat(300_000);
    let seen = read_soon("a.warc", records.as_bytes());
    assert_eq!((seen.documents.len(), seen.bad.len()), (0, 300_000));
}

#[test]
fn a_page_of_elements_that_are_never_closed_is_read() {
    let response = |page: &str| {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let deep = "before ".to_owned() + &"<b>".repeat(1_000_000) + "behind";
    assert_eq!(read_soon("a.warc", response(&deep).as_bytes()).texts(), [("", "before behind")]);
    for page in ["<div>a".repeat(300_000), "<b>".repeat(100_000) + &"</i>".repeat(100_000)] {
        let content = response(&page) + &response("<p>another");
        let seen = read_soon("a.warc", content.as_bytes());
        assert_eq!(seen.documents.len(), 2);
        assert_eq!(seen.documents[1].3, "another");
    }
}
