//! Tokenizers, stop words and weights as options of the commands.

use crate::program::Folder;

const TEXTS: &str = "{\"text\":\"The ferry leaves at seven, and the wind is strong.\"}\n\
                     {\"text\":\"a ferry leaves at seven; the wind's strong today\"}\n\
                     {\"text\":\"Ferry wind ferry wind, seven isles\"}\n\
                     {\"text\":\"他来到了网易杭研大厦。\"}\n";

/// Returns the rows of the texts, and checks that one thread and four threads give the same.
#[track_caller]
fn rows(folder: &Folder, options: &str) -> String {
    let of = |threads| {
        let command = format!("fingerprint in.jsonl --output - --quiet --threads {threads}");
        let run = folder.run_words(format!("{command} {options}").trim());
        assert_eq!(run.code, 0, "{options}: {}", run.err);
        run.out
    };
    let rows = of(1);
    assert_eq!(of(4), rows, "{options}");
    rows
}

#[test]
fn every_option_changes_the_fingerprints_or_is_another_name() {
    let folder = Folder::empty().with("in.jsonl", TEXTS).with("list", "the and AT");
    let rows = |options| rows(&folder, options);
    let plain = rows("");
    for (options, same) in [
        ("--shingle words:3 --method simhash:weight=tf --stop-words none", ""),
        ("--method simhash:shingle=chars:2", "--shingle chars:2"),
        ("--shingle chars", "--shingle chars:5"),
    ] {
        assert_eq!(rows(options), rows(same), "{options}");
    }
    let mut changed = vec![
        "--shingle 1 --method simhash:weight=binary",
        "--shingle 1 --method simhash:weight=log-tf-idf",
        "--shingle 1 --method simhash:top=2",
        "--shingle 1 --method simhash:idf_band=0-0.6",
        "--shingle ascii",
        "--stop-words english",
        "--stop-words list",
    ];
    if cfg!(feature = "chinese") {
        changed.extend(["--shingle chinese", "--shingle auto", "--shingle lecture"]);
    }
    let unit = rows("--shingle 1");
    for options in changed {
        let rows = rows(options);
        assert!(rows != plain && rows != unit, "{options}");
    }
}

#[test]
fn given_options_are_recorded_and_parsed_again() {
    let folder = Folder::empty().with("in.jsonl", TEXTS.replace("a ferry", "The ferry").repeat(2));
    let dedup = "dedup in.jsonl --output out --quiet --shingle ascii:2";
    let run = folder.run_words(&format!("{dedup} --stop-words english"));
    assert_eq!(run.code, 0, "{}", run.err);
    let summary = std::fs::read_to_string(folder.path("out/summary.json")).unwrap();
    for part in ["\"shingle\":\"ascii:2\"", "\"stop_words\":\"english\""] {
        assert!(summary.replace(": ", ":").contains(part), "{part} {summary}");
    }
    let why = folder.run_words("why out in.jsonl:4");
    assert!(why.out.contains("--shingle ascii:2 --stop-words english"), "{}{}", why.out, why.err);
}
