//! Measures an index of fingerprints: growth, queries, opening and size.
//!
//! `cargo bench --bench index -- 10000000` measures ten million documents; without a number, one
//! million. They are random fingerprints of 64 bits, every hundredth a repeat, with random IDs of
//! 16 bytes. They are added in batches of 100,000, each checked against all before. Folders are
//! created below `$TMPDIR`.
//!
//! The estimate of `simtool plan` is printed next to the measurement, and must be close to it. At
//! the end, pages of 3 KB of English letters are filtered line by line, as in
//! `simtool index filter`.
#![expect(clippy::print_stdout, reason = "a bench prints its measurements")]
#![expect(clippy::expect_used, reason = "a bench that fails ends")]

use simtool::index::{Added, Arrival, Index, IndexAdder, Line, LineStatus, ReadLines};
use simtool::method::Method;
use simtool::pipeline::{WithoutWords, fingerprint_collection};
use simtool::progress::NoProgress;
use simtool::stages::durable::{Disk, Durability};
use simtool::stages::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool::stages::hamming::capacity::Capacity;
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::read::{JsonLinesInMemory, ReadOptions};
use simtool::stages::resources::Resources;
use simtool::stages::stable_hash::mix;
use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of documents in a batch.
const BATCH: usize = 100_000;
/// Number of queries in a round.
const QUERIES: usize = 1000;
/// Number of rounds of queries.
const ROUNDS: u64 = 800;

/// Returns a row. Every hundredth row is near an earlier one.
fn row(number: u64) -> u64 {
    match number % 100 {
        99 => mix(number - 50) ^ 1 << (number % 64) ^ 1 << (number / 64 % 64),
        _ => mix(number),
    }
}

fn rows(numbers: impl Iterator<Item = u64>) -> FingerprintRows<'static> {
    let mut rows = RowsBuilder::new(Shape::bits(64));
    numbers.for_each(|number| rows.push(Some(&[row(number)])));
    rows.finish()
}

fn access() -> FileAccess {
    // SAFETY: nobody else knows the folder.
    #[expect(unsafe_code, reason = "a bench's own files")]
    unsafe {
        FileAccess::map(|_, _| ())
    }
}

fn open(path: &Path, threads: usize) -> Index {
    let resources = Resources { threads, ..Resources::default() };
    Index::open(path, access(), &resources).expect("it was written")
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Returns the processor time that this process has used so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("it counts from 0")
}

/// Prints how fast an index answers and how large it is. Returns the bytes a document, and the
/// processor seconds of one query of many.
fn ask(path: &Path, stored: u64, state: &str) -> (f64, f64) {
    let began = Instant::now();
    let index = open(path, 1);
    let opened = seconds(began.elapsed());
    let size = index.size().expect("it is intact");
    let batch = |round: u64| {
        // Half of the queries are near a stored row.
        rows((0..QUERIES as u64).map(|query| {
            let at = mix(round * QUERIES as u64 + query) % stored;
            if query % 2 == 0 { at } else { at + (1 << 40) }
        }))
    };
    let mut found = 0;
    let mut time = Duration::ZERO;
    for round in 0..ROUNDS {
        let queries = batch(round);
        let began = processor_time();
        let near = index.near(&queries, true).expect("it is intact");
        // The first half of the rounds is not measured: it touches pages and blocks for the first
        // time, and verifies these.
        if round >= ROUNDS / 2 {
            time += processor_time().saturating_sub(began);
        }
        found += near.iter().filter(|near| !near.is_empty()).count() as u64;
    }
    assert!(found >= ROUNDS * QUERIES as u64 / 2, "{found}");
    let mut alone: Vec<f64> = (0..1001)
        .map(|query| {
            let query = rows(std::iter::once(mix(query) % stored));
            let began = Instant::now();
            assert!(!index.near(&query, true).expect("it is intact")[0].is_empty());
            seconds(began.elapsed())
        })
        .collect();
    alone.sort_by(f64::total_cmp);
    let bytes = size.bytes as f64 / size.documents as f64;
    let query = seconds(time) / (ROUNDS / 2 * QUERIES as u64) as f64;
    println!(
        "| {state} | {} | {bytes:.1} | {:.2} | {:.3} | {:.1} | {:.1} |",
        size.segments,
        opened * 1e3,
        query * 1e6,
        alone[500] * 1e6,
        alone[990] * 1e6,
    );
    (bytes, query)
}

/// Builds JSON lines with pages of about 3 KB. A page has words from a vocabulary of 5,000, with
/// few frequent ones.
fn pages(count: u64) -> Vec<Vec<u8>> {
    let word = |number: u64| -> String {
        let letter = |at: u64| char::from(b"etaoinshrdlu"[(mix(number * 16 + at) % 12) as usize]);
        (0..2 + mix(number) % 8).map(letter).collect()
    };
    let words: Vec<String> = (0..5000).map(word).collect();
    let page = |page: u64| {
        let choice = |at: u64| mix(page * 1000 + at) % 5000 * (mix(page * 1000 + at + 500) % 5000);
        let text: Vec<&str> = (0..460).map(|at| &words[choice(at) as usize / 5000][..]).collect();
        format!("{{\"id\":\"page {page}\",\"text\":\"{}\"}}\n", text.join(" "))
    };
    let batch = |first: u64| (first..first + QUERIES as u64).map(page).collect::<String>();
    (0..count).step_by(QUERIES).map(|first| batch(first).into_bytes()).collect()
}

/// Prints how fast an index filters lines, compared with only making their fingerprints.
fn filter(adder: &mut IndexAdder) {
    let pages = pages(40_000);
    let (options, resources) = (ReadOptions::default(), Resources::default());
    let bytes = pages.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    let method: Method = "simhash".parse().expect("a method");
    let timed = |work: &mut dyn FnMut()| -> f64 {
        let began = Instant::now();
        work();
        bytes / seconds(began.elapsed())
    };
    let all = pages.concat();
    let reader = adder.line_reader(options.clone()).expect("an index of this version");
    let mut answered = |is_new: bool| {
        let is_right = |line: &Line| match line.status {
            LineStatus::Document(_, Added::New(_)) => is_new,
            LineStatus::Document(_, Added::Repeats(_)) => !is_new,
            _ => false,
        };
        timed(&mut || {
            let mut answer = |read: Option<ReadLines>| {
                if let Some(read) = read {
                    let arrival = Arrival { source: "bench", time: 2 };
                    let lines = adder.add_lines(read, 0, arrival).expect("it fits");
                    assert!(lines.len() == QUERIES && lines.iter().all(is_right));
                }
            };
            let mut waiting = None;
            for lines in &pages {
                let answer = || answer(waiting.take());
                waiting = Some(reader.read_during(lines, answer).expect("they are read").0);
            }
            answer(waiting);
        })
    };
    let new = answered(true);
    let mut runs: Vec<[f64; 2]> = (0..5)
        .map(|_| {
            let mut alone = || {
                let lines = JsonLinesInMemory::new(&all, &options);
                let recipe = method.recipe();
                let made = fingerprint_collection(
                    &lines,
                    recipe,
                    &resources,
                    WithoutWords::Allowed,
                    &NoProgress,
                );
                assert_eq!(made.expect("they are read").rows.len(), 40_000);
            };
            [timed(&mut alone), answered(false)]
        })
        .collect();
    runs.sort_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    let [alone, repeats] = runs[2];
    println!("\n| pages of 3 KB | MB/s |\n| --- | ---: |");
    println!("| fingerprinted alone | {alone:.0} |\n| answered: all new | {new:.0} |");
    println!("| answered: all repeats | {repeats:.0} |");
}

fn main() {
    let number = std::env::args().find_map(|argument| argument.parse().ok());
    let documents: u64 = number.unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let disk = || Disk::new(Durability::Synced);
    let method = "simhash".parse().expect("a method");
    IndexAdder::create(path, method, disk(), "a bench").expect("a new index");
    let mut adder = IndexAdder::open(path, access(), disk(), "a bench", &Resources::default())
        .expect("it was made");
    let mut times = Vec::new();
    let mut new = 0;
    let began = Instant::now();
    for first in (0..documents).step_by(BATCH) {
        let end = (first + BATCH as u64).min(documents);
        let batch = rows(first..end);
        let id =
            |row: usize| Cow::Owned(format!("{:016x}", mix(!(first + row as u64))).into_bytes());
        let began = Instant::now();
        let added = adder.add(&batch, id, Arrival { source: "bench", time: 1 }).expect("it fits");
        adder.commit().expect("it fits");
        times.push(seconds(began.elapsed()));
        new += added.iter().filter(|added| matches!(added, Added::New(_))).count() as u64;
    }
    let total = seconds(began.elapsed());
    assert!(new.abs_diff(documents / 100 * 99) < documents / 1000, "{new}");
    let part = (times.len() / 4).max(1);
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let [first, last] = [mean(&times[..part]), mean(&times[times.len() - part..])];
    println!("\n{documents} documents in {total:.2} s, batches of {BATCH}, each committed;");
    println!("rate of the last quarter / of the first: {:.2}\n", first / last);
    println!(
        "| | segments | bytes a document | open, ms | query in 1,000, CPU µs | alone, µs | 99 % |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    ask(path, documents, "as added");
    let began = Instant::now();
    adder.compact().expect("it fits");
    let compacted = seconds(began.elapsed());
    let (bytes, query) = ask(path, documents, "compact");
    let plan = Capacity::of(documents as f64, 64, 3).expect("it makes sense")[0];
    let planned = plan.disk / documents as f64;
    println!("| `plan` | | {planned:.1} | | {:.3} | | |", plan.seconds * 1e6);
    println!("\ncompacted in {compacted:.2} s");
    filter(&mut adder);
    let is_close = |measured: f64, planned: f64, times: f64| {
        assert!(
            (1.0 / times..times).contains(&(measured / planned)),
            "{measured}, {planned} planned"
        );
    };
    // The size of a small index is mostly the fixed part of its files, so only large ones are
    // checked.
    if documents >= 1_000_000 {
        is_close(bytes, planned, 1.1);
        // Times are checked only in `cargo bench`, not when this runs as a test.
        if std::env::args().any(|argument| argument == "--bench") {
            is_close(query, plan.seconds, 2.5);
        }
    }
}
