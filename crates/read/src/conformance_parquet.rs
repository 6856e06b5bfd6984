//! Tests that Parquet files give the same documents as other formats.

use crate::ReadOptions;
use crate::conformance::{documents, options, read_as, stops_anywhere};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, RecordBatch, StringArray, StructArray, UInt32Array};
use std::sync::Arc;

fn file(columns: Vec<(&str, ArrayRef)>, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(50))
        .set_compression(compression)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn columns() -> Vec<(&'static str, ArrayRef)> {
    let (ids, texts): (Vec<_>, Vec<_>) = documents().into_iter().unzip();
    vec![
        ("id", Arc::new(StringArray::from(ids))),
        ("text", Arc::new(StringArray::from(texts))),
        ("other", Arc::new(UInt32Array::from_iter_values(0..120))),
    ]
}

#[test]
fn rows_read_the_same() {
    let expected: Vec<_> = documents();
    let expected: Vec<_> = expected.iter().map(|(id, text)| (&**id, &**text)).collect();
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(::parquet::basic::GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::BROTLI(::parquet::basic::BrotliLevel::default()),
    ];
    for compression in compressions {
        let bytes = file(columns(), compression);
        for name in ["a.parquet", "a.txt"] {
            let seen = read_as(name, &bytes, options(1));
            assert!(seen.texts() == expected, "{compression}");
            assert_eq!(seen.documents[119].1, 119);
            assert_eq!(seen.lost, [""; 0]);
        }
    }
}

#[test]
fn a_reading_of_rows_ends_where_its_visitor_has_enough() {
    let bytes = file(columns(), Compression::SNAPPY);
    stops_anywhere("a.parquet", &bytes, options(1));
    // A page in the middle is damaged.
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle..middle + 4000].fill(0);
    stops_anywhere("a.parquet", &damaged, options(1));
}

#[test]
fn columns_are_found_by_path_and_their_lack_is_named() {
    let inner = StructArray::from(RecordBatch::try_from_iter(columns()).unwrap());
    let bytes = file(vec![("a", Arc::new(inner))], Compression::UNCOMPRESSED);
    let nested = ReadOptions {
        text_field: "a.text".to_owned(),
        id_field: "a.other".to_owned(),
        ..options(1)
    };
    let seen = read_as("a.parquet", &bytes, nested);
    assert_eq!((seen.documents.len(), &*seen.documents[7].2), (120, "7"));
    let seen = read_as("a.parquet", &bytes, options(1));
    assert_eq!((seen.bad.len(), seen.lost.len()), (120, 0));
    assert!(
        seen.bad.iter().enumerate().all(|(at, bad)| bad.0 == at as u64 && bad.3 == "text-field")
    );
    let number = ReadOptions { text_field: "a.other".to_owned(), ..options(1) };
    assert_eq!(read_as("a.parquet", &bytes, number).lost, ["parquet-column"]);
}

#[test]
fn null_texts_are_empty_and_long_ones_are_bad() {
    let texts = StringArray::from(vec![Some("x"), None, Some(""), Some("too long for it")]);
    let bytes = file(vec![("text", Arc::new(texts))], Compression::UNCOMPRESSED);
    let seen = read_as("a", &bytes, ReadOptions { max_record_bytes: 10, ..options(1) });
    assert_eq!(seen.bad, [(3, 0, 15, "oversize")]);
    assert_eq!(seen.texts(), [("", "x"), ("", ""), ("", "")]);
}

#[test]
fn a_damaged_page_costs_its_row_group_alone() {
    let mut bytes = file(columns(), Compression::ZSTD(ZstdLevel::default()));
    let whole = read_as("a.parquet", &bytes, options(1));
    // The Zstandard frame with the texts, which are the second column of the first row group.
    let frames = memchr::memmem::find_iter(&bytes, b"\x28\xB5\x2F\xFD").take(4);
    let at = frames.last().unwrap();
    bytes[at] ^= 1;
    let seen = read_as("a.parquet", &bytes, options(1));
    assert_eq!(seen.lost, ["parquet-page"]);
    assert!(seen.documents == whole.documents[50..]);
    let clipped = read_as("a.parquet", &bytes[..at], options(1));
    assert_eq!((clipped.lost, clipped.documents), (vec!["parquet-footer"], vec![]));
}
