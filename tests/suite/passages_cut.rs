//! `simtool passages --write-kept`: copies without the repeated passages.

use crate::program::Folder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Words that several documents of the tests have in common.
const SHARED: &str = "the old man and the sea";

/// Returns the rows of a file in the output folder.
fn rows(folder: &Folder, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("out").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summary(folder: &Folder) -> Value {
    let text = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Cuts passages of five words out of `in`, with more options, and returns the messages.
fn cut(folder: &Folder, options: &str) -> String {
    let options = format!("passages in --words 5 --write-kept --output out --force{options}");
    let run = folder.run_words(&options);
    assert_eq!(run.code, 0, "{}", run.err);
    run.err
}

fn kept(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path("out/kept/in").join(name)).unwrap()
}

#[test]
fn every_format_is_cut_in_place() {
    let wet = |length: usize, text: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {length}\r\nX: y\r\n\r\n{text}\r\n\r\n"
        )
    };
    let files = [
        // The first file has the first copy, so it stays as it is.
        (
            "a.jsonl",
            format!("{{\"text\":\"first {SHARED}\"}}\n"),
            format!("{{\"text\":\"first {SHARED}\"}}\n"),
        ),
        (
            "b.jsonl",
            format!("{{\"n\": 1.0e3,\"text\" : \"\\u00e9 {SHARED} stop\", \"m\":[ ]}}\n"),
            "{\"n\": 1.0e3,\"text\" : \"é \\n stop\", \"m\":[ ]}\n".to_owned(),
        ),
        (
            "c.json",
            format!(
                "[\n {{\"text\": \"eins {SHARED}\"}},\n {{\"text\": \"{SHARED}\"}},\n {{\"text\": \"two\"}}\n]\n"
            ),
            "[\n {\"text\": \"eins \"},\n {\"text\": \"two\"}\n]\n".to_owned(),
        ),
        (
            "d.csv",
            format!("text,n\n\"one, {SHARED} more\",7\r\nother,8\r\n"),
            "text,n\n\"one, \n more\",7\r\nother,8\r\n".to_owned(),
        ),
        ("e.txt", format!("un {SHARED}. Ende\n"), "un \n. Ende\n".to_owned()),
        ("f.wet", wet(31, &format!("uno {SHARED} fin")), wet(9, "uno \n fin")),
    ];
    let mut folder = Folder::empty();
    for (name, content, _) in &files {
        folder = folder.with(&format!("in/{name}"), content);
    }
    let messages = cut(&folder, "");
    for (name, _, expected) in &files {
        assert_eq!(&kept(&folder, name), expected, "{name}");
    }
    assert!(messages.contains("36 words cut: 5 documents shortened, 1 removed"), "{messages}");
    let of_cuts = rows(&folder, "cuts.jsonl");
    let statuses: Vec<&str> = of_cuts.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["cut", "cut", "removed", "cut", "cut", "cut"]);
    let summary = summary(&folder);
    // The counts of the summary agree with the messages and with the rows.
    let counts = ["cut_documents", "removed_documents", "uncut_documents", "cut_words"];
    assert_eq!(counts.map(|count| summary[count].as_u64().unwrap()), [5, 1, 0, 36]);
    assert_eq!(rows(&folder, "files.jsonl")[2]["removed"], 1);
    let repeated = &summary["repeated_in"][0];
    assert_eq!((&repeated["documents"], &repeated["words"]), (&2.into(), &42.into()));
    let top = &summary["top_texts"][0];
    assert_eq!((&top["documents"], &top["words"]), (&7.into(), &6.into()));
    assert_eq!((&top["file"], &top["text"]), (&"in/a.jsonl".into(), &SHARED.into()));
    // No passage is left, and the first copy is.
    let again = folder.run_words("passages out/kept --words 5");
    assert_eq!((again.code, &*again.out), (0, ""));

    // Without any copy, the first document is cut, too.
    let messages = cut(&folder, " --cut all --mask […] --threads 1");
    assert_eq!(kept(&folder, "a.jsonl"), "{\"text\":\"first […]\"}\n");
    assert_eq!(kept(&folder, "e.txt"), "un […]. Ende\n");
    assert!(messages.contains("42 words cut"), "{messages}");
}

#[cfg(feature = "parquet")]
#[test]
fn texts_of_tables_are_cut_and_their_other_columns_stay() {
    use arrow_array::cast::AsArray;
    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::sync::Arc;

    let texts = [
        Some(format!("a {SHARED} b")),
        None,
        Some(format!("c {SHARED} d")),
        Some(SHARED.to_owned()),
    ];
    let column: ArrayRef = Arc::new(texts.into_iter().collect::<StringArray>());
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("n", numbers, false), ("text", column, true)]);
    let batch = batch.unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = Folder::empty().with("in/a.parquet", bytes);
    cut(&folder, "");
    let file = fs::File::open(folder.path("out/kept/in/a.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let copy = reader.next().unwrap().unwrap();
    let texts: Vec<Option<&str>> = copy.column(1).as_string::<i32>().iter().collect();
    assert_eq!(texts, [Some("a the old man and the sea b"), None, Some("c \n d")]);
    assert_eq!(copy.column(0).as_primitive::<arrow_array::types::Int32Type>().values(), &[1, 2, 3]);
    assert_eq!(copy.schema(), batch.schema());
}

/// Columns of a table, each with its name.
#[cfg(feature = "parquet")]
type Columns = Vec<(&'static str, arrow_array::ArrayRef)>;

/// Returns tables with the shared words in the texts of rows 1 and 2. The text is in a dictionary (as pandas writes a
/// category), in two columns, in a struct, and in lists.
#[cfg(feature = "parquet")]
fn tables_of_every_kind() -> Vec<(&'static str, Columns)> {
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, StructArray};
    use arrow_schema::{DataType, Field};
    use std::sync::Arc;

    let texts = [format!("zero {SHARED} b"), format!("one {SHARED} d"), "two".to_owned()];
    let plain: ArrayRef = Arc::new(StringArray::from_iter_values(&texts));
    let keyed: DictionaryArray<Int32Type> = texts.iter().map(String::as_str).collect();
    let field = Arc::new(Field::new("inner", DataType::Utf8, false));
    let nested = StructArray::from(vec![(field, Arc::clone(&plain))]);
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in &texts {
        lists.append_value([Some(text)]);
    }
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![7, 8, 9]));
    let table = |column: ArrayRef| vec![("id", Arc::clone(&ids)), ("text", column)];
    let other = ("other", Arc::new(StringArray::from_iter_values(["x", "y", "z"])) as ArrayRef);
    vec![
        ("text", table(Arc::new(keyed))),
        ("text+other", [table(plain), vec![other]].concat()),
        ("text.inner", table(Arc::new(nested))),
        ("text", table(Arc::new(lists.finish()))),
    ]
}

#[cfg(feature = "parquet")]
#[test]
fn a_text_of_a_table_is_cut_or_listed_as_uncut() {
    use arrow_array::RecordBatch;

    for (number, (field, columns)) in tables_of_every_kind().into_iter().enumerate() {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut parquet = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let mut arrow = Vec::new();
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new(&mut arrow, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        for (name, bytes) in [("a.parquet", parquet), ("a.arrow", arrow)] {
            let folder = Folder::empty().with(&format!("in/{name}"), bytes);
            cut(&folder, &format!(" --verify-words --text-field {field}"));
            let left =
                folder.run_words(&format!("passages out/kept --words 5 --text-field {field}"));
            let is_cut = left.out.is_empty();
            // Only a dictionary of Parquet can have other values in a copy.
            assert_eq!(is_cut, (number, name) == (0, "a.parquet"), "{name} {field}: {}", left.out);
            let uncut = rows(&folder, "uncut.jsonl");
            if is_cut {
                assert!(uncut.is_empty(), "{uncut:?}");
                let copy = fs::read(folder.path("out/kept/in/a.parquet")).unwrap();
                let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(
                    bytes::Bytes::from(copy),
                );
                let copy = reader.unwrap().build().unwrap().next().unwrap().unwrap();
                assert_eq!((copy.schema(), copy.column(0)), (batch.schema(), batch.column(0)));
            } else {
                let expected = serde_json::json!({
                    "id": 8, "file": format!("in/{name}"), "record": 1, "reason": "column"
                });
                assert_eq!(uncut, [expected], "{name} {field}");
            }
        }
    }
}

#[test]
fn the_page_shows_the_most_repeated_texts_and_their_sources() {
    let text = "<script>alert(1)</script> & five more words";
    let folder = Folder::empty()
        .with("in/a.txt", format!("one {text}"))
        .with("in/b.txt", format!("two {text}"))
        .with("in/c.txt", format!("three {text}"))
        .with("in/<d>.txt", "nothing else");
    cut(&folder, " --cut all --min-left 0");
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    for part in [
        "<strong>80.8 %</strong> of 26 words in 4 documents are in 3 repeated passages.",
        "<td>2 or more</td><td class=\"n\">21</td><td class=\"n\">80.8 %</td>",
        "<strong>7 words in 3 documents</strong>",
        "script&gt;alert(1)&lt;/script&gt; &amp; five more words</div>",
        "<th class=\"n\">also in A</th>",
        "in/&lt;d&gt;.txt",
        "<dt>Words cut</dt><dd>21<small>80.8 %</small></dd>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("http-equiv=\"refresh"));
    // Without passages, the page has no lists of them.
    let run = folder.run_words("passages in --words 900 --write-kept --output out --force");
    assert_eq!(run.code, 0, "{}", run.err);
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("<strong>0.0 %</strong> of 26 words"), "{page}");
    assert!(!page.contains("Most repeated") && !page.contains("Who repeats whom"), "{page}");
}

#[test]
fn a_text_that_cannot_be_cut_is_copied_whole_and_counted() {
    let page = format!("<html><body><main><p>Some {SHARED} more</p></main></body></html>");
    let folder =
        Folder::empty().with("in/a.txt", format!("first {SHARED}")).with("in/b.html", &page);
    let messages = cut(&folder, "");
    // The text of a page is extracted, so its places in the page are not known.
    assert_eq!(kept(&folder, "b.html"), page);
    assert!(messages.contains("1 document copied whole"), "{messages}");
    assert_eq!(rows(&folder, "cuts.jsonl")[0]["status"], "whole");
    let uncut = rows(&folder, "uncut.jsonl");
    assert_eq!((&uncut[0]["file"], &uncut[0]["reason"]), (&"in/b.html".into(), &"record".into()));
    assert_eq!(summary(&folder)["uncut_documents"], 1);
    assert_eq!(summary(&folder)["cut_words"], 0);
}

#[test]
fn a_short_rest_is_removed_unless_it_has_a_first_copy() {
    // The second document has a later copy, and the first copy of other words.
    let lines = [
        format!("{{\"text\":\"{SHARED} of the first document\"}}\n"),
        format!("{{\"text\":\"{SHARED} with words that come here first\"}}\n"),
        "{\"text\":\"again with words that come here first\"}\n".to_owned(),
        format!("{{\"text\":\"{SHARED} and a rest of seven words here\"}}\n"),
    ];
    let folder = Folder::empty().with("in/a.jsonl", lines.concat());
    // The rest of the second document has seven words, and six of them are a first copy.
    cut(&folder, " --min-left 8");
    let left = "{\"text\":\" with words that come here first\"}\n";
    assert_eq!(kept(&folder, "a.jsonl"), format!("{}{left}", lines[0]));
    cut(&folder, " --min-left 7");
    assert_eq!(kept(&folder, "a.jsonl").lines().count(), 3);
    // A document with the first copy goes if no copy is kept.
    cut(&folder, " --min-left 8 --cut all");
    assert_eq!(kept(&folder, "a.jsonl"), "");
}

#[test]
fn removed_texts_are_listed() {
    let line = |text: &str| format!("{{\"text\":{}}}\n", Value::from(text));
    let page = format!("<body><p>Page {SHARED} of today</p></body>");
    let cut_twice = format!("é {SHARED} then {SHARED}!");
    let lines = [line(&format!("first {SHARED}")), line(&cut_twice), line(SHARED)];
    let folder = Folder::empty().with("in/a.jsonl", lines.concat()).with("in/b.html", page);
    cut(&folder, " --write-removed");
    let texts: Vec<(u64, usize, String)> = rows(&folder, "removed_texts.jsonl")
        .iter()
        .map(|row| {
            let number = |name: &str| row[name].as_u64().unwrap();
            assert_eq!(row["file"], "in/a.jsonl");
            let text = row["text"].as_str().unwrap().to_owned();
            let bytes = number("byte_end") - number("byte_start");
            assert_eq!(bytes, text.len() as u64);
            (number("record"), number("byte_start") as usize, text)
        })
        .collect();
    // The page is copied whole, so it has lost nothing.
    assert_eq!(rows(&folder, "uncut.jsonl").len(), 1);
    let second = cut_twice.rfind(SHARED).unwrap();
    let expected =
        [(1, 3, SHARED.to_owned()), (1, second, SHARED.to_owned()), (2, 0, SHARED.to_owned())];
    assert_eq!(texts, expected);
    cut(&folder, "");
    assert!(!folder.path("out/removed_texts.jsonl").exists());
}

#[test]
fn cutting_keeps_one_copy_of_everything() {
    // Documents are sequences of numbered words, which repeat each other in many ways.
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut documents: Vec<Vec<u64>> = Vec::new();
    for _ in 0..60 {
        let mut words: Vec<u64> = (0..random(30)).map(|_| random(400)).collect();
        if let Some(source) = documents.get(random(60) as usize) {
            let begin = random(source.len() as u64 + 1) as usize;
            words.extend(&source[begin..]);
        }
        documents.push(words);
    }
    // A window that occurs once may have lost words that are a later copy of others.
    let mut documents_of: BTreeMap<&[u64], BTreeSet<usize>> = BTreeMap::new();
    for (number, words) in documents.iter().enumerate() {
        for window in words.windows(5) {
            documents_of.entry(window).or_default().insert(number);
        }
    }
    let repeated = || documents_of.iter().filter(|(_, numbers)| numbers.len() >= 2);
    let line = |words: &Vec<u64>| {
        let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        format!("{{\"text\":\"{}\"}}\n", words.join(" "))
    };
    let lines: Vec<String> = documents.iter().map(line).collect();
    let folder = Folder::empty().with("in/a.jsonl", lines.concat());
    cut(&folder, "");
    let copy = kept(&folder, "a.jsonl");
    let read = |line: &str| -> Vec<Vec<u64>> {
        let text =
            serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned();
        // Words before and after a cut are not next to each other in the input.
        let parts = text
            .split('\n')
            .map(|part| part.split_whitespace().map(|word| word[1..].parse().unwrap()).collect());
        parts.collect()
    };
    let left: Vec<Vec<u64>> = copy.lines().flat_map(read).collect();
    let left: BTreeSet<&[u64]> = left.iter().flat_map(|words| words.windows(5)).collect();
    assert!(repeated().count() > 100);
    assert!(repeated().all(|(window, _)| left.contains(window)));
    assert!(copy.len() < lines.concat().len() * 9 / 10, "{} bytes", copy.len());
    // The copy does not depend on the number of threads.
    cut(&folder, " --threads 1");
    assert_eq!(kept(&folder, "a.jsonl"), copy);
}

#[test]
fn wrong_options_for_cutting_are_refused() {
    let folder = Folder::empty().with("in/a.txt", SHARED);
    for (options, message) in [
        ("--write-kept", "add --output DIR"),
        ("--write-kept --output -", "--output -: is needed with --write-kept"),
        ("--mask x --output out", "--write-kept"),
        (
            "--write-removed --output out",
            "this option is for copies of the files, which --write-kept writes",
        ),
        ("--write-kept --output in", "overlaps the input"),
        ("--write-kept --output out --min-left few", "--min-left few: must be a number of words"),
        ("--write-kept --output out --mask a\tb", "must be one line without control characters"),
        ("--write-kept --output out --cut last", "invalid value 'last'"),
    ] {
        let run = folder.run_words(&format!("passages in {options}"));
        assert_eq!(run.code, 2, "{options}: {}", run.err);
        assert!(run.err.contains(message), "{options}: {}", run.err);
        assert!(!folder.path("out").exists(), "{options}");
    }
}
