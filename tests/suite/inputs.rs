//! What a command reads: folders and what lies in them, lists, tables of any delimiter, fields that
//! are not there.

use crate::program::Folder;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

const WORDS: &str = "the same words in two lines of a file that repeat";

fn line(id: &str) -> String {
    format!("{{\"id\":\"{id}\",\"text\":\"{WORDS}\"}}\n")
}

#[test]
fn the_current_folder_is_a_corpus_again_and_again() {
    let folder = Folder::empty().with("a.jsonl", line("a") + &line("b")).with(".notes", "x y z");
    fs::create_dir(folder.path(".git")).unwrap();
    let folder = folder.with(".git/config", "[core]");
    let run = folder.run(&["--corpus", "."]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("[hidden] \".\": 2 hidden files and folders were left out"),
        "{}",
        run.err
    );
    assert!(run.err.contains("such as \"./.git\"; --hidden reads them"), "{}", run.err);
    let removed = fs::read(folder.path("simtool-out/removed.jsonl")).unwrap();
    for more in [&["--force"][..], &["--output", "second"], &["--output", "third", "-q"]] {
        let run = folder.run(&[&["--corpus", "."], more].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("documents                 2\n"), "{}", run.out);
        let is_quiet = more.contains(&"-q");
        assert_eq!(run.err.contains("[results] \".\""), !is_quiet, "{}", run.err);
    }
    assert_eq!(fs::read(folder.path("simtool-out/removed.jsonl")).unwrap(), removed);
    // The results of a run are read where they are named.
    let run = folder.run_words("--corpus . --output kept --write-kept");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("--corpus kept/kept --output again");
    assert!(run.out.contains("documents                 1\n"), "{}", run.out);

    let run = folder.run_words("--corpus . --hidden --output all");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("documents                 4\n"), "{}", run.out);
    let run = folder.run_words("--corpus .notes .git --output named");
    assert!(run.out.contains("documents                 2\n"), "{}", run.out);
    // A file of fingerprints in the folder is no input either.
    for _ in 0..2 {
        let run = folder.run_words("fingerprint . --output prints.txt");
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.err.contains("note: 2 documents,"), "{}", run.err);
    }
}

#[test]
fn a_list_may_come_through_standard_input() {
    let folder = Folder::empty().with("a.jsonl", line("a")).with("b.jsonl", line("b"));
    let piped = |arguments: &[&str], list: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        command.current_dir(folder.path("")).args(arguments).stdin(Stdio::piped());
        let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        program.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
        let ended = program.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (ended.status.code(), text(ended.stdout), text(ended.stderr))
    };
    let (code, out, err) = piped(&["--files-from", "-"], "a.jsonl\nb.jsonl\n");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("documents                 2\n"), "{out}");
    let fingerprint = ["fingerprint", "--files-from", "-", "-0", "-q", "--output", "-"];
    let (code, out, err) = piped(&fingerprint, "a.jsonl\0b.jsonl\0");
    assert_eq!((code, out.lines().count()), (Some(0), 2), "{err}");
    let (code, _, err) = piped(&fingerprint[..3], "");
    assert_eq!(code, Some(2), "{err}");
    for (arguments, list) in
        [(&["--files-from", "-"][..], "-\n"), (&["--files-from", "-", "--corpus", "-"], "a.jsonl")]
    {
        let (code, _, err) = piped(arguments, list);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("--files-from -: reads the list from standard input"), "{err}");
    }
}
