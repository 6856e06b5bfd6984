//! `simtool index` with readers that end, signals, and folders that are not as they should be.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.args(arguments.split(' ')).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program and returns its exit code and its messages.
fn run(folder: &Path, arguments: &str) -> (i32, String) {
    let Output { status, stderr, .. } =
        command(folder, arguments).stdin(Stdio::null()).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

/// Creates a folder with an empty index named `i`.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), "index create i -q").0, 0);
    folder
}

fn line(number: usize) -> String {
    format!("{{\"id\":\"{number}\",\"text\":\"{number} {number}x {number}y {number}z\"}}\n")
}

/// Returns the number of documents in the index `name`.
fn documents(folder: &Path, name: &str) -> usize {
    let output = command(folder, &format!("index export {name}")).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().count()
}

/// Starts a filter and passes `lines` lines through it. Returns the filter, its input, and its output.
fn filter(folder: &Path, lines: usize) -> (Child, ChildStdin, impl BufRead + use<>) {
    let mut child = command(folder, "index filter i --wait 1").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 0..lines {
        input.write_all(line(number).as_bytes()).unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert_eq!(answer, line(number));
    }
    (child, input, output)
}

#[test]
fn a_filter_whose_reader_ends_commits_what_it_passed_on() {
    let folder = workplace();
    let folder = folder.path();
    let (child, mut input, output) = filter(folder, 10);
    drop(output);
    // The pipe notices its missing reader only when something is written to it.
    let writer =
        thread::spawn(move || (10..100_000).all(|n| input.write_all(line(n).as_bytes()).is_ok()));
    let ended = child.wait_with_output().unwrap();
    assert!(!writer.join().unwrap());
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{message}");
    assert!(message.contains(" lines: ") && message.contains("the reader of standard output"));
    assert!(documents(folder, "i") >= 10);
}

#[cfg(target_os = "linux")]
#[test]
fn a_filter_whose_output_fails_learns_nothing() {
    let folder = workplace();
    let folder = folder.path();
    let lines: String = (0..300).map(line).collect();
    fs::write(folder.join("a.jsonl"), lines).unwrap();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let input = fs::File::open(folder.join("a.jsonl")).unwrap();
    let ended = command(folder, "index filter i").stdin(input).stdout(full).output().unwrap();
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{message}");
    assert_eq!(documents(folder, "i"), 0);
}

#[test]
fn documents_are_removed_by_ids_in_json() {
    let folder = workplace();
    let folder = folder.path();
    let ids = ["\"a\\nb\"", "7.0", "\"7\"", "\"\\u0000\"", "\"x\""];
    let document = |(at, id): (usize, &&str)| {
        let text = format!("{at} {at}a {at}b {at}c {at}d");
        format!("{{\"id\": {id}, \"text\": \"{text}\"}}\n")
    };
    let lines: String = ids.iter().enumerate().map(document).collect();
    fs::write(folder.join("a.jsonl"), &lines).unwrap();
    assert_eq!(run(folder, "index add i a.jsonl -q").0, 0);
    assert_eq!(documents(folder, "i"), 5);
    // An object of an export and a value alone name the same document.
    let gone = format!("{}\n\n{}\r\n{{\"n\": 1, \"id\": {}}}\n", ids[0], ids[1], ids[3]);
    fs::write(folder.join("gone"), gone).unwrap();
    let (code, message) = run(folder, "index remove i --ids gone --json");
    assert!(code == 0 && message.contains("3 documents removed"), "{message}");
    let exported = command(folder, "index export i").output().unwrap().stdout;
    let exported = String::from_utf8(exported).unwrap();
    assert!(exported.contains("\"id\":\"7\"") && exported.contains("\"id\":\"x\""), "{exported}");
    fs::write(folder.join("gone"), "\"x\"\nx\n").unwrap();
    let (code, message) = run(folder, "index remove i --ids gone --json");
    assert!(code == 1 && message.contains("gone, line 2: expected an ID as JSON"), "{message}");
    assert_eq!(documents(folder, "i"), 2);
}

#[cfg(unix)]
#[test]
fn a_filter_that_is_interrupted_commits_what_it_passed_on() {
    // A test that was started by `nohup` cannot send HUP, because its programs ignore that signal.
    for signal in ["INT", "TERM"] {
        let folder = workplace();
        let folder = folder.path();
        let (child, input, _output) = filter(folder, 10);
        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-s", signal, &id]).status().unwrap();
        assert!(kill.success());
        let began = Instant::now();
        let ended = child.wait_with_output().unwrap();
        drop(input);
        assert!(began.elapsed() < Duration::from_secs(20));
        let message = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(130), "{signal}: {message}");
        assert!(message.contains("10 lines: 10 new"), "{message}");
        assert_eq!(documents(folder, "i"), 10);
    }
}

#[test]
fn an_addition_whose_list_of_repeats_is_not_read_is_complete() {
    let folder = workplace();
    let folder = folder.path();
    let lines: String = (0..40_000).map(|number| line(number / 2)).collect::<Vec<_>>().concat();
    fs::write(folder.join("a.jsonl"), lines).unwrap();
    let mut child = command(folder, "index add i a.jsonl").spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let ended = child.wait_with_output().unwrap();
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{message}");
    assert!(message.contains("20,000 new, 20,000 repeat others"), "{message}");
    assert_eq!(documents(folder, "i"), 20_000);
}

#[test]
fn an_intact_index_is_neither_salvaged_nor_merged_into_itself() {
    let folder = workplace();
    let folder = folder.path();
    let (code, message) = run(folder, "index salvage i saved");
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("has no damage") && message.contains("--force"), "{message}");
    assert!(!folder.join("saved").exists());
    assert_eq!(run(folder, "index salvage i saved --force").0, 0);
    let (code, message) = run(folder, "index merge i ./i");
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("is the index itself"), "{message}");
}

#[test]
fn a_folder_for_new_documents_that_is_not_empty_is_refused_with_its_option() {
    let folder = workplace();
    let folder = folder.path();
    fs::write(folder.join("a.jsonl"), line(1)).unwrap();
    fs::create_dir(folder.join("new")).unwrap();
    fs::write(folder.join("new/file"), "").unwrap();
    let (code, message) = run(folder, "index add i a.jsonl --only-new new");
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("--only-new new: is not empty: name another folder"), "{message}");
    assert!(!message.contains("--force"), "{message}");
    assert_eq!(documents(folder, "i"), 0);
}
