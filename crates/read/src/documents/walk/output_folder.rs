//! Recognizes folders with the results of an earlier run.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Returns whether the folder contains the results of an earlier run of simtool. The start of its
/// `summary.json` proves that.
#[must_use]
pub fn is_output_folder(folder: &Path) -> bool {
    /// Number of bytes at the start of `summary.json` that contain the name of the program.
    const HEAD: u64 = 64;
    let mut head = Vec::new();
    let read = fs::File::open(folder.join("summary.json"))
        .and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let names_program = |head: &[u8]| {
        let mut words = head.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        words.by_ref().take(2).eq([&b"{"[..], b"\"program\":"])
            && words.next() == Some(b"\"simtool")
    };
    read.is_ok() && names_program(&head)
}
