//! Damaged and odd files of other projects' test suites, and truncations and bit flips of each.
//! Whatever a file contains, reading it ends and reports the fault.

use crate::program::Folder;
use simtool::stages::document::Content;
use simtool::stages::fault::{Fault, Severity};
use simtool::stages::read::walk::InputFile;
use simtool::stages::read::{Collection, Corpus, Event, Format, ReadOptions};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest time that a file of a few kilobytes may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Outcome {
    documents: u64,
    bad: u64,
    bytes: u64,
    faults: Vec<Fault>,
}

fn read(path: &Path, options: ReadOptions) -> Outcome {
    let started = Instant::now();
    let collection = Collection::open(vec![InputFile::new(path)], options);
    let mut outcome = Outcome::default();
    for shard in 0..collection.shard_count() {
        let mut visited = 0;
        let counted = collection.read_shard(shard, &mut |event| {
            match event {
                Event::Record(record) => {
                    assert!(record.number >= visited || visited == 0, "numbers ascend");
                    visited = record.number;
                    outcome.bytes += record.bytes.len() as u64;
                    match record.content {
                        Content::Document(_) => outcome.documents += 1,
                        Content::Bad(_) => outcome.bad += 1,
                        Content::PassThrough | Content::NonDocument(_) | Content::PassedOver => {}
                    }
                }
                Event::Piece(bytes) => outcome.bytes += bytes.len() as u64,
                Event::Fault(fault) => outcome.faults.push(fault),
                Event::Reached(_) => {}
            }
            Ok(ControlFlow::Continue(()))
        });
        assert!(counted.unwrap() >= visited);
    }
    assert!(started.elapsed() < PATIENCE, "{} took {:?}", path.display(), started.elapsed());
    outcome
}

fn options() -> ReadOptions {
    ReadOptions { max_record_bytes: 1 << 20, ..ReadOptions::default() }
}

/// Returns the files of a folder of samples, or `None` if there are none.
#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
fn samples(folder: &str) -> Option<Vec<PathBuf>> {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        eprintln!("skipped: SIMTOOL_DATA is not set");
        return None;
    };
    let folder = Path::new(&data).join("badinputs").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    Some(files)
}

/// A sequence of numbers that looks random and is always the same (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

/// Columns of the Parquet samples that hold text.
const COLUMNS: [&str; 8] = [
    "text",
    "name",
    "string",
    "utf8_full_truncation",
    "binary_field",
    "c0",
    "c_customer_id",
    "flba_field",
];

/// Returns the name of the column that holds text, if there is one.
fn column(file: &Path) -> &'static str {
    let can_be_read = |column: &&&str| {
        let options = ReadOptions { text_field: (**column).into(), ..options() };
        let found = read(file, options);
        found.bad == 0 && found.faults.iter().all(|fault| fault.code != "parquet-column")
    };
    COLUMNS.iter().find(can_be_read).copied().unwrap_or("text")
}

/// Reads the files of a folder, and of each file `mutants` truncations and `mutants` copies with
/// flipped bits.
fn survive(folder: &str, mutants: u64) {
    let Some(files) = samples(folder) else { return };
    let scratch = tempfile::tempdir().unwrap();
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let copy = scratch.path().join(file.file_name().unwrap());
        for format in Format::all().map(Some).chain([None]) {
            read(&file, ReadOptions { format, ..options() });
        }
        let options = ReadOptions { text_field: column(&file).into(), ..options() };
        let mut numbers = Numbers(bytes.len() as u64);
        for _ in 0..mutants {
            fs::write(&copy, &bytes[..numbers.below(bytes.len())]).unwrap();
            read(&copy, options.clone());
            let mut flipped = bytes.clone();
            for _ in 0..=numbers.below(3) {
                if let Some(byte) = flipped.get_mut(numbers.below(bytes.len())) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
            fs::write(&copy, &flipped).unwrap();
            read(&copy, options.clone());
        }
    }
}

#[test]
fn gzip_samples_are_survived() {
    survive("gzip", 20);
}

#[test]
fn zstd_samples_are_survived() {
    survive("zstd", 20);
    survive("zstd-valid", 20);
}

#[test]
fn json_samples_are_survived() {
    survive("json-suite", 3);
}

#[test]
fn warc_samples_are_survived() {
    survive("warc", 20);
    survive("warc-valid", 20);
}

#[test]
fn parquet_samples_are_survived() {
    survive("parquet", 20);
    survive("parquet-valid", 20);
}

/// Content and record bytes of intact files are the same.
#[test]
fn nothing_of_an_intact_compressed_file_is_lost() {
    let files = ["gzip", "warc-valid", "zstd-valid"].iter().filter_map(|folder| samples(folder));
    for file in files.flatten() {
        let bytes = fs::File::open(&file).unwrap();
        let mut content = Vec::new();
        let unpacked = match file.extension().unwrap().to_str().unwrap() {
            "gz" => std::io::copy(&mut flate2::read::MultiGzDecoder::new(bytes), &mut content),
            "zst" => zstd::stream::copy_decode(bytes, &mut content).map(|()| content.len() as u64),
            _ => continue,
        };
        let outcome = read(&file, ReadOptions { format: Format::from_name("lines"), ..options() });
        assert_eq!(outcome.bytes, unpacked.unwrap(), "{}: {outcome:?}", file.display());
        let lost = outcome.faults.iter().filter(|fault| fault.severity == Severity::Loss);
        assert_eq!(lost.count(), 0);
    }
}

/// The library verifies checksums only if an option requests it.
#[test]
fn checksums_of_parquet_pages_are_compared() {
    let Some(files) = samples("parquet") else { return };
    let name = "parquet-testing__rle-dict-uncompressed-corrupt-checksum.parquet";
    let file = files.iter().find(|file| file.ends_with(name)).unwrap();
    let options = ReadOptions { text_field: "binary_field".into(), ..options() };
    let outcome = read(file, options);
    assert_eq!(outcome.faults.iter().map(|f| f.code).collect::<Vec<_>>(), ["parquet-page"]);
}

/// Each file is reported with the fault for which it is known.
#[test]
fn known_faults_are_named() {
    let expected: [(&str, &str, u64, u64, &[&str]); 7] = [
        ("warc-valid", "warcio__example.warc", 1, 0, &[]),
        ("warc-valid", "warcio__example.warc.gz", 1, 0, &[]),
        ("warc", "warcio__example-trunc.warc", 0, 1, &[]),
        ("warc", "warcio__bad.arc", 0, 0, &["format"]),
        ("gzip", "flate2-rs__good-file.gz", 1, 0, &[]),
        ("zstd", "zstd__truncated_huff_state.zst", 0, 0, &["corrupt-zstd"]),
        ("parquet", "parquet-testing__PARQUET-1481.parquet", 0, 0, &["parquet-footer"]),
    ];
    for (folder, name, documents, bad, faults) in expected {
        let Some(files) = samples(folder) else { return };
        let file = files.iter().find(|file| file.ends_with(name)).unwrap();
        let outcome = read(file, options());
        let codes: Vec<_> = outcome.faults.iter().map(|fault| fault.code).collect();
        assert_eq!((outcome.documents, outcome.bad, &*codes), (documents, bad, faults), "{name}");
    }
}

#[test]
fn an_undecodable_record_has_its_own_length() {
    // The text of these bytes is longer than the record.
    let line = [b"{\"text\": \"", &[0xC0; 100][..], b"\"}\n"].concat();
    let folder =
        Folder::empty().with("a.jsonl", [&line[..], b"{\"text\": \"a good one\"}\n"].concat());
    assert_eq!(folder.run_words("dedup a.jsonl --output out -q").code, 3);
    let quarantine = fs::read_to_string(folder.path("out/quarantine.jsonl")).unwrap();
    let length = format!("\"length\":{},\"code\":\"undecodable\"", line.len());
    assert!(quarantine.contains(&length), "{quarantine}");
}
