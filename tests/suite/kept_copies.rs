//! `--write-kept`: the inputs again, byte for byte but for what was removed.

use crate::program::Folder;
use std::fs;
use std::io::{Read, Write};

/// Runs the program on `name` and gives the copy.
fn kept(folder: &Folder, name: &str) -> Vec<u8> {
    let run = folder.run(&["-q", "--corpus", name, "--write-kept", "--force"]);
    assert_eq!(run.code, 0, "{}", run.err);
    fs::read(folder.path("simtool-out/kept").join(name)).unwrap()
}

fn text(number: usize) -> String {
    let words: Vec<_> = (0..12).map(|word| format!("word{}", number * 100 + word)).collect();
    words.join(" ")
}

#[test]
fn tables_keep_their_header_and_the_bytes_of_their_rows() {
    for (name, between, end) in [
        ("a.csv", ',', "\r\n"),
        ("b.csv", ',', "\n"),
        ("c.tsv", '\t', "\n"),
        ("d.tsv", '\t', "\r\n"),
    ] {
        let row = |number: usize| match number % 4 {
            // Quotes, line ends and delimiters within a field, and what needs no quotes.
            0 => format!("{number}{between}\"{}\nof \"\"two\"\" lines\"{end}", text(number)),
            1 => format!("\"{number}\"{between}{}{end}", text(number)),
            2 => format!("{number}{between}\"{}{between}\r\n\"{end}", text(number)),
            // The same words as the row before, otherwise written.
            _ => format!("{number}{between}\"{}\"{end}", text(number - 1).to_uppercase()),
        };
        let header = format!("\"id\"{between}text{end}");
        let table = |rows: &dyn Fn(&usize) -> bool| {
            let rows: String = (0..40).filter(rows).map(row).collect();
            format!("\u{feff}{header}{rows}")
        };
        let (whole, expected) = (table(&|_| true), table(&|number| number % 4 != 3));
        let open = whole.strip_suffix(end).unwrap();
        let folder = Folder::empty().with(name, &whole);
        assert_eq!(String::from_utf8(kept(&folder, name)).unwrap(), expected, "{name}");
        let folder = folder.with(name, open);
        assert_eq!(String::from_utf8(kept(&folder, name)).unwrap(), expected, "{name}, open");
    }
}

#[test]
fn texts_of_null_are_documents_without_words_and_are_kept() {
    let line = |id: u32, text: &str| format!("{{\"id\": {id}, \"text\":  {text}}}\n");
    let words = format!("\"{}\"", text(1));
    let kept_lines = [line(1, "null"), line(2, &words), line(3, "null")].concat();
    let folder = Folder::empty().with("a.jsonl", kept_lines.clone() + &line(4, &words));
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "--write-kept", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for count in ["\"documents\": 4,", "\"without_terms\": 2,", "\"quarantined\": 0"] {
        assert!(run.out.contains(count), "{count} in {}", run.out);
    }
    assert_eq!(fs::read_to_string(folder.path("simtool-out/kept/a.jsonl")).unwrap(), kept_lines);
}

#[cfg(feature = "parquet")]
#[test]
fn rows_with_a_text_of_null_are_kept() {
    use arrow_array::{Array, RecordBatch, StringArray};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::sync::Arc;
    let rows = |file: fs::File| {
        let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let nulls = |batch: RecordBatch| {
            let column = batch.column_by_name("text").unwrap();
            (0..batch.num_rows()).map(|row| column.is_null(row)).collect::<Vec<_>>()
        };
        batches.flat_map(|batch| nulls(batch.unwrap())).collect::<Vec<_>>()
    };
    let texts = StringArray::from(vec![None, Some(text(1)), None, Some(text(1)), Some(text(2))]);
    let column: Arc<dyn Array> = Arc::new(texts);
    let batch = RecordBatch::try_from_iter_with_nullable([("text", column, true)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = Folder::empty().with("a.parquet", bytes);
    kept(&folder, "a.parquet");
    let copy = fs::File::open(folder.path("simtool-out/kept/a.parquet")).unwrap();
    assert_eq!(rows(copy), [true, false, true, false]);
}

#[test]
fn a_table_of_repetitions_is_a_header_and_one_row() {
    let whole = format!("text,id\n{0},1\n{0},2\n{0},3\n", text(1));
    let folder = Folder::empty().with("a.csv", whole);
    let expected = format!("text,id\n{},1\n", text(1));
    assert_eq!(String::from_utf8(kept(&folder, "a.csv")).unwrap(), expected);
    let again = folder.with("a.csv", expected.clone());
    assert_eq!(String::from_utf8(kept(&again, "a.csv")).unwrap(), expected);
}

#[test]
fn a_record_of_a_packed_crawl_stays_a_gzip_member() {
    let record = |kind: &str, number: usize| {
        let text = text(if number % 5 == 4 { number - 1 } else { number });
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n\
             Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let member = |record: &String| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(record.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let kind = |number: usize| if number.is_multiple_of(10) { "warcinfo" } else { "conversion" };
    let records: Vec<String> = (0..40).map(|number| record(kind(number), number)).collect();
    let packed: Vec<u8> = records.iter().flat_map(member).collect();
    let folder = Folder::empty().with("a.warc.wet.gz", packed);
    let copy = kept(&folder, "a.warc.wet.gz");
    let mut members = Vec::new();
    let mut rest = &copy[..];
    while !rest.is_empty() {
        let mut member = String::new();
        flate2::bufread::GzDecoder::new(&mut rest).read_to_string(&mut member).unwrap();
        members.push(member);
    }
    let is_kept = |(number, _): &(usize, &String)| number % 5 != 4;
    let expected: Vec<String> =
        records.iter().enumerate().filter(is_kept).map(|(_, record)| record.clone()).collect();
    assert_eq!(members, expected);
}
