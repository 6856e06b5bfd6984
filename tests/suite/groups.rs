//! Groups and preferences: the options `--within`, `--across`, `--prefer`, `--keep-count`, and `--keep` with
//! several rules.

use crate::program::Folder;
use serde_json::{Value, json};
use std::fs;

const TEXT: &str = "the tides of the sea depend on the moon and on the sun in plain words";

/// Returns a line of JSON with a text of the given number of words, and with more fields.
fn line(id: u32, words: usize, fields: &str) -> String {
    let text: Vec<&str> = TEXT.split(' ').take(words).collect();
    format!("{{\"id\":{id},\"text\":\"{}\"{fields}}}\n", text.join(" "))
}

/// Runs `dedup` on `in`, and returns the summary and the IDs of removed documents with those of the kept ones.
fn run(folder: &Folder, options: &str) -> (Value, Vec<[Value; 2]>) {
    let run = folder.run_words(&format!("dedup in --force --quiet {options}"));
    assert_eq!(run.code, 0, "{options}: {}", run.err);
    let read = |name: &str| fs::read_to_string(folder.path("simtool-out").join(name)).unwrap();
    let ids = |row: &str| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        [row["id"].take(), row["kept_id"].take()]
    };
    let removed = read("removed.jsonl").lines().map(ids).collect();
    (serde_json::from_str(&read("summary.json")).unwrap(), removed)
}

#[test]
fn documents_are_compared_within_or_across_a_field_of_any_format() {
    let row = |id: u32, lang: &str| format!("{id}\t{lang}\t{TEXT}\n");
    let warc = |host: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://{host}/x\r\n\
             lang: en\r\nContent-Length: {}\r\n\r\n{TEXT}\r\n\r\n",
            TEXT.len()
        )
    };
    let of = |lang: &str| format!(",\"meta\":{{\"lang\":\"{lang}\"}}");
    let json = line(1, 16, &of("en")) + &line(2, 16, &of("de")) + &line(3, 16, "");
    let folder = Folder::empty()
        .with("in/a.jsonl", json)
        .with("in/b.tsv", format!("id\tlang\ttext\n{}{}", row(4, "de"), row(5, "en")))
        .with("in/c/d.warc", warc("a.example") + &warc("b.example"));
    let [x, y] = ["https://a.example/x", "https://b.example/x"];
    for (options, expected, not_compared) in [
        ("--within meta.lang,lang", json!([["4", 2], ["5", 1], [x, 1], [y, 1]]), json!(1)),
        ("--across meta.lang,lang", json!([[2, 1], ["4", 1]]), json!(1)),
        ("--within file", json!([[2, 1], [3, 1], ["5", "4"], [y, x]]), json!(0)),
        ("--across file", json!([["4", 1], ["5", 1], [x, 1], [y, 1]]), json!(0)),
        ("--within folder", json!([[2, 1], [3, 1], ["4", 1], ["5", 1]]), json!(0)),
        ("--across host", json!([[y, x]]), json!(5)),
    ] {
        for method in ["", " --method simhash", " --method simhash --verify 0.9"] {
            let (summary, removed) = run(&folder, &format!("{options}{method}"));
            assert_eq!(json!(removed), expected, "{options}{method}");
            assert_eq!(summary["not_compared"], not_compared, "{options}");
            let (option, name) = options.trim_start_matches('-').split_once(' ').unwrap();
            assert_eq!(summary["parameters"][option], name, "{options}");
        }
    }
    let why = folder.run_words("why simtool-out 3");
    assert!(
        why.out.contains(
            "--within, --across, --lose, --keep-count or other titles of web pages may keep"
        ),
        "{}",
        why.out
    );
    let (_, removed) = run(&folder, "--within host --threads 1");
    assert!(removed.is_empty());
    let matched = folder
        .run_words("match in/a.jsonl --against in/b.tsv --within meta.lang,lang --json -q --force");
    assert_eq!(matched.code, 0, "{}", matched.err);
    let summary: Value = serde_json::from_str(&matched.out).unwrap();
    assert_eq!((&summary["removed"], &summary["pairs"]), (&json!(2), &json!(2)), "{summary}");
}

#[test]
fn values_in_the_folders_of_a_path_are_fields() {
    let folder = Folder::empty()
        .with("in/lang=en/year=2022/a.jsonl", line(1, 16, "") + &line(2, 16, ",\"lang\":\"de\""))
        .with("in/lang=en/year=2024/b.csv", format!("id,text\n3,{TEXT}\n"))
        .with("in/lang=de/year=2023/c.jsonl", line(4, 16, ""))
        .with("in/lang=__HIVE_DEFAULT_PARTITION__/d.jsonl", line(5, 16, ""));
    for (options, expected) in [
        ("--within lang", json!([[2, 4], ["3", 1]])),
        ("--across lang", json!([[1, 4], ["3", 4]])),
        ("--within lang --keep max:year", json!([[1, "3"], [2, 4]])),
        ("--prefer lang=de", json!([[1, 4], [2, 4], ["3", 4], [5, 4]])),
    ] {
        let (_, mut removed) = run(&folder, options);
        removed.sort_by_key(|row| row[0].to_string().replace('"', ""));
        let mut expected: Vec<[Value; 2]> = serde_json::from_value(expected).unwrap();
        expected.sort_by_key(|row| row[0].to_string().replace('"', ""));
        assert_eq!(removed, expected, "{options}");
    }
    let texts = Folder::empty()
        .with("in/lang=en/a.txt", TEXT)
        .with("in/lang=de/b.txt", TEXT)
        .with("in/lang=de/c.txt", TEXT);
    let (summary, _) = run(&texts, "--within lang");
    assert_eq!(summary["removed"], json!(1), "{summary}");
    let wrong = texts.run_words("dedup in --within language --force");
    assert!(wrong.code == 2 && wrong.err.contains("--within language"), "{}", wrong.err);
}

#[test]
fn several_rules_choose_the_kept_documents() {
    let of = |source: &str, score: u32| format!(",\"source\":\"{source}\",\"score\":{score}");
    let documents = [
        line(1, 14, &of("web", 9)),
        line(2, 15, &of("news", 9)),
        line(3, 15, &of("wiki", 1)),
        line(4, 15, &of("news", 9)),
        line(5, 14, &of("wiki", 1)),
        line(6, 15, ""),
    ];
    let folder = Folder::empty().with("in/a.jsonl", documents.concat());
    for (options, kept) in [
        ("--keep max:score", vec![1]),
        ("--keep max:score,longest", vec![2]),
        ("--keep max:score,longest,last", vec![4]),
        ("--keep min:score,longest", vec![3]),
        ("--prefer source=wiki,news", vec![3]),
        ("--prefer source=wiki,news --keep last", vec![5]),
        ("--prefer source=book,news --keep longest,last", vec![4]),
        ("--keep-count 2", vec![1, 2]),
        ("--keep-count 3 --keep max:score,last", vec![1, 2, 4]),
        ("--keep-count 2 --prefer source=wiki --cluster components", vec![3, 5]),
        ("--keep-count 9", vec![1, 2, 3, 4, 5, 6]),
    ] {
        let (summary, removed) = run(&folder, &format!("--similarity 0.6 {options}"));
        let mut left: Vec<u64> = (1..=6).collect();
        left.retain(|id| !removed.iter().any(|[removed, _]| *removed == *id));
        assert_eq!(left, kept, "{options}");
        assert_eq!(summary["kept"], kept.len(), "{options}");
        assert_eq!(
            summary["removed_at"].as_array().unwrap().last().unwrap()["removed"],
            6 - kept.len()
        );
    }
    let (summary, _) = run(&folder, "--keep max:score,longest --prefer source=wiki --keep-count 2");
    let expected = [("keep", json!("max:score,longest")), ("prefer", json!("source=wiki"))];
    for (name, value) in expected.into_iter().chain([("keep_count", json!(2))]) {
        assert_eq!(summary["parameters"][name], value, "{name}");
    }
    let run = folder.run_words("dedup in --prefer source=book --output noted");
    assert!(run.err.contains("no document has a preferred value of source"), "{}", run.err);
}

#[test]
fn wrong_fields_are_refused_before_anything_is_written() {
    let folder = Folder::empty().with("in/a.jsonl", line(1, 15, ",\"a\":\"\"")).with("b.txt", TEXT);
    for (arguments, message) in [
        ("in --within lang", "--within lang: no record has this field; there are: id, text, a"),
        ("in --across lang", "--across lang: no record has this field"),
        ("in --within host", "--within host: no document has a URI as its ID"),
        ("in --prefer lang=en", "--prefer lang: no record has this field"),
        ("in --keep longest,max:lang", "--keep lang: no record has this field"),
        ("in --within a+b", "--within a+b: joins fields"),
        ("in --within a --across a", "cannot be used with"),
        ("in --prefer lang", "--prefer lang: must be a field and its preferred values"),
        ("in --keep longest,best", "--keep best: must be one of first, last"),
        ("in --keep first,longest", "--keep longest: follows --keep first or last"),
        ("in --keep-count 0", "--keep-count 0: must be a whole number of at least 1"),
        ("b.txt --within lang", "--within lang: is of warc, parquet"),
    ] {
        let run = folder.run_words(&format!("dedup {arguments}"));
        assert_eq!(run.code, 2, "{arguments}: {}", run.err);
        assert!(run.err.contains(message), "{arguments}: {}", run.err);
        assert!(!folder.path("simtool-out").exists(), "{arguments}");
    }
    let run = folder.run_words("dedup in --within a");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("the field a is empty everywhere; no documents were compared"),
        "{}",
        run.err
    );
}

#[test]
fn a_run_within_folders_is_equal_to_a_run_of_each_folder() {
    let mut folder = Folder::empty();
    for (number, name) in ["x", "y", "z"].into_iter().enumerate() {
        let number = number as u32 * 100;
        let lines: String = (1..60).map(|id| line(number + id, 6 + id as usize % 10, "")).collect();
        folder = folder.with(&format!("in/{name}/a.jsonl"), lines);
    }
    let removed = |input: &str, options: &str| -> Vec<String> {
        let arguments = format!("dedup {input} --force --quiet --output-format ids {options}");
        let run = folder.run_words(arguments.trim_end());
        assert_eq!(run.code, 0, "{}", run.err);
        let list = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
        list.lines().map(str::to_owned).collect()
    };
    for options in ["", "--method simhash --max-distance 6", "--keep longest,last --keep-count 2"] {
        let together = removed("in", &format!("--within folder {options}"));
        let apart = ["in/x", "in/y", "in/z"].map(|input| removed(input, options)).concat();
        assert!(together.len() > 100 && together == apart, "{options}");
        let one_thread = removed("in", &format!("--within folder --threads 1 {options}"));
        assert_eq!(one_thread, together, "{options}");
    }
}

#[test]
fn the_case_of_a_host_makes_no_difference() {
    let page = |uri: &str| format!("{{\"id\":\"{uri}\",\"text\":\"{TEXT}\"}}\n");
    let uris = ["http://a.example/x/1", "HTTP://A.Example./x/2", "http://a.example/X/3"];
    let folder = Folder::empty().with("in/pages.jsonl", uris.map(page).concat());
    let removed = |options: &str| run(&folder, options).1.len();
    assert_eq!([removed("--within host"), removed("--across host")], [2, 0]);
    // Servers may distinguish the case of a path.
    assert_eq!([removed("--within folder"), removed("--across folder")], [1, 1]);
}

#[test]
fn a_document_stays_if_its_removal_would_lose_too_many_words() {
    let text = |id: u32, server: &str| {
        format!("{{\"id\":{id},\"text\":\"{TEXT} is on server {server}\"}}\n")
    };
    let folder = Folder::empty().with("in/a.jsonl", text(1, "A") + &text(2, "B") + &text(3, "A"));
    for (options, expected, kept_for_words, lost_words) in [
        ("--keep first", json!([[2, 1], [3, 1]]), json!(null), json!(1)),
        ("--lose 0", json!([[3, 1]]), json!(1), json!(0)),
        ("--lose 1", json!([[2, 1], [3, 1]]), json!(0), json!(1)),
        ("--lose 4%", json!([[3, 1]]), json!(1), json!(0)),
        ("--lose 5%", json!([[2, 1], [3, 1]]), json!(0), json!(1)),
        ("--lose 0 --method simhash -k 20 --verify 0.8", json!([[3, 1]]), json!(1), json!(0)),
    ] {
        let (summary, removed) = run(&folder, options);
        assert_eq!(json!(removed), expected, "{options}");
        assert_eq!(summary["kept_for_words"], kept_for_words, "{options}");
        assert_eq!(summary["lost_words"], lost_words, "{options}");
    }
    let signs = Folder::empty().with("in/a.jsonl", text(1, "+5") + &text(2, "-5") + &text(3, "+5"));
    for (options, expected) in [
        ("--lose 0", json!([[3, 1]])),
        ("--lose 0%", json!([[3, 1]])),
        ("--lose 1", json!([[2, 1], [3, 1]])),
    ] {
        assert_eq!(json!(run(&signs, options).1), expected, "{options}");
    }
    let folder = folder.with("b.jsonl", text(4, "A") + &text(5, "C"));
    let matched = folder.run_words("match b.jsonl --against in --lose 0 --force --json --quiet");
    let summary: Value = serde_json::from_str(&matched.out).unwrap();
    assert_eq!((&summary["removed"], &summary["kept_for_words"]), (&json!(1), &json!(1)));
    for (options, message) in [
        ("--lose many", "--lose many: must be a number of words, such as 3, or a percentage"),
        ("--lose 0 --method simhash", "--lose 0: compares the texts of removed and kept documents"),
    ] {
        let run = folder.run_words(&format!("dedup in --force {options}"));
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(message), "{}", run.err);
    }
}
