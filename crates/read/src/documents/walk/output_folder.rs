//! Recognizes folders with the results of an earlier run.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Name of the file that every run writes to its output folder.
pub(super) const SUMMARY: &str = "summary.json";

/// Name of an object that a folder of a store has only while a run writes results to it. Its text begins like the text
/// of `summary.json`.
pub const UNFINISHED: &str = "unfinished.json";

/// Number of bytes at the start of [`SUMMARY`] that are enough to find the name of the program.
pub(super) const HEAD_BYTES: usize = 64;

/// Returns whether the folder contains the results of an earlier run of simtool. The start of its
/// `summary.json` proves that.
#[must_use]
pub fn is_output_folder(folder: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(folder.join(SUMMARY))
        .and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    read.is_ok() && is_summary(&head)
}

/// Returns whether a file named `summary.json` was written by simtool. `head` has its first 64 bytes or more, or the
/// whole file if it is shorter.
#[must_use]
pub fn is_summary(head: &[u8]) -> bool {
    let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.by_ref().take(2).eq([&b"{"[..], b"\"program\":"]) && words.next() == Some(b"\"simtool")
}
