//! The estimates of `--dry-run` against the results of a run: documents, text and memory in every
//! format.

use crate::program::Folder;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

/// Builds documents of very different lengths, with long ones in pieces.
fn texts(count: usize) -> Vec<String> {
    let text = |at: usize| {
        let words = 20 + at * 7919 % 200 + if (at / 500).is_multiple_of(3) { 600 } else { 0 };
        (0..words).fold(String::new(), |mut text, word| {
            let _ = write!(text, "word{} ", (at * 31 + word * word) % 4001);
            text
        })
    };
    (0..count).map(text).collect()
}

fn json_lines(texts: &[String]) -> Vec<u8> {
    let mut lines = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        writeln!(lines, "{{\"id\": \"{at}\", \"text\": \"{text}\"}}").unwrap();
    }
    lines
}

fn wet(texts: &[String]) -> Vec<u8> {
    let mut records = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let length = text.len();
        write!(
            records,
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: u{at}\r\n\
             Content-Length: {length}\r\n\r\n{text}\r\n\r\n"
        )
        .unwrap();
    }
    records
}

/// Builds HTML pages in records, with little text in each.
fn warc(texts: &[String]) -> Vec<u8> {
    let mut records = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let style = "<style>p { margin: 0 }</style>".repeat(40);
        let page = format!("<html><head>{style}</head><body><p>{text}</p></body></html>");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        let length = block.len();
        write!(
            records,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: u{at}\r\n\
             Content-Type: application/http; msgtype=response\r\n\
             Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
        .unwrap();
    }
    records
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Parses a size such as `1.5 MB` into bytes.
fn size(text: &str) -> f64 {
    let (number, unit) = text.trim().split_once(' ').unwrap();
    let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    number.parse::<f64>().unwrap() * units.iter().find(|known| known.0 == unit).unwrap().1
}

/// Parses the numbers of `part` with the unit behind them: the first and the last number of a
/// range.
fn guess<'p>(part: &'p str, number: impl Fn(&'p str, &'p str) -> f64) -> (f64, f64) {
    let part = part.trim_start_matches("about ");
    let (numbers, unit) = part.rsplit_once(' ').unwrap();
    let (least, most) = numbers.split_once(" to ").unwrap_or((numbers, numbers));
    (number(least, unit), number(most, unit))
}

fn assert_near(what: &str, (least, most): (f64, f64), truth: f64, shown: &str) {
    assert!(least <= truth * 1.5 && most >= truth / 1.5, "{what} {truth}: {shown}");
}

/// Checks the estimates for `name` against a run, with the bytes that are mapped.
fn check(folder: &Folder, name: &str, mapped: f64) {
    for method in ["exact", "simhash"] {
        let dry = folder.run(&["--corpus", name, "--method", method, "--dry-run"]);
        assert_eq!(dry.code, 0, "{}", dry.err);
        let line = dry
            .out
            .lines()
            .find(|line| line.contains(" of memory in addition to the files"))
            .unwrap();
        let run = ["--corpus", name, "--method", method, "--stats", "--force"];
        let run = folder.run(&run);
        assert_eq!(run.code, 0, "{}", run.err);
        let of = |text: &str, name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].split_whitespace().next().unwrap().parse().unwrap()
        };
        let shown = format!("{name}, {method}: {line}");
        let (documents, rest) = line.split_once(" with ").unwrap();
        let (text, rest) = rest.split_once(" of text: ").unwrap();
        let (memory, _) = rest.split_once(" of memory").unwrap();
        let count = guess(documents, |number, _| number.parse().unwrap());
        assert_near("documents", count, of(&run.out, "documents"), &shown);
        let of_unit = |number: &str, unit: &str| size(&format!("{number} {unit}"));
        let (shown_text, _) = run.out.split_once(" of text in").unwrap();
        let shown_text = size(shown_text.rsplit_once('\n').unwrap().1);
        assert_near("text", guess(text, of_unit), shown_text, &shown);
        if cfg!(target_os = "linux") {
            let peak = run.err.lines().find_map(|line| line.strip_prefix("peak memory")).unwrap();
            let peak = (size(peak.split_once(',').unwrap().0) - mapped) / 1e6;
            // The program itself takes some megabytes more or less. This depends on optimization
            // and on the order of its threads.
            let (least, most) = guess(memory, of_unit);
            let (least, most) = (least / 1e6, most / 1e6);
            let is_near = least <= peak * 1.5 + 12.0 && most + 12.0 >= peak / 1.5;
            assert!(is_near, "memory {peak}: {shown}");
        }
    }
}

#[test]
fn documents_text_and_memory_are_near_the_truth_in_every_format() {
    let texts = texts(6000);
    let plain = json_lines(&texts);
    let bytes = plain.len() as f64;
    let members: Vec<u8> = wet(&texts).chunks(70_000).flat_map(gzip).collect();
    let folder = Folder::empty()
        .with("a.jsonl", &plain)
        .with("a.jsonl.gz", gzip(&plain))
        .with("a.jsonl.zst", zstd::encode_all(&plain[..], 3).unwrap())
        .with(
            "a.txt",
            texts.iter().map(|text| format!("id\n{text}\x0C")).collect::<Vec<_>>().concat(),
        )
        .with("a.wet.gz", members)
        .with("a.warc.gz", gzip(&warc(&texts)));
    check(&folder, "a.jsonl", bytes);
    check(&folder, "a.txt", bytes);
    for name in ["a.jsonl.gz", "a.jsonl.zst", "a.wet.gz", "a.warc.gz"] {
        check(&folder, name, 0.0);
    }
}

#[test]
fn memory_for_packed_files_depends_on_the_longest_document() {
    // One document in a hundred is a megabyte.
    let mut texts = texts(1000);
    for text in texts.iter_mut().step_by(100) {
        *text = text.repeat(1 + (1 << 20) / text.len());
    }
    let folder = Folder::empty()
        .with("a.wet.gz", wet(&texts).chunks(70_000).flat_map(gzip).collect::<Vec<u8>>())
        .with("a.jsonl.zst", zstd::encode_all(&json_lines(&texts)[..], 3).unwrap());
    for name in ["a.wet.gz", "a.jsonl.zst"] {
        check(&folder, name, 0.0);
    }
}

#[test]
fn a_crawl_with_an_unusual_beginning_is_sampled_everywhere() {
    // Long pages come first and short ones last. Each record is a gzip member, as in crawls.
    let word = |at: usize, place: usize| (at * 7919 + place * place * 31) % 99_991;
    let text = |at: usize| -> String {
        let words = if at < 2000 { 2000 } else { 40 };
        (0..words).fold(String::new(), |mut text, place| {
            let _ = write!(text, "word{} ", word(at, place));
            text
        })
    };
    let members: Vec<u8> = (0..30_000).flat_map(|at| gzip(&wet(&[text(at)]))).collect();
    assert!(members.len() > 12_000_000, "{} bytes", members.len());
    let folder = Folder::empty().with("a.wet.gz", members);
    for method in ["exact", "simhash"] {
        let dry = folder.run(&["--corpus", "a.wet.gz", "--method", method, "--dry-run"]);
        let line = dry.out.lines().find(|line| line.contains(" of memory in addition")).unwrap();
        let (documents, _) = line.split_once(" documents").unwrap();
        let numbers = documents.trim_start_matches("about ").split(" to ");
        for number in numbers.map(|number| number.parse::<f64>().unwrap()) {
            assert!((number / 30_000.0).ln().abs() < 1.5_f64.ln() * 1.2, "{method}: {line}");
        }
    }
}

#[test]
fn each_of_many_files_of_many_kinds_is_sampled() {
    let texts = texts(3000);
    let mut folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    for (at, text) in texts[..2000].iter().enumerate() {
        folder = folder.with(&format!("in/{at}.txt"), text);
    }
    for (at, texts) in texts[2000..].chunks(100).enumerate() {
        folder = folder.with(&format!("in/{at}.jsonl.gz"), gzip(&json_lines(texts)));
    }
    check(&folder, "in", 0.0);
}

#[test]
fn fingerprints_that_separate_nothing_cause_a_warning() {
    // Lines are a few letters in any order, so fingerprints of their shingles hardly differ.
    let line = |at: usize| -> String {
        let letter = |place: usize| char::from(b'a' + ((at * 7 + place * place) % 3) as u8);
        (0..60).map(letter).collect::<String>() + "\n"
    };
    let lines: String = (0..300_000).map(|at| line(at * at % 99_991)).collect();
    let folder = Folder::empty().with("a.txt", lines);
    let run = |more: &str| {
        let shared = "--corpus a.txt --split lines --dry-run --shingle chars:3";
        folder.run_words(&format!("{shared} {more}"))
    };
    let warned = run("--method simhash:bits=128 -k 60 --verify 0.8");
    assert!(warned.err.contains("warning: the join is expensive"), "{}{}", warned.err, warned.out);
    assert!(warned.err.contains("A smaller --max-distance, more bits"), "{}", warned.err);
    assert_eq!(run("--method simhash -k 2").err, "");
}

#[test]
fn a_dry_run_foretells_the_disk_and_the_fields_that_are_missing() {
    let folder = Folder::empty();
    let lines = json_lines(&texts(3000));
    let folder = folder.with("a.jsonl.gz", gzip(&lines)).with("a.jsonl", &lines);
    let dry = |arguments: &str| {
        let run = folder.run_words(&format!("dedup {arguments} --dry-run"));
        assert_eq!(run.code, 0, "{}", run.err);
        let line =
            run.out.lines().find(|line| line.contains(" of results in ")).unwrap().to_owned();
        (line, run)
    };
    let of = |line: &str, what: &str| -> f64 {
        let part = line.split(", ").find(|part| part.contains(what)).unwrap();
        let number: Vec<&str> = part
            .split(' ')
            .filter(|word| *word != "about" && *word != "at" && *word != "most")
            .collect();
        size(&number[..2].join(" "))
    };
    let (line, run) = dry("a.jsonl --write-kept --resume --output out");
    assert!(run.out.contains("\nThe run fits in memory and on disk\n"), "{}", run.out);
    let end = folder.run_words("dedup a.jsonl --write-kept --output out -q");
    assert_eq!(end.code, 0, "{}", end.err);
    let kept = fs::metadata(folder.path("out/kept/a.jsonl")).unwrap().len() as f64;
    assert!(of(&line, "results") >= kept, "{line}");
    assert!(line.contains(" of stored parts in out.parts ("), "{line}");
    // Terms of compressed files do not fit in so little memory.
    let (line, _) = dry("a.jsonl.gz --max-memory 2MB --output out2");
    let end = folder.run_words("dedup a.jsonl.gz --max-memory 2MB --output out2 -q");
    assert_eq!(end.code, 0, "{}", end.err);
    assert!(line.contains(" of temporary files in "), "{line}");
    // Nearly all documents are removed, so the outputs are as large as they can be.
    let copies = json_lines(&vec![texts(1).concat(); 3000]);
    let folder = Folder::empty().with("copies.jsonl", copies);
    for more in ["", " --annotate"] {
        let dry = folder.run_words(&format!("dedup copies.jsonl{more} --dry-run"));
        let line = dry.out.lines().find(|line| line.contains(" of results in ")).unwrap();
        let end = folder.run_words(&format!("dedup copies.jsonl{more} --force -q"));
        assert_eq!(end.code, 0, "{}", end.err);
        let outputs = ["removed", "clusters", "documents"];
        let written = outputs.iter().filter_map(|name| {
            fs::metadata(folder.path(&format!("simtool-out/{name}.jsonl"))).ok()
        });
        let written = written.map(|file| file.len()).sum::<u64>() as f64;
        let estimated = of(line, "results");
        assert!((written..2.0 * written).contains(&estimated), "{written} bytes, {line}");
    }
    let (_, run) = dry("a.jsonl --within lang --id-field nobody");
    for part in [
        "a run would fail: --within lang: no record has this field",
        "a run would fail: --id-field nobody",
    ] {
        assert!(run.err.contains(part), "{}", run.err);
    }
    assert!(run.out.contains("\nThe run would fail before it reads the documents\n"));
    // A field of both sides is named once, and the field of one side by its own option.
    let folder = Folder::empty().with("a.jsonl", &lines).with("b.jsonl", &lines);
    for (option, setting) in
        [("id-field", "id-field"), ("against-text-field", "against-text-field")]
    {
        let run = folder
            .run_words(&format!("match a.jsonl --against b.jsonl --{option} nobody --dry-run"));
        let expected = format!("a run would fail: --{setting} nobody: no record");
        assert_eq!(run.err.matches("a run would fail").count(), 1, "{}", run.err);
        assert!(run.err.contains(&expected), "{}", run.err);
    }
}

#[test]
fn a_dry_run_leaves_out_rows_of_which_nobody_knows_the_number() {
    let copies = json_lines(&vec![texts(1).concat(); 300]);
    let folder = Folder::empty().with("a.jsonl", &copies).with("b.jsonl", copies);
    for (run, rows, unit) in [
        ("dedup a.jsonl --pairs", "pairs", "pair"),
        ("match a.jsonl --against b.jsonl", "pairs", "pair"),
        ("dedup a.jsonl --method covered", "coverage", "stretch of words of a removed document"),
    ] {
        let dry = folder.run_words(&format!("{run} --dry-run"));
        let line = dry.out.lines().find(|line| line.contains(" of results in ")).unwrap();
        let (_, more) = line.split_once(" free) and about ").unwrap();
        let (bytes, of_what) = more.split_once(" bytes for each ").unwrap();
        assert_eq!(of_what, unit, "{run}");
        let end = folder.run_words(&format!("{run} --force -q"));
        assert_eq!(end.code, 0, "{}", end.err);
        let rows = fs::read_to_string(folder.path(&format!("simtool-out/{rows}.jsonl"))).unwrap();
        let real = rows.len() as f64 / rows.lines().count() as f64;
        let bytes: f64 = bytes.parse().unwrap();
        assert!((real / 2.0..real * 2.0).contains(&bytes), "{run}: {bytes} for {real}");
    }
}
