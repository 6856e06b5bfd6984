//! Inputs of a command: folders and their contents, lists, tables with any delimiter, and missing
//! fields.

use crate::program::Folder;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::process::{Command, Stdio};

const WORDS: &str = "the same words in two lines of a file that repeat";

fn line(id: &str) -> String {
    format!("{{\"id\":\"{id}\",\"text\":\"{WORDS}\"}}\n")
}

#[test]
fn the_current_folder_is_a_corpus_again_and_again() {
    let folder = Folder::empty().with("a.jsonl", line("a") + &line("b")).with(".notes", "x y z");
    fs::create_dir(folder.path(".git")).unwrap();
    let folder = folder.with(".git/config", "[core]");
    let run = folder.run(&["--corpus", "."]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("[hidden] \".\": 2 hidden files and folders were left out"),
        "{}",
        run.err
    );
    assert!(run.err.contains("such as \"./.git\"; --hidden reads them"), "{}", run.err);
    let removed = fs::read(folder.path("simtool-out/removed.jsonl")).unwrap();
    for more in [&["--force"][..], &["--output", "second"], &["--output", "third", "-q"]] {
        let run = folder.run(&[&["--corpus", "."], more].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("documents                 2\n"), "{}", run.out);
        let is_quiet = more.contains(&"-q");
        assert_eq!(run.err.contains("[results] \".\""), !is_quiet, "{}", run.err);
    }
    assert_eq!(fs::read(folder.path("simtool-out/removed.jsonl")).unwrap(), removed);
    // The results of a run are read only if they are named.
    let run = folder.run_words("--corpus . --output kept --write-kept");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("--corpus kept/kept --output again");
    assert!(run.out.contains("documents                 1\n"), "{}", run.out);

    let run = folder.run_words("--corpus . --hidden --output all");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("documents                 4\n"), "{}", run.out);
    let run = folder.run_words("--corpus .notes .git --output named");
    assert!(run.out.contains("documents                 2\n"), "{}", run.out);
    // A file of fingerprints in the folder is not an input either.
    for _ in 0..2 {
        let run = folder.run_words("fingerprint . --output prints.txt --force");
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.err.contains("note: 2 documents,"), "{}", run.err);
    }
}

/// Returns the exit code and both outputs of a run with this standard input.
fn piped(folder: &Folder, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.current_dir(folder.path("")).args(arguments).stdin(Stdio::piped());
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that rejects its command line reads nothing, so the write may fail.
    drop(program.stdin.take().unwrap().write_all(input.as_bytes()));
    let ended = program.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

/// A file as standard input is read in place and not copied. If reading had begun before, the rest
/// is read.
#[test]
fn standard_input_that_is_a_file_is_as_a_pipe() {
    let text = line("a") + &line("b") + &line("c");
    let folder = Folder::empty().with("a.jsonl", &text);
    let of_file = |skipped: usize, arguments: &str| {
        let mut file = fs::File::open(folder.path("a.jsonl")).unwrap();
        file.seek(SeekFrom::Start(skipped as u64)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
        let command = command.current_dir(folder.path("")).args(arguments.split(' '));
        let ended = command.stdin(file).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let begun = line("a").len();
    let fingerprint = "fingerprint - --format jsonl --output - -q";
    let arguments: Vec<_> = fingerprint.split(' ').collect();
    let (_, expected, _) = piped(&folder, &arguments, &text);
    assert_eq!(expected.lines().count(), 3);
    for more in ["", " --no-mmap"] {
        assert_eq!(of_file(0, &format!("{fingerprint} --tmp-dir nowhere{more}")), expected);
        assert_eq!(of_file(begun, &format!("{fingerprint}{more}")).lines().count(), 2);
    }
}

#[test]
fn fingerprints_may_come_through_standard_input() {
    let folder = Folder::empty().with("a.jsonl", line("a") + &line("b"));
    let run = folder.run_words("fingerprint a.jsonl --output - -q");
    fs::write(folder.path("f.jsonl"), &run.out).unwrap();
    let pair = (Some(0), "a\tb\t0\n".to_owned(), String::new());
    for more in [&[][..], &["--no-mmap"], &["--tmp-dir", "."]] {
        assert_eq!(piped(&folder, &[&["join", "-"], more].concat(), &run.out), pair, "{more:?}");
    }
    let all = "a\ta\t0\na\tb\t0\nb\ta\t0\nb\tb\t0\n";
    for [rows, queries] in [["-", "f.jsonl"], ["f.jsonl", "-"]] {
        let (_, out, err) = piped(&folder, &["search", rows, "--queries", queries], &run.out);
        assert_eq!((&*out, &*err), (all, ""));
    }
    let (code, _, err) = piped(&folder, &["search", "-", "--queries", "-"], &run.out);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--queries -: standard input can be read once"), "{err}");
    // The message about a wrong fingerprint names standard input.
    let (code, _, err) = piped(&folder, &["join", "-"], "no fingerprints\n");
    assert!(code == Some(1) && err.contains("error: -, byte 0: expected"), "{err}");
}

#[test]
fn a_list_may_come_through_standard_input() {
    let folder = Folder::empty().with("a.jsonl", line("a")).with("b.jsonl", line("b"));
    let piped = |arguments: &[&str], list: &str| piped(&folder, arguments, list);
    let (code, out, err) = piped(&["--files-from", "-"], "a.jsonl\nb.jsonl\n");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("documents                 2\n"), "{out}");
    let fingerprint = ["fingerprint", "--files-from", "-", "-0", "-q", "--output", "-"];
    let (code, out, err) = piped(&fingerprint, "a.jsonl\0b.jsonl\0");
    assert_eq!((code, out.lines().count()), (Some(0), 2), "{err}");
    let (code, _, err) = piped(&fingerprint[..3], "");
    assert_eq!(code, Some(2), "{err}");
    for (arguments, list) in
        [(&["--files-from", "-"][..], "-\n"), (&["--files-from", "-", "--corpus", "-"], "a.jsonl")]
    {
        let (code, _, err) = piped(arguments, list);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("--files-from -: reads the list from standard input"), "{err}");
    }
}

/// Returns three records without a field "text" in each format that has fields, and the names of
/// their fields.
fn without_text() -> [(&'static str, Vec<u8>, &'static str); 4] {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let bodies: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let batch = RecordBatch::try_from_iter([("id", numbers), ("body", bodies)]).unwrap();
    let mut parquet = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let lines = [(1, "a"), (2, "b"), (3, "c")]
        .map(|(id, body)| format!("{{\"id\":{id},\"body\":\"{body}\"}}\n"));
    [
        ("a.jsonl", lines.concat().into_bytes(), "id, body"),
        ("a.csv", b"id,body\n1,a\n2,b\n3,c\n".to_vec(), "id, body"),
        ("a.tsv", b"id\tbody\n1\ta\n2\tb\n3\tc\n".to_vec(), "id, body"),
        ("a.parquet", parquet, "id, body"),
    ]
}

#[test]
fn a_missing_text_is_counted_and_reported_once_in_every_format() {
    for (name, content, there) in without_text() {
        let folder = Folder::empty().with(name, content).with("good.jsonl", line("a"));
        let lack = format!(
            "have no field \"text\"; there are: {there}. Name the field of the text with --text-field"
        );
        let message = format!("[text-field] \"{name}\": 3 records {lack}");
        for command in ["--corpus", "fingerprint --output -"] {
            let run = folder.run_words(&format!("{command} {name}"));
            assert_eq!(run.code, 1, "{name}: {}", run.err);
            let expected =
                format!("simtool: error: no document was read: {message}; nothing was written");
            assert!(run.err.contains(&expected), "{name}: {}", run.err);

            let run = folder.run_words(&format!("{command} {name} good.jsonl -q"));
            assert_eq!(run.code, 2, "{name}: {}", run.err);
            let expected = format!(
                "--text-field text: 3 of 3 records of \"{name}\" do not have this field; there are: \
                 {there}. Name the field of the text, or one for each kind of file, such as text,body. \
                 Nothing was written\n"
            );
            assert!(run.err.ends_with(&expected), "{name}: {}", run.err);
            assert!(!folder.path("simtool-out").exists());

            let run = folder.run_words(&format!("{command} {name} --on-error fail --force"));
            let run = if command == "--corpus" {
                run
            } else {
                folder.run_words(&format!("{command} {name} --on-error fail"))
            };
            assert_eq!(run.code, 1, "{name}: {}", run.err);
            let first = format!("the record has no field \"text\"; there are: {there}.");
            assert!(run.err.contains(&first), "{name}: {}", run.err);
        }
        let run = folder.run_words(&format!("compare {name}:1 good.jsonl"));
        assert_eq!(run.code, 1, "{name}: {}", run.err);
        let expected = format!("expected a text, but there is {}", lack.replace("have ", ""));
        assert!(run.err.contains(&expected), "{name}: {}", run.err);
        let run = folder.run_words(&format!("compare {name}:1 {name}:2 --text-field body"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
    }
    // If most records of each file have the text, the others are listed.
    let files = Folder::empty()
        .with("a.jsonl", line("a") + &line("d") + "{\"other\":1}\n")
        .with("b.jsonl", line("b") + &line("c") + "{}\n{}\n")
        .with("c.jsonl", "{\"other\":2}\n");
    let run = files.run_words("--corpus a.jsonl b.jsonl c.jsonl -q");
    assert_eq!(run.code, 3, "{}", run.err);
    let counts = fs::read_to_string(files.path("simtool-out/summary.json")).unwrap();
    for count in ["\"quarantined\": 4,", "\"lost\": 0,", "\"documents\": 4,"] {
        assert!(counts.contains(count), "{counts}");
    }
    let quarantine = fs::read_to_string(files.path("simtool-out/quarantine.jsonl")).unwrap();
    assert_eq!(quarantine.matches("\"code\":\"text-field\"").count(), 4, "{quarantine}");
    let expected = "\"a.jsonl\": 1 record here and 3 in 2 other files have no field \"text\"; there are: \
                    other. Name";
    assert!(run.err.contains(expected), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
}

#[test]
fn tables_of_any_delimiter_are_read() {
    let rows = |delimiter: &str| {
        let row = |id: &str| format!("{id}{delimiter}\"{WORDS}, again; and | more\"\n");
        format!("number{delimiter}text\n{}{}", row("1"), row("2"))
    };
    let folder = Folder::empty()
        .with("semicolon.csv", rows(";"))
        .with("bar.csv", rows("|"))
        .with("tab.csv", rows("\t"))
        .with("odd.csv", rows("^"))
        .with("odd.tsv", rows("^"));
    let check = |arguments: &str| {
        let run = folder.run_words(&format!("--corpus {arguments} --id-field number --force"));
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
        assert!(
            run.out.contains("removed                   1  50.0 %"),
            "{arguments}: {}",
            run.out
        );
        let removed = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
        assert!(removed.starts_with("{\"id\":\"2\","), "{arguments}: {removed}");
    };
    for arguments in [
        "semicolon.csv",
        "bar.csv",
        "tab.csv",
        "semicolon.csv --delimiter ;",
        "tab.csv --delimiter tab",
        "odd.csv --delimiter ^",
        "odd.tsv --delimiter ^",
    ] {
        check(arguments);
    }
    let run = folder.run_words("--corpus odd.csv --delimiter xy");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("must be one ASCII character other than a quote"), "{}", run.err);
    // The guessed delimiter is used for messages, too.
    let run = folder.run_words("--corpus semicolon.csv --text-field body --force");
    assert!(run.err.contains("there are: number, text."), "{}", run.err);
}

#[test]
fn json_over_several_lines_is_read_unless_lines_are_asked_for() {
    let folder = Folder::empty()
        .with("a.json", format!("[\n{},\n{}]\n", line("a"), line("b")))
        .with("b.json", "{\n  \"text\": \"x\"\n}\n")
        .with("package.json", "{\n  \"files\": [\n    \"a\",\n    \"b\"\n  ]\n}\n")
        .with("numbers.json", "[1,\n2,\n3]\n");
    let run = folder.run_words("--corpus a.json b.json package.json numbers.json --json -q");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.contains("\"documents\": 3,"), "{}", run.out);
    assert!(run.out.contains("\"quarantined\": 2"), "{}", run.out);
    let run = folder.run_words("fingerprint b.json --format jsonl --output -");
    assert_eq!(run.code, 1, "{}", run.err);
    let advice = "\"b.json\": is JSON, but not one object a line. Leave out --format";
    assert!(run.err.contains(advice), "{}", run.err);
}

#[test]
fn records_of_web_archives_without_a_document_are_counted_by_kind() {
    let record = |kind: &str, block: &str| {
        let length = block.len();
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
    };
    let response = |kind: &str| {
        record("response", &format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\nsome words"))
    };
    let others = [
        record("warcinfo", "software: x"),
        record("revisit", ""),
        response("image/png"),
        response("image/gif"),
    ];
    let folder = Folder::empty()
        .with("a.warc", others.concat() + &response("text/html"))
        .with("b.warc", others.concat());
    let run = folder.run_words("--corpus a.warc --json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    for count in ["records_warcinfo\": 1", "records_revisit\": 1", "responses_image\": 2"] {
        assert!(run.out.contains(count), "{count}: {}", run.out);
    }
    let run = folder.run_words("--corpus a.warc -q --force");
    assert!(run.out.contains("images"), "{}", run.out);
    assert!(!run.out.contains("warcinfo"), "{}", run.out);
    let run = folder.run_words("--corpus b.warc -q --force");
    assert_eq!(run.code, 1, "{}", run.err);
    let reason = "no record has a page or a text; there are: 1 warcinfo records, 1 revisit records, \
                  2 images";
    assert!(run.err.contains(reason), "{}", run.err);
}

#[test]
fn texts_in_a_named_or_detected_encoding_are_compared() {
    let russian = "Съешь же еще этих мягких французских булок, да выпей чаю";
    // In windows-1251, the letters of Russian follow each other as in Unicode.
    let byte = |c: char| u8::try_from(u32::from(c) - if c >= 'А' { 0x350 } else { 0 }).unwrap();
    let bytes: Vec<u8> = russian.chars().map(byte).collect();
    let folder = Folder::empty().with("a.txt", &bytes).with("b.txt", russian).with("c.txt", &bytes);
    let run = folder.run_words("--corpus a.txt b.txt --encoding detect --write-kept");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("\"a.txt\": is not UTF-8; read as windows-1251"), "{}", run.err);
    assert!(run.out.contains("removed                   1"), "{}", run.out);
    assert_eq!(fs::read(folder.path("simtool-out/kept/a.txt")).unwrap(), bytes);
    let run = folder.run_words("--corpus a.txt c.txt --encoding cp1251 -q --force");
    assert!(run.out.contains("removed                   1"), "{}", run.out);
    let run = folder.run_words("--corpus a.txt --encoding morse");
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn plain_text_is_divided_as_asked_for() {
    let block = format!("{WORDS}\nsecond line\n\n");
    let folder = Folder::empty()
        .with("a.txt", block.repeat(3))
        .with("big.txt", format!("{}\n{block}", WORDS.repeat(9)).repeat(6000))
        .with("in.mbox", format!("From a@b Mon Jan  1\nFrom: a@b\nDate: Mon\n\n{block}").repeat(2));
    let documents = |arguments: &str| {
        let run = folder.run_words(&format!("{arguments} --json --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        let at = run.out.find("\"documents\": ").unwrap();
        (run.out[at..].split([' ', ',']).nth(1).unwrap().to_owned(), run.err)
    };
    for (arguments, count) in [
        ("--corpus a.txt", "1"),
        ("--corpus a.txt --split lines", "6"),
        ("--corpus a.txt --per-line", "6"),
        ("--corpus a.txt --split blank-lines", "3"),
        ("--corpus in.mbox", "2"),
    ] {
        assert_eq!(documents(arguments).0, count, "{arguments}");
    }
    let note = folder.run_words("--corpus big.txt --force").err;
    assert!(note.contains("1 text file is one document each, but blank lines"), "{note}");
}

#[test]
fn odd_paths_are_no_files_of_a_collection() {
    use simtool::read::{Corpus, Event};
    use simtool::{Collection, ReadOptions};
    let folder = Folder::empty().with("a.jsonl", line("a"));
    std::os::unix::fs::symlink("nowhere", folder.path("link")).unwrap();
    let faults = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| folder.path(path)).collect();
        let collection = Collection::of_paths(&paths, ReadOptions::default()).unwrap();
        let mut faults = Vec::new();
        for shard in 0..collection.shard_count() {
            let read = collection.read_shard(shard, &mut |event| {
                if let Event::Fault(fault) = event {
                    faults.push(fault.file.file_name().unwrap().to_str().unwrap().to_owned());
                }
                Ok(std::ops::ControlFlow::Continue(()))
            });
            read.unwrap();
        }
        (collection.file_count(), faults)
    };
    assert_eq!(faults(&[""]), (1, vec!["link".to_owned()]));
    // A path that is named and cannot be read counts as lost.
    assert_eq!(faults(&["a.jsonl", "none"]), (2, vec!["none".to_owned()]));
}

#[test]
fn a_field_is_refused_where_no_file_has_any() {
    let folder = Folder::empty().with("a.txt", WORDS).with("b.ff", "A\nx\x0cB\ny\n");
    let refused = |arguments: &str, formats: &str| {
        let run = folder.run_words(arguments);
        assert_eq!(run.code, 2, "{arguments}: {}", run.err);
        assert!(run.err.contains("parquet, arrow, csv, tsv, json, jsonl"), "{}", run.err);
        let rule = format!("; the input is {formats}\n");
        assert!(run.err.contains(&rule), "{arguments}: {}", run.err);
    };
    refused("dedup a.txt b.ff --text-field text", "form-feed, text");
    refused("dedup b.ff --id-field id --dry-run", "form-feed");
    refused("fingerprint . --output - --text-field body", "form-feed, text");
    // One file with fields is enough. The same holds for a file whose format is not known before it
    // is read.
    let folder = folder.with("c.csv", format!("body\n{WORDS}\n"));
    let run = folder.run_words("dedup . --text-field body");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("dedup a.txt --against c.csv --text-field body");
    assert_eq!(run.code, 2, "{}", run.err);
    let run = folder.run_words("match a.txt --against c.csv --text-field body --output matched");
    assert_eq!(run.code, 0, "{}", run.err);
    let folder = Folder::empty().with("a.txt", WORDS).with("odd", b"\0\x01\x02\x03");
    let run = folder.run_words("dedup . --text-field body");
    assert_eq!(run.code, 3, "{}", run.err);
}

#[test]
fn a_dry_run_reports_skipped_inputs_as_the_run_does() {
    let folder = Folder::empty().with("a.jsonl", line("a")).with(".notes", "x");
    fs::create_dir(folder.path("below")).unwrap();
    std::os::unix::fs::symlink("..", folder.path("below/up")).unwrap();
    assert_eq!(folder.run_words("dedup . --output first").code, 0);
    let notes = |arguments: &str| {
        let run = folder.run_words(arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        let is_kept = |line: &&str| line.contains("left out");
        run.err.lines().filter(is_kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_dry_run = notes("dedup . --output second --dry-run");
    assert_eq!(of_dry_run.len(), 3, "{of_dry_run:?}");
    assert_eq!(notes("dedup . --output second --dry-run -q"), [""; 0]);
    assert_eq!(notes("dedup . --output second"), of_dry_run);
}

#[test]
fn outputs_name_settings_as_options() {
    let folder = Folder::empty()
        .with("a.jsonl", format!("{{\"text\":7}}\n{}{{}}\n", line("a")))
        .with("b.jsonl", line(&"x".repeat(3000)))
        .with(".hidden", "x");
    let run = folder.run_words("dedup . --max-record 2K --output out");
    assert_eq!(run.code, 3, "{}", run.err);
    let read = |file: &str| fs::read_to_string(folder.path("out").join(file)).unwrap();
    for (file, expected) in [
        ("quarantine.jsonl", "\\\"text\\\" (--text-field), or null"),
        ("quarantine.jsonl", "at most 2000 bytes (--max-record)"),
        ("quarantine.jsonl", "\"a text in the field that --text-field names\""),
        ("summary.json", "\\\"text\\\" (--text-field), or null"),
        ("summary.json", "; --hidden reads it"),
        ("report.html", "(--text-field), or null"),
        ("report.html", "; --hidden reads it"),
    ] {
        assert!(read(file).contains(expected), "{file}: {}", read(file));
    }
    for file in ["quarantine.jsonl", "summary.json", "report.html"] {
        for setting in ["`text_field`", "`max_record`", "`hidden`"] {
            assert!(!read(file).contains(setting), "{file}: {setting}");
        }
    }
}

/// Returns a page whose template is far longer than its article.
fn page(article: &str) -> String {
    let sections: Vec<String> = (0..70)
        .map(|section| format!("<li><a href=\"/{section}/\">Section {section}</a></li>"))
        .collect();
    let menu = sections.join("\n");
    format!(
        "<!DOCTYPE html>\n<html><head><style>li {{ margin: 0 }}</style><script>let x = 1 < 2;</script>\
         </head><body><p>{article}</p></body><!-- {menu} --></html>"
    )
}

#[test]
fn pages_of_one_template_are_compared_by_their_text() {
    let articles: Vec<String> = (0..6)
        .map(|article| {
            let words = (0..45).map(|word| format!("word{}", article * 100 + word));
            words.collect::<Vec<String>>().join(" ")
        })
        .collect();
    let mut folder = Folder::empty();
    for (number, article) in articles.iter().enumerate() {
        folder = folder.with(&format!("{number}.html"), page(article));
    }
    let copy = format!("<html><body><div><b>{}</b></div></body></html>", articles[0]);
    let folder = folder.with("copy.html", copy);
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("documents                 7\n"), "{}", run.out);
    let removed = fs::read_to_string(folder.path("found/removed.jsonl")).unwrap();
    assert_eq!(removed.lines().count(), 1, "{removed}");
    assert!(removed.contains("copy.html"), "{removed}");
    // Kept pages are the bytes of their files.
    assert_eq!(fs::read_to_string(folder.path("found/kept/3.html")).unwrap(), page(&articles[3]));
    assert!(!folder.path("found/kept/copy.html").exists());
}

#[test]
fn kept_copies_have_the_compression_of_their_input() {
    let lines =
        [line("a"), line("b"), "{\"id\":\"c\",\"text\":\"other words\"}\n".to_owned()].concat();
    let kept = lines.replace(&line("b"), "");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(lines.as_bytes()).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::default()).unwrap();
    xz.write_all(lines.as_bytes()).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(lines.as_bytes()).unwrap();
    for (extension, packed) in [
        ("bz2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("lz4", lz4.finish().unwrap()),
    ] {
        let name = format!("a.jsonl.{extension}");
        let folder = Folder::empty().with(&name, packed);
        let run = folder.run(&["dedup", &name, "--write-kept", "--output", "found"]);
        assert_eq!(run.code, 0, "{extension}: {}", run.err);
        let file = fs::File::open(folder.path(&format!("found/kept/{name}"))).unwrap();
        let mut reader: Box<dyn Read> = match extension {
            "bz2" => Box::new(bzip2::read::MultiBzDecoder::new(file)),
            "xz" => Box::new(lzma_rust2::XzReader::new(file, true)),
            _ => Box::new(lz4_flex::frame::FrameDecoder::new(file)),
        };
        let mut content = String::new();
        reader.read_to_string(&mut content).unwrap();
        assert_eq!(content, kept, "{extension}");
    }
}

#[test]
fn files_that_are_no_documents_are_named_with_advice() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123456\n";
    let not_found = "<!DOCTYPE html><html><title>404 Not Found</title></html>";
    let folder = Folder::empty()
        .with("a.jsonl", line("a") + &line("b"))
        .with("b.jsonl", pointer)
        .with("c.parquet", pointer)
        .with("d.txt", pointer)
        .with("e.jsonl.gz", not_found)
        .with("f.csv", not_found)
        .with("g.avro", "Obj\u{1}\u{4}\u{16}avro.schema")
        .with("h", "%PDF-1.7\n");
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.contains("documents                 2\n"), "{}", run.out);
    for (name, message) in [
        ("b.jsonl", "is a pointer of Git LFS and not the data"),
        ("c.parquet", "Fetch the data with `git lfs pull`"),
        ("d.txt", "is a pointer of Git LFS and not the data"),
        ("e.jsonl.gz", "is an HTML page and not data"),
        ("f.csv", "is an HTML page and not data"),
        ("g.avro", "is an Avro file"),
        ("h", "is a PDF document"),
    ] {
        let about = run.err.lines().find(|line| line.contains(&format!("{name}\"")));
        assert!(about.is_some_and(|line| line.contains(message)), "{name}: {}", run.err);
    }
}

#[test]
fn texts_in_another_encoding_are_kept_without_comparison() {
    let footer = "\nwww.example.org/books/index.html download free text version 2 build 17\n";
    // Russian words in windows-1251, in which each letter is one byte.
    let cp1251 = |text: &str| -> Vec<u8> {
        let byte = |letter: char| u8::try_from(u32::from(letter) - 0x430 + 0xE0).unwrap();
        let letters = text.chars().map(|letter| if letter == ' ' { b' ' } else { byte(letter) });
        letters.chain(footer.bytes()).collect()
    };
    let first = "утром над долиной стоял густой туман старик медленно шел к реке ".repeat(3);
    let second = "физика изучает самые общие законы движения материи измерения ".repeat(3);
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let english = "The harbour was quiet before dawn, and the boats rocked slowly on the water. ";
    let folder = Folder::empty()
        .with("a.txt", cp1251(&first))
        .with("b.txt", cp1251(&second))
        .with("c.txt", cp1251(&first))
        .with("d.txt", english)
        .with("e.txt", utf16(&format!("\u{FEFF}{english}")))
        .with("f.jsonl", utf16("\u{FEFF}{\"text\": \"a\"}"))
        .with("g.csv", [&b"id,text\n1,"[..], &cp1251(&first)].concat());
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 3, "{}", run.err);
    let removed = fs::read_to_string(folder.path("found/removed.jsonl")).unwrap();
    assert_eq!(removed.lines().count(), 1, "{removed}");
    assert!(removed.contains("e.txt") && removed.contains("d.txt"), "{removed}");
    let quarantine = fs::read_to_string(folder.path("found/quarantine.jsonl")).unwrap();
    for name in ["a.txt", "b.txt", "c.txt", "g.csv"] {
        assert!(quarantine.contains(name), "{name}: {quarantine}");
        let copy = fs::read(folder.path(&format!("found/kept/{name}"))).unwrap();
        assert_eq!(copy, fs::read(folder.path(name)).unwrap(), "{name}");
    }
    assert!(quarantine.contains("undecodable"), "{quarantine}");
    assert!(run.err.contains("is in UTF-16, which is read only in text and HTML"), "{}", run.err);
}
