//! `simtool index`: an index that grows, is queried, interrupted, damaged and saved.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.args(arguments.split(' ')).current_dir(folder);
    command
}

fn simtool(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Returns the standard output of a run that must succeed.
fn check(folder: &Path, arguments: &str) -> String {
    let output = simtool(folder, arguments);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments}: {messages}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the message of a run that must fail with `code`.
fn check_failure(folder: &Path, arguments: &str, code: i32) -> String {
    let output = simtool(folder, arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {message}");
    message
}

/// Returns the output of a filter for these lines.
pub(crate) fn filtered(folder: &Path, arguments: &str, lines: impl AsRef<[u8]>) -> String {
    let mut child = started(folder, arguments);
    child.stdin.take().unwrap().write_all(lines.as_ref()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn started(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Builds documents in which every third is an earlier one with an additional word, and every fifth
/// equals an earlier one.
fn documents(count: usize) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let (base, more) = match number {
            number if number % 5 == 4 => (number - 3, ""),
            number if number % 3 == 2 => (number - 1, " more"),
            number => (number, ""),
        };
        let words: Vec<_> =
            (0..60).map(|word| format!("w{}", (base * 7919 + word * word) % 9973)).collect();
        let text = words.join(" ");
        writeln!(lines, r#"{{"id":"d{number}","text":"{text}{more}"}}"#).unwrap();
    }
    lines
}

/// Creates a folder with `pages.jsonl` and an empty index.
fn workplace(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pages.jsonl"), documents(count)).unwrap();
    check(folder.path(), "index create i");
    folder
}

const TIME: &str = "--time 2026-11-22T12:00:00Z";

#[test]
fn added_documents_are_found_again_and_not_added_twice() {
    let folder = workplace(30);
    let folder = folder.path();
    let repeats = check(folder, &format!("index add i pages.jsonl --source one {TIME}"));
    assert!(repeats.starts_with("d2\td1\t"), "{repeats}");
    assert!(repeats.contains("d4\td1\t0\n"), "{repeats}");
    let again = simtool(folder, &format!("index add i pages.jsonl --source one {TIME}"));
    let message = String::from_utf8(again.stderr).unwrap();
    assert!(message.contains("pages.jsonl was added before"), "{message}");
    assert!(again.stdout.is_empty());

    let found = check(folder, "index query i pages.jsonl -q");
    assert_eq!(found.lines().count(), 30);
    let known = check(folder, "index query i pages.jsonl -q --json");
    let first = known.lines().find(|line| line.starts_with(r#"{"id":"d1""#)).unwrap();
    let expected = r#""near":{"number":1,"id":"d1","repeats":2,"sources":["one"],"first":"2026-11-22T12:00:00Z","last":"2026-11-22T12:00:00Z"}}"#;
    assert!(first.ends_with(expected), "{first}");
    check(folder, "index verify i -q");
    let export = check(folder, "index export i");
    check(folder, "index compact i -q");
    assert_eq!(check(folder, "index export i"), export);
    assert!(check(folder, "index stat i").starts_with("method      simhash:bits=64,"));
    let stat = check(folder, "index stat i --json");
    assert!(stat.contains(&format!("\"documents\":{}", export.lines().count())), "{stat}");
}

#[test]
fn the_only_new_are_those_that_a_filter_lets_pass() {
    let folder = workplace(40);
    let folder = folder.path();
    let pages = documents(40) + "{no json\n\n" + r#"{"id":"e","text":""}"# + "\n";
    fs::write(folder.join("pages.jsonl"), &pages).unwrap();
    let added = simtool(folder, "index add i pages.jsonl --only-new new --json");
    assert_eq!(added.status.code(), Some(3), "a line is no document");
    let repeat = String::from_utf8(added.stdout).unwrap();
    assert!(
        repeat.contains(r#""file":"pages.jsonl","record":2,"repeats":"d1","number":1,"#),
        "{repeat}"
    );
    let new = fs::read_to_string(folder.join("new/pages.jsonl")).unwrap();
    for batch in ["1", "7", "1000"] {
        let index = format!("i{batch}");
        check(folder, &format!("index create {index} -q"));
        let filter =
            format!("index filter {index} -q --batch {batch} --wait 2 --duplicates d{batch}");
        assert_eq!(filtered(folder, &filter, &pages), new, "batches of {batch}");
        let duplicates = fs::read_to_string(folder.join(format!("d{batch}"))).unwrap();
        assert_eq!(duplicates.lines().count(), 40 + 3 - new.lines().count());
        let first = duplicates.lines().next().unwrap();
        assert!(
            first.starts_with(r#"{"id":"d2","repeats":"d1","number":1,"distance":"#),
            "{first}"
        );
        assert!(first.ends_with("}}"), "{first}");
        // A compressed stream has the same answers.
        if batch == "7" {
            check(folder, "index create packed -q");
            let mut packed =
                flate2::read::GzEncoder::new(pages.as_bytes(), flate2::Compression::fast());
            let (mut gzip, zstd) = (Vec::new(), zstd::encode_all(pages.as_bytes(), 1).unwrap());
            std::io::copy(&mut packed, &mut gzip).unwrap();
            let filter = "index filter packed -q --batch 7 --wait 2";
            assert_eq!(filtered(folder, filter, gzip), new);
            assert!(!filtered(folder, filter, zstd).contains("\"id\":\"d1\""));
        }
        // The second time, no document is new.
        let passed = filtered(folder, &filter, documents(40));
        assert_eq!(passed, "", "batches of {batch}");
    }
    // The copies are complete before anything is added.
    check_failure(folder, "index add i pages.jsonl --only-new new", 2);
}

#[test]
fn calls_and_threads_do_not_matter() {
    let folder = workplace(60);
    let folder = folder.path();
    let lines = documents(60);
    let lines: Vec<&str> = lines.lines().collect();
    check(folder, &format!("index add i pages.jsonl -q -j 2 {TIME}"));
    let expected = check(folder, "index export i");
    check(folder, "index create many");
    for (part, lines) in lines.chunks(7).enumerate() {
        fs::write(folder.join(format!("{part}.jsonl")), lines.join("\n") + "\n").unwrap();
        check(folder, &format!("index add many {part}.jsonl -q -j 1 {TIME}"));
    }
    assert_eq!(check(folder, "index export many"), expected);
    let bytes = |index: &str| fs::read(folder.join(index).join("MANIFEST")).unwrap().len();
    assert!(bytes("many") < 4 * bytes("i"), "small segments are merged");
}

#[test]
fn indexes_are_joined_and_documents_taken_out() {
    let folder = workplace(30);
    let folder = folder.path();
    check(folder, &format!("index add i pages.jsonl --source one {TIME}"));
    check(folder, "index create other");
    let early = "--time 2025-01-01";
    check(folder, &format!("index add other pages.jsonl --source two {early}"));
    let message = String::from_utf8(simtool(folder, "index merge i other").stderr).unwrap();
    let expected = "merged other into i: 22 documents, 0 new, 22 repeat others; i has 22 documents";
    assert!(message.contains(expected), "{message}");
    let expected = "22 documents of other are in i with the same ID and fingerprint, so other may be a copy of i. \
                    Merging a copy counts its repeats twice";
    assert!(message.contains(expected), "{message}");
    let export = check(folder, "index export i");
    let line = export.lines().nth(1).unwrap();
    // The count has two repeats of this index, the document of the other index, and two repeats of
    // that one.
    let expected = r#"{"number":1,"id":"d1","repeats":5,"sources":["one","two"],"first":"2025-01-01T00:00:00Z","last":"2026-11-22T12:00:00Z","#;
    assert!(line.starts_with(expected), "{line}");

    fs::write(folder.join("ids"), "d1\nnobody\n").unwrap();
    let message = simtool(folder, "index remove i --ids ids").stderr;
    let message = String::from_utf8(message).unwrap();
    assert!(message.contains("no document is called nobody"), "{message}");
    assert!(message.contains("1 document removed"), "{message}");
    assert!(!check(folder, "index export i").contains(r#""id":"d1""#));
    check(folder, "index compact i -q");
    assert_eq!(check(folder, "index export i").lines().count(), export.lines().count() - 1);
    // A document that repeats the removed one is new again, with a number of its own.
    let added = filtered(folder, "index filter i -q", documents(2));
    assert!(added.starts_with(r#"{"id":"d1""#), "{added}");
    assert!(check(folder, "index export i").ends_with("}\n"));
    check(folder, "index create wide -q --method simhash:bits=128");
    let message = check_failure(folder, "index merge wide i", 2);
    let expected = "other i: cannot be merged, because the indexes have different options: \
                    bits is 128 in wide and 64 in i. Create an index with the options of wide";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_removed_document_is_new_again_if_its_file_is_added_again() {
    let folder = workplace(30);
    let folder = folder.path();
    check(folder, "index add i pages.jsonl -q");
    let before = check(folder, "index export i").lines().count();
    fs::write(folder.join("ids"), "d1\n").unwrap();
    check(folder, "index remove i --ids ids -q");
    for compact in ["index compact i -q", "index stat i"] {
        check(folder, compact);
    }
    check(folder, "index add i pages.jsonl --only-new fresh -q");
    let fresh = fs::read_to_string(folder.join("fresh/pages.jsonl")).unwrap();
    assert!(fresh.contains(r#""id":"d1""#) || fresh.contains(r#""id": "d1""#), "{fresh}");
    assert_eq!(fresh.lines().count(), 1, "{fresh}");
    assert_eq!(check(folder, "index export i").lines().count(), before);
    let again = String::from_utf8(simtool(folder, "index add i pages.jsonl").stderr).unwrap();
    assert!(again.contains("pages.jsonl was added before"), "{again}");
}

#[test]
fn a_new_index_says_which_similarity_it_finds() {
    let folder = tempfile::tempdir().unwrap();
    let output = simtool(folder.path(), "index create i");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("Jaccard similarity of 0.979"), "{message}");
    assert!(message.contains("cannot be changed later"), "{message}");
}

#[test]
fn a_filter_lists_the_fields_of_a_line_without_text() {
    let folder = workplace(3);
    let mut child = started(folder.path(), "index filter i -q");
    child.stdin.take().unwrap().write_all(b"{\"id\": 1, \"body\": \"some words\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let expected = "line 1: no field \"text\"; there are: id, body. Name the field of the text with --text-field; it passes";
    assert!(message.contains(expected), "{message}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 32));
}

#[test]
fn damage_is_reported_and_the_rest_is_saved() {
    let folder = workplace(60);
    let folder = folder.path();
    check(folder, &format!("index add i pages.jsonl -q {TIME}"));
    let expected = check(folder, "index export i");
    let manifest = fs::read(folder.join("i/MANIFEST")).unwrap();
    let mut broken = manifest.clone();
    broken[30] ^= 1;
    fs::write(folder.join("i/MANIFEST"), &broken).unwrap();
    for command in ["stat i", "verify i", "query i pages.jsonl", "add i pages.jsonl"] {
        let message = check_failure(folder, &format!("index {command}"), 1);
        assert!(message.contains("i/MANIFEST, line ") && message.contains("salvage"), "{message}");
    }
    let saved = simtool(folder, "index salvage i saved");
    assert_eq!(saved.status.code(), Some(3));
    // The names of sources were in the manifest, so they are lost.
    let export = check(folder, "index export saved");
    assert_eq!(export.replace("source 0", "default"), expected);

    fs::write(folder.join("i/MANIFEST"), &manifest).unwrap();
    let segment = fs::read_dir(folder.join("i")).unwrap().map(|entry| entry.unwrap().path());
    let segment =
        segment.into_iter().find(|path| path.to_str().unwrap().contains("segment")).unwrap();
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, &bytes[..bytes.len() - 9]).unwrap();
    let message = check_failure(folder, "index query i pages.jsonl", 1);
    assert!(message.contains("segment-") && message.contains("expected"), "{message}");
    fs::remove_file(&segment).unwrap();
    let message = check_failure(folder, "index query i pages.jsonl", 1);
    assert!(message.contains("segment-"), "{message}");
    let message = check_failure(folder, "index stat nothing", 1);
    assert!(message.contains("there is no MANIFEST"), "{message}");
}

#[test]
fn one_writes_and_others_wait_or_read() {
    let folder = workplace(20);
    let folder = folder.path();
    let mut filter = started(folder, "index filter i -q --wait 1");
    let mut pipe = filter.stdin.take().unwrap();
    let mut answers = BufReader::new(filter.stdout.take().unwrap());
    // The filter holds the index from its first answer on.
    for line in documents(2).lines() {
        let began = Instant::now();
        writeln!(pipe, "{line}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim_end(), line);
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    let message = check_failure(folder, "index add i pages.jsonl", 1);
    assert!(message.contains("(simtool index filter): wait until it has ended"), "{message}");
    check(folder, "index query i pages.jsonl -q");
    drop(pipe);
    assert!(filter.wait().unwrap().success());
    assert_eq!(check(folder, "index export i").lines().count(), 2);
}

/// Copies the index of `tests/golden/NAME` to the folder `golden` of `folder`. Returns the path of the
/// original.
fn copy_golden(name: &str, folder: &Path) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    fs::create_dir(folder.join("golden")).unwrap();
    for name in ["MANIFEST", "segment-0000000000"] {
        fs::write(folder.join("golden").join(name), fs::read(golden.join(name)).unwrap()).unwrap();
    }
    golden
}

/// Checks that `index verify`, `stat`, `export` and `compact` work for the copy of a golden index.
fn check_reading_golden(folder: &Path, golden: &Path) {
    check(folder, "index verify golden -q");
    check(folder, "index stat golden");
    let expected = fs::read_to_string(golden.join("export.jsonl")).unwrap();
    assert_eq!(check(folder, "index export golden"), expected);
    check(folder, "index compact golden -q");
    assert_eq!(check(folder, "index export golden"), expected);
}

/// The index that this version writes is kept for later versions: they must open it, or report why
/// they cannot. If the folder is missing, the test creates it, for a new version of the format.
#[test]
fn the_index_of_each_version_of_the_format_is_read() {
    check_golden("index-4-minus", &["MANIFEST", "segment-0000000000"]);
    // In this old format, a sign was no part of a number. The index keeps this rule and the old name of the tokenizer.
    check_golden("index-4", &[]);
}

/// Checks that a golden index can be used, and that the files `same` are those that this version writes.
fn check_golden(name: &str, same: &[&str]) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let folder = workplace(12);
    let folder = folder.path();
    check(folder, &format!("index add i pages.jsonl -q --source one {TIME}"));
    let names = ["MANIFEST", "segment-0000000000"];
    if !golden.exists() {
        fs::create_dir_all(&golden).unwrap();
        for name in names {
            fs::copy(folder.join("i").join(name), golden.join(name)).unwrap();
        }
        fs::write(golden.join("export.jsonl"), check(folder, "index export i")).unwrap();
        panic!("{} was made: is it as it should be?", golden.display());
    }
    copy_golden(name, folder);
    for name in same {
        let [kept, made] = ["golden", "i"].map(|index| fs::read(folder.join(index).join(name)));
        assert!(kept.unwrap() == made.unwrap(), "{name} is written anew");
    }
    check_reading_golden(folder, &golden);
    assert_eq!(check(folder, "index query golden pages.jsonl -q").lines().count(), 12);
    // The file was added already. An older index does not know from which source, so there it counts as seen again.
    check(folder, &format!("index add golden pages.jsonl -q --source one {TIME}"));
    let expected = fs::read_to_string(golden.join("export.jsonl")).unwrap();
    assert_eq!(check(folder, "index export golden") == expected, !same.is_empty());
}

/// An index whose fingerprints were made before invisible characters were dropped. It can be read,
/// but new fingerprints are not compared with its own.
#[test]
fn an_index_of_an_older_recipe_is_read_but_not_compared_with() {
    let folder = workplace(12);
    let folder = folder.path();
    let golden = copy_golden("index-3", folder);
    let manifest = || fs::read_to_string(folder.join("golden/MANIFEST")).unwrap();
    for command in ["add", "query"] {
        let message = check_failure(folder, &format!("index {command} golden pages.jsonl -q"), 2);
        let reason = "they differ in nfkc@18+casefold and nfkc@18+casefold+no-ignorables+quotes";
        assert!(message.contains(reason) && message.contains("create a new index"), "{message}");
    }
    let before = manifest();
    check_reading_golden(folder, &golden);
    let recipe = "nfkc@18+casefold/shingle=3";
    assert!(before.contains(recipe) && manifest().contains(recipe), "{}", manifest());
    check(folder, "index create j --shingle words-unsigned:3");
    let message = check_failure(folder, "index merge j golden -q", 2);
    assert!(message.contains("they differ in nfkc@18+casefold"), "{message}");
}

/// After its writer is killed at any moment, an index has the state of the last commit or of the
/// next. An `add` of the same input then completes it to the state without the interruption.
#[test]
#[cfg(unix)]
fn a_killed_writer_leaves_the_last_commit_and_is_made_up_for() {
    let folder = workplace(400);
    let folder = folder.path();
    check(folder, &format!("index add i pages.jsonl -q {TIME}"));
    let expected = check(folder, "index export i");
    let began = Instant::now();
    check(folder, "index create full -q");
    check(folder, &format!("index add full pages.jsonl -q {TIME}"));
    let whole = began.elapsed();
    let kills = std::env::var("SIMTOOL_KILLS").map_or(100, |kills| kills.parse().unwrap());
    let mut killed = 0;
    for kill in 0..kills {
        let index = format!("k{}", kill % 10);
        if kill < 10 {
            check(folder, &format!("index create {index} -q"));
        }
        let mut child = started(folder, &format!("index add {index} pages.jsonl -q {TIME}"));
        std::thread::sleep(whole * (kill * 7919 % 1000) / 1000);
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        check(folder, &format!("index verify {index} -q"));
    }
    assert!(killed > 0, "none was killed in time");
    for kill in 0..10.min(kills) {
        check(folder, &format!("index add k{kill} pages.jsonl -q {TIME}"));
        assert_eq!(check(folder, &format!("index export k{kill}")), expected);
    }
}

#[test]
#[cfg(feature = "parquet")]
fn an_export_is_a_table_too() {
    let folder = workplace(30);
    let folder = folder.path();
    check(folder, &format!("index add i pages.jsonl -q {TIME}"));
    check(folder, "index export i --output known.parquet");
    check_failure(folder, "index export i --output known.parquet", 2);
    check(folder, "index export i --output known.parquet --force");
    check_failure(folder, "index export i --output known.csv", 2);
    // The fingerprints of the export are those of the documents.
    check(folder, "join known.parquet --count");
    let lines = check(folder, "index export i").lines().count();
    let rows = check(folder, "join known.parquet -k 63 --count");
    assert_eq!(rows.trim(), (lines * (lines - 1) / 2).to_string());
}
