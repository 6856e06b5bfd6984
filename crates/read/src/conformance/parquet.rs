//! Tests that Parquet files give the same documents as other formats.

use crate::conformance::{documents, options, read_as, stops_anywhere};
use crate::documents::walk::InputFile;
use crate::documents::{Collection, Corpus, ReadOptions};
use crate::formats::{Event, Selector, Visit};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, ListArray,
    RecordBatch, StringArray, StructArray, UInt32Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::Field;
use simtool_model::document::{Content, Record};
use std::ops::ControlFlow;
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

/// Returns a Parquet file with the test documents.
pub(super) fn parquet_documents() -> Vec<u8> {
    file(columns(), Compression::SNAPPY)
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
fn ids_that_are_numbers_stay_numbers() {
    let texts = || Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
    let columns: [(ArrayRef, &[&str]); 4] = [
        (Arc::new(UInt32Array::from(vec![7, 8])), &["7", "8"]),
        (Arc::new(Float64Array::from(vec![0.5, f64::INFINITY])), &["0.5"]),
        (texts(), &[]),
        (Arc::new(BooleanArray::from(vec![true, false])), &[]),
    ];
    for (ids, expected) in columns {
        let bytes = file(vec![("id", ids), ("text", texts())], Compression::UNCOMPRESSED);
        assert_eq!(read_as("a.parquet", &bytes, options(1)).numbers, expected);
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
    let nested =
        ReadOptions { text_field: "a.text".into(), id_field: "a.other".into(), ..options(1) };
    let seen = read_as("a.parquet", &bytes, nested);
    assert_eq!((seen.documents.len(), &*seen.documents[7].2), (120, "7"));
    let seen = read_as("a.parquet", &bytes, options(1));
    assert_eq!((seen.bad.len(), seen.lost.len()), (120, 0));
    assert!(
        seen.bad.iter().enumerate().all(|(at, bad)| bad.0 == at as u64 && bad.3 == "text-field")
    );
    let number = ReadOptions { text_field: "a.other".into(), ..options(1) };
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

/// Returns a column with lists of `lengths` elements, which are structs with the columns `r` and `c`.
fn messages(lengths: &[usize]) -> ArrayRef {
    let count: usize = lengths.iter().sum();
    let values = |name: &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..count).map(|at| format!("{name}{at}"))))
    };
    let inner = RecordBatch::try_from_iter([("r", values("r")), ("c", values("c"))]).unwrap();
    let inner = StructArray::from(inner);
    let element = Arc::new(Field::new("element", inner.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(element, offsets, Arc::new(inner), None))
}

#[test]
fn lists_and_several_columns_are_joined() {
    let mut lines = ListBuilder::new(StringBuilder::new());
    lines.append_value([Some("x"), None, Some("y")]);
    lines.append_null();
    lines.append_value([None::<&str>; 0]);
    let titles: ArrayRef = Arc::new(StringArray::from(vec![Some("t"), None, Some("u")]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![7, 8, 9]));
    let nothing: ArrayRef = Arc::new(Int32Array::from(vec![None; 3]));
    let columns = vec![
        ("n.o", numbers),
        ("title", titles),
        ("m", messages(&[2, 0, 1])),
        ("lines", Arc::new(lines.finish())),
        ("nothing", nothing),
    ];
    let parquet = file(columns.clone(), Compression::UNCOMPRESSED);
    let mut writer = FileWriter::try_new(
        Vec::new(),
        &RecordBatch::try_from_iter(columns.clone()).unwrap().schema(),
    )
    .unwrap();
    writer.write(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
    let arrow = writer.into_inner().unwrap();
    for (name, bytes) in [("a.parquet", &parquet), ("a.arrow", &arrow)] {
        for (text, expected) in [
            (Selector::from("lines"), ["x\ny", "", ""]),
            ("lines[]".into(), ["x\ny", "", ""]),
            ("m[].c".into(), ["c0\nc1", "", "c2"]),
            ("title+m[].c+none?".into(), ["t\nc0\nc1", "", "u\nc2"]),
            ("none,title,lines".into(), ["t", "", "u"]),
            // Numbers are texts only where they are joined with others.
            ("title+n.o".into(), ["t\n7", "8", "u\n9"]),
            ("n.o+none?".into(), ["7", "8", "9"]),
            ("lines,title".into(), ["x\ny", "", "u"]),
            (Selector::all_strings(), ["t\nr0\nr1\nc0\nc1\nx\ny", "", "u\nr2\nc2"]),
        ] {
            let options =
                ReadOptions { text_field: text, id_field: "none,n.o".into(), ..options(1) };
            let seen = read_as(name, bytes, options);
            let expected = [("7", expected[0]), ("8", expected[1]), ("9", expected[2])];
            assert_eq!((seen.texts(), seen.lost.len()), (expected.to_vec(), 0), "{name}");
        }
    }
    let options = ReadOptions { text_field: "nothing".into(), ..options(1) };
    let seen = read_as("a.parquet", &parquet, options);
    assert_eq!(seen.texts(), [("", ""); 3]);
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

#[test]
fn a_long_value_that_a_small_file_repeats_without_end_stops_the_reading() {
    let keys = Int32Array::from(vec![0; 30_000]);
    let value = StringArray::from(vec!["x".repeat(50_000)]);
    let texts = DictionaryArray::new(keys, Arc::new(value));
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, &bytes).unwrap();
    // The texts have 1.5 GB, and the file has some 100 kB.
    for (max_expansion, is_stopped) in [(2000, true), (u64::MAX, false)] {
        let options = ReadOptions { max_expansion, ..options(1) };
        let collection = Collection::open(vec![InputFile::new(&path)], options);
        let (mut text_bytes, mut faults) = (0, Vec::new());
        let visit: &mut Visit<'_> = &mut |event| {
            match event {
                Event::Record(Record { content: Content::Document(document), .. }) => {
                    text_bytes += document.text.len();
                }
                Event::Fault(fault) => faults.push(fault.detail),
                _ => {}
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(0, visit).unwrap();
        assert_eq!(text_bytes < 1_500_000_000, is_stopped, "{text_bytes}");
        assert_eq!(faults.len(), usize::from(is_stopped));
        for fault in faults {
            let advice = "at most 2000 times is allowed); stopped. Raise `max_expansion`";
            assert!(fault.contains(advice), "{fault}");
        }
    }
}
