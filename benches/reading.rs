//! Measures the work before any comparison, on one thread: the readers, each with the same
//! documents in its format, and the steps from text to fingerprints. Every bench asserts its
//! result.
//!
//! Run it with `cargo bench --bench reading`. `SIMTOOL_BENCH_BYTES=N` sets the bytes of text
//! (default: 4 MB). `decompress` is the upper bound for the gzip formats: it decompresses the same
//! file with the same library, and does nothing else.
#![expect(clippy::unwrap_used, reason = "a bench that cannot start must stop")]

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use simtool::stages::document::Content;
use simtool::stages::extract::shingles::Shingles;
use simtool::stages::features::Features;
use simtool::stages::fingerprint::hashed_simhash::HashedSimhash;
use simtool::stages::fingerprint::{Scratch, Sketch};
use simtool::stages::kernels::Isa;
use simtool::stages::read::walk::InputFile;
use simtool::stages::read::{Collection, Corpus, Event, ReadOptions};
use simtool::stages::stable_hash::mix;
use simtool::stages::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use simtool::stages::tokenize::unicode_words::UnicodeWords;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Number of words of a document, about a page.
const WORDS: u64 = 400;

/// Builds texts of made-up words of 1 to 10 ASCII letters, with occasional line ends.
fn texts() -> Vec<String> {
    let bytes = std::env::var("SIMTOOL_BENCH_BYTES").map_or(4_000_000, |n| n.parse().unwrap());
    let mut texts = Vec::new();
    let mut made = 0;
    while made < bytes {
        let mut text = String::new();
        for word in 0..WORDS {
            // Small numbers are far more frequent than large ones, as words are.
            let random = mix(texts.len() as u64 * WORDS + word);
            let mut rank = (random >> 32) & ((1 << (random % 17)) - 1);
            text.push('a');
            while rank > 0 {
                text.push(char::from(b"etaoinshrdlcu"[rank as usize % 13]));
                rank /= 13;
            }
            text.push(if random.is_multiple_of(97) { '\n' } else { ' ' });
        }
        made += text.len();
        texts.push(text);
    }
    texts
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn json_lines(texts: &[String]) -> Vec<u8> {
    let mut lines = String::new();
    for (number, text) in texts.iter().enumerate() {
        let text = text.replace('\n', "\\n");
        writeln!(lines, "{{\"id\":\"d{number}\",\"url\":\"https://x\",\"text\":\"{text}\"}}")
            .unwrap();
    }
    lines.into_bytes()
}

fn form_feeds(texts: &[String]) -> Vec<u8> {
    let parts = texts.iter().enumerate();
    parts.flat_map(|(number, text)| format!("d{number}\n{text}\n\x0c\n").into_bytes()).collect()
}

fn csv(texts: &[String]) -> Vec<u8> {
    let rows = texts.iter().enumerate();
    let rows = rows.flat_map(|(number, text)| format!("{number},\"{text}\"\n").into_bytes());
    b"id,text\n".iter().copied().chain(rows).collect()
}

/// Builds a WET file with one gzip member for each record, as crawls are published.
fn packed_wet(texts: &[String]) -> Vec<u8> {
    let record = |text: &String| {
        let length = text.len();
        let head = format!("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {length}\r\n\r\n");
        gzip(format!("{head}{text}\r\n\r\n").as_bytes())
    };
    texts.iter().flat_map(record).collect()
}

/// Builds HTML pages with a script, links, and a paragraph for each line.
fn pages(texts: &[String]) -> Vec<u8> {
    let record = |text: &String| {
        let lines = text.replace(" ae", " <a href=\"/wiki/ae?x=1&amp;y=2\" class='link'>ae</a>");
        let lines = lines.replace('\n', "</p>\n  <p class=\"line\">");
        let script = "if (a < b) { document.write('<p>' + a); }\n".repeat(40);
        let page = format!("<!DOCTYPE html><script>{script}</script><p>{lines}</p>");
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
        let length = http.len() + page.len();
        let head = format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {length}\r\n\r\n");
        format!("{head}{http}{page}\r\n\r\n").into_bytes()
    };
    texts.iter().flat_map(record).collect()
}

fn parquet(texts: &[String]) -> Vec<u8> {
    let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Returns the number of documents of a file, and the bytes of their texts.
fn read(path: PathBuf) -> (usize, usize) {
    let collection = Collection::open(vec![InputFile::new(path)], ReadOptions::default());
    let (mut documents, mut bytes) = (0, 0);
    for shard in 0..collection.shard_count() {
        let mut visit = |event: Event<'_>| {
            match event {
                Event::Record(record) => {
                    if let Content::Document(document) = record.content {
                        documents += 1;
                        bytes += black_box(document.text).len();
                    }
                }
                Event::Piece(_) | Event::Reached(_) => {}
                Event::Fault(fault) => panic!("{fault}"),
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(shard, &mut visit).unwrap();
    }
    (documents, bytes)
}

type Group<'c> = BenchmarkGroup<'c, criterion::measurement::WallTime>;

fn group<'c>(criterion: &'c mut Criterion, name: &str, bytes: usize) -> Group<'c> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(2)).throughput(Throughput::Bytes(bytes as u64));
    group
}

/// Measures each reader. Bytes a second refer to the texts, in every format.
fn readers(criterion: &mut Criterion) {
    let texts = texts();
    let bytes: usize = texts.iter().map(String::len).sum();
    let folder = TempDir::new().unwrap();
    let mut group = group(criterion, "read", bytes);
    let json_lines = json_lines(&texts);
    let packed = gzip(&json_lines);
    for (name, content) in [
        ("form_feed.txt", form_feeds(&texts)),
        ("lines.jsonl", json_lines.clone()),
        ("lines.jsonl.gz", packed.clone()),
        ("lines.jsonl.zst", zstd::encode_all(&json_lines[..], 3).unwrap()),
        ("pages.warc.wet.gz", packed_wet(&texts)),
        ("pages.warc", pages(&texts)),
        ("rows.parquet", parquet(&texts)),
        ("rows.csv", csv(&texts)),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let bytes = match name {
            // A document ends with the line end before the form feed.
            "form_feed.txt" => bytes + texts.len(),
            // The text of a page has no white space at its end.
            "pages.warc" => bytes - texts.len(),
            _ => bytes,
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(read(path.clone()), (texts.len(), bytes)));
        });
    }
    group.bench_function("decompress/lines.jsonl.gz", |bencher| {
        bencher.iter(|| {
            let mut stream = MultiGzDecoder::new(black_box(&packed[..]));
            let unpacked = io::copy(&mut stream, &mut io::sink()).unwrap();
            assert_eq!(unpacked, json_lines.len() as u64);
        });
    });
    group.finish();
}

/// Returns a function that makes 64-bit fingerprints of texts from shingles of three words, and
/// combines them into one number.
fn fingerprints_of(isa: Isa) -> impl FnMut(&[String]) -> u64 {
    let tokenizer = UnicodeWords::new(isa);
    let shingler = Shingles::new(isa, NonZeroUsize::new(3).unwrap());
    let simhash = HashedSimhash::default();
    let sketcher = simhash.sketcher(isa);
    let (mut row, mut scratch) = (vec![0; simhash.shape().words()], Scratch::default());
    let (mut tokens, mut terms) = (HashedTokens::default(), Vec::new());
    move |texts| {
        texts.iter().fold(0, |all: u64, text| {
            tokens.clear();
            terms.clear();
            tokenizer.tokenize(text.as_bytes(), &mut tokens);
            shingler.extract(&tokens.hashes, &mut terms);
            assert!(sketcher.make(&Features::occurrences(&terms), &mut row, &mut scratch));
            all.wrapping_mul(31).wrapping_add(row[0])
        })
    }
}

fn fingerprints(criterion: &mut Criterion) {
    let texts = texts();
    let bytes: usize = texts.iter().map(String::len).sum();
    let words = texts.len() * WORDS as usize;
    let shingles = words - 2 * texts.len();
    for &isa in Isa::available() {
        let mut group = group(criterion, &format!("fingerprint/{isa}"), bytes);
        let tokenizer = UnicodeWords::new(isa);
        let shingler = Shingles::new(isa, NonZeroUsize::new(3).unwrap());
        let (mut tokens, mut terms) = (HashedTokens::default(), Vec::new());
        group.bench_function("words", |bencher| {
            bencher.iter(|| {
                let mut found = 0;
                for text in &texts {
                    tokens.clear();
                    tokenizer.tokenize(text.as_bytes(), &mut tokens);
                    found += tokens.hashes.len();
                }
                assert_eq!(found, words);
            });
        });
        group.bench_function("words and shingles", |bencher| {
            bencher.iter(|| {
                let mut found = 0;
                for text in &texts {
                    tokens.clear();
                    terms.clear();
                    tokenizer.tokenize(text.as_bytes(), &mut tokens);
                    shingler.extract(&tokens.hashes, &mut terms);
                    found += terms.len();
                }
                assert_eq!(found, shingles);
            });
        });
        let mut fingerprints = fingerprints_of(isa);
        let expected = fingerprints(&texts);
        group.bench_function("words, shingles and simhash", |bencher| {
            bencher.iter(|| assert_eq!(fingerprints(&texts), expected));
        });
        group.finish();
    }
}

/// Returns the texts in the letters of other scripts, without spaces in scripts that do not use
/// them.
fn in_scripts(texts: &[String]) -> Vec<(&'static str, Vec<String>)> {
    type Letters = fn(usize) -> String;
    let scripts: [(&str, bool, Letters); 12] = [
        ("English", true, |at| letter('a', at)),
        ("French", true, |at| if at == 4 { "é".into() } else { letter('a', at) }),
        ("Vietnamese", true, |at| if at == 4 { "ế".into() } else { letter('a', at) }),
        ("Russian", true, |at| letter('а', at)),
        ("Arabic", true, |at| letter('ا', at)),
        ("Hebrew", true, |at| letter('א', at)),
        ("Hindi", true, |at| if at == 4 { "कि".into() } else { letter('क', at) }),
        ("Korean", true, |at| letter('가', 28 * at)),
        ("Thai", false, |at| if at == 4 { "ก่".into() } else { letter('ก', at) }),
        ("Japanese", false, |at| letter('か', 2 * at)),
        ("Chinese", false, |at| letter('一', 37 * at)),
        ("decomposed", true, |at| if at == 4 { "e\u{301}".into() } else { letter('a', at) }),
    ];
    let written = |(name, has_spaces, letters): (&'static str, bool, Letters)| {
        let alphabet: Vec<String> = (0..26).map(letters).collect();
        let texts = texts.iter().map(|text| {
            let characters = text.bytes().map(|byte| match byte {
                b'a'..=b'z' => alphabet[usize::from(byte - b'a')].as_str(),
                b' ' if has_spaces => " ",
                b' ' => "",
                _ => "\n",
            });
            characters.collect()
        });
        (name, texts.collect())
    };
    scripts.into_iter().map(written).collect()
}

/// Returns the letter `at` places behind `first`.
fn letter(first: char, at: usize) -> String {
    char::from_u32(first as u32 + at as u32).unwrap().to_string()
}

/// Measures the fingerprints of texts in every script, from shingles of three words.
fn scripts(criterion: &mut Criterion) {
    for (name, texts) in in_scripts(&texts()) {
        let bytes: usize = texts.iter().map(String::len).sum();
        let mut group = group(criterion, &format!("script/{name}"), bytes);
        let mut expected = None;
        for &isa in Isa::available() {
            let mut fingerprints = fingerprints_of(isa);
            let expected = *expected.get_or_insert_with(|| fingerprints(&texts));
            group.bench_function(isa.to_string(), |bencher| {
                bencher.iter(|| assert_eq!(fingerprints(&texts), expected));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, readers, fingerprints, scripts);
criterion_main!(benches);
