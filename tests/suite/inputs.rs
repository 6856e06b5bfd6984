//! Inputs of a command: folders and their contents, lists, tables with any delimiter, and missing
//! fields.

use crate::program::{Folder, program};
use std::fs;
use std::io::{Seek, SeekFrom, Write as _};
use std::process::Stdio;

pub(crate) const WORDS: &str = "the same words in two lines of a file that repeat";

pub(crate) fn line(id: &str) -> String {
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
    let mut command = program(arguments);
    command.current_dir(folder.path("")).stdin(Stdio::piped());
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
        let mut command = program(&arguments.split(' ').collect::<Vec<_>>());
        let ended = command.current_dir(folder.path("")).stdin(file).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let begun = line("a").len();
    let fingerprint = "fingerprint - --format jsonl --output - -q";
    let arguments: Vec<_> = fingerprint.split(' ').collect();
    let (_, expected, _) = piped(&folder, &arguments, &text);
    assert_eq!(expected.lines().count(), 3);
    for more in ["", " SIMTOOL_NO_MMAP=true"] {
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
    for more in [&[][..], &["SIMTOOL_NO_MMAP=true"], &["--tmp-dir", "."]] {
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
    let fingerprint = ["fingerprint", "--files-from", "-", "-q", "--output", "-"];
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
fn without_text() -> [(&'static str, Vec<u8>, &'static str); 5] {
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
    let scored = lines.concat().replace('}', ",\"score\":NaN}");
    [
        ("a.jsonl", lines.concat().into_bytes(), "id, body"),
        ("scored.jsonl", scored.into_bytes(), "id, body, score"),
        ("a.csv", b"id,body\n1,a\n2,b\n3,c\n".to_vec(), "id, body"),
        ("a.tsv", b"id\tbody\n1\ta\n2\tb\n3\tc\n".to_vec(), "id, body"),
        ("a.parquet", parquet, "id, body"),
    ]
}

#[test]
fn a_missing_text_is_counted_and_reported_once_in_every_format() {
    for (name, content, there) in without_text() {
        let folder = Folder::empty().with(name, content).with("good.jsonl", line("a"));
        let is_table = name == "a.csv" || name == "a.tsv";
        let header =
            ", or use --no-header if the first row is a document and not the names of the columns";
        let header = if is_table { header } else { "" };
        let lack = format!(
            "have no field \"text\"; there are: {there}. Name the field of the text with --text-field{header}"
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
                 {there}. Name the field of the text, or one for each kind of file, such as \
                 text,body{header}. Nothing was written\n"
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
    // One error has the fields of all kinds of files, and the fields to copy.
    let mixed = Folder::empty()
        .with("mixed/a.jsonl", "{\"body\":\"a\",\"n\":1}\n".repeat(2))
        .with("mixed/b.jsonl", "{\"body\":\"b\",\"n\":2}\n".repeat(2))
        .with("mixed/c.csv", "id,content\n1,c\n2,d\n")
        .with("mixed/d.jsonl", line("d") + &line("e"));
    let run = mixed.run_words("dedup mixed -q");
    assert_eq!(run.code, 2, "{}", run.err);
    let expected = "\"mixed/a.jsonl\" do not have this field; there are: body, n; in \"mixed/c.csv\" there are: id, content. \
                    Name the field of the text, or one for each kind of file, such as text,body,content";
    assert!(run.err.contains(expected), "{}", run.err);
    assert_eq!(mixed.run_words("dedup mixed -q --text-field text,body,content").code, 0);
    // So it has if no file has the field, and if the names are unusual.
    let names = ["body", "content", "message", "title", "comment", "page_text"];
    let mut mixed = Folder::empty();
    for name in names {
        mixed =
            mixed.with(&format!("mixed/{name}.jsonl"), format!("{{\"id\":1,\"{name}\":\"a\"}}\n"));
    }
    let run = mixed.run_words("dedup mixed -q");
    assert_eq!(run.code, 2, "{}", run.err);
    let fields = "body,comment,content,message,page_text,title";
    assert!(run.err.contains(&format!("such as {fields}. ")), "{}", run.err);
    assert_eq!(mixed.run_words(&format!("dedup mixed -q --text-field {fields}")).code, 0);
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
fn odd_paths_are_no_files_of_a_collection() {
    use simtool::stages::read::{Corpus, Event};
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
        assert!(run.err.contains("parquet, arrow, csv, tsv, json, jsonl, xml"), "{}", run.err);
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
    let run = folder.run_words("dedup . SIMTOOL_MAX_RECORD=2K --output out");
    assert_eq!(run.code, 3, "{}", run.err);
    let read = |file: &str| fs::read_to_string(folder.path("out").join(file)).unwrap();
    for (file, expected) in [
        ("quarantine.jsonl", "\\\"text\\\" (--text-field), or null"),
        ("quarantine.jsonl", "at most 2000 bytes (SIMTOOL_MAX_RECORD)"),
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

#[test]
fn a_limit_says_that_nothing_is_copied_behind_it() {
    let document = |id: u32| format!("{{\"id\":{id},\"text\":\"document number {id}\"}}\n");
    let documents: String = (0..3).map(document).collect();
    let folder = Folder::empty().with("a.jsonl", &documents).with("b.jsonl", &documents);
    for (limit, is_reached) in [("2", true), ("7", false)] {
        let note = "nothing is read or copied after 2 documents, as --limit asks";
        for command in ["dedup a.jsonl b.jsonl --write-kept", "passages a.jsonl b.jsonl"] {
            let words: Vec<&str> = command.split(' ').collect();
            let run = folder.run(&[&words[..], &["--limit", limit, "--output", limit]].concat());
            assert_eq!(run.code, 0, "{}", run.err);
            assert_eq!(run.err.contains(note), is_reached, "{}", run.err);
            fs::rename(folder.path(limit), folder.path(&format!("{}{limit}", words[0]))).unwrap();
        }
    }
}

#[test]
fn results_of_every_command_are_left_out_of_an_input_folder() {
    let line = |id: &str| {
        format!("{{\"id\":\"{id}\",\"text\":\"{id} the old man and the sea went home\"}}\n")
    };
    let folder =
        Folder::empty().with("in/a.jsonl", line("a") + &line("b")).with("items.jsonl", line("q"));
    let formats: &[&str] =
        if cfg!(feature = "parquet") { &["jsonl", "tsv", "parquet"] } else { &["jsonl", "tsv"] };
    for format in formats {
        for command in ["passages in --words 5", "contamination items.jsonl --share 0.5 --in in"] {
            let name = command.split(' ').next().unwrap();
            let run = folder.run_words(&format!(
                "{command} --output-format {format} --output in/{name}.{format}"
            ));
            assert_eq!(run.code, 0, "{command}: {}", run.err);
        }
    }
    for format in formats.iter().filter(|format| **format != "tsv") {
        let run = folder.run_words(&format!("fingerprint in --output in/prints.{format}"));
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let run = folder.run_words("match items.jsonl --against in --output matched");
    assert_eq!(run.code, 0, "{}", run.err);
    fs::copy(folder.path("matched/pairs.jsonl"), folder.path("in/pairs.jsonl")).unwrap();
    let run = folder.run_words("dedup in --output out");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("documents                 2\n"), "{}", run.out);
    assert!(run.err.contains("files with results of simtool were left out"), "{}", run.err);
    // A file that is named is read.
    let run = folder.run_words("dedup in/passages.jsonl --text-field file --output named");
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn a_table_whose_quotes_are_letters_is_refused_with_the_option_for_quotes() {
    // The last row has letters behind a quote, so the quotes of this table are letters.
    let table = "id\ttext\n1\thello\n2\t\"a b\nc d\"\n3\t\"more\" x\n";
    let folder = Folder::empty().with("a.tsv", table);
    let run = folder.run_words("dedup a.tsv --output out");
    assert_eq!(run.code, 3, "{}", run.err);
    let advice = "if quotes enclose fields of several lines, name them, as in --csv quote=CHAR";
    assert!(run.err.contains(advice), "{}", run.err);
}
