//! The ceiling of `simtool join --max-memory`, held under a limit of the system.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Rows that a join in memory takes over 100 MB for.
const ROWS: u64 = 3_000_000;
/// What the join is allowed.
const MAX_MEMORY: &str = "64M";
/// Kilobytes of its own memory that the system lets the process have: what is allowed, and stacks,
/// tables of the program and pieces of output on their way.
const LIMIT: &str = "75000";

/// Runs the program with at most `LIMIT` of memory that is no map of a file.
fn limited(folder: &Path, arguments: &str) -> Output {
    Command::new("sh")
        .args(["-c", "ulimit -d \"$0\" && exec \"$@\"", LIMIT, env!("CARGO_BIN_EXE_simtool")])
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_join_beyond_its_memory_spills_and_stays_below_the_ceiling() {
    let can_limit = Command::new("sh").args(["-c", "ulimit -d 1000000"]).status();
    if !can_limit.is_ok_and(|status| status.success()) {
        eprintln!("skipped: the shell cannot limit memory");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Different rows; every thousandth has a partner, every hundred-thousandth a twin.
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

    let join = "join --fingerprints f.npy -j 2 --output";
    let free = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(format!("{join} free.tsv").split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(free.status.success());
    // The limit is one that a join in memory does not keep.
    assert!(!limited(folder, &format!("{join} never.tsv")).status.success());
    assert!(!folder.join("never.tsv").exists());

    let spilled =
        limited(folder, &format!("{join} spilled.tsv --max-memory {MAX_MEMORY} --explain"));
    let messages = String::from_utf8_lossy(&spilled.stderr);
    assert!(spilled.status.success(), "{messages}");
    let chosen = messages.lines().find(|line| line.contains("<- chosen")).unwrap();
    assert!(chosen.contains("spilled-join"), "{messages}");
    let pairs = fs::read(folder.join("free.tsv")).unwrap();
    assert!(pairs == fs::read(folder.join("spilled.tsv")).unwrap());
    assert!(pairs.split(|&byte| byte == b'\n').count() > ROWS as usize / 1000);
}
