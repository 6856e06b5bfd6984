//! Inputs that once took many times the limit of memory.
#![cfg(target_os = "linux")]

use crate::join_memory::{can_limit, limited, limited_command};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Kilobytes of anonymous memory that the system allows in addition to `--max-memory`: stacks, tables of the
/// program and pieces of output in transit.
const MORE: u64 = 75_000;

/// Runs the program with `--max-memory` of `megabytes`, in `folder`. Returns its exit status and its messages.
fn run(folder: &Path, megabytes: u64, arguments: &str) -> (Option<i32>, String) {
    let limit = (megabytes * 1000 + MORE).to_string();
    let run = limited(folder, &limit, &format!("{arguments} --max-memory {megabytes}M -j 2"));
    (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn bad_records_take_little_memory_and_only_the_first_are_listed() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::from("{\"text\": \"one good line\"}\n");
    for line in 0..200_000 {
        writeln!(lines, "{{\"text\": oops {line}}}").unwrap();
    }
    fs::write(folder.path().join("a.jsonl"), lines).unwrap();
    let (code, messages) = run(folder.path(), 16, "dedup a.jsonl --output out --verbose");
    assert_eq!(code, Some(3), "{messages}");
    assert!(
        messages.contains(" 200000 records, and the first 1000 are listed; record 1: "),
        "{messages}"
    );
    let listed = messages.lines().filter(|line| line.contains("[json]")).count();
    assert_eq!(listed, 1001);
    let quarantine = fs::read_to_string(folder.path().join("out/quarantine.jsonl")).unwrap();
    assert_eq!(quarantine.lines().count(), 200_000);
    assert!(quarantine.lines().last().unwrap().contains("\"record\":200000,"));
}

/// Writes a file of two equal long lines, of letters that can hardly be compressed, and a short one.
fn write_long_lines(folder: &Path) {
    let mut words = String::new();
    words.extend((0..400_000_u32).map(|n| format!("{:x} ", n.wrapping_mul(77_777))));
    fs::write(folder.join("a.txt"), format!("{words}\none short line\n{words}\n")).unwrap();
}

#[test]
fn memory_does_not_decide_which_records_are_documents() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_long_lines(folder.path());
    let arguments = "dedup -q a.txt --split lines --shingle chars:5 --output";
    for (megabytes, threads) in [(80, 1), (80, 7), (400, 2)] {
        let out = format!("{megabytes}-{threads}");
        let more = format!("{arguments} {out} -j {threads} --max-memory {megabytes}M");
        let limit = (megabytes * 1000 + MORE).to_string();
        let run = limited(folder.path(), &limit, &more);
        let messages = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(0), "{messages}");
        let removed = fs::read_to_string(folder.path().join(out).join("removed.jsonl")).unwrap();
        assert!(
            removed.contains("\"record\":2,") && removed.contains("\"kept_record\":0,"),
            "{removed}"
        );
    }
}

#[test]
fn a_text_that_does_not_fit_in_memory_ends_the_run() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_long_lines(folder.path());
    let arguments = "dedup -q a.txt --split lines --shingle chars:5 --output";
    let (code, messages) = run(folder.path(), 20, &format!("{arguments} out"));
    assert_eq!(code, Some(1), "{messages}");
    assert!(
        messages.contains(" in a.txt (at byte 0): its terms do not fit in --max-memory"),
        "{messages}"
    );
    assert!(!folder.path().join("out").exists());
    // The limit that the message names is enough, and so are shorter records.
    let limit = messages.split("at least ").nth(1).and_then(|rest| rest.split('M').next()).unwrap();
    let (code, messages) = run(folder.path(), limit.parse().unwrap(), &format!("{arguments} all"));
    assert_eq!(code, Some(0), "{messages}");
    let (code, messages) =
        run(folder.path(), 20, &format!("{arguments} short SIMTOOL_MAX_RECORD=1M"));
    assert_eq!(code, Some(3), "{messages}");
    assert!(messages.contains("at most 1000000 bytes (SIMTOOL_MAX_RECORD)"), "{messages}");
}

#[test]
fn an_open_quote_and_a_large_window_end_the_run_if_they_do_not_fit() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let row = "1,some words of a row in a table that has many rows\n";
    fs::write(folder.path().join("a.csv"), format!("id,text\n1,\"{}", row.repeat(1_000_000)))
        .unwrap();
    let (code, messages) = run(folder.path(), 40, "dedup -q a.csv --output out");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains(" in a.csv: does not fit in --max-memory"), "{messages}");
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packed.window_log(27).unwrap();
    let line = format!("{{\"text\": \"{}\"}}\n", row.replace('\n', " ").repeat(100));
    std::io::Write::write_all(&mut packed, line.repeat(20_000).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    for number in 0..4 {
        fs::write(folder.path().join(format!("{number}.jsonl.zst")), &packed).unwrap();
    }
    let files = "dedup -q 0.jsonl.zst 1.jsonl.zst 2.jsonl.zst 3.jsonl.zst --method simhash";
    // The library maps each window as a whole, so the system must allow more than is used.
    let run = |limit, memory| {
        let run = limited(folder.path(), limit, &format!("{files} --output out -j 4 {memory}"));
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let (code, messages) = run("unlimited", "--max-memory 20M");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("the window of a compressed part in "), "{messages}");
    // A map that the system refuses is no damage of the file.
    let (code, messages) = run("120000", "--max-memory 150M");
    assert!(code == Some(1) && messages.contains("[zstd-memory]"), "{messages}");
    let (code, messages) = run("unlimited", "--max-memory 150M");
    assert_eq!(code, Some(0), "{messages}");
}

/// Creates a folder with an empty index named `i`.
fn place_of_index() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let created = limited(folder.path(), "unlimited", "index create i -q");
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    folder
}

#[test]
fn memory_does_not_decide_which_records_an_index_reads() {
    let folder = place_of_index();
    let text = "some words ".repeat(100_000);
    let lines = format!("{{\"text\": \"one short line\"}}\n{{\"text\": \"{text}\"}}\n");
    fs::write(folder.path().join("a.jsonl"), lines).unwrap();
    for command in ["index query i a.jsonl", "index add i a.jsonl", "eval --sample 2 a.jsonl"] {
        let run = |more| limited(folder.path(), "unlimited", &format!("{command} {more}"));
        let messages = String::from_utf8(run("--max-memory 64M").stderr).unwrap();
        assert!(!messages.contains("SIMTOOL_MAX_RECORD"), "{command}: {messages}");
    }
}

#[test]
fn a_line_that_is_too_long_passes_through_a_filter_in_little_memory() {
    const BYTES: usize = 200 << 20;
    if !can_limit() {
        return;
    }
    let folder = place_of_index();
    let long = fs::File::create(folder.path().join("long")).unwrap();
    // A file of zero bytes takes no room on the disk.
    long.set_len(BYTES as u64).unwrap();
    let arguments = "index filter i --max-memory 16M -j 2 SIMTOOL_MAX_RECORD=1MiB";
    let mut command = limited_command(folder.path(), &(16_000 + MORE).to_string(), arguments);
    command.stdin(fs::File::open(folder.path().join("long")).unwrap());
    command.stdout(fs::File::create(folder.path().join("passed")).unwrap());
    let filtered = command.output().unwrap();
    let messages = String::from_utf8_lossy(&filtered.stderr);
    assert_eq!(filtered.status.code(), Some(3), "{messages}");
    assert!(
        messages.contains("line 1: expected at most 1048576 bytes (SIMTOOL_MAX_RECORD)"),
        "{messages}"
    );
    assert!(
        messages.contains("1 line: 0 new, 0 that repeat others, 1 without a document"),
        "{messages}"
    );
    let passed = fs::read(folder.path().join("passed")).unwrap();
    assert!(passed.len() == BYTES && passed.iter().all(|&byte| byte == 0));
}

#[test]
fn a_line_that_does_not_fit_in_memory_ends_a_filter() {
    if !can_limit() {
        return;
    }
    let folder = place_of_index();
    let lines = format!(
        "{{\"text\": \"one short line\"}}\n{{\"text\": \"{}\"}}\n",
        "word ".repeat(2_000_000)
    );
    fs::write(folder.path().join("lines"), lines).unwrap();
    let arguments = "index filter i --max-memory 16M -j 2";
    let mut command = limited_command(folder.path(), &(16_000 + MORE).to_string(), arguments);
    command.stdin(fs::File::open(folder.path().join("lines")).unwrap());
    let filtered = command.output().unwrap();
    let messages = String::from_utf8_lossy(&filtered.stderr);
    assert_eq!(filtered.status.code(), Some(1), "{messages}");
    assert!(messages.contains("line 2 of standard input, with over "), "{messages}");
    assert!(messages.contains("does not fit in --max-memory"), "{messages}");
    // The lines before it were passed on.
    assert_eq!(filtered.stdout, b"{\"text\": \"one short line\"}\n");
}

#[test]
fn pairs_of_fingerprints_are_written_in_little_memory() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Every two of these 3000 rows differ in at most 8 bits, so there are 4.5 million pairs.
    let hash = |row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let flipped = |row: u64, flip: u64| 1_u64 << (hash(row) >> (20 + 6 * flip) & 63);
    let row = |row: u64| (0..4).fold(7, |bits, flip| bits ^ flipped(row, flip));
    let mut rows = String::new();
    rows.extend((0..3000).map(|number| format!("{:016x}\n", row(number))));
    fs::write(folder.path().join("a.hex"), rows).unwrap();
    let (code, messages) = run(folder.path(), 16, "join -q a.hex -k 8 --output little.tsv");
    assert_eq!(code, Some(0), "{messages}");
    let (code, messages) = run(folder.path(), 2000, "join -q a.hex -k 8 --output all.tsv");
    assert_eq!(code, Some(0), "{messages}");
    let pairs = fs::read(folder.path().join("all.tsv")).unwrap();
    assert_eq!(pairs.split(|&byte| byte == b'\n').count(), 3000 * 2999 / 2 + 1);
    assert!(pairs == fs::read(folder.path().join("little.tsv")).unwrap());
    // All groups are needed at once.
    let (code, messages) = run(folder.path(), 1, "join -q a.hex -k 8 --groups --output groups.tsv");
    assert_eq!(code, Some(1), "{messages}");
    assert!(
        messages.contains("the pairs of fingerprints: do not fit in --max-memory"),
        "{messages}"
    );
}

#[test]
fn a_small_address_space_is_used_or_ends_the_run_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for n in 0..400_000 {
        writeln!(
            lines,
            "{{\"text\": \"line {n} has these words {} and more {}\"}}",
            n * 7,
            n % 1000
        )
        .unwrap();
    }
    let bytes = lines.len() as u64;
    fs::write(folder.path().join("a.jsonl"), lines).unwrap();
    let run = |kilobytes: u64| {
        let program = env!("CARGO_BIN_EXE_simtool");
        let shell = format!(
            "ulimit -v {kilobytes}; exec {program} dedup a.jsonl --method simhash --force -q -j 2 --output out"
        );
        let run =
            Command::new("sh").args(["-c", &shell]).current_dir(folder.path()).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    // The file alone is larger than half of this address space.
    let (code, messages) = run(bytes / 1000 * 3 / 2 + 300_000);
    assert_eq!(code, Some(0), "{messages}");
    let whole = fs::read(folder.path().join("out/removed.jsonl")).unwrap();
    let mut codes = Vec::new();
    for kilobytes in (80_000..300_000).step_by(20_000) {
        let (code, messages) = run(kilobytes);
        let is_refused = messages.contains("address space is used up")
            || messages.contains("--max-memory")
            || messages.contains("the system cannot start them");
        assert!(
            code == Some(0) || is_refused && code.is_some_and(|code| code < 3),
            "{code:?}: {messages}"
        );
        codes.push(code);
        if code == Some(0) {
            assert_eq!(fs::read(folder.path().join("out/removed.jsonl")).unwrap(), whole);
        }
    }
    assert!(codes.contains(&Some(0)), "{codes:?}");
}
