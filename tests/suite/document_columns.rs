//! The columns `tokens`, `exact_copies` and `repeated_share` of the output `documents`, compared with brute force.

use crate::program::Folder;
use crate::random_texts::{Random, json_lines, texts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Number of words of a passage in these tests.
const WORDS: usize = 4;

/// Methods that take different ways through the program. Each has one of the tokenizers.
const METHODS: [&str; 7] = [
    "--similarity 0.5 --shingle 2",
    "--method simhash --max-distance 8",
    "--method simhash --max-distance 16 --verify 0.6 --stop-words english",
    "--method minhash --max-distance 120 --shingle words:2",
    "--method exact --shingle ascii --within file",
    "--method i-match:lexicons=2 --max-distance 1",
    "--cluster components --similarity 0.3 --shingle 1 --keep longest",
];

/// Runs `simtool dedup in --annotate` with more options, and returns the rows of documents.jsonl.
fn documents(folder: &Folder, options: &str) -> Vec<Value> {
    let annotate = if options.contains("--annotate") { "" } else { "--annotate" };
    let run = folder.run_words(
        &format!("dedup in {options} --output out --force {annotate}")
            .trim_end()
            .replace("  ", " "),
    );
    assert_eq!(run.code, 0, "{options}: {}", run.err);
    let rows = fs::read_to_string(folder.path("out/documents.jsonl")).unwrap();
    rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the share of the words of each text that are in a window of [`WORDS`] words that is also in another text.
fn repeated_shares(texts: &[String]) -> Vec<Option<f64>> {
    let words: Vec<Vec<&str>> =
        texts.iter().map(|text| text.split_whitespace().collect()).collect();
    let has = |other: usize, window: &[&str]| words[other].windows(WORDS).any(|w| w == window);
    let share = |row: usize| {
        let own = &words[row];
        let mut is_repeated = vec![false; own.len()];
        for (start, window) in own.windows(WORDS).enumerate() {
            if (0..texts.len()).any(|other| other != row && has(other, window)) {
                is_repeated[start..start + WORDS].fill(true);
            }
        }
        let repeated = is_repeated.iter().filter(|&&is| is).count();
        (!own.is_empty()).then(|| repeated as f64 / own.len() as f64)
    };
    (0..texts.len()).map(share).collect()
}

#[test]
fn columns_equal_brute_force() {
    let mut random = Random(11);
    for method in METHODS {
        let all = texts(&mut random, 120);
        let halves = [&all[..50], &all[50..]].map(json_lines);
        let folder = Folder::empty().with("in/a.jsonl", &halves[0]).with("in/b.jsonl", &halves[1]);
        let rows = documents(&folder, &format!("{method} --annotate=repeated={WORDS}"));
        assert_eq!(rows.len(), all.len());
        let shares = repeated_shares(&all);
        assert!(shares.iter().any(|share| share.is_some_and(|share| 0.0 < share && share < 1.0)));
        for (row, text) in rows.iter().zip(&all) {
            let tokens = text.split_whitespace().count();
            assert_eq!(row["tokens"], tokens, "{method}: {text}");
            let is_copy = |(other, its): &(&Value, &String)| {
                other["cluster_id"] == row["cluster_id"] && *its == text
            };
            let copies = rows.iter().zip(&all).filter(is_copy).count();
            assert_eq!(row["exact_copies"], copies, "{method}: {text}");
        }
        for (row, share) in rows.iter().zip(shares) {
            let found = row["repeated_share"].as_f64();
            assert_eq!(found.is_some(), share.is_some(), "{method}: {row}");
            let difference = found.unwrap_or_default() - share.unwrap_or_default();
            assert!(difference.abs() < 1e-6, "{method}: {row} {share:?}");
        }
        let kept = rows.iter().filter(|row| row["kept"] == true);
        let sizes: u64 = kept.map(|row| row["cluster_size"].as_u64().unwrap()).sum();
        assert_eq!(sizes, rows.len() as u64);
        // The facts are the same without the search for passages, and for any number of threads.
        let without = documents(&folder, &format!("{method} --threads 1"));
        for (row, mut with) in without.iter().zip(rows) {
            with["repeated_share"] = Value::Null;
            assert_eq!(*row, with, "{method}");
        }
    }
}

#[test]
fn exact_copies_have_the_same_bytes() {
    let texts =
        ["One two three four", "one two three four", "One two three four", "other words here"];
    let folder = Folder::empty().with("in/a.jsonl", json_lines(&texts.map(str::to_owned)));
    let rows = documents(&folder, "--similarity 0.5");
    let copies = |row: &Value| (row["cluster_size"].clone(), row["exact_copies"].clone());
    let expected =
        [(3, 2), (3, 1), (3, 2), (1, 1)].map(|(size, copies)| (size.into(), copies.into()));
    assert_eq!(rows.iter().map(copies).collect::<Vec<(Value, Value)>>(), expected);
}

#[test]
fn columns_are_the_same_in_tables_and_after_a_resumed_run() {
    let folder = Folder::empty().with("in/a.jsonl", json_lines(&texts(&mut Random(3), 200)));
    // The lexicons of i-match are learned from all documents, so shards cannot be read apart.
    for method in METHODS.into_iter().filter(|method| !method.contains("i-match")) {
        let options = format!("{method} --annotate=repeated={WORDS}");
        let rows = documents(&folder, &options);
        let command = format!("dedup in --output stored {options} --shard 1/1");
        assert_eq!(folder.run_words(&command).code, 0);
        assert_eq!(folder.run_words("combine stored --quiet").code, 0);
        let stored = fs::read_to_string(folder.path("stored/documents.jsonl")).unwrap();
        let lines = fs::read_to_string(folder.path("out/documents.jsonl")).unwrap();
        assert_eq!(stored, lines, "{method}");
        fs::remove_dir_all(folder.path("stored")).unwrap();

        documents(&folder, &options);
        let run = folder
            .run_words(&format!("dedup in --output table --force --output-format tsv {options}"));
        assert_eq!(run.code, 0, "{}", run.err);
        let table = fs::read_to_string(folder.path("table/documents.tsv")).unwrap();
        let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        for (row, values) in rows.iter().zip(lines) {
            let told: BTreeMap<&str, &str> = names.iter().copied().zip(values).collect();
            for name in ["tokens", "exact_copies", "repeated_share"] {
                let found = told[name].parse::<f64>().ok();
                assert_eq!(found.is_some(), !row[name].is_null(), "{method} {name}");
                // The parser of JSON rounds the last digit.
                let difference = found.unwrap_or_default() - row[name].as_f64().unwrap_or_default();
                assert!(difference.abs() < 1e-12, "{method} {name}");
            }
        }
    }
}

#[test]
fn a_share_without_annotation_or_with_a_wrong_number_is_refused() {
    let folder = Folder::empty().with("in/a.txt", "text");
    for (options, message) in [
        ("--repeated-share 50", "--annotate repeated=50"),
        (
            "--annotate=repeated=0",
            "--annotate repeated=0: must be a number of words from 1 to 1000",
        ),
        ("--annotate=repeated=many", "--annotate repeated=many: must be a number of words"),
    ] {
        let run = folder.run_words(&format!("dedup in {options}"));
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(message), "{}", run.err);
    }
}
