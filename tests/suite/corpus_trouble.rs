//! `simtool --corpus` in trouble: files that change, full disks, lost rows, and options without
//! effect.

#[cfg(feature = "parquet")]
use crate::agreement::agree;
use crate::program::{Finished, Folder, run};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the names of all files and folders in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn page(id: u32) -> String {
    format!("{{\"id\":{id},\"text\":\"{}\"}}\n", format!("w{id} x{} y ", id / 3).repeat(20))
}

/// Runs the program on `big.jsonl`, and calls `change` as soon as the program works.
fn run_while(folder: &Folder, change: impl FnOnce(&Path)) -> Output {
    let lines: String = (0..100_000).map(page).collect();
    fs::write(folder.path("big.jsonl"), lines).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.current_dir(folder.path("")).args(["-q", "--corpus", "big.jsonl", "--output", "out"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    // The folder for the outputs is created before the documents are read.
    while !names(&folder.path("")).iter().any(|name| name.starts_with(".simtool")) {
        assert!(Instant::now() < deadline, "the program never began");
        thread::sleep(Duration::from_millis(1));
    }
    change(&folder.path("big.jsonl"));
    program.wait_with_output().unwrap()
}

#[test]
fn a_mapped_file_that_shrinks_ends_in_a_sentence_and_leaves_nothing() {
    let folder = Folder::empty();
    let ended = run_while(&folder, |file| {
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(5000).unwrap();
    });
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.starts_with("simtool: error: big.jsonl shrank"), "{error}");
    assert_eq!(names(&folder.path("")), ["big.jsonl"]);
}

#[test]
fn a_file_that_changes_during_the_run_is_reported() {
    let folder = Folder::empty();
    let ended = run_while(&folder, |file| {
        let mut file = fs::OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(page(0).as_bytes()).unwrap();
    });
    let error = String::from_utf8(ended.stderr).unwrap();
    // The change ends the run if a later reading meets it, and is a loss otherwise.
    assert!(matches!(ended.status.code(), Some(1 | 3)), "{error}");
    assert!(error.contains("[changed] \"big.jsonl\""), "{error}");
}

#[test]
fn a_file_that_would_grow_too_large_is_an_error_of_writing() {
    let lines: String = (0..1000).map(page).collect();
    let folder = Folder::empty().with("a.jsonl", lines);
    let script = r#"ulimit -f 8; "$0" -q --corpus a.jsonl --write-kept --output out"#;
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", script, env!("CARGO_BIN_EXE_simtool")]);
    let ended = shell.output().unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.starts_with("simtool: error: cannot write "), "{error}");
    assert_eq!(names(&folder.path("")), ["a.jsonl"]);
}

#[cfg(feature = "parquet")]
#[test]
fn rows_of_a_damaged_page_are_counted() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;
    let texts = (0..3000_u64).map(|n| format!("row {} of a table", n.wrapping_mul(0x9E37_79B9)));
    let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_dictionary_enabled(false)
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 400].fill(0xFF);
    let folder = Folder::empty().with("a.parquet", bytes);
    let run = folder.run(&["-q", "--corpus", "a.parquet", "--output", "table"]);
    agree(&run, &folder.path("table"));
    let run = folder.run(&["-q", "--corpus", "a.parquet", "--json"]);
    assert_eq!(run.code, 3, "{}", run.err);
    let error = "[parquet-page] \"a.parquet\": row group 1, column \"text\": ";
    assert!(run.err.contains(error), "{}", run.err);
    for line in ["\"records_in\": 3000,", "\"documents\": 2000,", "\"lost\": 1000,"] {
        assert!(run.out.contains(line), "{line} in {}", run.out);
    }
    let run = folder.run(&["-q", "--corpus", "a.parquet", "--text-field", "body", "--force"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let error = "no document was read: [text-field] \"a.parquet\": 2000 records have no field";
    assert!(run.err.contains(error), "{}", run.err);
}

fn corpus(folder: &Folder, arguments: &[&str]) -> Finished {
    run(&folder.path(""), &[arguments, &["--force"]].concat(), &[])
}

#[test]
fn a_list_of_paths_is_enough() {
    let folder = Folder::empty()
        .with("a.jsonl", page(1) + &page(2))
        .with("b c.jsonl", page(1))
        .with("lines", "a.jsonl\nb c.jsonl\n")
        .with("zeros", "a.jsonl\0b c.jsonl\0");
    for list in ["lines", "zeros"] {
        let run = corpus(&folder, &["--files-from", list]);
        assert_eq!(run.code, 0, "{list}: {}", run.err);
        assert!(run.out.contains("\ndocuments                 3\n"), "{list}: {}", run.out);
    }
    let run = folder.run(&["fingerprint", "--files-from", "lines", "-q", "--output", "-"]);
    assert_eq!((run.code, run.out.lines().count()), (0, 3), "{}", run.err);
    assert_eq!(folder.run(&["fingerprint", "--output", "-"]).code, 2);
}

#[test]
fn options_without_effect_are_refused_or_reported() {
    let folder = Folder::empty().with("a.jsonl", page(1) + &page(1)).with("file", "x");
    for (arguments, part) in [
        ("--articles file", "unexpected argument '--articles': it goes with `simtool reference`"),
        ("--samples file", "it goes with `simtool reference`"),
        ("--result file", "it goes with `simtool reference`"),
        ("--directory x", "--directory x: goes with N and M"),
        ("--hash-table file", "--hash-table file: goes with N and M"),
        ("--output file", "--output file: is a file"),
    ] {
        let arguments: Vec<&str> =
            ["--corpus", "a.jsonl"].into_iter().chain(arguments.split(' ')).collect();
        let run = corpus(&folder, &arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
    let run = corpus(&folder, &["--corpus", ".", "--glob", "*.csv"]);
    assert!(run.err.contains(".: there is none that --glob *.csv lets be read"), "{}", run.err);
}

#[test]
fn a_field_that_no_record_has_is_refused_before_anything_is_written() {
    let nested = "{\"text\":\"a b c d\",\"meta\":{\"id\":\"x\"},\"url\":null}\n";
    let folder = Folder::empty()
        .with("a.jsonl", page(1) + &page(1) + nested)
        .with("b.csv", "number,text,\"the\nword\"\n1,a b c d,e\n")
        .with("c.txt", "a b c d");
    let good = corpus(&folder, &["--corpus", "a.jsonl", "-q"]);
    assert_eq!(good.code, 0, "{}", good.err);
    let results = fs::read(folder.path("simtool-out/summary.json")).unwrap();
    for (arguments, error) in [
        (
            "a.jsonl --id-field nope",
            "--id-field nope: no record has this field; there are: id, text, meta.id, url",
        ),
        ("a.jsonl --id-field nope --output-format ids -q", "--id-field nope: no record has"),
        ("a.jsonl --id-field meta.nope", "--id-field meta.nope: no record has"),
        (
            "b.csv --id-field id",
            "--id-field id: no record has this field; there are: number, text, the\\nword",
        ),
        (
            "c.txt --id-field id",
            "--id-field id: is of warc, parquet, arrow, csv, tsv, json, jsonl, xml, mbox, mail; the input",
        ),
        (
            "b.csv --queries c.txt --id-field id",
            "--id-field id: no record has this field; there are: number,",
        ),
        ("a.jsonl --keep max:date -q", "--keep date: no record has this field; there are: id,"),
    ] {
        let arguments: Vec<&str> = ["--corpus"].into_iter().chain(arguments.split(' ')).collect();
        let run = corpus(&folder, &arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(error), "{arguments:?}: {}", run.err);
        assert_eq!(fs::read(folder.path("simtool-out/summary.json")).unwrap(), results);
    }
    for arguments in [
        "a.jsonl --id-field id",
        "a.jsonl --id-field meta.id",
        "a.jsonl --id-field url",
        "b.csv --id-field number",
        "c.txt",
        "a.jsonl --queries c.txt --id-field id",
        "a.jsonl --keep max:id",
        "a.jsonl --keep min:url",
    ] {
        let arguments: Vec<&str> = ["--corpus"].into_iter().chain(arguments.split(' ')).collect();
        let run = corpus(&folder, &arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    }
    let run = folder.run(&["fingerprint", "a.jsonl", "--id-field", "nope", "--output", "f"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("--id-field nope: no record has this field"), "{}", run.err);
    assert!(!folder.path("f").exists());
}

#[test]
fn a_quiet_run_reports_only_losses() {
    let folder = Folder::empty().with("a.jsonl", page(1) + "{").with("empty.txt", "");
    let inputs = ["--corpus", "a.jsonl", "empty.txt"];
    for (more, tells) in [(&[][..], true), (&["-q"][..], false)] {
        let run = corpus(&folder, &[&inputs, more].concat());
        assert_eq!(run.code, 3, "{}", run.err);
        assert!(run.err.contains("error: [json] "), "{}", run.err);
        assert_eq!(run.err.contains("[empty]"), tells, "{}", run.err);
        assert_eq!(run.err.contains("note: "), tells, "{}", run.err);
    }
}

#[test]
fn a_link_does_not_hide_that_the_output_lies_in_an_input_or_holds_it() {
    let folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    let folder = folder.with("in/a.jsonl", page(1));
    std::os::unix::fs::symlink("in", folder.path("link")).unwrap();
    std::os::unix::fs::symlink("in", folder.path("in/self")).unwrap();
    for paths in [["in", "link/out"], ["link", "in/out"], ["link", "link/b/c"]] {
        for known in [false, true] {
            let run = corpus(&folder, &["--corpus", paths[0], "--output", paths[1]]);
            assert_eq!(run.code, 0, "{paths:?}: {}", run.err);
            assert!(run.out.contains("documents                 1\n"), "{}", run.out);
            assert_eq!(run.err.contains("results of simtool"), known, "{paths:?}: {}", run.err);
        }
        fs::remove_dir_all(folder.path(paths[1])).unwrap();
    }
    fs::create_dir(folder.path("in/b")).unwrap_or_default();
    for paths in [["in", "link"], ["in/b", "in"], ["in/a.jsonl", "link"], ["link/a.jsonl", "."]] {
        let run = folder.run(&["--corpus", paths[0], "--output", paths[1], "--force"]);
        assert_eq!(run.code, 2, "{paths:?}: {}", run.err);
        assert!(run.err.contains("overlaps the input"), "{paths:?}: {}", run.err);
    }
    assert_eq!(names(&folder.path("in")), ["a.jsonl", "b", "self"]);
}

/// Returns the program's name for a shell, to run recorded commands again.
#[cfg(unix)]
fn shell(folder: &Folder, command: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_simtool"));
    let path = program.parent().unwrap();
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.path("."))
        .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn the_recorded_command_runs_again_whatever_is_in_it() {
    let name = "it's a $HOME \"file\" *.jsonl";
    let line = "{\"id\":\"a\",\"text\":\"the same words in two lines of a file\"}\n";
    let folder = Folder::empty().with(name, line.repeat(2));
    let run = folder.run(&["-q", "--corpus", name, "--output", "out", "--similarity", "4/5"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let line = summary.lines().find(|line| line.contains("\"command\": ")).unwrap();
    let json = line.trim().trim_end_matches(',').split_once(": ").unwrap().1;
    let unescaped = json.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
    let (_, arguments) = unescaped.split_once(' ').unwrap();
    let removed = fs::read(folder.path("out/removed.jsonl")).unwrap();
    fs::remove_dir_all(folder.path("out")).unwrap();
    let again = shell(&folder, &format!("simtool {arguments}"));
    assert!(again.status.success(), "{unescaped}: {}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(fs::read(folder.path("out/removed.jsonl")).unwrap(), removed);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_utf8_is_a_path_like_any_other() {
    let line = "{\"id\":\"a\",\"text\":\"the same words in two lines of a file\"}\n";
    let folder = Folder::empty();
    let run = shell(
        &folder,
        &format!(
            "name=$(printf 'x\\377.jsonl'); printf '%s' '{line}' > \"$name\" && \
             simtool -q --corpus \"$name\" --output out"
        ),
    );
    let message = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && !message.contains("internal"), "{message}");
    assert!(folder.path("out/summary.json").exists());
}

#[test]
fn a_plan_says_how_much_memory_it_takes() {
    let folder = Folder::empty().with("a.txt", "some words");
    let explained = |arguments: &[&str]| {
        let run = folder.run(&[&["--corpus", "a.txt", "--dry-run"], arguments].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    assert!(explained(&["--max-memory", "3G", "-j", "2"]).contains("2 threads, up to 3.0 GB"));
    assert!(explained(&["--max-memory", "3GiB", "-j", "2"]).contains("2 threads, up to 3.2 GB"));
    let note = "note: --max-memory 5M is not kept: the program itself and the buffers of its readers need about 30M. \
                The limit holds for tables, terms and pairs";
    for (limit, is_noted) in [("5M", true), ("30M", false)] {
        let run = folder.run(&["--corpus", "a.txt", "--dry-run", "--max-memory", limit]);
        assert_eq!(run.err.contains(note), is_noted, "{}", run.err);
    }
    // The default is four fifths of the memory, if the system reports it.
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let unlimited = explained(&[]).contains("memory without limit");
    assert_eq!(unlimited, !meminfo.contains("MemTotal"));
}
