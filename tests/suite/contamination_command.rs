//! `simtool contamination`: its rows, counts and errors.

use crate::program::Folder;
use serde_json::{Value, json};
use std::fs;

/// Items with questions and answers, and three documents. The second one has an item whole, and the third one has
/// an item with a changed word.
fn folder() -> Folder {
    let items = [
        json!({ "id": "q1", "question": "Who wrote the tale of the white whale?", "answer": "Herman Melville" }),
        json!({ "id": "q2", "question": "How many legs has an octopus in the deep sea?", "answer": "Eight" }),
        json!({ "id": "q3", "question": "Blue or green?" }),
        json!({ "id": "q4", "question": "…" }),
    ];
    let texts = [
        "nothing of that kind",
        "Quiz: WHO wrote the tale\nof the white whale -- Herman Melville, of course",
        "blue or green? how many legs has an octopus in the dark sea: eight",
    ];
    let lines =
        |rows: &[Value]| rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat();
    let documents: Vec<Value> = ["a", "b", "c"]
        .iter()
        .zip(texts)
        .map(|(id, text)| json!({ "id": id, "text": text }))
        .collect();
    Folder::empty().with("items.jsonl", lines(&items)).with("in.jsonl", lines(&documents))
}

const COMMAND: &str = "contamination items.jsonl --fields question,answer --in in.jsonl";

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn items_are_listed_with_their_documents() {
    let folder = folder();
    let run = folder.run_words(COMMAND);
    assert_eq!(run.code, 0, "{}", run.err);
    let expected = [
        json!({ "item_id": "q1", "id": "b", "file": "in.jsonl", "record": 1, "share": 1, "words": 10,
            "item_spans": [[0, 10]], "spans": [[6, 62]], "best": true, "item_file": "items.jsonl", "item_record": 0 }),
        json!({ "item_id": "q3", "id": "c", "file": "in.jsonl", "record": 2, "share": 1, "words": 3,
            "item_spans": [[0, 3]], "spans": [[0, 13]], "best": true, "item_file": "items.jsonl", "item_record": 2 }),
    ];
    assert_eq!(rows(&run.out), expected);
    for note in [
        "2 of 4 items found (50.0 %), in 2 of 3 documents",
        "1 item with fewer than 5 words: searched as a whole",
        "1 item without words, in no document",
    ] {
        assert!(run.err.contains(note), "{note}: {}", run.err);
    }
    for options in ["--threads 1", "--threads 3"] {
        assert_eq!(folder.run_words(&format!("{COMMAND} {options}")).out, run.out, "{options}");
    }
}

#[test]
fn measures_and_shares_decide_about_changed_items() {
    let folder = folder();
    let ids = |options: &str| {
        let run = folder.run_words(format!("{COMMAND} {options}").trim_end());
        assert_eq!(run.code, 0, "{options}: {}", run.err);
        let rows = rows(&run.out).into_iter();
        rows.map(|row| row["item_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    // Nine of the eleven words of q2 are unchanged, but only eight of them are in shingles of five.
    for (options, expected) in [
        ("", "q1 q3"),
        ("--share 0.72", "q1 q2 q3"),
        ("--share 8/11", "q1 q2 q3"),
        ("--measure weighted", "q1 q2 q3"),
        ("--measure weighted --share 0.8", "q1 q3"),
        ("--measure shingles --share 0.5", "q1 q2 q3"),
        ("--measure shingles --share 0.6", "q1 q3"),
        ("--words 12", "q1 q3"),
    ] {
        assert_eq!(ids(options), expected, "{options}");
    }
}

#[test]
fn items_come_from_any_format() {
    let folder = folder()
        .with("items.txt", "who wrote the tale of the white whale\n\nblue or green\n")
        .with("items.csv", "id,q\n7,\"who wrote the tale of the white whale\"\n");
    // Each line of a text file is an item. Blank lines count, but are no items.
    let run = folder.run_words("contamination items.txt --in in.jsonl --quiet");
    let ids: Vec<Value> = rows(&run.out).iter().map(|row| row["item_id"].clone()).collect();
    assert_eq!(ids, ["items.txt:0", "items.txt:2"], "{}", run.err);
    // IDs of a table are texts or numbers, as in the other commands.
    let run =
        folder.run_words("contamination items.csv --fields q --in in.jsonl --output-format tsv");
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines[0],
        "item_id\tid\tfile\trecord\tshare\twords\titem_spans\tspans\tbest\titem_file\titem_record"
    );
    assert_eq!(lines[1], "7\tb\tin.jsonl\t1\t1\t8\t[[0,8]]\t[[6,43]]\ttrue\titems.csv\t0");
    #[cfg(feature = "parquet")]
    {
        let parquet = format!("{COMMAND} --output out.parquet --output-format parquet --quiet");
        assert_eq!(folder.run_words(&parquet).code, 0);
        assert_eq!(&fs::read(folder.path("out.parquet")).unwrap()[..4], b"PAR1");
    }
}

#[test]
fn wrong_fields_name_the_option_of_the_items() {
    let folder = folder();
    let refused = |arguments: &str, message: &str| {
        let run = folder.run_words(arguments);
        assert_ne!(run.code, 0, "{arguments}");
        assert!(run.err.contains(message) && run.out.is_empty(), "{arguments}: {}", run.err);
        assert!(!run.err.contains("--text-field"), "{arguments}: {}", run.err);
    };
    refused("contamination items.jsonl --in in.jsonl", "no field \"text\"");
    // The message has the option for items, which is not the option for documents.
    refused("contamination items.jsonl --in in.jsonl", "--fields");
    let wrong = "contamination items.jsonl --fields question,reply --in in.jsonl";
    refused(wrong, "--fields reply: no record has this field; there are: answer, id, question");
    for (options, message) in [
        ("--words 0", "--words 0: "),
        ("--words few", "--words few: must be a number of words"),
        ("--share 1.5", "--share 1.5: must be above 0 and at most 1"),
        ("--max-memory 200B", "the items need "),
        ("--in - --files-from -", "standard input can be read once"),
    ] {
        refused(&format!("{COMMAND} {options}"), message);
    }
    refused("contamination - --in in.jsonl -", "standard input can be read once");
}

#[test]
fn a_comma_joins_the_fields_of_items_and_not_those_of_documents() {
    let folder = Folder::empty()
        .with("items.jsonl", "{\"q\":\"how many moons has mars in all\",\"a\":2}\n")
        .with(
            "docs.jsonl",
            "{\"title\":\"moons\",\"body\":\"how many moons has mars in all\\n2\"}\n",
        );
    // The number is a word of the item, and the item is found.
    let run = folder.run_words(
        "contamination items.jsonl --fields q,a --in docs.jsonl --text-field title,body",
    );
    assert_eq!((run.code, rows(&run.out).len()), (0, 0), "{}", run.err);
    let note = "--text-field reads the first of its fields that a document has: title, not body. A comma does not join \
                them. To join the fields, name them with a plus sign: title+body\n";
    assert!(run.err.contains(note), "{}", run.err);
    // The other commands say the same.
    for command in
        ["dedup docs.jsonl", "passages docs.jsonl", "match docs.jsonl --against docs.jsonl"]
    {
        let run =
            folder.run_words(&format!("{command} --text-field title,body --output found --force"));
        assert!(run.err.contains(note), "{command}: {}", run.err);
    }
    let run = folder.run_words(
        "contamination items.jsonl --fields q,a --in docs.jsonl --text-field title+body",
    );
    assert_eq!((run.code, rows(&run.out).len()), (0, 1), "{}", run.err);
    assert_eq!(rows(&run.out)[0]["share"], 1);
    assert!(!run.err.contains("plus sign"), "{}", run.err);
}

#[test]
fn files_are_written_whole_and_never_over_an_input() {
    let folder = folder();
    let command = format!("{COMMAND} --output found.jsonl --quiet");
    assert_eq!(folder.run_words(&command).code, 0);
    assert_eq!(fs::read_to_string(folder.path("found.jsonl")).unwrap().lines().count(), 2);
    let again = folder.run_words(&command);
    assert!(again.code == 2 && again.err.contains("found.jsonl"), "{}", again.err);
    // With --force, results are replaced, but never an input.
    assert_eq!(folder.run_words(&format!("{command} --force")).code, 0);
    for input in ["items.jsonl", "in.jsonl"] {
        let over = folder.run_words(&format!("{COMMAND} --output {input} --force"));
        assert!(over.code == 2 && over.err.contains("is the input"), "{}", over.err);
    }
}

/// Runs the command with copies of this kind, and returns the messages and the copy of the documents.
fn freed(folder: &Folder, options: &str) -> (String, String) {
    let run = folder.run_words(&format!("{COMMAND} --output out --force {options}"));
    assert_eq!(run.code, 0, "{}", run.err);
    (run.err, fs::read_to_string(folder.path("out/kept/in.jsonl")).unwrap())
}

#[test]
fn copies_are_freed_from_items() {
    let folder = folder();
    let texts = |copy: &str| -> Vec<String> {
        rows(copy).iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    let (messages, copy) = freed(&folder, "--write-kept drop");
    assert_eq!(texts(&copy), ["nothing of that kind"]);
    assert!(messages.contains("2 documents left out of the copies, 0 cut"), "{messages}");
    // The folder has the rows of the command, too.
    let found = fs::read_to_string(folder.path("out/contamination.jsonl")).unwrap();
    assert_eq!(found, folder.run_words(COMMAND).out);
    let files = rows(&fs::read_to_string(folder.path("out/files.jsonl")).unwrap());
    assert_eq!((files[0]["documents"].as_u64(), files[0]["removed"].as_u64()), (Some(3), Some(2)));

    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["parameters"]["share"], 0.8);
    let counts = ["found_items", "documents", "dropped_documents", "cut_documents"];
    assert_eq!(counts.map(|count| summary[count].as_u64().unwrap()), [2, 3, 2, 0]);

    let (messages, copy) = freed(&folder, "--write-kept cut");
    let rest = "? how many legs has an octopus in the dark sea: eight";
    assert_eq!(texts(&copy), ["nothing of that kind", "Quiz: \n, of course", rest]);
    assert!(messages.contains("0 documents left out of the copies, 2 cut"), "{messages}");
    let again = folder.run_words(&COMMAND.replace("in.jsonl", "out/kept"));
    assert_eq!((again.code, &*again.out), (0, ""));

    let (_, copy) = freed(&folder, "--write-kept mask");
    assert_eq!(texts(&copy)[1], "Quiz: [...], of course");
    let (_, copy) = freed(&folder, "--write-kept mask --mask …");
    assert_eq!(texts(&copy)[2], format!("…{rest}"));
}

#[test]
fn the_page_shows_items_by_file_and_examples_with_their_differences() {
    let item = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let words = "one two three four five six seven eight nine ten";
    let changed = "one two three four five six seven eight other <script>alert(1)</script>";
    let folder = Folder::empty()
        .with("items/a.jsonl", item("<b>a</b>", words) + &item("b", "no document has these words"))
        .with("items/c.jsonl", item("c", "short item"))
        .with("in/a.txt", format!("before {words} after"))
        .with("in/b.txt", format!("before {changed}"))
        .with("in/<d>.txt", "a short item")
        .with("in/e.txt", "nothing of that kind");
    let run = |threads: usize| {
        let run = folder.run_words(&format!(
            "contamination items --in in --share 0.7 --write-kept drop --output out --force --threads {threads}"
        ));
        assert_eq!(run.code, 0, "{}", run.err);
        fs::read_to_string(folder.path("out/report.html")).unwrap()
    };
    let page = run(1);
    for part in [
        "<strong>2</strong> of 3 items (66.7 %) are in 3 of 4 documents.",
        "items/a.jsonl</bdi></td><td class=\"n\">2</td><td class=\"n\">1</td><td class=\"n\">50.0 %</td>",
        "<h2>Where the items are</h2>",
        "in/&lt;d&gt;.txt",
        "<div dir=\"auto\">one two three four five six seven eight nine ten</div></td><td class=\"n\">10</td><td class=\"n\">2</td>",
        "&lt;b&gt;a&lt;/b&gt;",
        "<strong>share 0.80</strong>",
        "<mark class=\"only-kept\">nine ten</mark>",
        "<div data-key=\"dropped_documents\"><dt>Left out of the copies</dt><dd>3<small>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    // The page has the same bytes for any number of threads, except the times and the command.
    let without_end = |page: &str| page.split("How it was made").next().unwrap().to_owned();
    assert_eq!(without_end(&run(3)), without_end(&page));
    let run = folder
        .run_words("contamination items/c.jsonl --in in/e.txt --write-kept cut --output none");
    assert_eq!(run.code, 0, "{}", run.err);
    let page = fs::read_to_string(folder.path("none/report.html")).unwrap();
    assert!(
        page.contains("<strong>0</strong> of 1 item (0.0 %) are in 0 of 1 document."),
        "{page}"
    );
    assert!(!page.contains("Examples") && !page.contains("Items in most documents"), "{page}");
}

#[test]
fn a_page_with_an_item_cannot_be_cut_but_dropped() {
    let page = "<html><body><main><p>Blue or green?</p></main></body></html>";
    let folder = folder().with("pages/a.html", page);
    let run = |how: &str| {
        let command = COMMAND.replace("in.jsonl", "pages");
        let run = folder.run_words(&format!("{command} --write-kept {how} --output out --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        run.err
    };
    let messages = run("cut");
    assert!(messages.contains("1 document copied with the items"), "{messages}");
    let uncut = fs::read_to_string(folder.path("out/uncut.jsonl")).unwrap();
    assert!(
        uncut.contains("\"file\":\"pages/a.html\",\"record\":0,\"reason\":\"record\""),
        "{uncut}"
    );
    assert_eq!(fs::read_to_string(folder.path("out/kept/pages/a.html")).unwrap(), page);
    assert!(run("drop").contains("1 document left out of the copies"));
    assert!(!folder.path("out/kept/pages/a.html").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn items_in_a_dictionary_of_parquet_are_masked() {
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
    use std::sync::Arc;

    let texts = ["Blue or green?", "other", "I ask: blue or green?", "other"];
    let texts: DictionaryArray<Int32Type> = texts.into_iter().collect();
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = folder().with("in/a.parquet", bytes);
    let command = COMMAND.replace("in.jsonl", "in");
    let run = folder.run_words(&format!("{command} --write-kept mask --output out"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("2 cut"), "{}", run.err);
    let again = folder.run_words(&COMMAND.replace("in.jsonl", "out/kept"));
    assert_eq!((again.code, &*again.out), (0, ""), "{}", again.err);
    assert_eq!(fs::read_to_string(folder.path("out/uncut.jsonl")).unwrap(), "");
}

#[test]
fn an_empty_or_unused_setting_of_the_environment_is_not_ignored() {
    let folder = folder();
    let words: Vec<&str> = COMMAND.split(' ').collect();
    let run = |variable, value| crate::program::run(&folder.path(""), &words, &[(variable, value)]);
    let off = run("SIMTOOL_WRITE_KEPT", "false");
    assert_eq!((off.code, off.out.lines().count()), (0, 2), "{}", off.err);
    let empty = run("SIMTOOL_THREADS", "");
    assert_eq!(empty.code, 2, "{}", empty.err);
    assert!(empty.err.contains("SIMTOOL_THREADS"), "{}", empty.err);
}

#[test]
fn wrong_options_for_copies_are_refused() {
    let folder = folder().with("in/a.txt", "some words").with("list", "in/a.txt\n");
    for (options, message) in [
        ("--write-kept drop", "add --output DIR"),
        ("--write-kept drop --output -", "--output -: is needed with --write-kept"),
        ("--write-kept drop --mask x --output out", "--mask x: goes with --write-kept mask"),
        ("--write-kept all --output out", "invalid value 'all'"),
        // Paths of a list are inputs like others.
        ("--write-kept drop --files-from list --output in", "overlaps the input"),
    ] {
        let run = folder.run_words(&format!("{COMMAND} {options}"));
        assert_eq!(run.code, 2, "{options}: {}", run.err);
        assert!(run.err.contains(message), "{options}: {}", run.err);
        assert!(!folder.path("out").exists(), "{options}");
    }
}
