//! `--write-kept` copies the inputs byte for byte, without the removed documents.

use crate::program::Folder;
use std::fs;
use std::io::{Read, Write};

/// Runs the program on `name` and returns the copy.
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
            // A field has quotes, line ends and delimiters, or is quoted without need.
            0 => format!("{number}{between}\"{}\nof \"\"two\"\" lines\"{end}", text(number)),
            1 => format!("\"{number}\"{between}{}{end}", text(number)),
            2 => format!("{number}{between}\"{}{between}\r\n\"{end}", text(number)),
            // The row has the words of the row before in capitals.
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
fn arrays_of_json_stay_valid_whatever_is_removed() {
    let object =
        |number: usize| format!("{{\"id\": {number},\n   \"text\": \"{}\"}}", text(number));
    let array = |numbers: &[usize]| {
        let objects: Vec<String> = numbers.iter().map(|&number| object(number)).collect();
        format!("[\n  {}\n]\n", objects.join(",\n  "))
    };
    let folder = Folder::empty()
        .with("a/1.json", array(&[1, 2, 1]))
        .with("a/2.json", array(&[2, 3, 1]))
        .with("a/3.json", array(&[1, 3]))
        .with("a/4.json", object(1))
        .with("a/5.json", format!("{}\n{}\n", object(2), object(5)));
    let run = folder.run(&["-q", "--corpus", "a", "--write-kept"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let copy = |name: &str| fs::read_to_string(folder.path("simtool-out/kept/a").join(name));
    assert_eq!(copy("1.json").unwrap(), array(&[1, 2]));
    assert_eq!(copy("2.json").unwrap(), array(&[3]));
    assert_eq!(copy("3.json").unwrap(), "[\n]\n");
    assert!(copy("4.json").is_err(), "an empty file is no JSON");
    assert_eq!(copy("5.json").unwrap(), format!("{}\n", object(5)));
}

#[test]
fn mailboxes_stay_valid_and_removed_mails_of_a_folder_have_no_copy() {
    let mail = |id: usize, number: usize| {
        format!(
            "From: a@b\nSubject: a letter\nMessage-ID: <{id}@b>\n\
             Date: Mon, 1 Jan 2024 10:00:00 +0000\n\n{}\n\n",
            text(number)
        )
    };
    let mailbox = |mails: &[(usize, usize)]| -> String {
        let mail = |&(id, number)| format!("From a@b Mon Jan  1\n{}", mail(id, number));
        mails.iter().map(mail).collect()
    };
    let folder = Folder::empty().with("inbox", mailbox(&[(1, 1), (2, 2), (3, 1), (4, 4)]));
    assert_eq!(
        String::from_utf8(kept(&folder, "inbox")).unwrap(),
        mailbox(&[(1, 1), (2, 2), (4, 4)])
    );
    let removed = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
    assert!(removed.starts_with("{\"id\":\"3@b\","), "{removed}");
    let folder = Folder::empty()
        .with("mail/cur/1700000000.M1P1.host:2,S", mail(1, 1))
        .with("mail/cur/1700000001.M2P1.host:2,", mail(2, 1));
    for name in ["new", "tmp"] {
        fs::create_dir(folder.path("mail").join(name)).unwrap();
    }
    let run = folder.run(&["-q", "--corpus", "mail", "--write-kept"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let count =
        |name: &str| fs::read_dir(folder.path("simtool-out/kept/mail").join(name)).unwrap().count();
    // Empty folders belong to a Maildir, too.
    assert_eq!(["cur", "new", "tmp"].map(count), [1, 0, 0]);
    // A folder that has only the name of one gets none.
    let folder = Folder::empty().with("mail/cur/1.host:2,S", mail(1, 1));
    let run = folder.run(&["-q", "--corpus", "mail", "--write-kept"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!folder.path("simtool-out/kept/mail/tmp").exists());
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

/// Builds a Parquet file of these texts.
#[cfg(feature = "parquet")]
fn parquet_of(texts: &[Option<String>]) -> Vec<u8> {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    let column: ArrayRef = std::sync::Arc::new(texts.iter().cloned().collect::<StringArray>());
    let batch = RecordBatch::try_from_iter_with_nullable([("text", column, true)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Returns the texts of a Parquet file.
#[cfg(feature = "parquet")]
fn parquet_texts(path: &std::path::Path) -> Vec<Option<String>> {
    use arrow_array::{Array, StringArray};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let file = fs::File::open(path).unwrap();
    let mut texts = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = batch.column_by_name("text").unwrap();
        let column = column.as_any().downcast_ref::<StringArray>().unwrap();
        texts.extend(column.iter().map(|text| text.map(str::to_owned)));
    }
    texts
}

#[cfg(feature = "parquet")]
#[test]
fn rows_with_a_text_of_null_are_kept() {
    let texts = [None, Some(text(1)), None, Some(text(1)), Some(text(2))];
    let folder = Folder::empty().with("a.parquet", parquet_of(&texts));
    kept(&folder, "a.parquet");
    let copy = parquet_texts(&folder.path("simtool-out/kept/a.parquet"));
    assert!(copy.iter().map(Option::is_none).eq([true, false, true, false]));
}

#[cfg(feature = "parquet")]
#[test]
fn arrow_files_and_streams_are_deduplicated_with_all_their_columns() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
    use arrow_ipc::reader::{FileReader, StreamReader};
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use std::io::Cursor;
    use std::sync::Arc;
    let texts = [text(0), text(1), text(0), text(2)];
    let columns: [(&str, ArrayRef); 2] = [
        ("text", Arc::new(StringViewArray::from_iter_values(texts))),
        ("n", Arc::new(Int64Array::from_iter_values(10..14))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let folder = Folder::empty().with("x.arrow", file.into_inner().unwrap());
    let copy = Cursor::new(kept(&folder, "x.arrow"));
    let rows: Vec<RecordBatch> =
        FileReader::try_new(copy, None).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows, [take_rows(&batch, &[0, 1, 3])]);

    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let folder = Folder::empty().with("x.feather", stream.into_inner().unwrap());
    let copy = Cursor::new(kept(&folder, "x.feather"));
    let rows: Vec<RecordBatch> =
        StreamReader::try_new(copy, None).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows, [take_rows(&batch, &[0, 1, 3])]);
}

#[cfg(feature = "parquet")]
fn take_rows(batch: &arrow_array::RecordBatch, rows: &[usize]) -> arrow_array::RecordBatch {
    let mask: Vec<bool> = (0..batch.num_rows()).map(|row| rows.contains(&row)).collect();
    let mask = arrow_array::BooleanArray::from(mask);
    arrow_select::filter::filter_record_batch(batch, &mask).unwrap()
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

/// Decompresses all members or frames.
fn unpacked(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    match name.rsplit_once('.').unwrap().1 {
        "gz" => drop(flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).unwrap()),
        "zst" => content = zstd::decode_all(bytes).unwrap(),
        _ => content = bytes.to_vec(),
    }
    content
}

fn packed(name: &str, content: &[u8]) -> Vec<u8> {
    match name.rsplit_once('.').unwrap().1 {
        "gz" => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(content).unwrap();
            gzip.finish().unwrap()
        }
        "zst" => zstd::encode_all(content, 1).unwrap(),
        _ => content.to_vec(),
    }
}

#[test]
fn quarantined_records_stay_in_their_places_unless_they_are_to_go() {
    let line = |number: usize| match number % 5 {
        3 => format!("no object {number}\n"),
        // A repetition, which is removed.
        4 => format!("{{\"text\": \"{}\"}}\n", text(number - 2)),
        // The line is longer than a record may be, and than a read.
        1 if number == 21 => format!("{{\"text\": \"{}\"}}\n", "long ".repeat(300_000)),
        _ => format!("{{\"text\": \"{}\"}}\n", text(number)),
    };
    let lines = |select: &dyn Fn(&usize) -> bool| -> String {
        (0..40).filter(select).map(line).collect::<String>()
    };
    let all = lines(&|_| true);
    for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"] {
        let folder = Folder::empty().with(name, packed(name, all.as_bytes()));
        for (more, expected) in [
            ("--write-kept", lines(&|number| number % 5 != 4)),
            ("--write-kept=true", lines(&|number| number % 5 != 4)),
            ("--write-kept=readable", lines(&|n| n % 5 != 4 && n % 5 != 3 && *n != 21)),
        ] {
            let run = ["-q", "--corpus", name, "SIMTOOL_MAX_RECORD=10K", more, "--force"];
            let run = folder.run(&run);
            assert_eq!(run.code, 3, "{}", run.err);
            let copy = fs::read(folder.path("simtool-out/kept").join(name)).unwrap();
            let copy = String::from_utf8(unpacked(name, &copy)).unwrap();
            assert!(copy == expected, "{name} {more:?}: {} bytes, {}", copy.len(), expected.len());
        }
    }
    let folder = Folder::empty().with("a.jsonl", page());
    let run = folder.run(&["--corpus", "a.jsonl", "--write-kept=dropped"]);
    assert_eq!(run.code, 2, "{}", run.err);
}

fn page() -> String {
    format!("{{\"text\": \"{}\"}}\n", text(1))
}

#[cfg(feature = "parquet")]
#[test]
fn rows_without_a_text_and_bad_rows_stay_in_copies_of_parquet_files() {
    let texts: Vec<Option<String>> = (0..30)
        .map(|n| match n {
            5 => Some(text(5).repeat(100)),
            20 => Some(text(18)),
            n => (n % 3 != 1).then(|| text(n)),
        })
        .collect();
    let folder = Folder::empty().with("a.parquet", parquet_of(&texts));
    for (copies, keeps_bad) in [("--write-kept", true), ("--write-kept=readable", false)] {
        let more = ["SIMTOOL_MAX_RECORD=2K", copies, "--force"];
        folder.run(&[&["-q", "--corpus", "a.parquet"], &more[..]].concat());
        let found = parquet_texts(&folder.path("simtool-out/kept/a.parquet"));
        let is_kept = |(n, _): &(usize, &Option<String>)| *n != 20 && (keeps_bad || *n != 5);
        let expected: Vec<_> =
            texts.iter().enumerate().filter(is_kept).map(|(_, text)| text.clone()).collect();
        assert_eq!(found, expected, "{copies}");
    }
}

#[test]
fn a_text_that_was_removed_has_no_copy() {
    let folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    let folder = folder
        .with("in/a.txt", text(1))
        .with("in/b.txt", text(2))
        .with("in/c.txt", text(1))
        .with("in/d.txt.gz", packed("d.gz", text(2).as_bytes()))
        .with("in/empty.txt", "")
        .with("in/long.txt", text(3).repeat(100));
    let run = ["-q", "--corpus", "in", "--write-kept", "SIMTOOL_MAX_RECORD=2K"];
    assert_eq!(folder.run(&run).code, 3);
    let names = |path: &str| {
        let entries = fs::read_dir(folder.path(path)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("simtool-out/kept/in"), ["a.txt", "b.txt", "empty.txt", "long.txt"]);
    for name in ["a.txt", "empty.txt", "long.txt"] {
        let [copy, input] = ["simtool-out/kept/in", "in"].map(|at| folder.path(at).join(name));
        assert!(fs::read(copy).unwrap() == fs::read(input).unwrap(), "{name}");
    }
}

#[test]
fn copies_are_the_same_for_any_number_of_threads() {
    // Every seventh repeats the one before it.
    let line = |n: usize| format!("{{\"id\": {n}, \"text\": \"{}\"}}\n", text(n - n % 7 / 6));
    let lines: String = (0..30_000).map(line).collect();
    let folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    let names = ["a.jsonl", "b.jsonl.gz", "c.jsonl.zst"];
    for name in names {
        fs::write(folder.path("in").join(name), packed(name, lines.as_bytes())).unwrap();
    }
    let mut expected = None;
    for threads in ["1", "2", "5"] {
        let run = ["-q", "--corpus", "in", "--write-kept", "--force", "-j", threads];
        let run = folder.run(&[&run[..], &["--method", "simhash", "-k", "0"]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let copies = names.map(|n| fs::read(folder.path("simtool-out/kept/in").join(n)).unwrap());
        let [plain, ..] = &copies;
        assert!(plain.len() > 2 << 20);
        assert!(expected.get_or_insert_with(|| copies.clone()) == &copies, "{threads} threads");
    }
}

#[test]
fn removed_documents_are_copied_in_the_format_of_their_files() {
    let row = |number: usize, id: &str| format!("{id},{}\r\n", text(number));
    let table = format!("id,text\r\n{}{}{}", row(1, "a"), row(2, "b"), row(1, "c"));
    let line =
        |number: usize, id: &str| format!("{{\"id\": \"{id}\", \"text\": \"{}\"}}\n", text(number));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let lines = [line(3, "d"), line(3, "e"), "no JSON\n".to_owned(), line(2, "f")].concat();
    encoder.write_all(lines.as_bytes()).unwrap();
    let folder = Folder::empty()
        .with("in/1.csv", &table)
        .with("in/2.jsonl.gz", encoder.finish().unwrap())
        .with("in/3.jsonl", line(4, "g"))
        .with("in/4.txt", text(5))
        .with("in/5.txt", text(5));
    let run = folder.run_words("dedup in --write-removed --write-kept --output out -q");
    assert_eq!(run.code, 3, "{}", run.err);
    let removed = |name: &str| fs::read(folder.path("out/removed/in").join(name)).ok();
    assert_eq!(removed("1.csv").unwrap(), format!("id,text\r\n{}", row(1, "c")).as_bytes());
    let mut unpacked = String::new();
    let packed = removed("2.jsonl.gz").unwrap();
    flate2::read::MultiGzDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
    // The bad record was not compared, so it is in the other copy.
    assert_eq!(unpacked, line(3, "e") + &line(2, "f"));
    assert_eq!((removed("3.jsonl"), removed("4.txt")), (None, None));
    assert_eq!(removed("5.txt").unwrap(), text(5).as_bytes());
    assert!(folder.path("out/removed.jsonl").exists() && folder.path("out/kept/in/4.txt").exists());
    // The copies are an input like any other.
    let run = folder.run_words("dedup out/removed --output again -q");
    assert!(run.out.contains("documents                 4\n"), "{}{}", run.out, run.err);

    let items = line(1, "item");
    let folder = folder.with("items.jsonl", items);
    let arguments = "contamination items.jsonl --in in/1.csv --write-kept drop --write-removed --output clean -q";
    let run = folder.run_words(arguments);
    assert_eq!(run.code, 0, "{}", run.err);
    let copy = fs::read_to_string(folder.path("clean/removed/1.csv")).unwrap();
    assert_eq!(copy, format!("id,text\r\n{}{}", row(1, "a"), row(1, "c")));
}
