//! Removals by source: the options `--by` and `--fail-if`, and the report of sources that lose nearly all documents.

use crate::program::Folder;
use serde_json::{Value, json};
use std::fs;

/// Returns lines of JSON with these numbers as IDs. Documents whose numbers have the same last two digits are equal.
fn lines(ids: std::ops::Range<u32>, lang: &str) -> String {
    let line = |id: u32| {
        let text = id % 100;
        format!(
            "{{\"id\":\"https://h{}.example/{id}\",\"lang\":\"{lang}\",\"text\":\"text {text} of the tides {text} and the moon {text}\"}}\n",
            id / 100
        )
    };
    ids.map(line).collect()
}

/// Returns the rows of the output `sources`.
fn sources(folder: &Folder, options: &str) -> Vec<Value> {
    let run = folder.run_words(&format!("{options} --force --quiet"));
    assert_eq!(run.code, 0, "{options}: {}", run.err);
    let rows = fs::read_to_string(folder.path("simtool-out/sources.jsonl")).unwrap();
    rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn removals_are_counted_by_file_folder_host_or_field() {
    let folder = Folder::empty()
        .with("in/a/1.jsonl", lines(0..4, "en"))
        .with("in/b/2.jsonl", lines(100..103, "de") + &lines(203..204, "en"));
    let row = |source: &str, documents: u32, removed: u32, repeats: Value| json!({"source": source, "documents": documents, "removed": removed, "lost_words": 0, "repeats": repeats});
    let of = |source: &str, removed: u32| json!({"source": source, "removed": removed});
    let [first, second] = ["in/a/1.jsonl", "in/b/2.jsonl"];
    assert_eq!(
        sources(&folder, "dedup in --by file"),
        [row(first, 4, 0, json!([])), row(second, 4, 4, json!([of(first, 4)]))]
    );
    let [a, b] = ["https://h0.example/", "https://h1.example/"];
    let hosts = sources(&folder, "dedup in --by host");
    assert_eq!(hosts[1], row("h1.example", 3, 3, json!([of("h0.example", 3)])));
    assert_eq!(hosts.len(), 3);
    assert_eq!(sources(&folder, "dedup in --by folder")[1], row(b, 3, 3, json!([of(a, 3)])));
    // Documents without the field would have a row without a name.
    let expected = [row("en", 5, 1, json!([of("en", 1)])), row("de", 3, 3, json!([of("en", 3)]))];
    for threads in [1, 3] {
        let by_field = format!("dedup in --by lang --threads {threads}");
        assert_eq!(sources(&folder, &by_field), expected);
    }
    let matched = sources(&folder, "match in/b --against in/a --by lang");
    assert_eq!(
        matched,
        [row("de", 3, 3, json!([of("en", 3)])), row("en", 1, 1, json!([of("en", 1)]))]
    );
    let missing = folder.run_words("dedup in --by colour --force");
    assert!(missing.code == 2 && missing.err.contains("colour"), "{}", missing.err);
}

#[test]
fn a_source_that_loses_nearly_all_documents_is_an_alarm() {
    let folder = Folder::empty().with("in/a.jsonl", lines(0..100, "en")).with(
        "in/b.jsonl",
        lines(100..199, "de") + "{\"text\":\"a text of its own and no other\"}\n",
    );
    let run = folder.run_words("dedup in");
    assert_eq!(run.code, 0, "{}", run.err);
    let note = "99 of 100 documents of in/b.jsonl are removed (99.0 %)";
    assert!(run.err.contains(note), "{}", run.err);
    let emptied = run.out.lines().find(|line| line.starts_with("sources emptied")).unwrap();
    assert!(emptied.contains(" 1 "), "{emptied}");
    for (conditions, message) in [
        (
            "removed>49%",
            "--fail-if removed>49%: 99 of 200 documents are removed (49.5 %); nothing was written",
        ),
        ("removed>50%,source:removed>98%", note),
    ] {
        let options = ["dedup", "in", "--output", "other", "--fail-if", conditions];
        let run = folder.run(&options);
        assert_eq!(run.code, 4, "{conditions}: {}", run.err);
        assert!(run.err.contains(message), "{conditions}: {}", run.err);
        assert!(!folder.path("other").exists());
    }
    let allowed =
        ["dedup", "in", "--output", "other", "--fail-if", "removed>49.5%,source:removed>99%"];
    assert_eq!(folder.run(&allowed).code, 0);
    let wrong = folder.run(&["dedup", "in", "--fail-if", "removed>many"]);
    assert!(wrong.code == 2 && wrong.err.contains("must be removed>30%"), "{}", wrong.err);
}
