//! Other runs, signals and mistakes do not damage the outputs of `simtool --corpus`.

use crate::program::Folder;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the names of all files and folders in a folder, except the inputs.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().path());
    let outputs = entries.filter(|path| path.extension().is_none_or(|end| end != "jsonl"));
    let mut names: Vec<String> =
        outputs.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn page(id: u32) -> String {
    format!("{{\"id\":{id},\"text\":\"{}\"}}\n", format!("w{id} x{} y ", id / 3).repeat(20))
}

/// Creates a folder with a file that takes a while to read and one that is read at once.
fn inputs() -> Folder {
    let big: String = (0..100_000).map(page).collect();
    Folder::empty().with("big.jsonl", big).with("small.jsonl", page(1) + &page(1))
}

/// Waits until `is_there` returns true.
fn wait_until(is_there: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_there() {
        assert!(Instant::now() < deadline, "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Starts a run on the big file, and returns when it works.
fn begin(folder: &Folder, more: &[&str]) -> Child {
    begin_as(Command::new(env!("CARGO_BIN_EXE_simtool")), folder, more)
}

/// Starts a run on the big file by a command that starts the program, and returns when it works.
fn begin_as(mut command: Command, folder: &Folder, more: &[&str]) -> Child {
    let temporary = || names(folder).iter().filter(|name| name.starts_with(".simtool-")).count();
    let before = temporary();
    command.current_dir(folder.path("")).args(["-q", "--corpus", "big.jsonl"]).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().unwrap();
    wait_until(|| temporary() != before);
    program
}

fn send(signal: &str, program: &Child) {
    let kill = Command::new("kill").args([signal, &program.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

fn documents(output: &Path) -> String {
    let summary = fs::read_to_string(output.join("summary.json")).unwrap();
    summary.lines().find(|line| line.starts_with("  \"documents\"")).unwrap().to_owned()
}

#[test]
fn the_first_of_two_runs_to_end_wins_their_common_folder() {
    let folder = inputs();
    for force in [&[][..], &["--force"]] {
        let output = format!("out{}", force.len());
        let first = begin(&folder, &[&["--output", &output], force].concat());
        let second = ["-q", "--corpus", "small.jsonl", "--output", &output];
        let second = folder.run(&[&second, force].concat());
        assert_eq!(second.code, 0, "{}", second.err);
        let first = first.wait_with_output().unwrap();
        let error = String::from_utf8(first.stderr).unwrap();
        assert_eq!(first.status.code(), Some(1), "{error}");
        assert!(error.contains(&format!("cannot write {output}: ")), "{error}");
        assert!(error.contains("this run's results were discarded"), "{error}");
        assert!(first.stdout.is_empty());
        assert_eq!(documents(&folder.path(&output)), "  \"documents\": 2,");
    }
    // The first run may replace neither the result that was there when both began, nor the result
    // of the second run.
    let first = begin(&folder, &["--output", "out0", "--force"]);
    let second = ["-q", "--corpus", "small.jsonl", "--output", "out0", "--force"];
    assert_eq!(folder.run(&second).code, 0);
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(1));
    assert_eq!(documents(&folder.path("out0")), "  \"documents\": 2,");
    assert_eq!(names(&folder), ["out0", "out1"]);
}

#[test]
fn the_next_run_removes_the_files_of_a_killed_run_and_keeps_those_of_a_living_one() {
    let folder = inputs();
    let mut killed = begin(&folder, &["--output", "killed"]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(names(&folder).len(), 1);
    let living = begin(&folder, &["--output", "living"]);
    let run = folder.run(&["-q", "--corpus", "small.jsonl", "--output", "next"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let living = living.wait_with_output().unwrap();
    assert_eq!(living.status.code(), Some(0), "{living:?}");
    assert_eq!(names(&folder), ["living", "next"]);
}

#[cfg(unix)]
#[test]
fn a_run_goes_on_when_the_terminal_is_closed_if_that_signal_is_ignored() {
    let folder = inputs();
    // `nohup` does the same.
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_simtool");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", program]);
    let run = begin_as(command, &folder, &["--output", "out"]);
    send("-HUP", &run);
    let run = run.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert_eq!(names(&folder), ["out"]);
}

#[test]
fn an_interrupted_run_says_that_there_are_no_results() {
    let folder = inputs();
    let run = begin(&folder, &["--output", "out"]);
    send("-TERM", &run);
    let run = run.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(130), "{run:?}");
    let error = String::from_utf8_lossy(&run.stderr);
    assert_eq!(error, "simtool: error: interrupted; no results were written\n");
    assert!(names(&folder).is_empty());
}

#[test]
fn an_interruption_after_the_results_are_complete_changes_nothing() {
    // There are more faults than a pipe holds, so the program waits for the test after all is
    // written.
    let missing = |n: u32| format!("missing-{n}.txt\n");
    let missing: String = (0..4000).map(missing).collect();
    let folder = Folder::empty().with("a.jsonl", page(1)).with("list", missing + "a.jsonl\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.current_dir(folder.path("")).args([
        "--files-from",
        "list",
        "--json",
        "--output",
        "out",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().unwrap();
    wait_until(|| folder.path("out").exists());
    send("-INT", &program);
    let mut stdout = program.stdout.take().unwrap();
    let out = thread::spawn(move || io::read_to_string(&mut stdout).unwrap());
    let mut error = String::new();
    program.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    // The files that do not exist are losses.
    assert_eq!(program.wait().unwrap().code(), Some(3), "{error}");
    assert!(!error.contains("interrupted"), "{error}");
    assert_eq!(out.join().unwrap(), fs::read_to_string(folder.path("out/summary.json")).unwrap());
}

#[test]
fn files_that_the_earlier_run_did_not_write_are_not_replaced() {
    let folder = Folder::empty().with("a.jsonl", page(1) + &page(1));
    let run = |more: &str| folder.run_words(&format!("dedup a.jsonl --output out -q{more}"));
    assert_eq!(run("").code, 0);
    for (file, more) in [
        ("kept/mine.txt", ""),
        ("documents.jsonl", ""),
        ("annotated/mine.txt", " --write-kept"),
        ("kept/mine.txt", " --write-kept"),
        ("kept/a.jsonl.bak", " --write-kept"),
    ] {
        assert_eq!(run(&format!("{more} --force")).code, 0);
        let path = folder.path("out").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let refused = run(&format!("{more} --force"));
        assert_eq!(refused.code, 2, "{file}: {}", refused.err);
        assert!(refused.err.contains(&format!("contains {file}")), "{file}: {}", refused.err);
        fs::remove_file(&path).unwrap();
        drop(fs::remove_dir(path.parent().unwrap()));
    }
    assert_eq!(run(" --force").code, 0);
    assert!(!folder.path("out/kept").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_printed_leaves_complete_results() {
    let folder = Folder::empty().with("a.jsonl", page(1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.current_dir(folder.path("")).args(["dedup", "a.jsonl", "--output", "out", "-q"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let ended = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.contains("the results in out are complete, but"), "{error}");
    assert!(folder.path("out/summary.json").exists());
}

#[test]
fn a_run_that_reads_nothing_replaces_nothing() {
    let folder = Folder::empty().with("a.jsonl", page(1) + &page(1)).with("empty.jsonl", "");
    assert_eq!(folder.run(&["-q", "--corpus", "a.jsonl", "--output", "out"]).code, 0);
    let field = ["a.jsonl", "--text-field", "body"];
    for (input, why) in [
        (&field[..], "no document was read: [text-field] \"a.jsonl\": 2 records have no field "),
        (&["empty.jsonl"], "no document was read: [empty] \"empty.jsonl\""),
        (&["a.jsonl", "--queries", "empty.jsonl"], "no document was read: [empty] "),
        (&["empty.jsonl", "--queries", "a.jsonl"], "no document was read: [empty] "),
    ] {
        for output in [&["--output", "out", "--force"][..], &["--output", "new"]] {
            let run = folder.run(&[&["-q", "--corpus"], input, output].concat());
            assert_eq!(run.code, 1, "{input:?}: {}", run.err);
            assert!(run.err.contains(why), "{input:?}: {}", run.err);
            assert!(run.out.is_empty(), "{}", run.out);
        }
        assert_eq!(documents(&folder.path("out")), "  \"documents\": 2,");
        assert_eq!(names(&folder), ["out"]);
    }
    fs::write(folder.path("f.txt"), "old").unwrap();
    let fingerprint = [&["fingerprint", "-q", "--force", "--output", "f.txt"], &field[..]].concat();
    let run = folder.run(&fingerprint);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("no document was read: [text-field]"), "{}", run.err);
    assert_eq!(fs::read_to_string(folder.path("f.txt")).unwrap(), "old");
    // Documents that the selection passes over were read, too.
    let passed = ["-q", "--corpus", "a.jsonl", "--min-tokens", "1000", "--output", "passed"];
    assert_eq!(folder.run(&passed).code, 0);
}

#[test]
fn standard_output_is_no_folder() {
    let folder = Folder::empty().with("a.jsonl", page(1));
    for more in [&[][..], &["--force"], &["--dry-run"]] {
        let run = folder.run(&[&["-q", "--corpus", "a.jsonl", "--output", "-"], more].concat());
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(
            run.err
                .contains("'-' for '--output <DIR>': means standard input or output, not a folder"),
            "{}",
            run.err
        );
    }
    assert!(names(&folder).is_empty());
}

#[test]
fn the_times_include_writing_and_kept_copies() {
    let folder = Folder::empty().with("a.jsonl", page(1));
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "--write-kept", "--json", "--stats"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for stage in ["keep", "write"] {
        assert!(run.out.contains(&format!("\n    \"{stage}\": ")), "{stage} in {}", run.out);
        assert!(run.err.lines().any(|line| line.starts_with(stage)), "{stage} in {}", run.err);
    }
    assert_eq!(run.out, fs::read_to_string(folder.path("simtool-out/summary.json")).unwrap());
}

#[test]
fn a_folder_of_another_command_is_replaced_by_force_alone() {
    let folder = Folder::empty().with("a.jsonl", page(1) + &page(1)).with("items.jsonl", page(1));
    let commands = [
        "dedup a.jsonl --write-kept --annotate",
        "passages a.jsonl --words 8 --write-kept",
        "contamination items.jsonl --fields text --in a.jsonl --write-kept drop",
    ];
    let run = |command: &str, more: &[&str]| {
        let words = command.split(' ').chain(["-q", "--output", "out"]).chain(more.iter().copied());
        folder.run(&words.collect::<Vec<_>>())
    };
    for old in commands {
        for new in commands {
            assert_eq!(run(old, &["--force"]).code, 0);
            let refused = run(new, &[]);
            assert_eq!(refused.code, 2, "{}", refused.err);
            assert!(refused.err.contains("is not empty"), "{}", refused.err);
            let replaced = run(new, &["--force"]);
            assert_eq!(replaced.code, 0, "{new} after {old}: {}", replaced.err);
        }
    }
    fs::write(folder.path("out/mine"), "").unwrap();
    let dry = run(commands[0], &["--dry-run", "--force"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(
        dry.err.contains("a run would fail: --output out: contains mine, which"),
        "{}",
        dry.err
    );
    let refused = run(commands[1], &["--force"]);
    assert!(refused.err.contains("contains mine, which simtool did not write"), "{}", refused.err);
}
