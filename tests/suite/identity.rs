//! IDs that do not identify documents, and inputs that have no copy: nothing about them is silent.

use crate::program::Folder;
use serde_json::{Value, json};
use std::fs;

const ROSE: &str = "the red rose climbs over the garden wall and blooms all summer long";
const BOAT: &str = "a small boat leaves the harbour at dawn with nets and two quiet men";

fn line(id: &str, text: &str) -> String {
    format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")
}

/// Returns the lines of a file of the output folder, parsed as JSON.
fn lines(folder: &Folder, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("out").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns two files in which `page` names three documents: a kept one, a removed one, and one that is
/// similar to no other.
fn ambiguous() -> Folder {
    let first = [line("page", ROSE), line("b", BOAT)].concat();
    let second = [line("page", BOAT), line("c", ROSE), line("page", "words of its own")].concat();
    Folder::empty().with("in/a.jsonl", first).with("in/b.jsonl", second)
}

#[test]
fn documents_with_equal_ids_are_counted() {
    let folder = ambiguous();
    let run = folder.run_words("--corpus in --output out --json");
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&summary["shared_ids"], &summary["ambiguous_ids"]), (&json!(3), &json!(1)));
    let run = folder.run_words("--corpus in --output out --force");
    for row in [
        "shared IDs                3  documents whose ID another document has, too",
        "ambiguous IDs             1  removed documents that have the same ID as a kept document",
    ] {
        assert!(run.out.contains(row), "{}", run.out);
    }
    let distinct = Folder::empty().with("in/a.jsonl", [line("a", ROSE), line("b", ROSE)].concat());
    let run = distinct.run_words("--corpus in --output out");
    assert!(!run.out.contains("IDs"), "{}", run.out);
}

#[test]
fn ids_keep_their_type_in_json() {
    let ids = ["1", "\"1\"", "12.50", "-3e2", "123456789012345678901234567890", "\"01\"", "true"];
    let text = |(at, id): (usize, &&str)| {
        let text = if at % 2 == 0 { ROSE } else { BOAT };
        format!("{{\"id\":{id},\"text\":\"{text}\"}}\n")
    };
    let folder = Folder::empty()
        .with("in/a.jsonl", ids.iter().enumerate().map(text).collect::<Vec<_>>().concat());
    folder.run_words("--corpus in --output out --pairs -q");
    let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
    let pairs = fs::read_to_string(folder.path("out/pairs.jsonl")).unwrap();
    let clusters = fs::read_to_string(folder.path("out/clusters.jsonl")).unwrap();
    for (line, (id, kept)) in removed.lines().zip([
        ("12.50", "1"),
        ("-3e2", "\"1\""),
        ("123456789012345678901234567890", "1"),
        ("\"01\"", "\"1\""),
        ("\"true\"", "1"),
    ]) {
        assert!(line.starts_with(&format!("{{\"id\":{id},\"file\"")), "{line}");
        assert!(line.contains(&format!("\"kept_id\":{kept},")), "{line}");
        assert!(clusters.contains(&format!("{{\"id\":{id},\"file\"")), "{clusters}");
        assert!(pairs.contains(&format!(":{id},\"")), "{pairs}");
    }
    assert_eq!(removed.lines().count(), 5);
    for id in ["12.50", "123456789012345678901234567890"] {
        let run = folder.run_words(&format!("why out {id}"));
        assert!(run.out.starts_with(&format!("{id} was removed")), "{}", run.out);
    }
}

#[test]
fn a_list_of_ids_names_the_places_if_ids_are_ambiguous() {
    let folder = ambiguous();
    let run = folder.run_words("--corpus in --output out --output-format ids");
    let note = "note: the IDs of 1 removed document belong to kept documents, too";
    assert!(run.err.contains(note), "{}", run.err);
    assert_eq!(
        lines(&folder, "removed.jsonl"),
        [
            json!({"id": "page", "file": "in/b.jsonl", "record": 0}),
            json!({"id": "c", "file": "in/b.jsonl", "record": 1}),
        ]
    );
    // All documents with the shared ID are removed, so the IDs are enough.
    let text = [line("a", ROSE), line("b", ROSE), line("b", ROSE)].concat();
    let folder = Folder::empty().with("in/a.jsonl", text);
    let run = folder.run_words("--corpus in --output out --output-format ids -q");
    assert_eq!(run.err, "");
    assert_eq!(lines(&folder, "removed.jsonl"), [json!({"id": "b"}), json!({"id": "b"})]);
}

#[test]
fn all_documents_of_an_id_are_listed_kept_ones_too() {
    let folder = ambiguous();
    folder.run_words("--corpus in --output out -q");
    let run = folder.run_words("why out page");
    assert!(run.out.starts_with("page was kept, in place of 1 document\n"), "{}", run.out);
    let note = "note: 2 more of this ID: in/b.jsonl:0, in/b.jsonl:2; FILE:RECORD names one\n";
    assert!(run.err.ends_with(note), "{}", run.err);
    // The document with this ID that is similar to no other is the first one in its file.
    let run = folder.run_words("why out in/b.jsonl:2");
    assert!(run.out.starts_with("in/b.jsonl:2 was kept: nothing in the run"), "{}", run.out);
    let run = folder.run_words("compare out#page in/b.jsonl#page");
    assert!(run.err.contains("A: 2 more of this ID: in/b.jsonl:0, in/b.jsonl:2"), "{}", run.err);
    assert!(run.err.contains("B: 1 more of this ID: in/b.jsonl:2"), "{}", run.err);
    // Without the inputs, the outputs still explain what they have.
    fs::remove_dir_all(folder.path("in")).unwrap();
    let run = folder.run_words("why out page");
    assert!(run.err.contains("1 more of this ID: in/b.jsonl:0;"), "{}", run.err);
}

#[test]
fn every_input_has_a_copy_or_a_reason() {
    let folder = Folder::empty()
        .with("x/a.jsonl", [line("a", ROSE), line("b", ROSE), "{\n".to_owned()].concat())
        .with("y/a.jsonl", line("c", "words of its own"))
        .with("y/empty.txt", "")
        .with("y/first.txt", BOAT)
        .with("y/second.txt", BOAT)
        .with("y/page.pdf", "%PDF-1.7 and so on");
    let run = folder.run_words("--corpus x/a.jsonl y/a.jsonl y --output out --write-kept");
    assert_eq!(run.code, 3, "{}", run.err);
    let row = |file: &str, copy: &str, counts: [u64; 2], reason: &str| {
        let [documents, removed] = counts;
        json!({"file": file, "copy": copy, "documents": documents, "removed": removed,
               "reason": reason})
    };
    assert_eq!(
        lines(&folder, "files.jsonl"),
        [
            row("x/a.jsonl", "kept/a.jsonl", [2, 1], ""),
            row("y/a.jsonl", "kept/a-2.jsonl", [1, 0], ""),
            row("y/empty.txt", "kept/y/empty.txt", [0, 0], ""),
            row("y/first.txt", "kept/y/first.txt", [1, 0], ""),
            row("y/page.pdf", "", [0, 0], "unreadable"),
            row("y/second.txt", "", [1, 1], "removed"),
        ]
    );
    // The summary, the table and the page count the files without a copy.
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("out/summary.json")).unwrap())
            .unwrap();
    assert_eq!(summary["uncopied_files"], 1);
    assert!(run.out.contains("not copied"), "{}", run.out);
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("<p>1 file of these has no copy in <code>kept</code>"), "{page}");
    for row in lines(&folder, "files.jsonl") {
        let copy = row["copy"].as_str().unwrap();
        assert!(copy.is_empty() || folder.path("out").join(copy).is_file(), "{row}");
    }
}
