//! The table of outputs, against the files that the program writes.

use crate::program::Folder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use simtool::output::{OutputDescription, output_descriptions};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Two equal documents, another one, and a record that is not JSON.
const DOCUMENTS: &str = "{\"id\":\"a\",\"text\":\"one two three four\"}\n\
                         {\"id\":\"b\",\"text\":\"one two three four\"}\n\
                         {\"id\":\"c\",\"text\":\"five six seven eight\"}\n\
                         not json\n";

fn column_names(output: &OutputDescription) -> Vec<String> {
    (output.columns)().into_iter().map(|column| column.name).collect()
}

/// Returns the names of the fields of a JSON object in their order, with those of nested objects as
/// `object.field` and `list[].field`.
fn field_names(object: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in object.as_object().unwrap() {
        names.push(name.clone());
        match value {
            Value::Object(_) => {
                names.extend(field_names(value).iter().map(|field| format!("{name}.{field}")));
            }
            Value::Array(list) if list.first().is_some_and(Value::is_object) => {
                names.extend(field_names(&list[0]).iter().map(|field| format!("{name}[].{field}")));
            }
            _ => {}
        }
    }
    names
}

fn sorted(names: &[String]) -> BTreeSet<&String> {
    names.iter().collect()
}

fn first_object(text: &str) -> Value {
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

fn names_in_file(path: &Path) -> Vec<String> {
    match path.extension().unwrap().to_str().unwrap() {
        "jsonl" => field_names(&first_object(&fs::read_to_string(path).unwrap())),
        "tsv" => {
            let text = fs::read_to_string(path).unwrap();
            text.lines().next().unwrap().split('\t').map(str::to_owned).collect()
        }
        _ => {
            let file = fs::File::open(path).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            reader.schema().fields().iter().map(|field| field.name().clone()).collect()
        }
    }
}

fn folder_of_documents() -> Folder {
    let folder = Folder::empty();
    fs::write(folder.path("in.jsonl"), DOCUMENTS).unwrap();
    // The text of a page cannot be cut, so one of these pages is listed as uncut.
    let page = |text: &str| format!("<html><body><main><p>{text}</p></main></body></html>");
    folder
        .with("pages/a.html", page("words of two pages"))
        .with("pages/b.html", page("words of two pages and more"))
}

#[test]
fn a_run_writes_the_outputs_of_the_table_with_its_columns() {
    let folder = folder_of_documents();
    let mut written = BTreeSet::new();
    for format in ["jsonl", "tsv", "parquet"] {
        let out = format!("out-{format}");
        let settings = [
            "--pairs",
            "--annotate=in-place",
            "--by",
            "file",
            "--write-kept",
            "--receipt",
            "--output-format",
            format,
            "--output",
            &out,
        ];
        let run = folder.run(&[&["dedup", "in.jsonl"][..], &settings].concat());
        // One record is not JSON, so that there is something to quarantine.
        assert_eq!(run.code, 3, "{}", run.err);
        let passages = format!("passages-{format}");
        let settings = [
            "--words",
            "4",
            "--write-kept",
            "--write-removed",
            "--output-format",
            format,
            "--output",
            &passages,
        ];
        let run = folder.run(&[&["passages", "in.jsonl", "pages"][..], &settings].concat());
        assert_eq!(run.code, 3, "{}", run.err);
        // The documents are searched for themselves.
        let found = format!("contamination-{format}");
        let settings = [
            "--words",
            "2",
            "--write-kept",
            "drop",
            "--write-removed",
            "--output-format",
            format,
            "--output",
            &found,
        ];
        let run = folder
            .run(&[&["contamination", "in.jsonl", "--in", "in.jsonl"][..], &settings].concat());
        assert_eq!(run.code, 3, "{}", run.err);
        let covered = format!("covered-{format}");
        let run = folder.run_words(&format!(
            "dedup in.jsonl --method covered --output-format {format} --output {covered}"
        ));
        assert_eq!(run.code, 3, "{}", run.err);
        for out in [&out, &passages, &found, &covered] {
            for entry in fs::read_dir(folder.path(out)).unwrap() {
                written.insert(entry.unwrap().file_name().into_string().unwrap());
            }
        }
    }
    let outputs = output_descriptions();
    let listed: BTreeSet<String> =
        outputs.iter().flat_map(|output| output.files).map(ToString::to_string).collect();
    assert_eq!(written, listed);
    for output in outputs {
        let columns = column_names(&output);
        for file in output.files.iter().filter(|_| !columns.is_empty()) {
            let format = file.rsplit('.').next().unwrap();
            // An output of several commands is looked up in the folder of the first of them.
            let first = output.command.split(", ").next().unwrap();
            let is_own = ["passages", "contamination"].contains(&first);
            // The method covered writes one more column, and an output of its own.
            let is_covered = ["removed", "coverage"].contains(&output.name);
            let out = if is_covered {
                "covered"
            } else if is_own {
                first
            } else {
                "out"
            };
            let found = names_in_file(&folder.path(&format!("{out}-{format}/{file}")));
            assert_eq!(sorted(&found), sorted(&columns), "{file}");
        }
    }
}

/// Two files with a cluster of four documents in both, one of three, and documents without near-duplicates.
fn folder_of_clusters() -> Folder {
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    let first = ["one two three four", "five six seven eight", "one two three four", "a b c d"];
    let second = [
        "one two three four",
        "five six seven eight",
        "five six seven eight",
        "",
        "one two three four",
    ];
    let lines = |texts: &[&str]| texts.iter().map(|text| line(text)).collect::<Vec<_>>().concat();
    Folder::empty().with("a.jsonl", lines(&first)).with("b.jsonl", lines(&second))
}

#[test]
fn every_document_is_annotated_with_its_cluster() {
    let folder = folder_of_clusters();
    let of_run = |options: &str| {
        let run = folder
            .run_words(&format!("dedup a.jsonl b.jsonl --annotate{options} --force --output out"));
        assert_eq!(run.code, 0, "{}", run.err);
        let read = |name: &str| fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap();
        (read("documents.jsonl"), read("removed.jsonl"))
    };
    let (documents, removed) = of_run("");
    let rows: Vec<Value> =
        documents.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let columns = ["kept", "cluster_id", "cluster_size", "cluster_sources", "weight"];
    let found: Vec<String> =
        rows.iter().map(|row| columns.map(|name| row[name].to_string()).join(" ")).collect();
    let expected = [
        "true 0 4 2 1",
        "true 1 3 2 1",
        "false 0 4 2 0",
        "true 3 1 1 1",
        "false 0 4 2 0",
        "false 1 3 2 0",
        "false 1 3 2 0",
        "true 7 1 1 1",
        "false 0 4 2 0",
    ];
    assert_eq!(found, expected);
    assert_eq!(
        rows.iter().map(|row| row["bytes"].as_u64().unwrap()).collect::<Vec<_>>(),
        [18, 20, 18, 7, 18, 20, 20, 0, 18]
    );
    // Rows of removed documents agree with the list of removals.
    let proofs: Vec<Value> =
        removed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_removed = rows.iter().filter(|row| row["kept"] == false);
    for (row, proof) in of_removed.zip(&proofs) {
        for name in [
            "id",
            "file",
            "record",
            "kept_id",
            "kept_file",
            "kept_record",
            "similarity",
            "distance",
            "lost_words",
            "lost_share",
        ] {
            assert_eq!(row[name], proof[name], "{name}");
        }
    }
    assert_eq!(proofs.len(), 5);
    // Clusters have all documents.
    let sizes = rows
        .iter()
        .filter(|row| row["kept"] == true)
        .map(|row| row["cluster_size"].as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), rows.len() as u64);

    let weights = |options: &str| {
        let (documents, _) = of_run(options);
        let rows = documents.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter(|row| row["kept"] == true)
            .map(|row| row["weight"].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(weights("=weight=sqrt"), [2.0, 1.732_051, 1.0, 1.0]);
    assert_eq!(weights("=weight=1:1,4:3"), [3.0, 1.0, 1.0, 1.0]);
    let threads = of_run(" --threads 1");
    assert_eq!(threads, of_run(" --threads 4"));
}

#[test]
fn wrong_weights_and_weights_without_annotation_are_refused() {
    let folder = folder_of_clusters();
    for (options, message) in [
        ("--annotate=weight=cube", "must be 1, log, sqrt, or sizes in ascending order"),
        ("--cluster-weight sqrt", "--annotate weight=sqrt"),
    ] {
        let run = folder.run_words(&format!("dedup a.jsonl {options}"));
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(message), "{}", run.err);
    }
}

#[test]
fn the_share_that_a_search_by_bands_finds_is_shown() {
    let folder = folder_of_documents();
    for (options, is_shown) in [("recall=0.9", true), ("bits=4", false)] {
        let run = folder.run_words(&format!(
            "dedup in.jsonl --method minhash:lanes=124,{options} --force --output out"
        ));
        let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let share = summary["found_share"].as_f64();
        assert_eq!(share.is_some(), is_shown, "{}", run.err);
        let line = run.out.lines().find(|line| line.starts_with("found "));
        assert_eq!(line.is_some(), is_shown, "{}", run.out);
        if let (Some(share), Some(line)) = (share, line) {
            assert!((0.9..1.0).contains(&share), "{share}");
            assert!(line.contains(&format!("{:.1} %", share * 100.0)), "{line}");
        }
    }
}

#[test]
fn an_index_prints_the_columns_of_the_table() {
    let folder = folder_of_documents();
    assert_eq!(folder.run(&["index", "create", "index"]).code, 0);
    let added = folder.run(&["index", "add", "index", "in.jsonl", "--json"]);
    let near = folder.run(&["index", "query", "index", "in.jsonl", "--json"]);
    let exported = folder.run(&["index", "export", "index"]);
    let printed =
        [("index-repeats", added.out), ("index-near", near.out), ("index-export", exported.out)];
    for (name, text) in printed {
        let outputs = output_descriptions();
        let output = outputs.iter().find(|output| output.name == name).unwrap();
        let found = field_names(&first_object(&text));
        assert_eq!(sorted(&found), sorted(&column_names(output)), "{name}");
    }
}

#[test]
fn every_output_and_column_is_described_in_a_sentence() {
    let mut names = BTreeSet::new();
    for output in output_descriptions() {
        assert!(names.insert(output.name), "{} is listed twice", output.name);
        assert!(output.description.ends_with('.'), "{}", output.name);
        for column in (output.columns)() {
            let sentence = column.description;
            assert!(sentence.ends_with('.'), "{}: {}: {sentence}", output.name, column.name);
        }
    }
}
