//! Tests on the published data, in the folder that the environment variable `SIMTOOL_DATA` names.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::naive::Task;
use crate::program::{self, Finished, Folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder `name` of the published data, unless the test is skipped.
fn data(name: &str) -> Option<PathBuf> {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        println!("skipped: SIMTOOL_DATA is not set");
        return None;
    };
    let folder = Path::new(&data).join(name);
    assert!(folder.is_dir(), "SIMTOOL_DATA has no folder {name}");
    Some(folder)
}

/// Runs `simtool` on the published input, and writes the result to `here`.
fn run(here: &Folder, official: &Path, arguments: &[&str]) -> Finished {
    let directory = ["--directory", official.to_str().unwrap(), "--result", "result.txt"];
    let finished = here.run(&[arguments, &directory].concat());
    assert_eq!((finished.code, finished.err.as_str()), (0, ""));
    finished
}

#[test]
fn the_published_result_is_met_to_the_byte() {
    let Some(official) = data("official") else { return };
    let here = Folder::empty();
    let finished = run(&here, &official, &["1000", "16"]);
    let expected = fs::read_to_string(official.join("expected-1000-16.txt")).unwrap();
    assert!(here.result().unwrap() == expected, "result.txt differs from expected-1000-16.txt");
    assert!(!finished.out.is_empty() && expected.starts_with(&finished.out));
    assert_eq!(finished.out.matches("Sample-").count(), 1);
}

/// The oracle of the other tests must be right itself.
#[test]
fn the_straight_implementation_meets_the_published_result_too() {
    let Some(official) = data("official") else { return };
    let read = |name| fs::read(official.join(name)).unwrap();
    let task = Task {
        articles: &read("article.txt"),
        samples: &read("sample.txt"),
        stop_words: &read("stopwords.txt"),
        hash_table: &fs::read_to_string(official.join("hashvalue.txt")).unwrap(),
        features: 1000,
        bits: 16,
        max_distance: 3,
    };
    let (result, first) = task.solve();
    assert!(result == read("expected-1000-16.txt"));
    assert!(result.starts_with(&first) && first.starts_with(b"Sample-1\n0:1-1 "));
}

#[test]
fn the_block_of_the_statement_is_met_to_the_byte() {
    let Some(official) = data("official") else { return };
    let finished = run(&Folder::empty(), &official, &["1000", "32"]);
    assert_eq!(finished.out, "Sample-1\n0:1-1 \n2:1-901 \n");
}

#[test]
fn newsgroups_give_the_same_for_any_number_of_threads_and_any_processor() {
    let Some(newsgroups) = data("newsgroups") else { return };
    let here = Folder::empty();
    for name in ["article.txt", "sample.txt"] {
        let mut unpack = Command::new("zstd");
        unpack.arg("-dqo").arg(here.path(name)).arg(newsgroups.join(format!("{name}.zst")));
        if !unpack.status().is_ok_and(|status| status.success()) {
            println!("skipped: there is no zstd to unpack the newsgroups with");
            return;
        }
    }
    let expected = of_newsgroups(&here, "1", "portable");
    assert!(expected.lines().count() > 200);
    for (threads, isa) in [("1", "avx512"), ("2", "avx2"), ("3", "avx512"), ("7", "avx512")] {
        assert!(of_newsgroups(&here, threads, isa) == expected, "{threads} threads, {isa}");
    }
}

/// Returns the result of `simtool 10000 128` in the folder.
fn of_newsgroups(folder: &Folder, threads: &str, isa: &str) -> String {
    let arguments = ["10000", "128", "--threads", threads, "--quiet", "--max-distance", "20"];
    let finished = program::run(&folder.path(""), &arguments, &[("SIMTOOL_ISA", isa)]);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""));
    folder.result().unwrap()
}
