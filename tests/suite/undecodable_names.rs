//! Names of files and IDs that are not UTF-8.

use crate::program::{Finished, Folder};
use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use simtool::stages::byte_text::os_string;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const FOX: &str = "the quick brown fox jumps over the lazy dog near the river bank today";

/// Name of the file with the FOX, as all outputs write it.
const FILE: &str = "in/b\\xffad.jsonl";

/// Columns that name documents.
const NAMES: [&str; 4] = ["id", "file", "kept_id", "kept_file"];

/// Returns a path whose byte `?` is not UTF-8.
fn undecodable(path: &str) -> PathBuf {
    let bytes = path.bytes().map(|byte| if byte == b'?' { 0xFF } else { byte });
    os_string(bytes.collect()).unwrap().into()
}

/// Creates a file of four documents, whose name is not UTF-8, and a CSV file whose IDs are not.
fn folder() -> Folder {
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    let lines = [line(FOX), line(FOX), line("alone"), "no record\n".to_owned()].concat();
    let rows = b"id,text\nk\xfe1,some words of a table in a file\n\
                 k\xfe2,some words of a table in a file\nk\xfe3,other\n";
    let folder = Folder::empty().with("in/rows.csv", rows);
    fs::write(folder.path("").join(undecodable("in/b?ad.jsonl")), lines).unwrap();
    folder
}

/// Runs `simtool dedup in`, and writes the outputs in this format.
fn dedup(folder: &Folder, output: &str, format: &str) {
    let run = folder.run_words(&format!(
        "dedup in --output {output} --output-format {format} --annotate --pairs -q"
    ));
    assert_eq!(run.code, 3, "{}", run.err);
}

/// Runs a command line that the program has printed, in a shell.
fn run_line(folder: &Folder, line: &str) -> Finished {
    let program = Path::new(env!("CARGO_BIN_EXE_simtool")).parent().unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).env("PATH", program).current_dir(folder.path(""));
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Finished { code, out: text(output.stdout), err: text(output.stderr) }
}

/// Returns the names of documents in an output file, each once.
fn names(path: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    match path.extension().unwrap().to_str().unwrap() {
        "jsonl" => {
            for line in fs::read_to_string(path).unwrap().lines() {
                let row: Value = serde_json::from_str(line).unwrap();
                names
                    .extend(NAMES.iter().filter_map(|name| row[*name].as_str()).map(str::to_owned));
            }
        }
        "tsv" => {
            let text = fs::read_to_string(path).unwrap();
            let rows: Vec<Vec<&str>> =
                text.lines().map(|line| line.split('\t').collect()).collect();
            for (at, _) in rows[0].iter().enumerate().filter(|(_, name)| NAMES.contains(name)) {
                names.extend(rows[1..].iter().map(|row| row[at].to_owned()));
            }
        }
        _ => {
            let file = File::open(path).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            for batch in reader.map(Result::unwrap) {
                for column in NAMES.iter().filter_map(|name| batch.column_by_name(name)) {
                    names.extend(column.as_string::<i32>().iter().flatten().map(str::to_owned));
                }
            }
        }
    }
    names.remove("");
    names
}

#[test]
fn every_format_spells_names_alike() {
    let folder = folder();
    for format in ["jsonl", "tsv", "parquet"] {
        dedup(&folder, format, format);
    }
    for output in ["documents", "removed"] {
        let [lines, table, columns] = ["jsonl", "tsv", "parquet"]
            .map(|format| names(&folder.path(&format!("{format}/{output}.{format}"))));
        assert!(lines.contains(FILE) && lines.contains("k\\xfe2"), "{lines:?}");
        assert_eq!((&table, &columns), (&lines, &lines), "{output}");
    }
    for file in ["prints.jsonl", "prints.parquet"] {
        let run = folder.run(&["fingerprint", "in", "--output", file, "-q"]);
        assert_eq!(run.code, 3, "{}", run.err);
    }
    let [lines, columns] =
        ["jsonl", "parquet"].map(|format| names(&folder.path(&format!("prints.{format}"))));
    assert!(lines.contains(FILE) && lines.contains("k\\xfe2"), "{lines:?}");
    assert_eq!(columns, lines);
    let summary = fs::read_to_string(folder.path("tsv/summary.json")).unwrap();
    assert!(!summary.contains('\u{FFFD}'), "{summary}");
    let page = fs::read_to_string(folder.path("tsv/report.html")).unwrap();
    assert!(page.contains(FILE) && !page.contains('\u{FFFD}'));
}

/// All documents that an output names are found, with the same verdict from outputs of any format.
#[test]
fn why_finds_each_document_by_its_name() {
    let folder = folder();
    dedup(&folder, "out", "tsv");
    let documents = fs::read_to_string(folder.path("out/documents.tsv")).unwrap();
    for row in documents.lines().skip(1) {
        let id = row.split('\t').next().unwrap();
        let run = folder.run(&["why", "out", id, "--json"]);
        assert_eq!((run.code, &*run.err), (0, ""), "{id}");
        let found: Value = serde_json::from_str(&run.out).unwrap();
        let is_removed = fs::read_to_string(folder.path("out/removed.tsv"))
            .unwrap()
            .contains(&format!("\n{id}\t"));
        assert_eq!(found["status"], if is_removed { "removed" } else { "kept" }, "{id}");
        if let Some(command) = found["compare"].as_str() {
            let compared = run_line(&folder, command);
            assert!(compared.out.starts_with("similarity  1.0000"), "{command}: {compared:?}");
        }
    }
    for name in ["in/b\u{FFFD}ad.jsonl:1", "k\u{FFFD}2", "in/rows.csv#k\u{FFFD}2"] {
        let run = folder.run(&["why", "out", name]);
        assert_eq!((run.code, &*run.out), (1, ""), "{name}");
        assert!(run.err.contains("is no document of this run"), "{}", run.err);
    }
    let run = folder.run(&["why", "out", "in/rows.csv#k\\xfe2"]);
    assert!(run.out.starts_with("k\\xfe2 was removed: it is like k\\xfe1"), "{run:?}");
    let run = folder.run(&["why", "out", &format!("{FILE}:3")]);
    assert!(run.out.contains("it is a bad record [json]"), "{run:?}");
}

#[test]
fn a_document_of_an_undecodable_path_is_read_again() {
    let folder = folder();
    // The command line of the run has the path, too.
    let program = env!("CARGO_BIN_EXE_simtool");
    let mut command = Command::new(program);
    command.current_dir(folder.path("")).arg("dedup").arg(undecodable("in/b?ad.jsonl"));
    let output = command.arg("--output").arg(undecodable("o?ut")).arg("-q").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    for (name, status) in [(":1", "removed"), (":2", "kept"), (":0", "kept")] {
        let mut command = Command::new(program);
        command.current_dir(folder.path("")).arg("why").arg(undecodable("o?ut"));
        let name = undecodable(&format!("in/b?ad.jsonl{name}"));
        let output = command.arg(&name).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!(" was {status}")), "{text}");
        let more = text.lines().find_map(|line| line.strip_prefix("more: ")).unwrap();
        let compared = run_line(&folder, &more.replace("FILE:RECORD", "'in/b\\xffad.jsonl:0'"));
        assert_eq!((compared.code, &*compared.err), (0, ""), "{more}");
    }
    let line = "compare 'in/b\\xffad.jsonl:0' 'in/rows.csv#k\\xfe1'";
    assert_eq!(run_line(&folder, &format!("simtool {line} -q")).code, 0);
}
