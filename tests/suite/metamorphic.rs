//! Relations between runs on a collection that is written in different ways. Results must not
//! change, or change in one known way, and nobody has to know the right answer.

use crate::program::{Folder, run};
use crate::random_texts::{Random, texts};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

/// A document: ID and text.
type Document = (String, String);

/// The IDs of a pair in order, its similarity and its distance.
type Pair = (String, String, String, String);

/// Ways to compare, with the text in words and in characters.
const METHODS: [&[&str]; 4] = [
    &["--similarity", "0.6", "--shingle", "words:2"],
    &["--similarity", "0.5", "--shingle", "chars:5"],
    &["--method", "simhash", "-k", "10", "--shingle", "words:1"],
    &["--method", "simhash:bits=128", "-k", "24", "--verify", "0.4"],
];

fn documents(seed: u64, count: usize) -> Vec<Document> {
    let texts = texts(&mut Random(seed), count);
    texts.into_iter().enumerate().map(|(n, text)| (format!("d{n}"), text)).collect()
}

fn json_lines(documents: &[Document]) -> Vec<u8> {
    let line = |(id, text): &Document| json!({"id": id, "text": text}).to_string() + "\n";
    documents.iter().map(line).collect::<String>().into_bytes()
}

fn form_feeds(documents: &[Document]) -> Vec<u8> {
    let part = |(id, text): &Document| format!("{id}\n{text}\n\x0c");
    documents.iter().map(part).collect::<String>().into_bytes()
}

fn csv(documents: &[Document]) -> Vec<u8> {
    let row = |(id, text): &Document| format!("\"{text}\",{id}\r\n");
    ("text,id\r\n".to_owned() + &documents.iter().map(row).collect::<String>()).into_bytes()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

fn zstandard(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

/// The results of a run.
#[derive(Debug)]
struct Found {
    pairs: BTreeSet<Pair>,
    /// IDs of the removed documents, each with the ID of the kept one.
    removed: Vec<(String, String)>,
}

/// Runs the program on files, in their order.
fn find(files: &[(&str, Vec<u8>)], method: &[&str]) -> Found {
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let inputs = [&["--corpus"][..], &names].concat();
    find_with(files, &[&inputs, method].concat())
}

fn find_with(files: &[(&str, Vec<u8>)], arguments: &[&str]) -> Found {
    let mut folder = Folder::empty();
    for (name, content) in files {
        folder = folder.with(name, content);
    }
    let run = run(&folder.path(""), &[&["-q", "--pairs"], arguments].concat(), &[]);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    let rows = |file: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.path("simtool-out").join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let text = |row: &Value, name: &str| match &row[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let pair = |row: &Value| {
        let (a, b) = (text(row, "a_id"), text(row, "b_id"));
        (a.clone().min(b.clone()), a.max(b), text(row, "similarity"), text(row, "distance"))
    };
    let pair_rows = rows("pairs.jsonl");
    let pairs: BTreeSet<Pair> = pair_rows.iter().map(pair).collect();
    assert_eq!(pairs.len(), pair_rows.len(), "a pair is found once");
    let removed = rows("removed.jsonl");
    let removed = removed.iter().map(|row| (text(row, "id"), text(row, "kept_id"))).collect();
    Found { pairs, removed }
}

/// Returns a collection, and the results for it in one file.
fn original(seed: u64, method: &[&str]) -> (Vec<Document>, Found) {
    let documents = documents(seed, 150);
    let found = find(&[("a.jsonl", json_lines(&documents))], method);
    assert!(found.pairs.len() > 20 && found.removed.len() > 15, "{method:?}: {found:?}");
    (documents, found)
}

#[test]
fn the_order_of_files_and_documents_changes_no_pair() {
    for (seed, method) in METHODS.into_iter().enumerate() {
        let (mut documents, found) = original(seed as u64, method);
        let parts: Vec<_> = documents.chunks(40).map(json_lines).collect();
        let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"];
        let mut files: Vec<_> = names.into_iter().zip(parts).collect();
        assert_eq!(find(&files, method).removed, found.removed, "{method:?}");
        files.reverse();
        assert_eq!(find(&files, method).pairs, found.pairs, "{method:?}");
        let mut random = Random(seed as u64);
        for at in (1..documents.len()).rev() {
            documents.swap(at, random.below(at as u64 + 1) as usize);
        }
        let shuffled = find(&[("a.jsonl", json_lines(&documents))], method);
        assert_eq!(shuffled.pairs, found.pairs, "{method:?}");
    }
}

#[test]
fn a_copy_of_a_document_is_one_more_removal_and_changes_no_other() {
    for (seed, method) in METHODS.into_iter().enumerate() {
        let (documents, found) = original(10 + seed as u64, method);
        let mut random = Random(seed as u64);
        for _ in 0..4 {
            let of = random.below(documents.len() as u64) as usize;
            if documents[of].1.is_empty() {
                continue;
            }
            let behind = of + 1 + random.below((documents.len() - of) as u64) as usize;
            let mut more = documents.clone();
            more.insert(behind, ("copy".to_owned(), documents[of].1.clone()));
            let mut removed = find(&[("a.jsonl", json_lines(&more))], method).removed;
            let of_copies = removed.extract_if(.., |(id, _)| id == "copy").count();
            assert_eq!((of_copies, removed), (1, found.removed.clone()), "{method:?}: {of}");
        }
    }
}

#[test]
fn files_that_are_cut_joined_or_packed_hold_the_same_pairs() {
    for (seed, method) in METHODS.into_iter().enumerate() {
        let (documents, found) = original(20 + seed as u64, method);
        let same = |files: &[(&str, Vec<u8>)]| {
            let again = find(files, method);
            assert_eq!(again.pairs, found.pairs, "{method:?}");
            assert_eq!(again.removed, found.removed, "{method:?}");
        };
        let (head, tail) = documents.split_at(70);
        same(&[("a.jsonl", json_lines(head)), ("b.jsonl", json_lines(tail))]);
        same(&[("a.txt", form_feeds(head)), ("b.csv.zst", zstandard(&csv(tail)))]);
        same(&[("a.csv", csv(head)), ("b.txt.gz", gzip(&form_feeds(tail)))]);
        for pack in [gzip, zstandard] {
            same(&[("a", pack(&json_lines(&documents)))]);
            // Several members or frames in a row are one file.
            same(&[("a", [pack(&json_lines(head)), pack(&json_lines(tail))].concat())]);
            same(&[("a", pack(&form_feeds(head))), ("b", json_lines(tail))]);
        }
    }
}

#[test]
fn letter_case_and_white_space_are_nothing_to_words() {
    let methods = METHODS.into_iter().filter(|method| !method.contains(&"chars:5"));
    for (seed, method) in methods.enumerate() {
        let (mut documents, found) = original(30 + seed as u64, method);
        for (number, (_, text)) in documents.iter_mut().enumerate() {
            *text = match number % 3 {
                0 => text.to_ascii_uppercase(),
                1 => format!("\n {} ", text.replace(' ', "\r\n\t ")),
                _ => text.replace(' ', "\u{2003}").replace('w', "W"),
            };
        }
        let again = find(&[("a.jsonl", json_lines(&documents))], method);
        assert_eq!(again.pairs, found.pairs, "{method:?}");
    }
}

#[test]
fn a_document_that_is_like_nothing_changes_no_pair() {
    for (seed, method) in METHODS.into_iter().enumerate() {
        let (mut documents, found) = original(40 + seed as u64, method);
        let unlike: Vec<_> = (0..500).map(|n| format!("unlike{}", n * n)).collect();
        documents.insert(75, ("unlike".to_owned(), unlike.join(" ")));
        documents.insert(20, ("empty".to_owned(), String::new()));
        let again = find(&[("a.jsonl", json_lines(&documents))], method);
        assert_eq!(again.pairs, found.pairs, "{method:?}");
        assert_eq!(again.removed, found.removed, "{method:?}");
    }
}

#[test]
fn a_stricter_threshold_finds_exactly_the_pairs_that_meet_it() {
    let documents = documents(50, 200);
    let files = [("a.jsonl", json_lines(&documents))];
    for shingle in ["words:1", "words:3", "chars:4"] {
        let pairs = |similarity: &str| {
            find(&files, &["--shingle", shingle, "--similarity", similarity]).pairs
        };
        let all = pairs("0.3");
        for least in ["0.4", "0.5", "2/3", "0.8", "0.95", "1"] {
            let limit = if least == "2/3" { 2.0 / 3.0 } else { least.parse().unwrap() };
            let expected = all.iter().filter(|pair| pair.2.parse::<f64>().unwrap() >= limit);
            let expected: BTreeSet<Pair> = expected.cloned().collect();
            assert!(expected.len() > 5, "{shingle}, {least}");
            assert_eq!(pairs(least), expected, "{shingle}, {least}");
        }
    }
    for bits in ["64", "128"] {
        let pairs = |distance: u32| {
            let distance = distance.to_string();
            let method = format!("simhash:bits={bits}");
            find(&files, &["--method", &method, "-k", &distance]).pairs
        };
        let all = pairs(25);
        for most in [0, 1, 3, 7, 12, 20] {
            let expected = all.iter().filter(|pair| pair.3.parse::<u32>().unwrap() <= most);
            let expected: BTreeSet<Pair> = expected.cloned().collect();
            assert!(expected.len() > 5, "{bits}, {most}");
            assert_eq!(pairs(most), expected, "{bits}, {most}");
        }
    }
}

#[test]
fn pairs_of_a_whole_are_those_within_and_across_its_halves() {
    for (seed, method) in METHODS.into_iter().enumerate() {
        let (documents, found) = original(60 + seed as u64, method);
        let (head, tail) = documents.split_at(70);
        let files = [("a.jsonl", json_lines(head)), ("b.jsonl", json_lines(tail))];
        let across = |[corpus, queries]: [&str; 2]| {
            let inputs = ["--corpus", corpus, "--queries", queries];
            find_with(&files, &[&inputs, method].concat()).pairs
        };
        let between = across(["a.jsonl", "b.jsonl"]);
        assert_eq!(across(["b.jsonl", "a.jsonl"]), between, "{method:?}");
        assert!(between.len() > 8, "{method:?}");
        let within = files.map(|file| find(&[file], method).pairs);
        let union: BTreeSet<Pair> = within.into_iter().flatten().chain(between).collect();
        assert_eq!(union, found.pairs, "{method:?}");
    }
}
