//! Fields that hold the text, the ID and the date: the options `--text-field`, `--all-strings`,
//! `--id-field`, `--keep newest` and the fields of both sides of a match.

use crate::index::filtered;
use crate::program::Folder;
use serde_json::Value;
use std::fs;

const A: &str = "the tides of the sea depend on the moon and on the sun in plain words";
const B: &str = "a brown fox jumps over lazy dogs and sleeps in the garden behind the house";

fn removed(folder: &Folder) -> Vec<Value> {
    let rows = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
    rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn texts_of_chats_and_of_several_fields_are_compared() {
    let chat = |id: u32, first: &str, second: &str| {
        format!(
            "{{\"id\":{id},\"messages\":[{{\"content\":\"{first}\"}},{{\"content\":\"{second}\"}}]}}\n"
        )
    };
    let pair = |id: u32, title: &str, body: &str| {
        format!("{{\"meta.id\":{id},\"title\":\"{title}\",\"body\":\"{body}\"}}\n")
    };
    let folder = Folder::empty()
        .with("chat.jsonl", chat(1, A, B) + &chat(2, A, "something else") + &chat(3, A, B))
        .with("pair.jsonl", pair(4, A, B) + &pair(5, B, "another thing"));
    let fields = ["--text-field", "messages[].content,title+body", "--id-field", "id,meta.id"];
    let run = folder.run(&[&["dedup", "chat.jsonl", "pair.jsonl", "-q"][..], &fields].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let ids: Vec<Value> = removed(&folder).iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, [3, 4]);
    // The recorded selectors read the documents again.
    let run = folder.run_words("why simtool-out 4");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("chat.jsonl:0"), "{}", run.out);
    let run = folder.run_words("dedup chat.jsonl pair.jsonl --text-field * -q --force");
    assert_eq!((run.code, removed(&folder).len()), (0, 2), "{}", run.err);
}

#[test]
fn elements_that_a_selector_passes_over_are_counted() {
    let part = format!("{{\"type\":\"text\",\"text\":\"{A}\"}}");
    let image = "{\"type\":\"image\",\"url\":\"x\"}";
    let line =
        |parts: &[&str]| format!("{{\"messages\":[{{\"content\":[{}]}}]}}\n", parts.join(","));
    let lines = line(&[&part, image]) + &line(&[image, &part, image]) + &line(&[&part]);
    let folder = Folder::empty().with("a.jsonl", lines);
    let run = folder.run_words("dedup a.jsonl --text-field messages[].content[].text --force");
    assert!(run.out.contains("elements skipped            3  "), "{}", run.out);
    let summary = fs::read_to_string(folder.path("simtool-out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["skipped_elements"], &summary["removed"]), (&3.into(), &2.into()));
}

#[test]
fn the_newest_document_is_kept_in_every_format() {
    let warc = |date: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://a.example/x\r\n\
             WARC-Date: {date}\r\nContent-Length: {}\r\n\r\n{A}\r\n\r\n",
            A.len()
        )
    };
    let folder = Folder::empty()
        .with("a.jsonl", format!("{{\"id\":1,\"text\":\"{A}\",\"created\":1767225600}}\n{{\"id\":2,\"text\":\"{A}\"}}\n"))
        .with("b.csv", format!("id,date,text\n3,2026-03-01,{A}\n"))
        .with("c.warc", warc("2026-02-01T00:00:00Z"));
    let kept = |keep: &str| {
        let run = folder.run_words(&format!("dedup a.jsonl b.csv c.warc --keep {keep} --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("without date              1  "), "{}", run.out);
        assert!(run.out.contains("dates from created, date, WARC-Date\n"), "{}", run.out);
        removed(&folder)[0]["kept_id"].to_string()
    };
    // IDs of CSV are texts.
    assert_eq!((kept("newest"), kept("oldest")), ("\"3\"".to_owned(), "1".to_owned()));
    let summary = fs::read_to_string(folder.path("simtool-out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["without_date"], 1);
    assert_eq!(summary["date_fields"], serde_json::json!(["created", "date", "WARC-Date"]));
    // Fields of WARC can be named, too.
    let run = folder.run_words("dedup c.warc --id-field host --keep max:warc-date --force");
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn dates_that_are_not_understood_are_counted_and_one_is_shown() {
    let line =
        |id: u32, date: &str| format!("{{\"id\":{id},\"text\":\"{A}\",\"date\":\"{date}\"}}\n");
    let dated = line(1, "2026-01-02") + &line(2, "") + &line(3, "01/02/2026") + &line(4, "soon");
    let folder = Folder::empty()
        .with("dated.jsonl", dated)
        .with("unclear.csv", format!("id,created,text\n5,last week,{A}\n"));
    let run = folder.run_words("dedup dated.jsonl unclear.csv --keep newest");
    // An older document may have been kept because a date was not understood.
    assert_eq!(run.code, 3, "{}", run.err);
    // No date of `unclear.csv` is understood, so its field is no source of dates.
    assert!(run.out.contains("dates from date\n"), "{}", run.out);
    assert!(run.out.contains("unclear dates             3"), "{}", run.out);
    let note = "3 dates are not understood, for example \"01/02/2026\" in record 2 of dated.jsonl; \
                documents with a date that is understood were preferred. Write dates as 2026-01-31";
    assert!(run.err.contains(note), "{}", run.err);
    let summary = fs::read_to_string(folder.path("simtool-out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["unread_dates"], &summary["without_date"]), (&3.into(), &4.into()));

    // A field with dates that are not understood is not reported as empty, whether the user names it or simtool finds
    // it.
    for keep in ["newest", "oldest:created"] {
        let run = folder.run_words(&format!("dedup unclear.csv --keep {keep} --force"));
        let note = "1 date is not understood, for example \"last week\" in record 0 of unclear.csv; no \
                    document has a date that is understood; the first ones were kept.";
        assert!(run.err.contains(note), "{}", run.err);
        assert!(!run.err.contains("empty everywhere"), "{}", run.err);
        assert!(!run.out.contains("dates from"), "{}", run.out);
    }
}

#[test]
fn values_that_are_no_numbers_are_counted_and_one_is_shown() {
    let row = |id: u32, score: &str| format!("{id},{score},{A}\n");
    let rows =
        ["id,score,text\n".to_owned(), row(1, "8"), row(2, " 9"), row(3, " "), row(4, "n/a")];
    let folder = Folder::empty()
        .with("scored.csv", rows.concat() + &row(5, "none"))
        .with("dated.csv", format!("id,day,text\n1,2026-01-02,{A}\n2,2026-03-01,{A}\n"));
    for (keep, kept) in [("max:score", "2"), ("min:score", "1"), ("min:id,max:score", "1")] {
        let run = folder.run_words(&format!("dedup scored.csv --keep {keep} --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(removed(&folder)[0]["kept_id"], kept, "{keep}");
        assert!(run.out.contains("unclear numbers            2  "), "{}", run.out);
        let note = "2 values of score are no numbers, for example \"n/a\" in record 3 of scored.csv; \
                    documents with a number were preferred\n";
        assert!(run.err.contains(note), "{}", run.err);
        let summary = fs::read_to_string(folder.path("simtool-out/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["unread_numbers"], 2);
    }
    let run = folder.run_words("dedup dated.csv --keep max:day --force");
    assert_eq!(removed(&folder)[0]["kept_id"], "2");
    let note = "2 values of day are no numbers, for example \"2026-01-02\" in record 0 of dated.csv; \
                texts were compared by their bytes\n";
    assert!(run.err.contains(note), "{}", run.err);
    let run = folder.run_words("dedup dated.csv --keep min:id --force");
    assert!(!run.err.contains("no number") && !run.out.contains("unclear"), "{run:?}");
}

#[test]
fn the_help_lists_the_usual_fields_of_dates() {
    let help = Folder::empty().run_words("dedup --help").out;
    for name in simtool::stages::read::USUAL_DATES {
        assert!(help.contains(&format!("`{name}`")), "{name} in {help}");
    }
}

#[test]
fn each_side_of_a_match_has_its_own_fields() {
    let folder =
        Folder::empty().with("new.jsonl", format!("{{\"uid\":\"q\",\"prompt\":\"{A}\"}}\n")).with(
            "old.jsonl",
            format!("{{\"key\":\"c\",\"body\":\"{A}\"}}\n{{\"key\":\"d\",\"body\":\"{B}\"}}\n"),
        );
    let run = folder.run_words(
        "match new.jsonl --against old.jsonl --text-field prompt --id-field uid \
         --against-text-field body --against-id-field key -q",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let rows = removed(&folder);
    assert_eq!((&rows[0]["id"], &rows[0]["kept_id"]), (&"q".into(), &"c".into()));
    let run = folder.run_words("why simtool-out q");
    assert_eq!(run.code, 0, "{}", run.err);
    // A record without a text names the option of its side.
    let sides = Folder::empty()
        .with("new.jsonl", format!("{{\"prompt\":\"{A}\"}}\n{{\"id\":1}}\n"))
        .with("old.jsonl", format!("{{\"body\":\"{A}\"}}\n{{\"id\":2}}\n"));
    let fields = "--text-field prompt --against-text-field body";
    let run = sides.run_words(&format!("match new.jsonl --against old.jsonl {fields} -q"));
    assert_eq!(run.code, 3, "{}", run.err);
    let bad = fs::read_to_string(sides.path("simtool-out/quarantine.jsonl")).unwrap();
    let names: Vec<bool> =
        bad.lines().map(|row| row.contains("that --against-text-field names")).collect();
    assert_eq!(names, [false, true], "{bad}");
    let run = folder.run_words(
        "match new.jsonl --against old.jsonl --text-field prompt --against-text-field body \
         --against-id-field none --force",
    );
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(
        run.err.contains("none: no record has this field; there are: key, body"),
        "{}",
        run.err
    );
}

#[test]
fn each_side_of_a_match_is_advised_to_use_its_own_option() {
    let folder = Folder::empty()
        .with("new.jsonl", "{\"body\":\"one two three\"}\n")
        .with("old.jsonl", "{\"content\":\"one two three\"}\n");
    let run = folder.run_words("match new.jsonl --against old.jsonl --text-field body");
    assert!(run.code != 0 && run.err.contains("--against-text-field"), "{}", run.err);
    let run = folder.run_words("match new.jsonl --against old.jsonl --text-field content");
    assert!(run.code != 0 && !run.err.contains("--against-text-field"), "{}", run.err);
}

/// Each record has the fields of both sides, so a document that is read with the fields of the other side
/// has another text and another ID.
#[test]
fn documents_of_a_match_are_read_again_with_the_fields_of_their_side() {
    let line = |q: &str, prompt: &str, c: &str, body: &str| {
        format!("{{\"q\":\"{q}\",\"prompt\":\"{prompt}\",\"c\":\"{c}\",\"body\":\"{body}\"}}\n")
    };
    let folder = Folder::empty()
        .with("new.jsonl", line("q1", A, "no", B) + &line("q2", "of no other", "no", A))
        .with("old.jsonl", line("no", B, "c1", A) + &line("no", B, "c2", "nothing like the rest"));
    let fields = "--text-field prompt --id-field q --against-text-field body --against-id-field c";
    for arguments in
        ["match new.jsonl --against old.jsonl", "--corpus old.jsonl --queries new.jsonl"]
    {
        let run = folder.run_words(&format!("{arguments} {fields} -q --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        let rows = removed(&folder);
        assert_eq!(
            (rows.len(), &rows[0]["id"], &rows[0]["kept_id"]),
            (1, &"q1".into(), &"c1".into())
        );
        let run = folder.run_words("why simtool-out q1");
        assert_eq!(
            (run.code, run.out.contains("shared      14 of 14 shingles")),
            (0, true),
            "{}",
            run.out
        );
        // Documents that no output names are found by the ID of their side.
        for (id, place) in [("q2", "new.jsonl:1"), ("c2", "old.jsonl:1")] {
            let run = folder.run_words(&format!("why simtool-out {id}"));
            assert!(run.code == 0 && run.out.contains(place), "{id}: {} {}", run.out, run.err);
        }
        assert_eq!(folder.run_words("why simtool-out no").code, 1);
        let page = fs::read_to_string(folder.path("simtool-out/report.html")).unwrap();
        let places = ["simtool-out#old.jsonl:0", "simtool-out#new.jsonl:0"];
        let [kept, removed] = places.map(|place| format!("&#39;{place}&#39;"));
        assert!(page.contains(&format!("simtool compare {kept} {removed}")), "{page}");
        let run = folder.run(&[&["compare"][..], &places].concat());
        assert!(run.code == 0 && run.out.contains("14 of 14"), "{} {}", run.out, run.err);
    }
    let run = folder.run_words("--corpus old.jsonl --against-text-field body --force");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--against-text-field body: is of a match"), "{}", run.err);
}

#[test]
fn all_texts_of_a_record_are_measured_and_filtered() {
    let lines = format!(
        "{{\"id\":\"a\",\"title\":\"{A}\"}}\n{{\"id\":\"b\",\"body\":[\"{A}\"]}}\n{{\"id\":\"c\",\"body\":\"{B}\"}}\n"
    );
    let folder = Folder::empty().with("set/docs.jsonl", &lines).with("set/truth.tsv", "a\tb\n");
    let run = folder.run_words("eval set --method exact --text-field * --format json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["methods"][0]["collections"][0]["best"]["true_found"], 1, "{}", run.out);
    let run = folder.run_words("eval set/docs.jsonl --suggest --text-field * -q");
    assert!(run.code == 0 && run.out.contains(" --text-field '*'"), "{} {}", run.out, run.err);
    assert_eq!(folder.run_words("index create seen.idx -k 15").code, 0);
    let passed = filtered(&folder.path(""), "index filter seen.idx --text-field *", &lines);
    let ids = passed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone());
    assert_eq!(ids.collect::<Vec<_>>(), ["a", "c"], "{passed}");
}
