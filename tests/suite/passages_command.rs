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
    for note in [
        "36.4 % of the words are repeated in at least 2 documents\n",
        "6 words in 2 documents, first in in.jsonl, record 0: The old man, and the SEA\n",
    ] {
        assert!(run.err.contains(note), "{}", run.err);
    }
    // The rows do not depend on threads or on the verification.
    for options in ["--threads 1", "--threads 3", "--verify-words"] {
        let again = folder.run_words(&format!("passages in.jsonl --words 5 {options}"));
        assert_eq!(again.out, run.out, "{options}");
    }
}

#[test]
fn repeats_within_a_document_are_listed_with_anywhere() {
    let folder = folder();
    let run = folder.run_words("passages in.jsonl --words 5 --min-documents 1");
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
        (
            "--min-documents 0",
            "--min-documents 0: must be a number of documents, such as 2 or 2:host",
        ),
        (
            "--min-documents 1:host",
            "counts no documents, so an origin has no effect. Use 1, or 2:host",
        ),
        ("--min-documents 2:site", "must have document, file, folder or host behind its colon"),
        ("--of host", "origins follow the number of documents: --min-documents 2:host"),
        ("--unit page", "invalid value 'page'"),
        ("--unit line --words 0", "--words 0: "),
    ] {
        let run = folder.run_words(&format!("passages in.jsonl {options}"));
        assert_eq!(run.code, 2, "{options}: {}", run.err);
        assert!(run.err.contains(message), "{options}: {}", run.err);
    }
}

/// Returns the texts of the passages that the options find in a file `in.jsonl` with these texts.
fn passages_of(texts: &[&str], options: &str) -> Vec<String> {
    let lines = texts.iter().map(|text| format!("{}\n", json!({ "text": text })));
    let folder = Folder::empty().with("in.jsonl", lines.collect::<String>());
    let run = folder.run_words(&format!("passages in.jsonl --verify-words {options}"));
    assert_eq!(run.code, 0, "{}", run.err);
    let place = |row: &Value, name: &str| row[name].as_u64().unwrap() as usize;
    let excerpt = |row: &Value| {
        let text = texts[place(row, "record")];
        text[place(row, "byte_start")..place(row, "byte_end")].to_owned()
    };
    rows(&run.out).iter().map(excerpt).collect()
}

#[test]
fn whole_units_are_repeated() {
    let texts = [
        "Intro.\nSee the help page for more! It rained. It rained on the whole coast.\nEnd of page",
        "* see THE help page,\nfor more\n\n\"It rained on the whole coast!\" See the help page for more?",
        "See the help page\n for more. It rained\non the whole coast. It rained.",
    ];
    // A line break ends a sentence, and other marks and cases do not matter.
    let sentences = passages_of(&texts, "--unit sentence --words 3");
    let expected = [
        "See the help page for more!",
        "It rained on the whole coast.",
        "* see THE help page,",
        "\"It rained on the whole coast!\" See the help page for more?",
        "See the help page",
    ];
    assert_eq!(sentences, expected);
    // Units of fewer words are left out.
    assert_eq!(passages_of(&texts, "--unit sentence --words 5").len(), 3);
    assert_eq!(
        passages_of(&texts, "--unit line --words 3"),
        ["* see THE help page,", "See the help page"]
    );
    // By default, a line needs eight words.
    assert_eq!(passages_of(&texts, "--unit line"), Vec::<String>::new());
    let paragraphs = ["One two\nthree\n\nand more", "x\n\none\ntwo three", "one two three four"];
    let expected = ["One two\nthree", "one\ntwo three"];
    assert_eq!(passages_of(&paragraphs, "--unit paragraph --words 3"), expected);
}

#[test]
fn documents_of_one_origin_count_as_one() {
    let row = |host: &str, text: &str| {
        format!("{}\n", json!({ "id": format!("http://{host}/{}", text.len()), "text": text }))
    };
    let lines = [
        row("a.example", "the menu of a site and one"),
        row("a.example", "the menu of a site and two more"),
        row("b.example", "the licence of several sites"),
        row("a.example", "the licence of several sites again"),
        row("b.example", "the licence of several sites and again"),
    ];
    let folder = Folder::empty()
        .with("x/in.jsonl", lines.concat())
        .with("y/in.jsonl", row("a.example", "other text with the licence of several sites"));
    let found = |options: &str| {
        let run = folder.run_words(&format!("passages x y --words 5 {options}"));
        assert_eq!(run.code, 0, "{}", run.err);
        rows(&run.out)
    };
    let documents = |rows: &[Value]| -> Vec<u64> {
        rows.iter().map(|row| row["documents"].as_u64().unwrap()).collect()
    };
    assert_eq!(documents(&found("--min-documents 2:document")), [2, 2, 4, 4, 4, 4]);
    // The menu of one host is not repeated, and documents of one host count once.
    let of_hosts = found("--min-documents 2:host");
    assert_eq!(documents(&of_hosts), [2; 4]);
    assert_eq!(of_hosts[0]["occurrences"], 4);
    // The partner is of another host.
    let partners: Vec<&Value> = of_hosts.iter().map(|row| &row["partner_record"]).collect();
    assert_eq!(partners, [3, 2, 3, 2]);
    assert_eq!(documents(&found("--min-documents 2:file")), [2; 4]);
    assert_eq!(found("--min-documents 3:host"), Vec::<Value>::new());
    // The copies are cut wherever they are, if the passage is repeated at all.
    folder.run_words("passages x y --words 5 --min-documents 2:host --write-kept --output out");
    let kept = fs::read_to_string(folder.path("out/kept/x/in.jsonl")).unwrap();
    assert!(kept.contains("the menu of a site and two") && kept.contains(" and again"), "{kept}");
    assert_eq!(kept.matches("licence").count(), 1, "{kept}");
}

#[test]
fn a_preview_has_the_counts_of_the_run_and_writes_nothing() {
    let folder = folder();
    let command = "passages in.jsonl --words 5 --write-kept --output out";
    let preview = folder.run_words(&format!("{command} --preview"));
    assert_eq!((preview.code, &*preview.err), (0, ""));
    assert!(!folder.path("out").exists());
    let run = folder.run_words(command);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<&str> = preview.out.lines().collect();
    let [counts @ .., _, end] = &lines[..] else { panic!("{}", preview.out) };
    assert!(end.starts_with("nothing was written"), "{}", preview.out);
    assert!(counts.len() > 3, "{}", preview.out);
    for line in counts {
        let line = line.trim_start();
        assert!(run.err.contains(&format!("simtool: note: {line}\n")), "{line}: {}", run.err);
    }
    // The texts are a list below the counts.
    assert!(
        counts[2].starts_with(char::is_numeric) && counts[3].starts_with("  "),
        "{}",
        preview.out
    );
    let stored = folder.run_words(&format!("{command} --preview --resume"));
    assert_eq!(stored.code, 2);
    assert!(stored.err.contains("does not go with --preview"), "{}", stored.err);
}

#[test]
fn copies_lose_whole_units() {
    let folder = Folder::empty()
        .with("in/a.txt", "A title\nAll rights of this page are reserved.\nText\n")
        .with("in/b.txt", "B title\n(All rights of this page are reserved!)\nOther text\n");
    let run = folder.run_words(
        "passages in --unit line --words 5 --write-kept --output out --mask [...] --threads 3",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let kept = |name: &str| fs::read_to_string(folder.path("out/kept/in").join(name)).unwrap();
    // The first copy stays, and the later one goes with its brackets.
    assert_eq!(kept("a.txt"), "A title\nAll rights of this page are reserved.\nText\n");
    assert_eq!(kept("b.txt"), "B title\n[...]\nOther text\n");
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["parameters"]["unit"], "line");
    assert_eq!(summary["cut_words"], 7);
}

#[test]
fn little_memory_takes_more_readings_and_too_little_is_an_error() {
    // Each text of twelve words is in two documents, so there are thousands of passages.
    let line = |number: u32| {
        let words: Vec<String> = (0..12).map(|at| format!("w{}", number * 12 + at)).collect();
        format!("{}\n", words.join(" "))
    };
    let lines: String = (0..4000).map(|number| line(number % 2000)).collect();
    let folder = Folder::empty().with("in.txt", lines);
    let run = |memory: &str| {
        folder.run_words(&format!("passages in.txt --split lines --words 10 --max-memory {memory}"))
    };
    let found = run("1G");
    assert_eq!((found.code, found.out.lines().count()), (0, 4000), "{}", found.err);
    assert_eq!(run("4M").out, found.out);
    let refused = run("1M");
    assert_eq!((refused.code, &*refused.out), (1, ""), "{}", refused.err);
    for part in ["the repeated passages need ", "--max-memory leaves ", "with --words"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
}
