//! The golden vectors of the book: the program finds the results that are in `docs/reference/vectors.json`.
//! `UPDATE_GOLDEN=1 cargo test` rewrites this file from its documents and options.

use crate::book::book;
use crate::program::Folder;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

/// Returns a list in JSON with a line for each element. Lines are not indented, so that a change of an element is a
/// change of one line.
fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[\n{}\n]", elements.collect::<Vec<_>>().join(",\n"))
}

/// Returns the rows of JSON Lines with these columns, each with its name in the vectors.
fn rows(lines: &str, columns: &[(&str, &str)]) -> String {
    let row = |line| {
        // Numbers stay as the program writes them, because a parsed fraction may differ in its last digit.
        let row: BTreeMap<String, &RawValue> = serde_json::from_str(line).unwrap();
        let field = |(name, column): &(&str, &str)| format!("\"{name}\":{}", row[*column].get());
        format!("{{{}}}", columns.iter().map(field).collect::<Vec<_>>().join(","))
    };
    list(lines.lines().map(row))
}

/// Returns the vectors that the program finds with these options.
fn run(folder: &Folder, options: &Value, documents: usize) -> String {
    // Options are named as keywords of Python, which have no hyphens.
    let mut given = String::new();
    for (name, value) in options.as_object().unwrap() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        write!(given, " --{} {value}", name.replace('_', "-")).unwrap();
    }
    let arguments = "dedup in.jsonl --pairs --annotate --output out --force --quiet";
    let run = folder.run_words(&format!("{arguments}{given}"));
    assert_eq!(run.code, 0, "{}", run.err);
    let read = |name: &str| fs::read_to_string(folder.path("out").join(name)).unwrap();
    let [pairs, fates] = ["pairs.jsonl", "documents.jsonl"].map(read);
    // A run without pairs would test nothing.
    assert!(pairs.lines().count() > 1 && fates.lines().count() == documents, "{options}");
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let mut found = format!("{{\n\"options\": {options},\n\"recipe\": {},\n", summary["recipe"]);
    if !options["method"].as_str().unwrap().starts_with("exact") {
        // Only these options say how fingerprints are made.
        let arguments = ["method", "shingle"]
            .into_iter()
            .filter_map(|name| Some(format!(" --{name} {}", options.get(name)?.as_str()?)));
        let arguments = arguments.collect::<String>();
        let run = folder.run_words(&format!("fingerprint in.jsonl --output - --quiet{arguments}"));
        assert_eq!(run.code, 0, "{}", run.err);
        let fingerprint = |line| {
            let row: Value = serde_json::from_str(line).unwrap();
            row["fingerprint"].to_string()
        };
        let fingerprints = list(run.out.lines().map(fingerprint));
        writeln!(found, "\"fingerprints\": {fingerprints},").unwrap();
    }
    let closeness = [("similarity", "similarity"), ("distance", "distance")];
    let of_pairs = [&[("a", "a_id"), ("b", "b_id")], &closeness[..]].concat();
    let columns = ["id", "kept", "kept_id", "cluster_id", "cluster_size"].map(|name| (name, name));
    let of_fates = [&columns[..], &closeness].concat();
    let (pairs, fates) = (rows(&pairs, &of_pairs), rows(&fates, &of_fates));
    format!("{found}\"pairs\": {pairs},\n\"fates\": {fates}\n}}")
}

#[test]
fn the_program_finds_the_golden_vectors() {
    let path = book().join("reference/vectors.json");
    let kept = fs::read_to_string(&path).unwrap();
    // Only the documents and options stay when the file is rewritten.
    let given: Value = serde_json::from_str(&kept).unwrap();
    let [documents, runs] = ["documents", "runs"].map(|name| given[name].as_array().unwrap());
    let lines: String = documents.iter().map(|document| document.to_string() + "\n").collect();
    let folder = Folder::empty().with("in.jsonl", lines);
    let runs = list(runs.iter().map(|of| run(&folder, &of["options"], documents.len())));
    let documents = list(documents.iter().map(Value::to_string));
    let found = format!("{{\n\"documents\": {documents},\n\"runs\": {runs}\n}}\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &found).unwrap();
    } else {
        assert!(found == kept, "UPDATE_GOLDEN=1 rewrites {}", path.display());
    }
}
