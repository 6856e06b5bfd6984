//! Tests that move or change inputs while a run reads them, at every moment of the run.

use super::{Face, Paths, Request, Silent, dedup};
use simtool_base::options::Options;
use simtool_base::progress::{Progress, Work};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Function that changes the input below the given folder at one moment of a run.
type Disturbance = fn(&Path);

/// A face that disturbs the input at one of the moments in which the run reports its progress.
struct Disturbing<'f> {
    folder: &'f Path,
    moment: usize,
    disturb: Disturbance,
    /// Number of progress reports so far. The input is disturbed at the report whose number, from 0, is `moment`.
    seen: AtomicUsize,
}

impl Disturbing<'_> {
    fn next_moment(&self) {
        if self.seen.fetch_add(1, Ordering::Relaxed) == self.moment {
            (self.disturb)(self.folder);
        }
    }
}

impl Progress for Disturbing<'_> {
    fn begin(&self, _stage: &'static str, _work: Work) {
        self.next_moment();
    }

    fn advance(&self, _amount: u64) {
        self.next_moment();
    }
}

impl Face for Disturbing<'_> {
    fn progress(&self) -> &dyn Progress {
        self
    }
}

fn move_away(folder: &Path) {
    fs::rename(folder.join("in"), folder.join("away")).unwrap();
}

fn append(folder: &Path) {
    for entry in fs::read_dir(folder.join("in")).unwrap() {
        let mut file = fs::File::options().append(true).open(entry.unwrap().path()).unwrap();
        file.write_all(b"{\"text\":\"one more line of text\"}\n").unwrap();
    }
}

fn empty(folder: &Path) {
    for entry in fs::read_dir(folder.join("in")).unwrap() {
        fs::write(entry.unwrap().path(), "").unwrap();
    }
}

/// Overwrites words in the plain files. Their lengths and their times stay the same.
fn overwrite(folder: &Path) {
    for file in 0..4 {
        let path = folder.join("in").join(format!("{file}.jsonl"));
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let changed = fs::read_to_string(&path).unwrap().replace('w', "v");
        fs::write(&path, changed).unwrap();
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    }
}

/// Writes the input: plain and compressed files whose documents repeat each other.
fn write_inputs(folder: &Path) {
    drop(fs::remove_dir_all(folder));
    fs::create_dir_all(folder.join("in")).unwrap();
    for file in 0..6 {
        let line = |n: u32| {
            let words = (0..12).map(|word| format!("w{}", (n % 7) * 31 + word + file % 2));
            let text = words.collect::<Vec<_>>().join(" ");
            format!("{{\"id\":\"{file}-{n}\",\"text\":\"{text}\"}}\n")
        };
        let lines: String = (0..10).map(line).collect();
        let path = folder.join("in").join(format!("{file}.jsonl"));
        if file < 4 {
            fs::write(path, lines).unwrap();
            continue;
        }
        let file = fs::File::create(path.with_extension("jsonl.gz")).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        encoder.write_all(lines.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
}

/// Returns the content of every output below `folder`, except the outputs that contain times.
fn outputs(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut outputs = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !["summary.json", "report.html"].iter().any(|name| path.ends_with(name)) {
                outputs.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    outputs
}

fn request(folder: &Path, is_match: bool, options: &str) -> Request {
    let mut options = Options::parse(options).unwrap();
    options.set("output", folder.join("out"));
    options.set("threads", "1");
    let corpus = vec![folder.join("in")];
    let queries = if is_match { vec![folder.join("in").join("1.jsonl")] } else { Vec::new() };
    Request::parse(Paths { corpus, queries }, options).unwrap()
}

/// Runs the request undisturbed, and then with each disturbance at each moment. A disturbed run has the same
/// outputs, reports a loss, or fails with the name of an input and without outputs.
fn check(is_match: bool, options: &str) {
    let root = tempfile::tempdir().unwrap();
    let folder = &root.path().join("run");
    let run = |moment, disturb| {
        write_inputs(folder);
        let seen = AtomicUsize::new(0);
        let face = Disturbing { folder, moment, disturb, seen };
        let outcome = dedup(&request(folder, is_match, options), &face);
        (outcome, face.seen.into_inner())
    };
    let (outcome, moments) = run(usize::MAX, empty);
    assert!(outcome.unwrap().faults.is_empty(), "{options}");
    let expected = outputs(&folder.join("out"));
    let mut failures = 0;
    for disturb in [move_away as Disturbance, append, empty] {
        // Stages without inputs report many moments, so only some of many moments are tried.
        for moment in (0..moments).step_by(1 + moments / 40) {
            match run(moment, disturb).0 {
                Ok(outcome) => {
                    let is_same = outputs(&folder.join("out")) == expected;
                    assert!(is_same || outcome.has_losses, "{options}: {moment}");
                }
                Err(error) => {
                    failures += 1;
                    assert!(error.to_string().contains("jsonl"), "{options}: {moment}: {error}");
                    assert!(!folder.join("out").exists(), "{options}: {moment}");
                }
            }
        }
    }
    assert!(failures > 0, "{options}");
}

#[test]
fn a_file_that_differs_between_two_readings_ends_every_method() {
    for options in [
        "method=exact",
        "method=exact,write_kept=true",
        "method=exact,weight=idf",
        "method=exact,max_memory=100M",
        "method=simhash,write_kept=true",
        "method=simhash,verify=0.8",
        "method=simhash,weight=tf-idf",
        "method=minhash,verify=0.8",
        "method=multi-lexicon,write_kept=true",
        "method=i-match",
    ] {
        check(false, options);
    }
}

#[test]
fn a_file_that_differs_between_two_readings_ends_a_match() {
    for options in ["method=exact", "method=simhash,verify=0.8", "method=minhash,write_kept=true"] {
        check(true, options);
    }
}

#[test]
fn no_copy_has_bytes_that_were_not_compared() {
    let root = tempfile::tempdir().unwrap();
    let folder = &root.path().join("run");
    let request = || request(folder, false, "method=simhash,write_kept=true");
    let kept = || outputs(&folder.join("out").join("kept"));
    write_inputs(folder);
    dedup(&request(), &Silent).unwrap();
    let before = kept();
    write_inputs(folder);
    overwrite(folder);
    dedup(&request(), &Silent).unwrap();
    let after = kept();
    assert_ne!(before, after);
    let mut failures = 0;
    for moment in 0.. {
        write_inputs(folder);
        let face = Disturbing { folder, moment, disturb: overwrite, seen: AtomicUsize::new(0) };
        match dedup(&request(), &face) {
            Ok(_) => assert!([&before, &after].contains(&&kept()), "{moment}"),
            Err(error) => {
                failures += 1;
                assert!(error.to_string().contains(".jsonl"), "{moment}: {error}");
                assert!(!folder.join("out").exists(), "{moment}");
            }
        }
        if face.seen.into_inner() <= moment {
            break;
        }
    }
    assert!(failures > 3, "{failures}");
}
