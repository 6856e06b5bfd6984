//! `--method auto` and `simtool eval --suggest`: the choice for different documents, and its
//! reasons.

use crate::program::{Finished, Folder};
use std::fmt::Write as _;
use std::fs;

/// Returns the texts as JSON lines.
fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().enumerate().fold(String::new(), |mut lines, (at, text)| {
        writeln!(lines, "{{\"id\":\"d{at}\",\"text\":\"{text}\"}}").unwrap();
        lines
    })
}

/// Returns `count` words of an invented language, selected by a number.
fn words(seed: usize, count: usize) -> Vec<String> {
    let word = |at: usize| format!("w{}y", (seed * 7919 + at * (at + seed) * 31 + at * 17) % 7919);
    (0..count).map(word).collect()
}

/// Builds pages in which each tenth repeats the one before with some words changed.
fn pages() -> String {
    lines((0..120).map(|at| {
        let mut words = words(if at % 10 == 9 { at - 1 } else { at }, 150);
        if at % 10 == 9 {
            "changed".clone_into(&mut words[40]);
        }
        words.join(" ")
    }))
}

/// Returns the choice of `eval --suggest` for documents.
fn suggested(docs: &str) -> serde_json::Value {
    let folder = Folder::empty().with("docs.jsonl", docs);
    let run = folder.run_words("eval --suggest docs.jsonl --format json -q");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    serde_json::from_str(&run.out).unwrap()
}

fn method(found: &serde_json::Value) -> &str {
    found["method"].as_str().unwrap()
}

#[test]
fn long_pages_are_compared_by_characters_and_a_threshold_above_the_unrelated() {
    let found = suggested(&pages());
    assert!(method(&found).starts_with("exact:similarity=cosine:0."), "{found}");
    assert!(method(&found).ends_with("shingle=chars:6"), "{found}");
    assert_eq!(
        (&found["documents"], &found["sampled"], &found["repeated"]),
        (&120.into(), &120.into(), &24.into())
    );
    assert_eq!(found["reasons"].as_array().unwrap().len(), 3);
    assert!(
        found["command"].as_str().unwrap().starts_with("simtool dedup docs.jsonl --method exact ")
    );
}

#[test]
fn text_without_spaces_and_short_text_have_shorter_shingles() {
    let han = |at: usize| -> String {
        let character = |place: usize| {
            char::from_u32(0x4e00 + ((at * 131 + place * (place + at) * 7) % 5000) as u32)
        };
        (0..100).map(|place| character(place).unwrap()).collect()
    };
    let found = suggested(&lines((0..60).map(han)));
    assert!(method(&found).ends_with("shingle=chars:4"), "{found}");
    assert!(found["reasons"][0].as_str().unwrap().contains("without spaces"), "{found}");
    let found = suggested(&lines((0..60).map(|at| words(at, 6).join(" "))));
    assert!(method(&found).ends_with("shingle=chars:4"), "{found}");
    assert!(found["reasons"][0].as_str().unwrap().contains("short"), "{found}");
}

#[test]
fn a_template_that_all_have_is_no_repeat() {
    let template = words(1, 150).join(" ");
    let docs = lines((0..80).map(|at| {
        let own = words(if at == 79 { 99 } else { at + 100 }, 60).join(" ");
        format!("{template} {}", if at == 78 { words(99, 60).join(" ") } else { own })
    }));
    let found = suggested(&docs);
    assert_eq!(found["repeated"], 2, "{found}");
    assert!(found["least"].as_f64().unwrap() > 0.8);
}

#[test]
fn a_run_uses_the_choice_and_reports_it() {
    let folder = Folder::empty().with("docs.jsonl", pages());
    let run = folder.run_words("dedup docs.jsonl --method auto --output out");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("note: chosen: exact:similarity=cosine:0."), "{}", run.err);
    assert!(run.err.contains("note: --shingle chars:6: "), "{}", run.err);
    assert!(run.out.contains("removed                  12"), "{}", run.out);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let parameters = &summary["parameters"];
    assert_eq!(
        (&parameters["method"], &parameters["shingle"]),
        (&"exact".into(), &"chars:6".into())
    );
    assert_eq!(parameters["chosen_because"].as_array().unwrap().len(), 3);
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("chosen_because"));
    let why = folder.run_words("why out d9");
    assert!(why.out.contains("shingles (chars:6)"), "{why:?}");

    let quiet = folder.run_words("dedup docs.jsonl --method auto --output out -q --force");
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
    let dry = folder.run_words("dedup docs.jsonl --method auto --output none --dry-run -q");
    assert!(dry.out.starts_with("chosen: exact:similarity=cosine:0."), "{dry:?}");
    assert!(dry.out.contains("\n  --method exact: "), "{}", dry.out);
    let matched =
        folder.run_words("match docs.jsonl --against docs.jsonl --method auto --output m");
    assert_eq!(matched.code, 0, "{}", matched.err);
    assert!(matched.err.contains("note: chosen: exact:"), "{}", matched.err);
}

#[test]
fn threads_do_not_matter_and_the_command_does_the_same() {
    let folder = Folder::empty().with("my docs.jsonl", pages());
    let suggest = |threads: &str| {
        let run =
            folder.run(&["eval", "--suggest", "my docs.jsonl", "--format", "tsv", "-j", threads]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    let suggested = suggest("1");
    assert_eq!(suggested, suggest("5"));
    let command = suggested.lines().find_map(|line| line.strip_prefix("run\t")).unwrap();
    assert!(command.starts_with("simtool dedup 'my docs.jsonl' --method exact "), "{command}");
    let options = command.split_once("jsonl' ").unwrap().1;
    let arguments =
        ["dedup", "my docs.jsonl", "--output", "a"].into_iter().chain(options.split(' '));
    assert_eq!(folder.run(&arguments.collect::<Vec<_>>()).code, 0);
    assert_eq!(
        folder.run(&["dedup", "my docs.jsonl", "--output", "b", "--method", "auto"]).code,
        0
    );
    let removed = |output: &str| fs::read(folder.path(output).join("removed.jsonl")).unwrap();
    assert_eq!(removed("a"), removed("b"));
}

#[test]
fn given_options_are_kept_and_contradictions_are_refused() {
    let folder = Folder::empty().with("docs.jsonl", pages());
    let dry = |options: &str| -> Finished {
        folder.run_words(&format!("dedup docs.jsonl --method auto -q --dry-run {options}"))
    };
    let run = dry("--shingle words:3 --similarity 0.6");
    assert!(run.out.starts_with("chosen: exact:similarity=0.6,shingle=words:3\n"), "{run:?}");
    let run = dry("--bits 8");
    assert!(run.out.starts_with("chosen: minhash:lanes=62,bits=8,"), "{run:?}");
    assert!(run.out.contains("--method minhash: --bits needs fingerprints"), "{run:?}");
    for (options, expected) in [
        ("--weight idf --bits 8", "--weight idf: works only with --method exact, simhash"),
        (
            "--verify 0.5 --similarity containment:0.5",
            "--similarity containment:0.5: needs --method exact",
        ),
        (
            "--similarity 0.5 --max-distance 3",
            "--similarity 0.5: cannot be combined with --max-distance",
        ),
    ] {
        let run = dry(options);
        assert_eq!(run.code, 2, "{options}: {run:?}");
        assert!(run.err.contains(expected), "{options}: {}", run.err);
    }
    let run = folder.run_words("1000 16 --corpus docs.jsonl --method auto");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("leaves --method auto nothing to choose"), "{}", run.err);
}

#[test]
fn nothing_one_document_and_standard_input() {
    let folder =
        Folder::empty().with("none.jsonl", "").with("one.jsonl", lines(["a b c".to_owned()]));
    let run = folder.run_words("eval --suggest none.jsonl");
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
    let run = folder.run_words("dedup none.jsonl --method auto");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
    let run = folder.run_words("eval --suggest one.jsonl");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("a sample of 1 document is too small"), "{}", run.out);
    // Standard input is empty here. It is spooled, so that it can be read more than once.
    let run = folder.run_words("dedup - --method auto");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
}

#[test]
fn with_labels_the_choice_is_measured_next_to_the_presets() {
    let pair = |at| format!("d{}\td{}\n", at * 10 + 8, at * 10 + 9);
    let truth = (0..12).map(pair).collect::<Vec<_>>().concat();
    let folder = Folder::empty().with("docs.jsonl", pages()).with("truth.tsv", truth);
    let run =
        folder.run_words("eval --suggest --corpus docs.jsonl --truth truth.tsv --format json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["methods"][0]["method"], "suggested");
    assert_eq!(found["methods"][0]["collections"][0]["own"]["f1"], 1.0, "{}", found["methods"][0]);
    for (arguments, expected) in [
        ("--suggest docs.jsonl --sample 10", "--sample"),
        ("--suggest docs.jsonl --methods exact", "--methods"),
        ("--suggest docs.jsonl --report page.html", "--report"),
        ("--corpus docs.jsonl", "--corpus docs.jsonl: goes with --truth FILE"),
    ] {
        let run = folder.run_words(&format!("eval {arguments}"));
        assert_eq!(run.code, 2, "{arguments}: {run:?}");
        assert!(run.err.contains(expected), "{arguments}: {}", run.err);
    }
}
