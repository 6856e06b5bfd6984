//! Limits of memory, which the system enforces, and the messages if memory is too small.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Number of rows for which a join in memory takes over 100 MB.
const ROWS: u64 = 3_000_000;
/// Value of `--max-memory` for the join.
const MAX_MEMORY: &str = "64M";
/// Kilobytes of anonymous memory that the system allows: the limit of the join, and stacks, tables
/// of the program and pieces of output in transit.
const LIMIT: &str = "85000";

/// Runs the program with at most `limit` kilobytes of memory that is no map of a file.
pub(crate) fn limited(folder: &Path, limit: &str, arguments: &str) -> Output {
    limited_command(folder, limit, arguments).output().unwrap()
}

/// Returns the command that [`limited`] runs.
pub(crate) fn limited_command(folder: &Path, limit: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -d \"$0\" && exec \"$@\"", limit, env!("CARGO_BIN_EXE_simtool")])
        .current_dir(folder);
    for argument in arguments.split(' ') {
        match argument.split_once('=') {
            Some((name, value)) if name.starts_with("SIMTOOL_") => command.env(name, value),
            _ => command.arg(argument),
        };
    }
    command
}

#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
pub(crate) fn can_limit() -> bool {
    let limited = Command::new("sh").args(["-c", "ulimit -d 1000000"]).status();
    let can = limited.is_ok_and(|status| status.success());
    if !can {
        eprintln!("skipped: the shell cannot limit memory");
    }
    can
}

/// Builds lines of `words` words each. No two lines are equal, but all lines of a family are
/// similar.
fn similar_lines(families: usize, lines: usize, words: usize) -> String {
    let mut text = String::new();
    for line in 0..families * lines {
        let family = line / lines + 1;
        let word = |word: usize| (word + family * words).wrapping_mul(0x9E37_79B1) & 0xF_FFFF;
        text.extend((0..words).map(|at| format!("{:x} ", word(at))));
        text.extend([line.to_string(), "\n".to_owned()]);
    }
    text
}

#[test]
fn an_exact_join_without_the_memory_that_it_needs_says_so() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Each of 12 million shingles takes 8 bytes once texts are compared.
    fs::write(folder.join("a.txt"), similar_lines(1, 100, 20_000)).unwrap();
    let run =
        "-q -j 1 --corpus a.txt --split lines --shingle chars:8 --max-memory 100G --output out";
    let failed = limited(folder, "60000", run);
    let messages = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{messages}");
    assert!(messages.starts_with("simtool: error: cannot have "), "{messages}");
    assert!(messages.contains(" bytes of memory for the terms of the documents: "), "{messages}");
    assert!(messages.contains(" set --max-memory lower"), "{messages}");
    assert!(messages.lines().count() == 1 && !folder.join("out").exists(), "{messages}");
}

#[test]
fn verification_stays_below_the_ceiling() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The 5 million shingles of all texts take 44 MB, and those of two families a tenth of that.
    fs::write(folder.join("a.txt"), similar_lines(20, 10, 5000)).unwrap();
    let verify = "-q -j 1 --corpus a.txt --split lines --shingle chars:8 --method simhash \
                  --verify 0.9 --pairs --output";
    let run = |limit, rest: &str| {
        let run = limited(folder, limit, &format!("{verify} {rest}"));
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    run("1000000", "free");
    run("36000", "below --max-memory 16M");
    let pairs = fs::read(folder.join("free/pairs.jsonl")).unwrap();
    assert_eq!(pairs.split(|&byte| byte == b'\n').count(), 20 * 45 + 1);
    assert!(pairs == fs::read(folder.join("below/pairs.jsonl")).unwrap());
}

#[test]
fn a_join_beyond_its_memory_spills_and_stays_below_the_ceiling() {
    if !can_limit() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The rows are different, but every thousandth has a partner, and every hundred-thousandth a
    // twin.
    let row = |row: u64| match row % 1000 {
        1 if row % 100_000 == 1 => (row - 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        1 => (row - 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 1 << 40 ^ 4,
        _ => row.wrapping_mul(0x9E37_79B9_7F4A_7C15),
    };
    let header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': ({ROWS},), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..ROWS).flat_map(|number| row(number).to_le_bytes()));
    fs::write(folder.join("f.npy"), bytes).unwrap();

    let join = "join f.npy -j 2 --output";
    let free = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(format!("{join} free.tsv").split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(free.status.success());
    // A join in memory would not keep within the limit.
    assert!(!limited(folder, LIMIT, &format!("{join} never.tsv")).status.success());
    assert!(!folder.join("never.tsv").exists());

    let spilled =
        limited(folder, LIMIT, &format!("{join} spilled.tsv --max-memory {MAX_MEMORY} --verbose"));
    let messages = String::from_utf8_lossy(&spilled.stderr);
    assert!(spilled.status.success(), "{messages}");
    let chosen = messages.lines().find(|line| line.contains("<- chosen")).unwrap();
    assert!(chosen.contains("spilled-join"), "{messages}");
    let pairs = fs::read(folder.join("free.tsv")).unwrap();
    assert!(pairs == fs::read(folder.join("spilled.tsv")).unwrap());
    assert!(pairs.split(|&byte| byte == b'\n').count() > ROWS as usize / 1000);
}
