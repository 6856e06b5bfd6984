//! Tests that Arrow files and streams give the same documents as other formats, and that damage is
//! reported.

use super::reader;
use crate::conformance::{Seen, documents, options, read_as, stops_anywhere};
use crate::documents::ReadOptions;
use crate::formats::{InParallel, InputFormat, RowsCopy};
use crate::source::MemorySource;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int32Array, Int64Array, LargeStringArray, ListViewArray,
    MapArray, RecordBatch, RunArray, StringArray, StringViewArray, StructArray, UInt32Array,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{DataType, Field};
use std::fs;
use std::io::{Cursor, Write as _};
use std::sync::Arc;

/// Number of rows of a record batch.
const BATCH_ROWS: usize = 50;

/// Returns the bytes of an Arrow file or stream with `columns`, in record batches of [`BATCH_ROWS`]
/// rows.
fn written(
    columns: Vec<(&str, ArrayRef)>,
    is_file: bool,
    compression: Option<CompressionType>,
) -> Vec<u8> {
    let all = RecordBatch::try_from_iter(columns).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let starts = (0..all.num_rows()).step_by(BATCH_ROWS);
    let batches = starts.map(|at| all.slice(at, BATCH_ROWS.min(all.num_rows() - at)));
    if is_file {
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &all.schema(), options).unwrap();
        writer.write_metadata("written by", "a test");
        batches.for_each(|batch| writer.write(&batch).unwrap());
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    } else {
        let mut writer =
            StreamWriter::try_new_with_options(Vec::new(), &all.schema(), options).unwrap();
        batches.for_each(|batch| writer.write(&batch).unwrap());
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    }
}

/// Returns the test documents as columns. `texts` chooses the type of the array of texts.
fn columns(texts: impl Fn(Vec<String>) -> ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    let (ids, all): (Vec<_>, Vec<_>) = documents().into_iter().unzip();
    vec![
        ("id", Arc::new(StringArray::from(ids))),
        ("text", texts(all)),
        ("other", Arc::new(UInt32Array::from_iter_values(0..120))),
    ]
}

fn plain(texts: Vec<String>) -> ArrayRef {
    Arc::new(StringArray::from(texts))
}

fn check_documents(seen: &Seen, what: &str) {
    let expected = documents();
    let expected: Vec<_> = expected.iter().map(|(id, text)| (&**id, &**text)).collect();
    assert!(seen.texts() == expected, "{what}");
    assert_eq!(seen.documents[119].1, 119, "{what}");
    assert_eq!(seen.lost, [""; 0], "{what}");
}

#[test]
fn files_and_streams_read_the_same_in_every_compression() {
    let compressions = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    for compression in compressions {
        for is_file in [true, false] {
            let bytes = written(columns(plain), is_file, compression);
            for name in ["a.arrow", "a.feather", "a.txt", "a"] {
                let what = format!("{name} {is_file} {compression:?}");
                check_documents(&read_as(name, &bytes, options(1)), &what);
            }
        }
    }
}

#[test]
fn texts_of_every_type_of_array_are_read() {
    let types: [fn(Vec<String>) -> ArrayRef; 4] = [
        plain,
        |texts| Arc::new(LargeStringArray::from(texts)),
        |texts| Arc::new(StringViewArray::from_iter_values(texts)),
        |texts| Arc::new(texts.iter().map(|t| &**t).collect::<DictionaryArray<Int32Type>>()),
    ];
    for (number, texts) in types.into_iter().enumerate() {
        for is_file in [true, false] {
            let bytes = written(columns(texts), is_file, Some(CompressionType::ZSTD));
            let seen = read_as("a.arrow", &bytes, options(1));
            check_documents(&seen, &format!("type {number}, file: {is_file}"));
        }
    }
}

#[test]
fn dictionaries_that_change_within_a_stream_belong_to_their_batches() {
    let words = |words: &[&str]| -> ArrayRef {
        Arc::new(words.iter().copied().collect::<DictionaryArray<Int32Type>>())
    };
    let first = RecordBatch::try_from_iter([("text", words(&["a", "b", "a"]))]).unwrap();
    let second = RecordBatch::try_from_iter([("text", words(&["x", "y"]))]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &first.schema()).unwrap();
    for batch in [&first, &second, &first] {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    let seen = read_as("a.arrow", &writer.into_inner().unwrap(), options(1));
    let texts: Vec<&str> = seen.texts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["a", "b", "a", "x", "y", "a", "b", "a"]);
}

#[test]
fn record_batches_are_divided_into_shares_by_their_bytes() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&written(columns(plain), true, None)).unwrap();
    let shares = |bytes| reader::shares(&file, bytes).unwrap().len();
    assert_eq!([shares(1), shares(u64::MAX)], [3, 1]);
}

#[test]
fn a_reading_ends_where_its_visitor_has_enough() {
    let bytes = written(columns(plain), true, None);
    stops_anywhere("a.arrow", &bytes, options(1));
    stops_anywhere("a.arrow", &bytes[..bytes.len() / 2], options(1));
}

#[test]
fn columns_are_found_by_path_and_missing_ones_are_named() {
    let inner = StructArray::from(RecordBatch::try_from_iter(columns(plain)).unwrap());
    let bytes = written(vec![("a", Arc::new(inner)), ("n", numbers())], true, None);
    let nested =
        ReadOptions { text_field: "a.text".into(), id_field: "a.other".into(), ..options(1) };
    let seen = read_as("a.arrow", &bytes, nested);
    assert_eq!((seen.documents.len(), &*seen.documents[7].2), (120, "7"));
    let seen = read_as("a.arrow", &bytes, options(1));
    assert_eq!((seen.bad.len(), seen.lost.len()), (120, 0));
    assert!(seen.bad.iter().all(|bad| bad.3 == "text-field"));
    let number = ReadOptions { text_field: "a.other".into(), ..options(1) };
    assert_eq!(read_as("a.arrow", &bytes, number).lost, ["arrow-column"]);
}

fn numbers() -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..120))
}

#[test]
fn null_texts_are_empty_and_long_ones_are_bad() {
    let texts = StringArray::from(vec![Some("x"), None, Some(""), Some("too long for it")]);
    let bytes = written(vec![("text", Arc::new(texts))], false, None);
    let seen = read_as("a", &bytes, ReadOptions { max_record_bytes: 10, ..options(1) });
    assert_eq!(seen.bad, [(3, 0, 15, "oversize")]);
    assert_eq!(seen.texts(), [("", "x"), ("", ""), ("", "")]);
}

/// Returns a file or stream of a few short rows, so that a test can damage each of its bytes in
/// turn.
fn small(is_file: bool, compression: Option<CompressionType>) -> Vec<u8> {
    let ids: StringArray = (0..9).map(|n| Some(format!("id-{n}"))).collect();
    let texts: DictionaryArray<Int32Type> = (0..9).map(|n| Some(["one", "two"][n % 2])).collect();
    let other: ArrayRef = Arc::new(StringViewArray::from_iter_values(["a long other value"; 9]));
    let columns = vec![("id", Arc::new(ids) as ArrayRef), ("text", Arc::new(texts)), ("o", other)];
    written(columns, is_file, compression)
}

#[test]
fn truncated_files_keep_their_complete_batches() {
    for is_file in [true, false] {
        let bytes = written(columns(plain), is_file, None);
        let whole = read_as("a.arrow", &bytes, options(1));
        for length in (8..bytes.len()).step_by(bytes.len() / 40) {
            let seen = read_as("a.arrow", &bytes[..length], options(1));
            assert!(whole.documents.starts_with(&seen.documents), "{length} bytes");
            let is_complete = seen.documents.len() == whole.documents.len();
            assert!(is_complete || !seen.lost.is_empty(), "{length} bytes: no fault");
            assert!(seen.documents.len().is_multiple_of(BATCH_ROWS) || is_complete);
        }
    }
    for compression in [None, Some(CompressionType::ZSTD)] {
        for is_file in [true, false] {
            let bytes = small(is_file, compression);
            for length in (0..bytes.len()).step_by(3) {
                let seen = read_as("a.arrow", &bytes[..length], options(1));
                assert!(seen.documents.is_empty() || seen.documents.len() == 9);
            }
        }
    }
}

#[test]
fn maps_views_of_lists_and_runs_are_read() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
    let field = |name: &str, data_type: &DataType, null| {
        Arc::new(Field::new(name, data_type.clone(), null))
    };
    let of_texts = field("item", &DataType::Utf8, true);
    // The lists of a view can be in any order, and share elements.
    let view = ListViewArray::new(
        Arc::clone(&of_texts),
        vec![2, 0, 1].into(),
        vec![2, 2, 1].into(),
        Arc::clone(&texts),
        None,
    );
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k", "l", "k", "l"]));
    let entries = StructArray::from(vec![
        (field("key", &DataType::Utf8, false), keys),
        (field("value", &DataType::Utf8, true), texts),
    ]);
    let offsets = arrow_buffer::OffsetBuffer::new(vec![0, 2, 2, 4].into());
    let of_entries = field("entries", entries.data_type(), false);
    let map = MapArray::new(of_entries, offsets, entries, None, false);
    let ends = Int32Array::from(vec![2, 3]);
    let runs = RunArray::try_new(&ends, &StringArray::from(vec![Some("x"), None])).unwrap();
    let columns: Vec<(&str, ArrayRef)> =
        vec![("view", Arc::new(view)), ("map", Arc::new(map)), ("runs", Arc::new(runs))];
    for (selector, expected) in [
        ("view", ["c\nd", "a\nb", "b"]),
        ("map[].value", ["a\nb", "", "c\nd"]),
        ("map[].key", ["k\nl", "", "k\nl"]),
        ("runs", ["x", "x", ""]),
    ] {
        let options =
            ReadOptions { text_field: selector.into(), id_field: "none".into(), ..options(1) };
        for is_file in [true, false] {
            let seen =
                read_as("a.arrow", &written(columns.clone(), is_file, None), options.clone());
            let texts: Vec<&str> = seen.documents.iter().map(|document| &*document.3).collect();
            assert_eq!(texts, expected, "{selector} {:?}", seen.lost);
        }
        if selector.starts_with("map") {
            let batch = RecordBatch::try_from_iter([columns[1].clone()]).unwrap();
            let mut bytes = Vec::new();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let seen = read_as("a.parquet", &bytes, options.clone());
            let texts: Vec<&str> = seen.documents.iter().map(|document| &*document.3).collect();
            assert_eq!(texts, expected, "{selector} {:?}", seen.lost);
        }
    }
    // An entry without a value would be passed over.
    let of_values = ReadOptions { text_field: "map[].value".into(), ..options(1) };
    let seen = read_as("a.arrow", &written(columns.clone(), true, None), of_values);
    assert_eq!(seen.skipped_elements, 0);
    let of_map = ReadOptions { text_field: "map".into(), ..options(1) };
    assert_eq!(read_as("a.arrow", &written(columns, true, None), of_map).lost, ["arrow-column"]);
}

#[test]
fn streams_of_the_first_versions_are_read() {
    let batch = RecordBatch::try_from_iter(columns(plain)).unwrap();
    let options_of_old = IpcWriteOptions::try_new(8, true, MetadataVersion::V4).unwrap();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options_of_old).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let bytes = writer.into_inner().unwrap();
    assert!(!bytes.starts_with(&super::CONTINUATION));
    for name in ["a.arrow", "a"] {
        check_documents(&read_as(name, &bytes, options(1)), name);
    }
    assert!(!super::is_stream(b"\x40\0\0\0 some bytes that are no table of flatbuffers at all"));
}

#[test]
fn damaged_bytes_never_end_the_program() {
    let compressions = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    for compression in compressions {
        for is_file in [true, false] {
            let bytes = small(is_file, compression);
            for at in (0..bytes.len()).step_by(3) {
                for value in [0x00, 0x7F, 0x80, 0xFF] {
                    let mut damaged = bytes.clone();
                    damaged[at] = value;
                    let seen = read_as("a.arrow", &damaged, options(1));
                    assert!(seen.documents.len() <= 9, "byte {at}");
                }
            }
        }
    }
}

#[test]
fn a_damaged_batch_costs_itself_alone() {
    let mut bytes = written(columns(plain), true, Some(CompressionType::ZSTD));
    let whole = read_as("a.arrow", &bytes, options(1));
    // The fourth Zstandard frame contains the texts of the first batch of three columns.
    let frames = memchr::memmem::find_iter(&bytes, b"\x28\xB5\x2F\xFD").take(4);
    let at = frames.last().unwrap();
    bytes[at] ^= 1;
    let seen = read_as("a.arrow", &bytes, options(1));
    assert_eq!(seen.lost, ["arrow-batch"]);
    assert!(seen.documents == whole.documents[50..]);
}

#[test]
fn a_copy_of_a_damaged_file_has_the_rows_that_were_read_or_there_is_an_error() {
    let in_parallel: &InParallel<'_> = &|count, work| (0..count).for_each(work);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.arrow");
    let crate::formats::format::Reader::Table(table) = super::ARROW.reader() else { panic!() };
    let bytes = written(columns(plain), true, None);
    // The bytes around each batch have its lengths and its number of rows.
    let starts: Vec<usize> = memchr::memmem::find_iter(&bytes, &super::CONTINUATION[..]).collect();
    let headers = starts.iter().flat_map(|&at| at..(at + 240).min(bytes.len()));
    let (mut copied, mut failed) = (0, 0);
    for at in headers.step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let seen = read_as("a.arrow", &damaged, options(1));
        let kept: Vec<u64> = seen.documents.iter().map(|document| document.1).collect();
        let from = MemorySource::new("a.arrow".into(), damaged);
        let copy =
            RowsCopy { to: &to, kept: &kept, edit: None, added: None, at_once: 2, in_parallel };
        if table.copy_rows(&from, &copy, &"text".into()).is_ok() {
            let texts = |seen: &Seen| -> Vec<String> {
                seen.documents.iter().map(|document| document.3.clone()).collect()
            };
            let again = read_as("a.arrow", &fs::read(&to).unwrap(), options(1));
            assert_eq!(texts(&again), texts(&seen), "byte {at}");
            copied += 1;
        } else {
            failed += 1;
        }
        fs::remove_file(&to).ok();
    }
    assert!(copied > failed && copied > 100, "{copied} copies, {failed} errors");
}

#[test]
fn copies_keep_the_other_columns_the_metadata_and_the_format() {
    let in_parallel: &InParallel<'_> = &|count, work| (0..count).for_each(work);
    let kept = [0, 3, 49, 50, 119];
    let folder = tempfile::tempdir().unwrap();
    for (number, is_file) in [true, false].into_iter().enumerate() {
        let to = folder.path().join(format!("copy/{number}.arrow"));
        let texts = |texts: Vec<String>| -> ArrayRef {
            Arc::new(texts.iter().map(|t| &**t).collect::<DictionaryArray<Int32Type>>())
        };
        let bytes = written(columns(texts), is_file, Some(CompressionType::LZ4_FRAME));
        let from = MemorySource::new("a.arrow".into(), bytes);
        let copy =
            RowsCopy { to: &to, kept: &kept, edit: None, added: None, at_once: 2, in_parallel };
        let crate::formats::format::Reader::Table(table) = super::ARROW.reader() else { panic!() };
        table.copy_rows(&from, &copy, &"text".into()).unwrap();
        let copied = fs::read(&to).unwrap();
        assert_eq!(copied.starts_with(super::MAGIC), is_file);
        let id_by_other = ReadOptions { id_field: "other".into(), ..options(1) };
        let seen = read_as("a", &copied, id_by_other);
        let ids: Vec<&str> = seen.documents.iter().map(|document| &*document.2).collect();
        assert_eq!(ids, ["0", "3", "49", "50", "119"]);
        assert_eq!(seen.documents[3].3, documents()[50].1);
        if is_file {
            let reader = FileReader::try_new(Cursor::new(copied), None).unwrap();
            assert_eq!(reader.custom_metadata()["written by"], "a test");
            assert_eq!(reader.num_batches(), 3);
        }
    }
}
