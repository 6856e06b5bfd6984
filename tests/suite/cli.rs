//! The command line: every option, every error with its exit code and message, and the help of the
//! program.

use crate::program::{self, Folder};
use std::fs;

/// Creates a folder with two samples.
fn folder() -> Folder {
    Folder::of("A1\nw w\n\x0cA2\nv\n", "S1\nw\n\x0cS2\nv\n")
}

/// Runs the program, which must reject its command line and write nothing.
fn usage_error(arguments: &[&str]) -> String {
    let folder = folder().with("result.txt", "old");
    let finished = folder.run(arguments);
    assert_eq!((finished.code, finished.out.as_str()), (2, ""), "{arguments:?}: {finished:?}");
    assert_eq!(folder.result().as_deref(), Some("old"), "{arguments:?}");
    finished.err
}

/// Runs the program, which must fail and keep the old result.
fn failure(folder: &Folder, arguments: &[&str]) -> String {
    let finished = folder.run(arguments);
    assert_eq!((finished.code, finished.out.as_str()), (1, ""), "{arguments:?}: {finished:?}");
    finished.err
}

/// Returns the output of the program, which must succeed.
fn printed(arguments: &[&str]) -> String {
    let finished = Folder::empty().run(arguments);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{arguments:?}");
    finished.out
}

#[test]
fn the_program_alone_says_how_to_begin() {
    let said = usage_error(&[]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() <= 8 && lines[2].starts_with("  simtool dedup PATH..."), "{said}");
    for wanted in ["simtool match", "simtool N M", "simtool --help"] {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn n_and_m_are_both_needed() {
    for (arguments, given) in
        [(&["10"][..], "10"), (&["--quiet"], "nothing"), (&["reference"], "nothing")]
    {
        let wanted = format!("simtool: error: N and M are needed, not {given}: type `simtool N M`");
        let error = usage_error(arguments);
        assert!(error.starts_with(&wanted) && error.contains("simtool --help"), "{error}");
    }
}

#[test]
fn a_mistyped_command_is_distinguished_from_a_wrong_n() {
    for (arguments, wanted) in [
        (&["jion", "f"][..], "there is no command 'jion': did you mean `simtool join`?"),
        (&["dedpu", "x"], "there is no command 'dedpu': did you mean `simtool dedup`?"),
        (&["dedup2"], "did you mean `simtool dedup`?"),
        (&["matsch", "7"], "did you mean `simtool match`?"),
        (&["serach", "x"], "did you mean `simtool search`?"),
        (&["xyz"], "there is no command 'xyz': `simtool --help` lists the commands"),
        (&["index", "xyz"], "there is no command 'xyz': `simtool index --help` lists its commands"),
        (&["index", "ad", "i"], "there is no command 'ad': did you mean `simtool index add`?"),
        (
            &["index", "backup", "i"],
            "there is no command 'backup': to back up an index, copy its folder",
        ),
        (&["preview", "x"], "there is no command 'preview': `simtool dedup PATH --preview` shows"),
        (&["article.txt"], "near-duplicates of this path, type `simtool dedup article.txt`"),
        (
            &["-j", "4", "dedup", "x"],
            "a command stands in front, its options behind it: `simtool d",
        ),
        (&["-q", "x", "4"], "unexpected argument 'x': type `simtool N M`"),
        (&["1", "4", "join"], "unexpected argument 'join': a command stands in front"),
        (&["1o", "4"], "N 1o: the hash table has 4 rows"),
        (&["-1", "4"], "N -1: the hash table has 4 rows"),
        (&["dedup", "--corpus", "x"], "'--corpus': paths stand alone, as in `simtool dedup PATH`"),
        (&["dedup", "x", "--queries", "y"], "`simtool match QUERIES --against PATH`"),
    ] {
        let error = usage_error(arguments);
        assert!(error.contains(wanted), "{arguments:?}: {error}");
        let is_about_n = error.contains("N and M") || error.contains("error: N ");
        assert_eq!(is_about_n, wanted.starts_with("N "), "{arguments:?}: {error}");
    }
}

#[test]
fn wrong_options_are_named() {
    for (arguments, wanted) in [
        (&["--nope"][..], "unexpected argument '--nope'"),
        (
            &["dedup", "a", "--treshold", "0.9"],
            "'--treshold': --similarity is the minimum similarity",
        ),
        (&["1", "4", "-x"], "unexpected argument '-x'"),
        (&["1", "4", "5"], "unexpected argument '5': type `simtool N M`"),
        (&["1", "4", "--shingle", "words:2"], "'--shingle': it goes with `simtool dedup`"),
        (&["1", "4", "--text-field", "body"], "it goes with `simtool dedup`"),
        (&["1", "4", "--threads", "x"], "--threads x: must be a whole number up to 512"),
        (&["1", "4", "--threads", "2.5"], "--threads 2.5: must be a whole number up to 512"),
        (&["1", "4", "--threads=-1"], "--threads -1: must be a whole number up to 512"),
        (&["1", "4", "-j", "1000000"], "--threads 1000000: must be a whole number up to 512"),
        (&["1", "4", "--threads"], "a value is required for '--threads <N>'"),
        (&["1", "4", "--max-distance", "k"], "--max-distance k: must be a whole number"),
        (&["1", "4", "--max-distance=-1"], "--max-distance -1: must be a whole number"),
        (&["1", "4", "--articles"], "a value is required for '--articles <FILE>'"),
        (&["1", "4", "--samples"], "a value is required for '--samples <FILE>'"),
        (&["1", "4", "--stop-words"], "a value is required for '--stop-words <FILE>'"),
        (&["1", "4", "--hash-table"], "a value is required for '--hash-table <FILE>'"),
        (&["1", "4", "--result"], "a value is required for '--result <FILE>'"),
        (&["1", "4", "--directory"], "a value is required for '--directory <DIR>'"),
        (&["1", "4", "--quiet", "--quiet"], "cannot be used multiple times"),
        (&["completions"], "<SHELL>"),
        (&["completions", "cmd"], "[possible values: bash, elvish, fish, powershell, zsh]"),
        (&["man", "x"], "COMMAND x: is no command; there are dedup, match, "),
        (&["generate"], "--output <DIR>"),
        (&["generate", "--output", "x"], "--documents <N>"),
        (&["generate", "--output", "x", "--bytes", "1P"], "with K, M, G or T"),
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
    let printing = [
        "1 4",
        "1 4 --result -",
        "--help",
        "-h",
        "--version",
        "--version --verbose",
        "man",
        "completions zsh",
        "cite exact",
        "config dedup",
        "config index add",
    ];
    for arguments in printing {
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

/// If a file is in the place of an output folder, the message of every command names this file.
#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let folder = folder().with("in/a.txt", "one two three").with("file", "x");
    for arguments in [
        "dedup in --output file/sub",
        "dedup in --output file/sub/deeper",
        "dedup in --output file/sub --resume",
        "dedup in --output file/sub --shard 1/1",
        "match in --against in --output file/sub",
        "passages in --output file/sub.jsonl",
        "passages in --output file/sub --write-kept",
        "contamination in --in in --output file/sub.jsonl",
        "fingerprint in --output file/sub.txt",
        "index create file/sub --method simhash",
    ] {
        let error = failure(&folder, &arguments.split(' ').collect::<Vec<_>>());
        assert!(error.contains(": file is a file and not a folder"), "{arguments}: {error}");
    }
}

/// The names of all commands.
const COMMANDS: [&str; 14] = [
    "dedup",
    "match",
    "passages",
    "contamination",
    "combine",
    "compare",
    "fingerprint",
    "join",
    "search",
    "reference",
    "generate",
    "cite",
    "completions",
    "man",
];

#[test]
fn the_help_lists_the_commands_and_gives_examples() {
    let (short, long) = (printed(&["-h"]), printed(&["--help"]));
    for command in COMMANDS {
        let begins = |line: &str| line.starts_with(&format!("  {command} "));
        assert!(short.lines().any(begins) && long.lines().any(begins), "{command}");
    }
    let (first, _) = long.split_once("  match ").unwrap();
    assert!(
        first.ends_with('\n') && first.lines().last().unwrap().starts_with("  dedup "),
        "{long}"
    );
    for wanted in ["simtool dedup big/", "simtool 1000 16", "Exit codes: 0 done, 1 failed, 2 wrong"]
    {
        assert!(long.contains(wanted), "{wanted}");
    }
    assert!(short.len() < long.len());
}

#[test]
fn the_help_of_a_command_has_its_options_alone_with_values_and_defaults() {
    for (command, own, others) in [
        ("dedup", "--similarity --keep --output-format --write-kept", "--articles --against"),
        ("match", "--against --similarity --write-kept", "--keep --pairs --queries"),
        ("compare", "--shingle --json --progress --stats", "--threads --output"),
        ("fingerprint", "--shingle --method --output --force", "--tokenizer --keep"),
        (
            "join",
            "--index --count --groups --progress --stats",
            "--queries --shingle --fingerprints",
        ),
        ("search", "--queries --index --progress --stats", "--shingle --fingerprints"),
        ("reference", "--directory --articles --result --force", "--corpus --similarity"),
        ("generate", "--documents --seed --with-tables --force", "--threads --format"),
        ("man", "--output --force", "--threads"),
    ] {
        let (short, long) = (printed(&[command, "-h"]), printed(&[command, "--help"]));
        assert_eq!(printed(&["help", command]), long);
        for (form, of_form) in [("reference", "1"), ("dedup", "--corpus=x")] {
            assert!(command != form || printed(&[of_form, "--help"]) == long, "{form}");
            assert!(command != form || printed(&[of_form, "-h"]) == short, "{form}");
        }
        let has = |help: &str, option: &str| {
            let is_it = |word: &str| {
                let word = word.trim_end_matches(',');
                word == option || word.starts_with(&format!("{option}[="))
            };
            help.lines()
                .any(|line| line.trim_start().starts_with('-') && line.split(' ').any(is_it))
        };
        for option in own.split(' ') {
            assert!(has(&short, option) && has(&long, option), "{command} {option}: {short}");
        }
        for option in others.split(' ') {
            assert!(!has(&short, option) && !has(&long, option), "{command} {option}: {short}");
        }
        assert!(long.contains("\nExamples:\n  simtool "), "{long}");
        assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
    }
    for (command, wanted) in [
        ("dedup", "[default: 0.8, or"),
        ("dedup", "[default: exact] [possible values: exact, covered, simhash, "),
        ("dedup", "64, 128, 256 or 512 [default: 64]"),
        ("dedup", "[default: words:3, or words:8 with covered]"),
        ("dedup", "[default: simtool-out]"),
        (
            "dedup",
            "[possible values: warc, parquet, arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines, blank-lines]",
        ),
        ("join", "[possible values: linear-scan, partition-join, multi-index-join, spilled-join]"),
        ("search", "linear-scan, bit-probing, expanded-set"),
        ("reference", "[default: 3]"),
        ("generate", "[default: 200]"),
    ] {
        // Some options are only in the long help.
        let help = [printed(&[command, "-h"]), printed(&[command, "--help"])].concat();
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(wanted), "{command} {wanted}: {help}");
    }
    for name in ["article.txt", "sample.txt", "stopwords.txt", "hashvalue.txt", "result.txt"] {
        assert!(printed(&["reference", "-h"]).contains(name), "{name}");
    }
    assert!(printed(&["generate", "--help"]).contains("known near-duplicates"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let expected = format!("simtool {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((printed(&["--version"]), printed(&["-V"])), (expected.clone(), expected));
}

#[test]
fn the_help_of_the_program_and_the_short_help_of_dedup_fit_on_a_page() {
    let lines = printed(&["--help"]).lines().count();
    assert!(lines <= 56, "{lines} lines");
    for (command, most) in [("dedup", 60), ("match", 60)] {
        let help = printed(&[command, "-h"]);
        assert!(help.lines().count() <= most, "{command}: {} lines", help.lines().count());
        assert!(help.ends_with(&format!(
            "`simtool {command} --help` explains all options, with examples\n"
        )));
    }
}

#[test]
fn options_of_similar_programs_are_answered_by_name() {
    let folder = Folder::empty().with("a.txt", "some text");
    for (option, advice) in [
        ("--threshold 0.8", "--similarity is the minimum"),
        ("--ngram 5", "--shingle words:5"),
        ("--num-perm 128", "--method minhash:lanes=128"),
        ("--seed 1", "hash functions are fixed"),
        ("--id name", "--id-field names"),
        ("--continue", "--resume stores what was read"),
        ("--workers 4", "--threads sets"),
    ] {
        let run = folder.run_words(&format!("dedup a.txt {option}"));
        assert!(run.code == 2 && run.err.contains(advice), "{option}: {}", run.err);
        let name = option.split(' ').next().unwrap();
        assert!(run.err.contains(&format!("unexpected argument '{name}'")), "{}", run.err);
    }
    // Other guesses are options.
    for option in ["--glob=!b*", "--keep=newest", "--annotate"] {
        assert_eq!(folder.run(&["dedup", "a.txt", option, "--force"]).code, 0, "{option}");
    }
}

#[test]
fn guesses_are_answered_with_the_options_of_the_command() {
    let folder = Folder::empty().with("a.txt", "some text");
    for (command, expected) in [
        (
            "contamination a.txt --against a.txt",
            "unexpected argument '--against': --in names the documents, and the items come first: \
             `simtool contamination ITEMS --in PATH`",
        ),
        ("contamination a.txt --in a.txt --threshold 0.8", "--share is the minimum share"),
        (
            "contamination a.txt",
            "the documents to search are missing: `simtool contamination ITEMS",
        ),
        ("contamination a.txt --in a.txt --write-kept drop", "add --output DIR"),
        ("contamination a.txt --in a.txt --remove", "--write-kept drop, --write-kept cut or"),
        (
            "passages a.txt --cut first",
            "this option is for copies of the files, which --write-kept writes",
        ),
        ("passages a.txt --write-kept", "add --output DIR"),
        (
            "passages a.txt --write-kept --output x --cut later",
            "invalid value 'later' for '--cut <COPIES>': first: Keep the first copy of everything",
        ),
        ("passages a.txt --min-length 20", "--words is the minimum number of words"),
        ("passages a.txt --against a.txt", "paths come without an option"),
        ("eval x --threshold 0.8", "--method exact:similarity=0.7"),
    ] {
        let run = folder.run_words(command);
        assert!(run.code == 2 && run.err.contains(expected), "{command}: {}", run.err);
    }
}

#[test]
fn excluded_files_are_not_read() {
    let folder = Folder::empty().with("in/a.txt", "some text").with("in/b.md", "some text");
    // Each of these options leaves one of the two files.
    for options in ["--glob !*.md", "--glob *.txt", "--glob * --glob !*.md"] {
        let run = folder.run_words(&format!("dedup in --force --json {options}"));
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(summary["documents"], 1, "{options}: {}", run.err);
    }
}

#[test]
fn the_table_ends_with_the_path_of_the_page() {
    let folder = Folder::empty().with("a.txt", "some text");
    let run = folder.run_words("dedup a.txt --output out");
    assert_eq!(run.out.lines().last(), Some("results in out, see out/report.html"));
}
