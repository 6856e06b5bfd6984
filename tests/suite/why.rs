//! `simtool why`, and the ways to name one document.

use crate::program::{Folder, run, run_with_input};
use serde_json::{Value, json};
use std::fs;

const FOX: &str = "The quick brown fox jumps over the lazy dog near the old river bank today";

/// Creates five documents (`c` and `e` repeat `a`), one more without an ID, and a bad record.
fn folder() -> Folder {
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"body\":\"{text}\"}}\n");
    let lines = [
        line("a", FOX),
        line("b", "Something else entirely was written here by somebody who likes long words"),
        line("c", &FOX.replace("today", "now")),
        "{\"id\":\"d\"}\n".to_owned(),
        line("it's", &format!("{FOX}!")),
        "{\"body\":\"nothing like the others, and without any name of its own\"}\n".to_owned(),
    ];
    let folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    folder.with("in/docs.jsonl", lines.concat())
}

fn finished() -> Folder {
    let folder = folder();
    let run =
        folder.run_words("--corpus in --text-field body --similarity 0.7 --output out/found -q");
    assert_eq!(run.code, 3, "{}", run.err);
    folder
}

/// Returns the output of `simtool why`.
fn why(folder: &Folder, document: &str) -> String {
    let run = folder.run(&["why", "out/found", document]);
    assert_eq!((run.code, &*run.err), (0, ""), "{document}");
    run.out
}

#[test]
fn a_removed_document_is_explained_with_its_proof() {
    let folder = finished();
    let expected = "\
c was removed: it is like a, which was kept
kept        a  (in/docs.jsonl:0)
removed     c  (in/docs.jsonl:2)
closeness   similarity 0.8571
cluster     3 documents: 1 kept, 2 removed
shared      12 of 14 shingles (words:3)
lost        1 of 15 words of the removed one: now

[-text-] in the kept one alone, {+text+} in the removed one alone

The quick brown fox jumps over the lazy dog near the old river bank [-today-]{+now+}

more: simtool compare 'out/found#in/docs.jsonl:0' 'out/found#in/docs.jsonl:2'
      simtool why out/found in/docs.jsonl:0
";
    for name in ["c", "in/docs.jsonl:2", "./in/docs.jsonl:2", "in/docs.jsonl#c"] {
        assert_eq!(why(&folder, name), expected, "{name}");
    }
    let more = ["compare", "out/found#in/docs.jsonl:0", "out/found#in/docs.jsonl:2"];
    let compared = folder.run(&more);
    assert!(compared.out.starts_with("similarity  0.8571  (12 of 14 shingles"), "{compared:?}");
}

#[test]
fn kept_and_bad_documents_are_explained() {
    let folder = finished();
    let text = why(&folder, "a");
    assert!(text.starts_with("a was kept, in place of 2 documents\nkept "), "{text}");
    assert!(text.contains("it's  (in/docs.jsonl:4)  similarity 1.0000\n"), "{text}");
    let text = why(&folder, "b");
    assert!(
        text.starts_with("b was kept: nothing in the run is like it\nkept        in/docs.jsonl:1"),
        "{text}"
    );
    let text = why(&folder, "in/docs.jsonl:5");
    assert!(
        text.starts_with("in/docs.jsonl:5 was kept: nothing in the run is like it\n"),
        "{text}"
    );
    let text = why(&folder, "in/docs.jsonl:3");
    let expected = "in/docs.jsonl:3 was compared with nothing: it is a bad record [text-field]\n\
                    expected    a text in the field \"body\"\n";
    assert_eq!(text, expected);
    let run = folder.run_words("why out/found nope");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.contains("nope is no document of this run: its IDs are those of the field \"id\""),
        "{}",
        run.err
    );
    let run = folder.run_words("why in c");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("cannot read in/summary.json"), "{}", run.err);
}

#[test]
fn texts_that_are_gone_are_reported() {
    let folder = finished();
    let here = |document: &str| run(&folder.path("out"), &["why", "found", document], &[]);
    // In another working folder, the input is found relative to the output.
    assert!(here("c").out.contains("[-today-]{+now+}"), "{:?}", here("c"));
    assert!(here("b").out.starts_with("b was kept"), "{:?}", here("b"));

    // The file is as long as before, so a note reports that it was written only if that took a second.
    let changed = |document: &str| folder.run(&["why", "out/found", document]).out;
    let lines = fs::read_to_string(folder.path("in/docs.jsonl")).unwrap();
    fs::write(folder.path("in/docs.jsonl"), lines.replace("\"c\"", "\"x\"")).unwrap();
    let text = changed("c");
    let reason = "texts       not shown: record 2 of in/docs.jsonl now has the ID \"x\", not \"c\"";
    assert!(text.contains(reason) && text.contains("similarity 0.8571"), "{text}");
    fs::remove_file(folder.path("in/docs.jsonl")).unwrap();
    let text = changed("c");
    assert!(
        text.contains("texts       not shown: cannot read in/docs.jsonl: No such file"),
        "{text}"
    );
    let run = folder.run_words("why out/found b");
    assert_eq!(run.code, 1, "{}", run.err);
}

#[test]
fn an_input_that_was_written_since_is_named() {
    let folder = finished();
    let path = folder.path("in/docs.jsonl");
    let lines = fs::read_to_string(&path).unwrap();
    let new = "{\"id\":\"new\",\"body\":\"a text that the run has not read\"}\n";
    fs::write(&path, lines.clone() + new).unwrap();
    let (before, now) = (lines.len(), lines.len() + new.len());
    let note = format!(
        "in/docs.jsonl was written since the run: it had {before} bytes, and now has {now}; run again"
    );
    let run = folder.run_words("why out/found c");
    assert!(run.code == 0 && run.err.contains(&note), "{}", run.err);
    assert!(run.out.starts_with("c was removed: it is like a"), "{}", run.out);
    // The run has not read this document, so it must not be called kept.
    let run = folder.run_words("why out/found new");
    assert!(run.code == 0 && run.err.contains(&note), "{}", run.err);
    let expected = "new is in no output of the run: it was kept, or the run has not read it\n\
                    found now   in/docs.jsonl:6\n";
    assert!(run.out.starts_with(expected), "{}", run.out);
    let run = folder.run_words("why out/found new --json");
    let object: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (&object["status"], &object["changed_inputs"]),
        (&"unknown".into(), &json!(["in/docs.jsonl"]))
    );
    let run = folder.run_words("why out/found nope");
    let reason = "The inputs have changed: in/docs.jsonl was written since the run";
    assert!(run.code == 1 && run.err.contains(reason), "{}", run.err);

    fs::write(folder.path("in/more.jsonl"), new.replace("new", "more")).unwrap();
    let run = folder.run_words("why out/found more");
    let note = "in/more.jsonl was not among the inputs of the run; run again";
    assert!(run.code == 0 && run.err.contains(note), "{}", run.err);
}

#[test]
fn a_file_with_one_document_is_a_name_of_it() {
    let folder = Folder::empty().with("a.txt", FOX).with("b.txt", format!("{FOX}!"));
    let folder = folder.with("c.txt", "words that no other file has at all");
    let line = |word: &str| format!("{{\"text\":\"the {word} line\"}}\n");
    let folder = folder.with("lines.jsonl", ["first", "second", "third"].map(line).concat());
    let run = folder.run_words("dedup a.txt b.txt c.txt lines.jsonl --output out -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("why out b.txt");
    assert!(run.out.starts_with("b.txt:0 was removed: it is like a.txt:0"), "{run:?}");
    let run = folder.run_words("why out c.txt");
    assert!(run.out.starts_with("c.txt was kept: nothing in the run is like it\n"), "{run:?}");
    let run = folder.run_words("compare out#a.txt out#b.txt");
    assert!(run.out.starts_with("similarity  1.0000"), "{run:?}");
    let run = folder.run_words("why out lines.jsonl");
    let choices = "The documents of this file are lines.jsonl:0, lines.jsonl:1, lines.jsonl:2";
    assert!(run.code == 1 && run.err.contains(choices), "{run:?}");
}

#[test]
fn all_documents_with_equal_ids_are_named() {
    let lines = format!("{{\"id\":\"x\",\"text\":\"{FOX}\"}}\n").repeat(3);
    let folder = Folder::empty().with("a.jsonl", lines);
    folder.run_words("--corpus a.jsonl -q --output out");
    let run = folder.run_words("why out x");
    assert!(run.out.starts_with("x was kept, in place of 2 documents\n"), "{}", run.out);
    let expected =
        "simtool: note: 2 more of this ID: a.jsonl:1, a.jsonl:2; FILE:RECORD names one\n";
    assert_eq!(run.err, expected);
}

#[test]
fn matches_and_fingerprints_are_explained() {
    let folder = folder().with("new.jsonl", format!("{{\"id\":\"new\",\"body\":\"{FOX}\"}}\n"));
    let run =
        folder.run_words("--corpus in --queries new.jsonl --text-field body -q --output matched");
    assert_eq!(run.code, 3, "{}", run.err);
    let run = folder.run_words("why matched new");
    assert!(
        run.out.starts_with("new was removed: it is like a of the corpus, which was kept\n"),
        "{}",
        run.out
    );
    let run = folder.run_words("why matched a");
    assert!(
        run.out.starts_with("a of the corpus was kept, in place of 1 document\n"),
        "{}",
        run.out
    );

    let simhash = "--corpus in --method simhash --text-field body -k 10 -q --output by-rows";
    assert_eq!(folder.run_words(simhash).code, 3);
    let run = folder.run(&["why", "by-rows", "it's"]);
    assert!(run.out.contains("closeness   distance 0\n"), "{}", run.out);
    // A document that was passed over was compared with no other.
    let limited = "--corpus in --text-field body --min-tokens 14 -q --output limited";
    assert_eq!(folder.run_words(limited).code, 3);
    let run = folder.run_words("why limited b");
    assert!(run.out.contains("the options of the run skip it"), "{} {}", run.out, run.err);
}

#[test]
fn compare_takes_files_records_and_ids() {
    let folder = finished();
    let similarity = |a: &str, b: &str| {
        let field = ["--text-field", "body"];
        // The summary of a run records its field.
        let field =
            if [a, b].iter().all(|name| name.starts_with("out")) { &[] } else { &field[..] };
        let run = folder.run(&[&["compare", a, b], field].concat());
        assert_eq!(run.code, 0, "{a} {b}: {}", run.err);
        run.out.lines().next().unwrap().to_owned()
    };
    let expected = "similarity  0.8571  (12 of 14 shingles, words:3, in both)";
    for a in ["in/docs.jsonl:0", "in/docs.jsonl#a", "out/found#a", "out/found#in/docs.jsonl:0"] {
        for b in ["in/docs.jsonl#c", "out/found#c"] {
            assert_eq!(similarity(a, b), expected, "{a} {b}");
        }
    }
    assert!(similarity("out/found#a", "out/found#b").starts_with("similarity  0.0000"));
    for (name, expected) in [
        ("in/docs.jsonl#x", "expected a document with the ID \"x\" (--id-field)"),
        ("in/docs.jsonl", "name one of many as FILE:RECORD or FILE#ID"),
        ("out/found#x", "x is no document of this run"),
        ("nowhere#x", "cannot read nowhere#x"),
    ] {
        let run = folder.run(&["compare", name, "out/found#a", "--text-field", "body"]);
        assert_eq!(run.code, 1, "{name}: {}", run.err);
        assert!(run.err.contains(expected), "{name}: {}", run.err);
    }
}

#[test]
fn documents_of_a_run_are_compared_by_its_settings() {
    let folder = Folder::empty()
        .with("stop.txt", "quick\nlazy\nold\n")
        .with("a.txt", FOX)
        .with("b.txt", FOX.replace("quick", "slow").replace("old", "new"));
    let settings = "--shingle words:2 --stop-words stop.txt --similarity 0.5";
    let run = folder.run_words(&format!("dedup a.txt b.txt {settings} --output two -q"));
    assert_eq!(run.code, 0, "{}", run.err);
    let options = "--shingle words:2 --stop-words stop.txt";
    let plain = folder.run_words(&format!("compare a.txt b.txt {options}"));
    assert!(plain.out.contains(", words:2,"), "{plain:?}");
    // Only one of the documents may be of a run, and options go before the settings of the run.
    for names in ["two#a.txt:0 two#b.txt:0", "a.txt two#b.txt:0", "two#a.txt:0 b.txt"] {
        let run = folder.run_words(&format!("compare {names}"));
        assert_eq!(run.out.lines().next(), plain.out.lines().next(), "{names}: {}", run.err);
    }
    let other = folder.run_words("compare two#a.txt:0 two#b.txt:0 --shingle words:3");
    assert!(other.out.contains(", words:3,"), "{other:?}");
    let run = folder.run_words("dedup a.txt b.txt --output three -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("compare two#a.txt:0 three#b.txt:0");
    assert_eq!(run.code, 2, "{}", run.err);
    let message = "--shingle words:2: is the setting of one run, and the other run has another";
    assert!(run.err.contains(message), "{}", run.err);
}

#[test]
fn programs_read_an_object() {
    let folder = finished();
    let object = |document: &str| -> Value {
        let run = folder.run(&["why", "out/found", document, "--json"]);
        assert_eq!((run.code, &*run.err), (0, ""), "{document}");
        serde_json::from_str(&run.out).unwrap()
    };
    let removed = object("c");
    let of_c = json!({
        "id": "c", "file": "in/docs.jsonl", "record": 2,
        "similarity": removed["similarity"], "distance": null
    });
    for (key, value) in [
        ("status", json!("removed")),
        ("id", json!("c")),
        ("file", json!("in/docs.jsonl")),
        ("record", json!(2)),
        ("kept_is_of_corpus", json!(false)),
        ("compared_with_kept", of_c),
        (
            "texts",
            json!({
                "shingle": "words:3", "shared": 12, "union": 14, "lost_words": 1, "first_lost": ["now"]
            }),
        ),
        (
            "compare",
            json!("simtool compare 'out/found#in/docs.jsonl:0' 'out/found#in/docs.jsonl:2'"),
        ),
        ("others_of_this_id", json!([])),
    ] {
        assert_eq!(removed[key], value, "{key}");
    }
    assert_eq!(removed["kept"]["id"], "a");
    assert_eq!(removed["removed"].as_array().unwrap().len(), 2);
    assert!((removed["similarity"].as_f64().unwrap() - 12.0 / 14.0).abs() < 1e-12);
    assert_eq!(object("a")["status"], "kept");
    assert_eq!(object("in/docs.jsonl:5")["record"], 5);
    let bad = object("in/docs.jsonl:3");
    assert_eq!((&bad["status"], &bad["code"]), (&json!("quarantined"), &json!("text-field")));
    assert_eq!(bad["expected"], "a text in the field \"body\"");
    fs::remove_file(folder.path("in/docs.jsonl")).unwrap();
    let reason = object("c")["texts"]["not_read"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("cannot read in/docs.jsonl"), "{reason}");
}

#[test]
fn why_prints_as_much_as_requested() {
    let lines = format!("{{\"id\":\"x\",\"text\":\"{FOX}\"}}\n").repeat(13)
        + "{\"id\":\"y\",\"text\":\"of another kind\"}\n";
    let folder = Folder::empty().with("a.jsonl", lines);
    assert_eq!(folder.run_words("--corpus a.jsonl -q --output out").code, 0);
    let run = folder.run_words("why out x");
    assert!(run.err.contains("12 more of this ID: a.jsonl:1, ") && run.err.contains(", …; FILE"));
    assert!(run.out.contains("and 2 more; --verbose lists all\n"), "{}", run.out);
    assert_eq!(folder.run_words("why out x -q").err, "");
    let run = folder.run_words("why out x --verbose");
    assert!(run.err.contains("a.jsonl:11, a.jsonl:12; FILE:RECORD"), "{}", run.err);
    assert!(run.err.contains("note: a.jsonl:0, jsonl, 73 B of text\n"), "{}", run.err);
    assert_eq!(run.out.matches("similarity 1.0000").count(), 12, "{}", run.out);

    let plain = folder.run_words("why out y").out;
    for more in ["-j 1", "-j 3", "--progress always", "SIMTOOL_NO_MMAP=true", "-q"] {
        let run = folder.run_words(&format!("why out y {more}"));
        assert_eq!((run.code, &run.out), (0, &plain), "{more}: {}", run.err);
    }
    let run = folder.run_words("why out y --verbose --stats");
    let note = "note: no output lists y: looking for it in 1 input file\n";
    assert!(run.err.contains(note) && run.err.contains("\nread inputs "), "{}", run.err);
    let run = folder.run(&["compare", "out#x", "out#y", "--text-field", "text"]);
    assert_eq!(run.code, 2, "{}", run.err);
    let run = folder.run(&["compare", "out#x", "out#y", "--format", "jsonl"]);
    assert!(run.err.contains("--format jsonl: OUT#ID is read as its run read it"), "{}", run.err);
    let run = folder.run_words("why out x -q -v");
    assert_eq!(run.code, 2, "{}", run.err);
}

/// Documents of standard input, and of files whose list was standard input, cannot be read again. They are found only
/// in the outputs.
#[test]
fn documents_of_standard_input_are_found_in_the_outputs() {
    let lines = format!(
        "{{\"id\":\"alone\",\"text\":\"of another kind\"}}\n{{\"id\":7,\"text\":\"{FOX}\"}}\n\
         {{\"text\":\"{FOX}\"}}\n{{\"text\":\"{FOX}\"}}\n{{\"text\":\"short\"}}\n"
    );
    let folder = Folder::empty().with("in.jsonl", lines).with("list", "in.jsonl\n");
    let dedup = |arguments: &str, input: &str| {
        let file = fs::File::open(folder.path(input)).unwrap();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let run = run_with_input(&folder.path(""), &arguments, &[], file.into());
        assert_eq!(run.code, 0, "{}", run.err);
    };
    for format in ["jsonl", "tsv", "parquet"] {
        dedup(
            &format!("dedup - --output {format} --annotate --output-format {format} -q"),
            "in.jsonl",
        );
        let first = |document: &str| {
            let run = folder.run(&["why", format, "--", document]);
            assert_eq!((run.code, &*run.err), (0, ""), "{format} {document}");
            // Standard input cannot be read again, so no command that reads it is printed.
            assert!(!run.out.contains("simtool compare"), "{}", run.out);
            run.out
        };
        assert_eq!(
            first("alone"),
            "alone was kept: nothing in the run is like it\nkept        -:0\n"
        );
        assert!(first("-:4").starts_with("-:4 was kept: nothing in"), "{format}");
        assert!(first("7").starts_with("7 was kept, in place of 2 documents\n"), "{format}");
        let removed = first("-:2");
        assert!(
            removed.starts_with("-:2 was removed: it is like 7, which was kept\n"),
            "{removed}"
        );
        assert!(removed.ends_with(&format!("\nmore: simtool why {format} -- -:1\n")), "{removed}");
        let run = folder.run(&["why", format, "beta"]);
        assert_eq!((run.code, &*run.out), (1, ""));
        assert!(
            run.err.contains("beta is in no output of this run: its input was standard"),
            "{run:?}"
        );
    }
    dedup("dedup - --output plain -q", "in.jsonl");
    let run = folder.run(&["why", "plain", "alone"]);
    assert!(
        run.err.contains("its input was standard input, which cannot be read again"),
        "{run:?}"
    );
    dedup("dedup --files-from - --output listed -q", "list");
    let run = folder.run(&["why", "listed", "alone"]);
    assert!(run.err.contains("the list of its input files was standard input"), "{run:?}");
    let run = folder.run(&["why", "listed", "7"]);
    assert!(run.out.contains("simtool compare 'listed#in.jsonl:1' 'listed#in.jsonl:2'"), "{run:?}");
}

#[test]
fn a_search_shows_the_parts_of_a_document() {
    let menu = "this line is a menu that each page of the site has in its text";
    let page = |n: usize| {
        format!("title {n} of its own\n{menu}\nbody {n} with words alpha{n} beta{n} gamma{n}\n")
    };
    let item = "{\"id\": \"q1\", \"question\": \"a menu that each page of the site\", \"answer\": \"has in its text\"}\n";
    let folder = Folder::empty()
        .with("in/1.txt", page(1))
        .with("in/2.txt", page(2))
        .with("in/3.txt", "no words of the others are in here")
        .with("items.jsonl", item);
    let passages = "passages in --words 8 --min-documents 2 --write-kept --output passages -q";
    assert_eq!(folder.run_words(passages).code, 0);
    let why = |arguments: &str| {
        let run = folder.run_words(&format!("why {arguments}"));
        assert_eq!((run.code, &*run.err), (0, ""), "{arguments}");
        run.out
    };
    let shown = why("passages in/2.txt:0");
    assert!(shown.starts_with("in/2.txt:0 has 1 repeated passage\n"), "{shown}");
    assert!(
        shown.contains("repeats an earlier one, in 2 documents, for example in/1.txt:0\n"),
        "{shown}"
    );
    assert!(shown.contains(menu), "{shown}");
    assert_eq!(why("passages in/3.txt:0"), "in/3.txt:0 was searched: nothing was found in it\n");
    let json: Value = serde_json::from_str(&why("passages in/1.txt:0 --json")).unwrap();
    assert_eq!(json["parts"][0]["partner"], "in/2.txt:0");
    assert!(json["parts"][0]["text"].as_str().unwrap().contains(menu), "{json}");

    let run = folder.run_words(
        "contamination items.jsonl --fields question,answer --in in --write-kept drop --output clean -q",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let shown = why("clean in/1.txt:0");
    assert!(shown.starts_with("in/1.txt:0 contains 1 item\n\nitem q1: 1 of it, "), "{shown}");
    let json: Value = serde_json::from_str(&why("clean in/1.txt:0 --json")).unwrap();
    assert_eq!(
        (&json["parts"][0]["item_id"], &json["parts"][0]["share"]),
        (&json!("q1"), &json!(1.0))
    );
    // The folder of the run may be away from its inputs, but a document that is not there is an error.
    let run = folder.run_words("why clean nobody");
    assert_eq!(run.code, 1, "{}", run.err);
}
