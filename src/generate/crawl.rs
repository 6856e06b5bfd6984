//! Generates a small crawl. Documents go in turn to a WET file, a JSON Lines file and a Parquet file, so that
//! near-duplicates are in different files.

use super::crawl_files::{PageText, ParquetFile, write_json_line, write_record};
use super::crawl_page::page_text;
use flate2::Compression;
use std::io;

/// Returns an invented date for page number `number`. The pages of a small crawl have different dates.
fn date(number: u64) -> String {
    format!("2026-{:02}-{:02}T00:00:00Z", number / 28 % 12 + 1, number % 28 + 1)
}

/// Generates the pages of a crawl and returns the contents of three files, each with about a third of the
/// pages. The first is a WET file in which each record is a gzip member of its own. The second is a JSON
/// Lines file with the fields `url`, `date` and `text`. The third is a Parquet file with columns of these
/// names.
///
/// # Errors
///
/// A library fails to write to memory.
pub fn crawl(seed: u64, documents: u64) -> io::Result<[Vec<u8>; 3]> {
    let (mut wet, mut lines, mut rows) = (Vec::new(), Vec::new(), ParquetFile::new(Vec::new())?);
    let about = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Date", &date(0)),
        ("Content-Type", "application/warc-fields"),
    ];
    write_record(&mut wet, LEVEL, &about, &[b"isPartOf: a crawl in miniature\r\n"])?;
    for number in 0..documents {
        let (volume, place) = (number / 1_000 + 1, number % 1_000 + 1);
        let url = &format!("https://crawl.example/{volume}-{place}");
        let (date, text) = (&date(number), page_text(seed, number));
        let page = PageText { url, date, text: &text };
        match number % 3 {
            0 => {
                let fields = [
                    ("WARC-Type", "conversion"),
                    ("WARC-Target-URI", url),
                    ("WARC-Date", date),
                    ("Content-Type", "text/plain"),
                ];
                write_record(&mut wet, LEVEL, &fields, &[text.as_bytes()])?;
            }
            1 => write_json_line(&mut lines, &page)?,
            _ => rows.push(&page)?,
        }
    }
    Ok([wet, lines, rows.finish()?])
}

const LEVEL: Compression = Compression::best();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_in_one_of_the_files() {
        let [wet, lines, rows] = crawl(1, 10).unwrap();
        let mut text = String::new();
        let mut wet = flate2::bufread::MultiGzDecoder::new(&wet[..]);
        io::Read::read_to_string(&mut wet, &mut text).unwrap();
        assert_eq!(text.matches("WARC-Type: conversion\r\n").count(), 4);
        assert!(text.contains("WARC-Target-URI: https://crawl.example/1-1\r\n"));
        let lines = String::from_utf8(lines).unwrap();
        assert_eq!(lines.lines().count(), 3);
        assert!(lines.starts_with("{\"url\":\"https://crawl.example/1-2\",\"date\":\"2026-01-02"));
        assert!(rows.starts_with(b"PAR1"));
    }
}
