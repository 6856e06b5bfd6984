//! Collections whose documents are all similar, in little memory: the results are those of a run with much
//! memory.
#![cfg(target_os = "linux")]

use crate::join_memory::{can_limit, limited};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Number of documents. Every two of them are similar, so there are 4.5 million pairs.
const DOCUMENTS: usize = 3000;
/// Value of `--max-memory`. The pairs take over 100 MB while they are sorted.
const MAX_MEMORY: &str = "32M";
/// Kilobytes of anonymous memory that the system allows: the limit of the run, and stacks, tables of the
/// program and pieces of output in transit.
const LIMIT: &str = "60000";

/// Builds lines of the same 200 words. In each line, another word is replaced.
fn template_lines() -> String {
    let word = |word: usize| word.wrapping_mul(0x9E37_79B1) & 0xFFF_FFFF;
    let mut text = String::new();
    for line in 0..DOCUMENTS {
        for at in 0..200 {
            let number = if at == line * 31 % 200 { 1000 + line } else { at };
            write!(text, "{:x} ", word(number)).unwrap();
        }
        text.push('\n');
    }
    text
}

/// Runs `method` on the lines with and without a limit, and compares the results.
fn check(method: &str) {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.txt"), template_lines()).unwrap();
    let run = |limit: &str, rest: &str| {
        let arguments =
            format!("-q -j 2 --corpus a.txt --split lines {method} --json --output {rest}");
        let run = limited(folder, limit, &arguments);
        assert!(run.status.success(), "{method}: {}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice::<serde_json::Value>(&run.stdout).unwrap()
    };
    let free = run("4000000", "free --pairs");
    let below = run(LIMIT, &format!("below --max-memory {MAX_MEMORY}"));
    assert!(free["pairs"].as_u64().unwrap() > 4_000_000, "{method}: {}", free["pairs"]);
    // The pairs are not counted, and nothing else changes.
    assert!(below["pairs"].is_null(), "{method}: {}", below["pairs"]);
    assert_eq!((&free["removed"], &free["kept"]), (&below["removed"], &below["kept"]));
    for file in ["removed.jsonl", "clusters.jsonl"] {
        let read = |run: &str| fs::read(Path::new(folder).join(run).join(file)).unwrap();
        assert!(!read("free").is_empty() && read("free") == read("below"), "{method}: {file}");
    }
    // If all pairs are wanted, the run reports that they do not fit.
    let pairs = format!(
        "-q -j 2 --corpus a.txt --split lines {method} --pairs --output all --max-memory {MAX_MEMORY}"
    );
    let failed = limited(folder, LIMIT, &pairs);
    let message = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{method}: {message}");
    assert!(message.contains("--max-memory") && message.contains("pairs"), "{message}");
}

/// Runs `arguments` on `text`, plain text with a document on each line, with `--max-memory` of `megabytes`. The system
/// allows 1.15 times as much and 60 MB: 40 MB that may be used, and maps that are never touched. Returns the
/// summary.
fn run_in(megabytes: u64, text: &str, arguments: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), text).unwrap();
    let limit = ((megabytes * 1150 + 60_000) * 1000 / 1024).to_string();
    let arguments = format!(
        "-q --corpus a.txt --split lines --json --max-memory {megabytes}M --output out {arguments}"
    );
    let run = limited(folder.path(), &limit, &arguments);
    assert!(run.status.success(), "{arguments}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn near_copies_in_lexicons_are_joined_in_little_memory() {
    if !can_limit() {
        return;
    }
    // Nearly every two of the documents are near in some lexicon, so there are 50 million pairs.
    let mut text = String::new();
    for line in 0..10_000 {
        for at in 0..60 {
            write!(text, "{:x} ", if at == line % 60 { line + 100 } else { at * 977 }).unwrap();
        }
        text.push('\n');
    }
    for threads in [1, 2, 7] {
        let summary = run_in(50, &text, &format!("--method multi-lexicon -j {threads}"));
        assert!(summary["removed"].as_u64().unwrap() > 5000, "{summary}");
    }
}

#[test]
fn a_cluster_of_many_tiny_documents_takes_little_memory() {
    if !can_limit() {
        return;
    }
    let text = "a b c d\n".repeat(700_000);
    for method in ["exact", "simhash"] {
        let summary = run_in(50, &text, &format!("--method {method} -j 2"));
        assert_eq!(summary["removed"].as_u64(), Some(699_999), "{method}");
    }
    // The list of removed documents does not fit, and nothing can replace it.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), text).unwrap();
    let little =
        "-q -j 2 --corpus a.txt --split lines --max-memory 8M --method simhash --output out";
    let failed = limited(folder.path(), "85000", little);
    let message = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{message}");
    assert!(message.contains("700000 documents with near-duplicates"), "{message}");
    assert!(message.contains("--max-memory"), "{message}");
}

#[test]
fn sets_of_templates_are_compared_in_little_memory() {
    check("--method exact");
}

#[test]
fn simhashes_of_templates_are_joined_in_little_memory() {
    check("--method simhash:bits=128 --max-distance 40");
}

#[test]
fn min_hashes_of_templates_are_joined_in_little_memory() {
    check("--method minhash");
}

#[test]
fn pairs_of_templates_are_verified_in_little_memory() {
    check("--method simhash --max-distance 20 --verify 0.8");
}
