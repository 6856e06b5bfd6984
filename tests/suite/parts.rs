//! `--resume`, `--shard` and `simtool combine`: runs that are stopped or divided write what one run writes.

use crate::program::{Finished, Folder, run};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Commands whose parts are stored, each with the name of its output.
const COMMANDS: [(&str, &str); 10] = [
    ("dedup in --similarity 0.5 --keep max:score --within lang --annotate", "exact"),
    ("dedup in --method simhash --max-distance 8 --pairs --output-format ids", "simhash"),
    ("dedup in --method minhash --verify 0.7 --write-kept", "minhash"),
    ("dedup in --method covered --within lang --annotate", "covered"),
    ("dedup in --boilerplate 3", "boilerplate"),
    ("passages in --words 6", "passages.jsonl"),
    ("passages in --words 8 --write-kept --mask gone", "cut"),
    ("contamination items --in in --share 0.3", "items.jsonl"),
    ("contamination items --in in --share 0.2 --measure weighted --write-kept drop", "weighted"),
    ("contamination items --in in --words 4 --share 0.1 --write-kept mask", "masked"),
];

/// Creates a folder with documents of several formats, bad records and near-duplicates.
fn workplace(documents: u32) -> Folder {
    let words = ["rose", "garden", "river", "stone", "light", "winter", "paper", "morning", "road"];
    let text = |number: u32, from: u32| {
        let word = |at: u32| words[(number.wrapping_mul(2_654_435_761) >> (at % 23)) as usize % 9];
        let all: Vec<String> = (from..40).map(|at| format!("{}{}", word(at), at % 7)).collect();
        all.join(" ")
    };
    let mut folder = Folder::empty().with("in/plain.txt", "A rose is a rose is a rose.");
    folder = folder.with("items/items.txt", format!("{}\n{}\n", text(7, 20), text(30, 30)));
    for file in 0..12 {
        let mut lines = String::new();
        for row in 0..documents {
            let number = file * documents + row;
            // Every third document nearly repeats the one before.
            let text = text(number - number % 3 / 2, number % 3 / 2);
            let lang = if number.is_multiple_of(2) { "en" } else { "de" };
            let (id, score) = (format!("d{number}"), number % 5);
            let record = json!({"id": id, "text": text, "score": score, "lang": lang});
            lines.push_str(&record.to_string());
            lines.push('\n');
            if row == 2 {
                lines += "{\"text\": 7\nnot json\n{\"text\":\"\"}\n";
            }
        }
        folder = folder.with(&format!("in/{file:02}.jsonl"), lines);
    }
    let path = folder.path("in/00.jsonl");
    let file = fs::File::create(folder.path("in/00.jsonl.gz")).unwrap();
    let mut zipped = GzEncoder::new(file, Compression::fast());
    zipped.write_all(&fs::read(&path).unwrap()).unwrap();
    zipped.finish().unwrap();
    fs::remove_file(path).unwrap();
    folder
}

/// Returns the content of a file whose copy is stored, because it has more than 1 MiB.
fn large_file() -> String {
    let text = |number: u32| {
        let word =
            |at: u32| format!("w{}", number.wrapping_mul(2_654_435_761).rotate_left(at) % 9973);
        (0..30).map(word).collect::<Vec<_>>().join(" ")
    };
    // Every third document repeats the one before.
    let lines =
        (0..6000).map(|number| json!({"text": text(number - number % 3 / 2)}).to_string() + "\n");
    let lines: String = lines.collect();
    assert!(lines.len() > 1 << 20);
    lines
}

/// Returns the contents of a file or folder by name, without times.
fn contents(path: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        if name == "summary.json" {
            text = without_times(&text);
        }
        // The page has the times of the summary, and the request has the settings that do not matter.
        if name != "report.html" && name != "request.json" {
            found.insert(path.to_str().unwrap().to_owned(), text);
        }
    }
    assert!(!found.is_empty());
    found
}

/// Returns a summary without the command line, and without the measured times and memory.
fn without_times(summary: &str) -> String {
    let mut summary: Value = serde_json::from_str(summary).unwrap();
    let fields = summary.as_object_mut().unwrap();
    for name in ["command", "working_folder", "begin", "end", "seconds", "peak_memory_bytes"] {
        fields.remove(name);
    }
    summary.to_string()
}

/// Runs a command that must find the bad records and do the rest.
fn check(folder: &Folder, arguments: &str) -> Finished {
    let finished = folder.run_words(arguments);
    assert_eq!(finished.code, 3, "{arguments}: {}", finished.err);
    finished
}

/// Runs each command once, and returns what it wrote. The outputs are gone afterwards.
fn whole_runs(folder: &Folder) -> Vec<BTreeMap<String, String>> {
    let whole = |(command, output): (&str, &str)| {
        check(folder, &format!("{command} -q --output {output}"));
        let written = contents(&folder.path(output));
        remove(folder, output);
        written
    };
    COMMANDS.into_iter().map(whole).collect()
}

fn remove(folder: &Folder, output: &str) {
    let path = folder.path(output);
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

/// A run that is killed while it removes its stored parts leaves only a file that marks the run as finished. If the
/// output was deleted since, this file does not prevent another run.
#[test]
fn a_folder_that_has_only_the_mark_of_a_run_is_used_again() {
    let folder = workplace(20);
    for (expected, (command, output)) in whole_runs(&folder).into_iter().zip(COMMANDS) {
        let parts = folder.path(&format!("{output}.parts"));
        fs::create_dir(&parts).unwrap();
        fs::write(parts.join("finished"), "an output that is gone").unwrap();
        check(&folder, &format!("{command} -q --output {output} --resume"));
        assert_eq!(contents(&folder.path(output)), expected, "{command}");
        assert!(!parts.exists(), "{command}");
        remove(&folder, output);
    }
}

/// A run that is killed again and again, at any moment, finally writes the same bytes as a run that was not killed.
#[test]
#[cfg(unix)]
fn a_run_that_is_killed_goes_on_to_the_same_bytes() {
    let kills = std::env::var("SIMTOOL_KILLS").map_or(6, |kills| kills.parse().unwrap());
    // Copies of large files are stored, too.
    let folder = workplace(120).with("in/large.jsonl", large_file());
    for (expected, (command, output)) in whole_runs(&folder).into_iter().zip(COMMANDS) {
        let began = Instant::now();
        check(&folder, &format!("{command} -q --output {output} --resume"));
        let whole = began.elapsed();
        assert_eq!(contents(&folder.path(output)), expected, "{command}");
        remove(&folder, output);
        let mut killed = 0;
        for kill in 0..kills {
            let mut child = Command::new(env!("CARGO_BIN_EXE_simtool"))
                .current_dir(folder.path(""))
                .args(command.split(' '))
                .args(["-q", "--output", output, "--resume"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(whole * (kill * 7919 % 1000) / 1000 + Duration::from_millis(2));
            child.kill().unwrap();
            let is_killed = child.wait().unwrap().code().is_none();
            killed += u32::from(is_killed);
            if folder.path(output).exists() {
                assert_eq!(contents(&folder.path(output)), expected, "{command}");
                remove(&folder, output);
            }
        }
        assert!(killed > 0, "none was killed in time");
        check(&folder, &format!("{command} -q --output {output} --resume"));
        assert_eq!(contents(&folder.path(output)), expected, "{command}");
        assert!(!folder.path(&format!("{output}.parts")).exists());
    }
}

/// Four processes at the same time, and one that combines their parts, write what one process writes.
#[test]
fn shards_of_four_processes_are_combined_to_the_same_bytes() {
    let folder = workplace(60);
    for (expected, (command, output)) in whole_runs(&folder).into_iter().zip(COMMANDS) {
        if command.contains("boilerplate") || command.contains("contamination") {
            let refused = folder.run_words(&format!("{command} --output {output} --shard 1/4"));
            assert_eq!(refused.code, 2);
            continue;
        }
        let missing = folder.run_words(&format!("combine {output}"));
        assert!(missing.code == 1 && missing.err.contains("has no stored parts"), "{missing:?}");
        let shard = |number: u32| {
            let shard = format!("{number}/4");
            Command::new(env!("CARGO_BIN_EXE_simtool"))
                .current_dir(folder.path(""))
                .args(command.split(' '))
                .args(["-q", "--output", output, "--shard", &shard])
                .spawn()
                .unwrap()
        };
        let running: Vec<_> = [1, 2, 4].map(shard).into();
        for mut child in running {
            assert_eq!(child.wait().unwrap().code(), Some(0), "{command}");
        }
        let missing = folder.run_words(&format!("combine {output}"));
        assert_eq!(missing.code, 1);
        let advice = format!("{command} -q --output {output}` again with --shard 3/4");
        assert!(missing.err.contains(&advice), "{}", missing.err);
        let other = folder.run_words(&format!("{command} -q --output {output} --shard 3/5"));
        assert!(other.code == 2 && other.err.contains("are of 4 shards"), "{other:?}");
        let other = folder
            .run_words(&format!("{command} -q --output {output} --shard 3/4 --text-field title"));
        assert!(other.code == 2 && other.err.contains("with other settings"), "{other:?}");
        assert_eq!(shard(3).wait().unwrap().code(), Some(0), "{command}");
        check(&folder, &format!("combine {output} -q"));
        assert_eq!(contents(&folder.path(output)), expected, "{command}");
        assert!(!folder.path(&format!("{output}.parts")).exists());
        remove(&folder, output);
    }
}

/// Stored parts that are damaged, or whose file or setting has changed, are not used.
#[test]
fn parts_that_do_not_fit_are_read_again() {
    let folder = workplace(40);
    let command = "dedup in --method simhash --max-distance 8";
    let expected = |text_field: &str| {
        check(&folder, &format!("{command} -q --output out --text-field {text_field}"));
        let written = contents(&folder.path("out"));
        remove(&folder, "out");
        written
    };
    let store = |of: &str| {
        let stored =
            folder.run_words(&format!("{command} --output out --text-field {of} --shard 1/1"));
        assert_eq!(stored.code, 0, "{}", stored.err);
        assert!(
            stored.err.contains("13 of 13 pieces of the input are in out.parts"),
            "{}",
            stored.err
        );
    };
    let resume =
        |of: &str| check(&folder, &format!("{command} --output out --text-field {of} --resume"));

    // A byte of a part is damaged.
    let by_text = expected("text");
    store("text");
    for entry in fs::read_dir(folder.path("out.parts")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "part") {
            let mut bytes = fs::read(&path).unwrap();
            bytes[100] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    }
    let resumed = resume("text");
    assert!(
        resumed.err.contains("1 piece in the folder of parts could not be used"),
        "{}",
        resumed.err
    );
    assert_eq!(contents(&folder.path("out")), by_text);
    remove(&folder, "out");

    // Another setting.
    store("text");
    let by_other = expected("text,title");
    let resumed = resume("text,title");
    assert!(resumed.err.contains("13 other pieces there cannot be used"), "{}", resumed.err);
    assert_eq!(contents(&folder.path("out")), by_other);
    remove(&folder, "out");

    // Another content of a file.
    store("text");
    fs::write(folder.path("in/plain.txt"), "A rose is no rose.").unwrap();
    let changed = expected("text");
    let resumed = resume("text");
    let note = "12 of 13 pieces of the input are in out.parts; 1 other piece there cannot be used";
    assert!(resumed.err.contains(note), "{}", resumed.err);
    assert_eq!(contents(&folder.path("out")), changed);
}

#[test]
fn wrong_uses_of_parts_are_refused() {
    let folder = workplace(4).with("foreign.parts/a", "mine");
    for (arguments, message) in [
        ("dedup in --shard 5/4", "--shard 5/4: must be the number of a shard"),
        ("dedup in --shard four", "--shard four: must be the number of a shard"),
        ("dedup - --resume", "--resume: needs files"),
        ("dedup - --shard 1/2", "--shard 1/2: needs files"),
        ("passages - --output out --shard 1/2", "--shard 1/2: needs files"),
        ("dedup --files-from - --shard 1/2", "--shard 1/2: needs the list of files in a file"),
        ("dedup --files-from - --resume", "--resume: needs the list of files in a file"),
        ("passages --files-from - --output out --shard 1/2", "name it with --files-from"),
        ("contamination items --files-from - --output out --resume", "name it with --files-from"),
        ("dedup in --method auto --shard 1/2", "--shard 1/2: needs a --method"),
        ("dedup in --preview --resume", "--resume: does not go with --preview"),
        ("dedup in --dry-run --shard 1/2", "--shard 1/2: does not go with --dry-run"),
        ("dedup in --output foreign --resume", "foreign.parts: was not written by simtool"),
        ("dedup in --shard 1/2 --method exact:weight=idf", "--shard 1/2: does not go with weights"),
        ("dedup in --boilerplate 3 --shard 1/2", "use --resume on one machine"),
        ("passages in --resume", "--resume: needs --output"),
    ] {
        let refused = folder.run_words(arguments);
        assert_eq!(refused.code, 2, "{arguments}: {}", refused.err);
        assert!(refused.err.contains(message), "{arguments}: {}", refused.err);
    }
    for left in ["simtool-out", "simtool-out.parts", "out.parts"] {
        assert!(!folder.path(left).exists(), "{left}");
    }
}

/// Messages of `combine` advise what to do in the present situation.
#[test]
fn combine_says_what_to_do() {
    let folder = workplace(4).with("out/kept", "mine").with("elsewhere/a", "");
    let shard = |share: &str| {
        let stored = folder.run_words(&format!("dedup in --output out --shard {share} -q"));
        assert_eq!(stored.code, 0, "{}", stored.err);
    };
    shard("3/13");
    let combined = |arguments: &str, code: i32| {
        let run = folder.run_words(arguments);
        assert_eq!(run.code, code, "{}", run.err);
        run.err
    };
    let message = combined("combine out", 2);
    assert!(message.contains("OUTPUT out: is there already: move it away"), "{message}");
    fs::remove_dir_all(folder.path("out")).unwrap();
    let message = combined("combine out -q", 1);
    let missing = "12 pieces of the input are not in out.parts: run `";
    assert!(message.contains(missing), "{message}");
    assert!(message.ends_with("again with --shard I/13 for each I of 1-2, 4-13\n"), "{message}");
    for number in (1..12).filter(|number| *number != 3) {
        shard(&format!("{number}/13"));
    }
    assert!(combined("combine out -q", 1).ends_with("--shard I/13 for each I of 12-13\n"));
    shard("12/13");
    let message = combined("combine out -q", 1);
    assert!(message.contains("1 piece of the input is not in out.parts: run `"), "{message}");
    assert!(message.ends_with("again with --shard 13/13\n"), "{message}");
    shard("13/13");
    let output = folder.path("out");
    let run = run(&folder.path("elsewhere"), &["combine", output.to_str().unwrap()], &[]);
    let expected =
        "in is not in this folder: run `simtool combine` in the folder in which the shards ran";
    assert!(run.code == 1 && run.err.contains(expected), "{run:?}");
    assert!(!run.err.contains("input-open"), "{run:?}");
    fs::create_dir(&output).unwrap();
    check(&folder, "combine out -q");
    // An output of simtool may be replaced, and the advice to do so works.
    for number in 1..14 {
        shard(&format!("{number}/13"));
    }
    assert!(combined("combine out", 2).contains("replace it with --force"));
    check(&folder, "combine out --force -q");
}
