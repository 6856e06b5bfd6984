//! A crawl in miniature: generated documents in the formats that crawls come in, dealt in turn to
//! a WET file, a JSON Lines file and a Parquet file, so that near-duplicates lie across them.

use super::collection::{CollectionSettings, Size, write_collection};
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::ZstdLevel;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// When each of the pages was fetched, as it were: a day of its own.
fn date(number: usize) -> String {
    format!("2026-{:02}-{:02}T00:00:00Z", number / 28 % 12 + 1, number % 28 + 1)
}

/// A page of the crawl.
struct Page<'t> {
    url: String,
    date: String,
    text: &'t str,
}

/// The content of the three files: WET in gzip, one member a record; JSON Lines with `url`, `date`
/// and `text`; Parquet with columns of the same names.
///
/// # Errors
///
/// None but those of the libraries that write into memory.
pub fn crawl(seed: u64, documents: u64) -> io::Result<[Vec<u8>; 3]> {
    let settings = CollectionSettings { seed, size: Size::Documents(documents), queries: 0 };
    let mut articles = Vec::new();
    write_collection(&settings, &mut articles, &mut io::sink(), &mut io::sink())?;
    let articles = String::from_utf8(articles).map_err(io::Error::other)?;
    let mut parts = [const { Vec::new() }; 3];
    for (number, article) in articles.split('\x0c').enumerate() {
        let (id, text) = article.trim_start().split_once("\r\n").unwrap_or_default();
        let (url, date) = (format!("https://crawl.example/{id}"), date(number));
        parts[number % 3].push(Page { url, date, text });
    }
    let [wet, lines, rows] = parts;
    Ok([wet_file(&wet)?, json_lines(&lines)?, parquet_file(&rows)?])
}

fn wet_file(pages: &[Page<'_>]) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let about = "isPartOf: a crawl in miniature\r\n";
    let record = |kind: &str, uri: &str, date: &str, content: &str, text: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\n{uri}WARC-Date: {date}\r\nContent-Type: {content}\r\n\
             Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let first = record("warcinfo", "", &date(0), "application/warc-fields", about);
    let pages = pages.iter().map(|page| {
        let uri = format!("WARC-Target-URI: {}\r\n", page.url);
        record("conversion", &uri, &page.date, "text/plain", page.text)
    });
    for record in std::iter::once(first).chain(pages) {
        let mut member = GzEncoder::new(&mut file, Compression::best());
        member.write_all(record.as_bytes())?;
        member.finish()?;
    }
    Ok(file)
}

fn json_lines(pages: &[Page<'_>]) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    for page in pages {
        let string = |text: &str| serde_json::to_string(text).map_err(io::Error::other);
        let (url, date, text) = (string(&page.url)?, string(&page.date)?, string(page.text)?);
        writeln!(file, "{{\"url\":{url},\"date\":{date},\"text\":{text}}}")?;
    }
    Ok(file)
}

fn parquet_file(pages: &[Page<'_>]) -> io::Result<Vec<u8>> {
    let field = |name: &str| Field::new(name, DataType::Utf8, false);
    let schema = Arc::new(Schema::new(vec![field("url"), field("date"), field("text")]));
    let column = |value: for<'p> fn(&'p Page<'_>) -> &'p str| {
        Arc::new(StringArray::from_iter_values(pages.iter().map(value)))
    };
    let columns: Vec<arrow_array::ArrayRef> =
        vec![column(|page| &page.url), column(|page| &page.date), column(|page| page.text)];
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::ZSTD(ZstdLevel::default()))
        .build();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

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
