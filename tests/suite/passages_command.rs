//! `simtool passages`: its rows, counts and errors.

use crate::program::Folder;
use serde_json::{Value, json};
use std::fs;

/// Three documents. The first two have six words in common, written differently. The third one repeats five words.
fn folder() -> Folder {
    let texts = [
        "Once upon a time: The old man, and the SEA went home",
        "nobody saw the old man and  the sea at night",
        "left right left right up\nand LEFT, right, left, right, up",
    ];
    let lines =
        ["a", "b", "c"].iter().zip(texts).map(|(id, text)| json!({ "id": id, "text": text }));
    let lines: Vec<String> = lines.map(|line| format!("{line}\n")).collect();
    Folder::empty().with("in.jsonl", lines.concat())
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn passages_of_several_documents_are_listed_with_their_places() {
    let folder = folder();
    let run = folder.run_words("passages in.jsonl --words 5");
    assert_eq!(run.code, 0, "{}", run.err);
    let expected = [
        json!({ "id": "a", "file": "in.jsonl", "record": 0, "word_start": 4, "word_end": 10, "byte_start": 18,
            "byte_end": 42, "documents": 2, "occurrences": 2, "first": true, "whole": false, "partner_id": "b",
            "partner_file": "in.jsonl", "partner_record": 1, "partner_byte_start": 11, "partner_byte_end": 31 }),
        json!({ "id": "b", "file": "in.jsonl", "record": 1, "word_start": 2, "word_end": 8, "byte_start": 11,
            "byte_end": 35, "documents": 2, "occurrences": 2, "first": false, "whole": false, "partner_id": "a",
            "partner_file": "in.jsonl", "partner_record": 0, "partner_byte_start": 18, "partner_byte_end": 38 }),
    ];
    assert_eq!(rows(&run.out), expected);
    assert!(
        run.err.contains("2 repeated passages in 3 documents, 0 of them whole documents"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("12 of 33 words are in them (36.4 %), 6 of these in later copies"),
        "{}",
        run.err
    );
    // The rows do not depend on threads or on the verification.
    for options in ["--threads 1", "--threads 3", "--verify-words"] {
        let again = folder.run_words(&format!("passages in.jsonl --words 5 {options}"));
        assert_eq!(again.out, run.out, "{options}");
    }
}

#[test]
fn repeats_within_a_document_are_listed_with_anywhere() {
    let folder = folder();
    let run = folder.run_words("passages in.jsonl --words 5 --anywhere");
    let ids: Vec<Value> = rows(&run.out).into_iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["a", "b", "c", "c"]);
    let none = folder.run_words("passages in.jsonl --words 5 --min-documents 3");
    assert_eq!((none.code, &*none.out), (0, ""));
    assert!(none.err.contains("0 repeated passages in 3 documents"), "{}", none.err);
}

#[test]
fn files_are_written_whole_and_never_over_an_input() {
    let folder = folder();
    let tsv = "passages in.jsonl --words 6 --output out.tsv --output-format tsv --quiet";
    assert_eq!(folder.run_words(tsv).code, 0);
    let written = fs::read_to_string(folder.path("out.tsv")).unwrap();
    assert_eq!(written.lines().count(), 3);
    assert!(written.starts_with("id\tfile\trecord\tword_start\tword_end\t"), "{written}");
    let again = folder.run_words(tsv);
    assert!(again.code == 2 && again.err.contains("out.tsv"), "{}", again.err);
    assert_eq!(folder.run_words(&format!("{tsv} --force")).code, 0);
    let over = folder.run_words("passages in.jsonl --output in.jsonl --force");
    assert!(over.code == 2 && over.err.contains("is the input"), "{}", over.err);
}

#[test]
fn wrong_numbers_are_refused() {
    let folder = folder();
    for (options, message) in [
        ("--words 0", "--words 0: "),
        ("--words 1001", "--words 1001: "),
        ("--words many", "--words many: must be a number of words"),
        ("--min-documents 1", "--min-documents 1: must be a number of documents of at least 2"),
        ("--min-documents 3 --anywhere", "cannot be used with"),
    ] {
        let run = folder.run_words(&format!("passages in.jsonl {options}"));
        assert_eq!(run.code, 2, "{options}: {}", run.err);
        assert!(run.err.contains(message), "{options}: {}", run.err);
    }
}
