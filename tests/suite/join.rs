//! `simtool join` and `simtool search` on files of fingerprints.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn simtool(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Returns the standard output of a run that must succeed.
fn check(folder: &Path, arguments: &str) -> String {
    let output = simtool(folder, arguments);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments}: {messages}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the message of a run that must fail with `code`.
fn check_failure(folder: &Path, arguments: &str, code: i32) -> String {
    let output = simtool(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

const TEXT: &str = "00000000000000ff\n\n00000000000000fe\n00000000000000ff\nf0000000000000ff\n";
const PAIRS: &str = "0\t2\t1\n0\t3\t0\n2\t3\t1\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.txt"), TEXT).unwrap();
    folder
}

fn numpy(words: &[u64], shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

#[test]
fn join_prints_pairs_counts_and_groups() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(check(folder, "join f.txt --max-distance 3"), PAIRS);
    assert_eq!(check(folder, "join f.txt --count"), "3\n");
    assert_eq!(check(folder, "join f.txt -k 0"), "0\t3\t0\n");
    for index in ["linear-scan", "partition-join", "multi-index-join", "spilled-join"] {
        let command = format!("join f.txt --index {index} --max-memory 1M");
        assert_eq!(check(folder, &command), PAIRS, "{index}");
        assert_eq!(check(folder, &format!("{command} --count")), "3\n", "{index}");
        let groups = check(folder, &format!("{command} --groups"));
        assert_eq!(groups, "group\t0 3\npair\t0\t2\t1\n", "{index}");
    }
}

#[test]
fn search_prints_the_same_with_every_index() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("q.txt"), "00000000000000fe\n\n0f000000000000ff\n").unwrap();
    let command = "search f.txt --queries q.txt -k 4";
    let expected = "0\t0\t1\n0\t2\t0\n0\t3\t1\n2\t0\t4\n2\t3\t4\n";
    assert_eq!(check(folder, command), expected);
    for index in [
        "linear-scan",
        "bit-probing",
        "permuted-tables",
        "block-index",
        "streamed-queries",
        "bipartite-join",
    ] {
        let named = format!("{command} --index {index}");
        assert_eq!(check(folder, &named), expected, "{index}");
        assert_eq!(check(folder, &format!("{named} --count")), "5\n", "{index}");
        let groups = check(folder, &format!("{named} --groups"));
        assert_eq!(groups, "group\t0 3\npair\t0\t0\t1\npair\t0\t2\t0\npair\t2\t0\t4\n", "{index}");
    }
    // Equal queries form a group, too.
    fs::write(folder.join("twice.txt"), "00000000000000fe\n\n00000000000000fe\n").unwrap();
    let twice = "search f.txt --queries twice.txt -k 1";
    let expected = "query-group\t0 2\ngroup\t0 3\npair\t0\t0\t1\npair\t0\t2\t0\n";
    assert_eq!(check(folder, &format!("{twice} --groups")), expected);
    let nearer = "search f.txt --queries q.txt -k 1 --index expanded-set";
    assert_eq!(check(folder, nearer), "0\t0\t1\n0\t2\t0\n0\t3\t1\n");
}

#[test]
fn arrays_are_read_and_written() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("f.npy"), numpy(&[0xFF, 0, 0xFE], "(3,)")).unwrap();
    assert_eq!(check(folder, "join f.npy"), "0\t2\t1\n");
    fs::write(folder.join("wide.npy"), numpy(&[1, 9, 1, 9, 0, 9], "(3, 2)")).unwrap();
    let expected = "0\t1\t0\n0\t2\t1\n1\t2\t1\n";
    assert_eq!(check(folder, "join wide.npy --output out.tsv"), "");
    assert_eq!(fs::read_to_string(folder.join("out.tsv")).unwrap(), expected);
    check(folder, "join wide.npy --output out.npy");
    let array = fs::read(folder.join("out.npy")).unwrap();
    assert!(array.starts_with(b"\x93NUMPY\x01\x00"));
    let numbers = [0u32, 1, 0, 0, 2, 1, 1, 2, 1].map(u32::to_le_bytes).concat();
    assert!(array.ends_with(&numbers) && array.len() % 64 == numbers.len());
}

#[test]
fn json_lines_are_read() {
    let folder = folder();
    let folder = folder.path();
    let line = |number: &str| match number {
        "" => "{\"fingerprint\":null,\"id\":1}\n".to_owned(),
        number => format!("{{\"id\":\"x\",\"fingerprint\":\"{number}\"}}\n"),
    };
    let lines: String = TEXT.lines().map(line).collect();
    fs::write(folder.join("f.jsonl"), &lines).unwrap();
    assert_eq!(check(folder, "join f.jsonl --rows"), PAIRS);
    let itself = "search f.txt --queries f.jsonl --count -k 0";
    assert_eq!(check(folder, itself), "6\n");
    fs::write(folder.join("bad.jsonl"), lines.replace("null", "0")).unwrap();
    let message = check_failure(folder, "join bad.jsonl", 1);
    let expected =
        "bad.jsonl, byte 44: expected a field \"fingerprint\" with a string of 16 digits";
    assert!(message.contains(expected), "{message}");
}

#[cfg(feature = "parquet")]
#[test]
fn rows_are_called_by_their_ids_where_there_are_any() {
    let folder = folder();
    let folder = folder.path();
    let texts =
        [("a", "one rose is a rose"), ("b c", "one rose is a rose"), ("d\\te", "other words here")];
    let lines = texts.map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n"));
    fs::write(folder.join("t.jsonl"), lines.concat()).unwrap();
    for name in ["p.jsonl", "p.parquet", "p.f"] {
        check(folder, &format!("fingerprint t.jsonl --output {name}"));
    }
    for name in ["p.jsonl", "p.parquet"] {
        let join = format!("join {name}");
        assert_eq!(check(folder, &join), "a\tb c\t0\n");
        assert_eq!(check(folder, &format!("{join} --rows")), "0\t1\t0\n");
        assert_eq!(check(folder, &format!("{join} --count")), "1\n");
        assert_eq!(check(folder, &format!("{join} --groups")), "group\ta\tb c\n");
        let search = format!("search --queries p.f {name} -k 0");
        assert_eq!(check(folder, &search), "0\ta\t0\n0\tb c\t0\n1\ta\t0\n1\tb c\t0\n2\td\\te\t0\n");
        let search = format!("search --queries {name} p.f -k 0 --groups");
        let groups = "query-group\ta\tb c\ngroup\t0 1\npair\ta\t0\t0\npair\td\\te\t2\t0\n";
        assert_eq!(check(folder, &search), groups);
        // Tables of numbers have no IDs, so they do not change.
        for output in ["npy", "parquet"] {
            let written = |more: &str| {
                check(folder, &format!("{join} --output out.{output} --force{more}"));
                fs::read(folder.join(format!("out.{output}"))).unwrap()
            };
            assert!(written("") == written(" --rows"));
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn pairs_are_written_as_columns() {
    let folder = folder();
    let folder = folder.path();
    for index in ["linear-scan", "partition-join", "multi-index-join", "spilled-join"] {
        let command = format!("join f.txt --index {index} --output {index}.parquet");
        assert_eq!(check(folder, &command), "");
    }
    let bytes = fs::read(folder.join("linear-scan.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(bytes == fs::read(folder.join("partition-join.parquet")).unwrap());
    assert!(bytes == fs::read(folder.join("multi-index-join.parquet")).unwrap());
    assert!(bytes == fs::read(folder.join("spilled-join.parquet")).unwrap());
    // A file of pairs is not accepted as a file of fingerprints.
    let message = check_failure(folder, "join linear-scan.parquet", 1);
    assert!(message.contains("expected a column \"fingerprint\""), "{message}");
    let command = "join f.txt --groups --output groups.parquet";
    let message = check_failure(folder, command, 2);
    assert!(message.contains("takes no --count and no --groups"), "{message}");
}

#[test]
fn explain_shows_the_choice_and_threads_do_not_matter() {
    let folder = folder();
    let folder = folder.path();
    let lines: Vec<String> =
        (0..3000u64).map(|i| format!("{:016x}", i.wrapping_mul(0x0101_0000_0101))).collect();
    fs::write(folder.join("many.txt"), lines.join("\n")).unwrap();
    let output = simtool(folder, "join many.txt --verbose --count");
    let plan = String::from_utf8(output.stderr).unwrap();
    assert!(plan.contains("self-join of 3000 rows, 64 bits"), "{plan}");
    assert!(plan.contains("<- chosen"), "{plan}");
    let one = check(folder, "join many.txt -j 1 --index partition-join");
    for index in ["partition-join", "multi-index-join"] {
        for threads in [1, 2, 3, 7] {
            let command = format!("join many.txt -j {threads} --index {index}");
            assert_eq!(check(folder, &command), one);
        }
    }
    assert_eq!(check(folder, "join many.txt --index linear-scan"), one);
}

#[test]
fn wrong_arguments_and_files_are_reported() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("bad.txt"), "00ff\n00f\n").unwrap();
    let message = check_failure(folder, "join bad.txt", 1);
    assert!(message.contains("bad.txt, byte 5: expected 4 digits"), "{message}");
    let message = check_failure(folder, "join none.txt", 1);
    assert!(message.contains("cannot read none.txt"), "{message}");
    let message = check_failure(folder, "join f.txt --index tree", 2);
    assert!(message.contains("[possible values: linear-scan, partition-join"), "{message}");
    let message = check_failure(folder, "join f.txt --index block-index", 2);
    assert!(message.contains("[possible values: linear-scan, partition-join"), "{message}");
    let message = check_failure(folder, "join f.txt --max-memory much", 2);
    assert!(message.contains("such as 512M or 8GiB"), "{message}");
    let message = check_failure(folder, "join f.txt --output out.csv", 2);
    assert!(message.contains("--output out.csv: must end in .tsv, .npy"), "{message}");
    fs::write(folder.join("narrow.txt"), "00ff\n").unwrap();
    let command = "search f.txt --queries narrow.txt";
    let message = check_failure(folder, command, 2);
    assert!(message.contains("must have the same as the corpus, 64 bits"), "{message}");
}

#[test]
fn rows_of_another_recipe_are_refused() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("text.txt"), "a rose is a rose is a rose").unwrap();
    for words in [2, 3] {
        let shingles = format!("--shingle words:{words} --output {words}.f");
        check(folder, &format!("fingerprint text.txt {shingles}"));
    }
    assert_eq!(check(folder, "search 2.f --queries 2.f"), "0\t0\t0\n");
    let message = check_failure(folder, "search 2.f --queries 3.f", 2);
    assert!(message.contains("must be made as the corpus was; they differ in"), "{message}");
}

#[test]
fn a_distance_that_all_rows_are_within_is_refused() {
    let folder = folder();
    let folder = folder.path();
    let rule = "must be below the 64 bits of the fingerprints";
    for k in [64, 300] {
        let message = check_failure(folder, &format!("join f.txt -k {k}"), 2);
        assert!(message.contains(rule), "{message}");
        let search = format!("search f.txt --queries f.txt -k {k}");
        assert!(check_failure(folder, &search, 2).contains(rule));
    }
}

#[test]
fn pairs_that_are_too_many_to_keep_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: Vec<u64> =
        (1..3000).map(|row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    fs::write(folder.join("f.npy"), numpy(&rows, "(2999,)")).unwrap();
    let command = "search f.npy --queries f.npy -k 31 --count --verbose";
    let output = simtool(folder, &format!("{command} --max-memory 10M"));
    let plan = String::from_utf8(output.stderr).unwrap();
    let chosen = plan.lines().find(|line| line.contains("<- chosen")).unwrap();
    assert!(chosen.contains("linear-scan"), "{plan}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_join_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: Vec<u64> =
        (0..1_500_000).map(|row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    fs::write(folder.join("f.npy"), numpy(&rows, "(1500000,)")).unwrap();
    let arguments = "join f.npy --index linear-scan -k 20 --output out.tsv";
    let mut join = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let files = || fs::read_dir(folder).unwrap().count();
    while files() == 1 {
        assert_eq!(join.try_wait().unwrap(), None, "it takes much longer than that");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &join.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = join.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(), 1);
}
