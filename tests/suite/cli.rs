//! The command line: every option, every error with its exit code and message, and what the
//! program prints about itself.

use crate::program::{self, Folder};
use std::fs;

/// A folder with two samples.
fn folder() -> Folder {
    Folder::of("A1\nw w\n\x0cA2\nv\n", "S1\nw\n\x0cS2\nv\n")
}

/// Runs the program, which must find its command line wrong and write nothing.
fn usage_error(arguments: &[&str]) -> String {
    let folder = folder().with("result.txt", "old");
    let finished = folder.run(arguments);
    assert_eq!((finished.code, finished.out.as_str()), (2, ""), "{arguments:?}: {finished:?}");
    assert_eq!(folder.result().as_deref(), Some("old"), "{arguments:?}");
    finished.err
}

/// Runs the program, which must fail and leave the old result.
fn failure(folder: &Folder, arguments: &[&str]) -> String {
    let finished = folder.run(arguments);
    assert_eq!((finished.code, finished.out.as_str()), (1, ""), "{arguments:?}: {finished:?}");
    finished.err
}

/// What the program prints when all is well.
fn printed(arguments: &[&str]) -> String {
    let finished = Folder::empty().run(arguments);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{arguments:?}");
    finished.out
}

#[test]
fn n_and_m_are_both_needed() {
    for (arguments, given) in [(&[][..], "nothing"), (&["10"], "10"), (&["--quiet"], "nothing")] {
        let wanted = format!("simtool: error: N and M are needed, not {given}: type `simtool N M`");
        let error = usage_error(arguments);
        assert!(error.starts_with(&wanted) && error.contains("simtool --help"), "{error}");
    }
}

#[test]
fn wrong_options_are_named() {
    for (arguments, wanted) in [
        (&["--nope"][..], "unexpected argument '--nope'"),
        (&["1", "4", "-x"], "unexpected argument '-x'"),
        (&["1", "4", "5"], "unexpected argument '5': type `simtool N M`"),
        (&["1", "4", "join"], "'join' cannot be used with"),
        (&["-0"], "--files-from <LIST>"),
        (&["1", "4", "--shingle", "words:2"], "'--shingle <UNIT:N>' goes with --corpus PATH"),
        (&["1", "4", "--text-field", "body"], "goes with --corpus PATH"),
        (&["1", "4", "--threads", "x"], "invalid value 'x' for '--threads <N>'"),
        (&["1", "4", "--threads", "2.5"], "invalid value '2.5' for '--threads <N>'"),
        (&["1", "4", "--threads=-1"], "invalid value '-1' for '--threads <N>'"),
        (&["1", "4", "-j", "1000000"], "invalid value '1000000' for '--threads <N>'"),
        (&["1", "4", "--threads"], "a value is required for '--threads <N>'"),
        (&["1", "4", "--max-distance", "k"], "invalid value 'k' for '--max-distance <K>'"),
        (&["1", "4", "--max-distance=-1"], "invalid value '-1' for '--max-distance <K>'"),
        (&["1", "4", "--articles"], "a value is required for '--articles <FILE>'"),
        (&["1", "4", "--samples"], "a value is required for '--samples <FILE>'"),
        (&["1", "4", "--stop-words"], "a value is required for '--stop-words <FILE>'"),
        (&["1", "4", "--hash-table"], "a value is required for '--hash-table <FILE>'"),
        (&["1", "4", "--result"], "a value is required for '--result <FILE>'"),
        (&["1", "4", "--directory"], "a value is required for '--directory <DIR>'"),
        (&["1", "4", "--quiet", "--quiet"], "cannot be used multiple times"),
        (&["completions"], "<SHELL>"),
        (&["completions", "cmd"], "[possible values: bash, elvish, fish, powershell, zsh]"),
        (&["man", "x"], "unexpected argument 'x'"),
        (&["generate"], "--output <DIR>"),
        (&["generate", "--output", "x"], "--documents <N>"),
        (&["generate", "--output", "x", "--bytes", "1T"], "with K, M or G"),
        (&["generate", "--output", "x", "--bytes", "1", "--documents", "1"], "cannot be used"),
    ] {
        let error = usage_error(arguments);
        assert!(error.contains(wanted), "{arguments:?}: {error}");
    }
}

#[test]
fn failures_name_the_file_and_the_reason() {
    let folder = folder();
    let error = failure(&folder, &["1", "4", "--result", "no/folder/result.txt"]);
    assert!(error.starts_with("simtool: error: cannot write no/folder/result.txt: "), "{error}");
    let error = failure(&folder, &["1", "4", "--result", "."]);
    assert!(error.starts_with("simtool: error: cannot write .: "), "{error}");
    let error = failure(&folder, &["1", "4", "--quiet", "--directory", "no/folder"]);
    let path = folder.path("").canonicalize().unwrap().join("no/folder/article.txt");
    let wanted = format!("simtool: error: cannot read {}: ", path.display());
    assert!(error.starts_with(&wanted) && error.lines().count() == 1, "{error}");
    let error = failure(&folder, &["generate", "--documents", "1", "--output", "article.txt/x"]);
    assert!(error.starts_with("simtool: error: cannot create article.txt/x: "), "{error}");
    assert_eq!(folder.result(), None);
}

#[test]
fn names_from_outside_do_not_drive_the_terminal() {
    let error = failure(&folder(), &["1", "4", "--articles", "\u{1b}[31mred\n"]);
    assert!(error.contains("\\u{1b}[31mred\\n: "), "{error}");
}

#[test]
fn every_file_can_be_elsewhere() {
    let files = Folder::empty()
        .with("a", "B1\nx\n\x0cB2\nw\n\x0cB3\nx stop")
        .with("q", "Q1\nx")
        .with("w", "stop")
        .with("t", "01\n10\n");
    let mut arguments: Vec<String> = ["2", "2", "--max-distance", "0"].map(str::to_owned).to_vec();
    for (option, name) in [
        ("--articles", "a"),
        ("--samples", "q"),
        ("--stop-words", "w"),
        ("--hash-table", "t"),
        ("--result", "r"),
    ] {
        arguments.push(option.to_owned());
        arguments.push(files.path(name).to_str().unwrap().to_owned());
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let finished = Folder::empty().run(&arguments);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""));
    assert_eq!(finished.out, "Q1\n0:B1 B3 \n");
    assert_eq!(fs::read_to_string(files.path("r")).unwrap(), finished.out);
}

#[test]
fn the_largest_distance_is_inclusive_and_may_be_larger_than_all() {
    let all = "S1\n0:A1 \n4:A2 \nS2\n0:A2 \n4:A1 \n";
    let near = "S1\n0:A1 \nS2\n0:A2 \n";
    for (distance, expected) in
        [("0", near), ("3", near), ("4", all), ("5", all), ("128", all), ("4294967295", all)]
    {
        let folder = folder();
        assert_eq!(folder.run(&["1", "4", "-k", distance]).code, 0);
        assert_eq!(folder.result().as_deref(), Some(expected), "{distance}");
    }
}

#[test]
fn standard_output_shows_the_first_sample_or_all() {
    let folder = folder();
    assert_eq!(folder.run(&["1", "4"]).out, "S1\n0:A1 \n");
    fs::remove_file(folder.path("result.txt")).unwrap();
    assert_eq!(folder.run(&["1", "4", "--result", "-"]).out, "S1\n0:A1 \nS2\n0:A2 \n");
    assert_eq!(folder.result(), None);
}

#[test]
fn statistics_go_to_standard_error_alone() {
    let folder = folder();
    let finished = folder.run(&["1", "4", "--stats", "--threads", "2"]);
    assert_eq!(finished.out, "S1\n0:A1 \n");
    let wanted = "articles 2, samples 2, features 1, matches 2, threads 2, ";
    assert!(finished.err.starts_with(wanted), "{}", finished.err);
    for stage in ["open files", "count words", "fingerprint corpus", "compare and write"] {
        assert!(finished.err.contains(stage), "{stage}: {}", finished.err);
    }
}

#[test]
fn an_instruction_set_that_is_unknown_or_too_high_is_no_error() {
    let folder = folder();
    for name in ["portable", "avx2", "avx512", "AVX9", ""] {
        let finished = program::run(&folder.path(""), &["1", "4"], &[("SIMTOOL_ISA", name)]);
        assert_eq!((finished.code, finished.out.as_str()), (0, "S1\n0:A1 \n"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_read_and_written_like_files() {
    let folder = folder();
    let script = r#"cat article.txt | "$0" 1 4 --articles /dev/stdin --result /dev/stderr"#;
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", script, env!("CARGO_BIN_EXE_simtool")]);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"S1\n0:A1 \n");
    assert_eq!(output.stderr, b"S1\n0:A1 \nS2\n0:A2 \n");
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = folder();
    let script = r#"{ "$0" 1 4; echo $? >code; } | true; cat code"#;
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", script, env!("CARGO_BIN_EXE_simtool")]);
    let output = shell.output().unwrap();
    assert_eq!((output.stdout, output.stderr), (b"0\n".to_vec(), Vec::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let folder = folder();
    let error = failure(&folder, &["1", "4", "--result", "/dev/full"]);
    assert!(error.starts_with("simtool: error: cannot write /dev/full: No space"), "{error}");
    for arguments in
        ["1 4", "1 4 --result -", "--help", "-h", "--version", "man", "completions zsh"]
    {
        let script = format!(r#""$0" {arguments} >/dev/full"#);
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(folder.path("")).args(["-c", &script, env!("CARGO_BIN_EXE_simtool")]);
        let output = shell.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        let wanted = "simtool: error: cannot write to standard output: No space";
        assert!(error.starts_with(wanted), "{arguments}: {error}");
    }
}

#[test]
fn help_names_every_option_with_its_default_and_gives_examples() {
    let (short, long) = (printed(&["-h"]), printed(&["--help"]));
    for option in [
        "--threads",
        "--directory",
        "--articles",
        "--samples",
        "--stop-words",
        "--hash-table",
        "--result",
        "--max-distance",
        "--no-mmap",
        "--quiet",
        "--stats",
        "--help",
        "--version",
    ] {
        assert!(short.contains(option) && long.contains(option), "{option}");
    }
    for name in ["article.txt", "sample.txt", "stopwords.txt", "hashvalue.txt", "result.txt"] {
        assert!(short.contains(name), "{name}");
    }
    for wanted in ["simtool 1000 16", "Exit codes: 0 done, 1 failed, 2 wrong usage", "form feeds"] {
        assert!(long.contains(wanted), "{wanted}");
    }
    assert!(!short.contains("generate") && short.len() < long.len());
    assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
    let generate = printed(&["generate", "--help"]);
    assert!(generate.contains("known near-duplicates") && generate.contains("--seed"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let expected = format!("simtool {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((printed(&["--version"]), printed(&["-V"])), (expected.clone(), expected));
}

#[test]
fn completions_know_the_options_of_every_shell() {
    for (shell, wanted) in [
        ("bash", "complete -F _simtool"),
        ("zsh", "#compdef simtool"),
        ("fish", "complete -c simtool"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = printed(&["completions", shell]);
        assert!(script.contains(wanted) && script.contains("max-distance"), "{shell}");
    }
}

#[test]
fn the_manual_page_has_its_sections() {
    let page = printed(&["man"]);
    for wanted in [".TH simtool 1", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", "hash\\-table"] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}
