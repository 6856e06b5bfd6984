//! Compares an index of simtool with key-value stores that do the same job.
//!
//! The job is the same as in `benches/index.rs`: random fingerprints of 64 bits, every hundredth a
//! repeat, with IDs of 16 digits. They are added in batches of 100,000, each checked against all
//! before and committed durably. Queries follow. `scripts/store-bench` builds and runs it. All
//! contenders must find the same documents.

mod buckets;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod simtool_index;

use simtool::stages::stable_hash::mix;
use std::error::Error;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Number of documents in a batch.
const BATCH: usize = 100_000;
/// Number of queries in a round.
const QUERIES: usize = 1000;
/// The largest distance of near fingerprints.
const DISTANCE: u32 = 3;

/// A near document: its distance and its number.
type Near = (u32, u64);

/// A contender: an index or a store that does the job.
trait Contender {
    /// Adds documents in their order, except those near an earlier one, and commits them durably.
    /// Returns the number of added documents.
    fn add(&mut self, fingerprints: &[u64], id: impl Fn(usize) -> [u8; 16]) -> Result<usize>;

    /// Waits until all work behind the last commit is done. Only queries follow.
    fn settle(&mut self) -> Result<()>;

    /// Returns the nearest document of each query, and among equally near ones the first. Uses one
    /// thread.
    fn near(&self, queries: &[u64]) -> Result<Vec<Option<Near>>>;
}

/// Returns a row. Every hundredth row is near an earlier one.
fn row(number: u64) -> u64 {
    match number % 100 {
        99 => mix(number - 50) ^ 1 << (number % 64) ^ 1 << (number / 64 % 64),
        _ => mix(number),
    }
}

/// Returns the ID of a document: 16 hexadecimal digits.
fn id(number: u64) -> [u8; 16] {
    let hash = mix(!number);
    std::array::from_fn(|digit| b"0123456789abcdef"[(hash >> (60 - 4 * digit)) as usize & 15])
}

/// Returns the bytes that the files of a folder take on disk.
fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in folder.read_dir()? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes +=
            if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}

/// Results that must be equal for all contenders: added documents, queries with an answer, and a
/// sum of all answers.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    added: usize,
    answered: usize,
    answers: u64,
}

/// Arguments of the command line.
struct Asked {
    documents: u64,
    /// Names of the contenders to run. An empty list means all.
    names: Vec<String>,
}

/// Runs the job with a contender, if it was requested, and prints the time it took.
fn measure<C: Contender>(
    asked: &Asked,
    name: &str,
    open: impl FnOnce(&Path) -> Result<C>,
) -> Result<Option<Found>> {
    let &Asked { documents, ref names } = asked;
    if !names.is_empty() && !names.iter().any(|asked| asked.eq_ignore_ascii_case(name)) {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let mut found = Found::default();

    let began = Instant::now();
    let mut contender = open(folder.path())?;
    for first in (0..documents).step_by(BATCH) {
        let end = documents.min(first + BATCH as u64);
        let fingerprints: Vec<u64> = (first..end).map(row).collect();
        found.added += contender.add(&fingerprints, |row| id(first + row as u64))?;
    }
    let adding = began.elapsed();
    contender.settle()?;
    let bytes = disk_bytes(folder.path())?;

    let mut asking = Duration::ZERO;
    for round in 0..200 {
        // Half of the queries are near a stored row.
        let query = |query: u64| {
            let at = mix(round * QUERIES as u64 + query) % documents;
            row(if query.is_multiple_of(2) { at } else { at + (1 << 40) })
        };
        let queries: Vec<u64> = (0..QUERIES as u64).map(query).collect();
        let began = Instant::now();
        let near = contender.near(&queries)?;
        // The first rounds warm the caches.
        if round >= 100 {
            asking += began.elapsed();
        }
        for (distance, number) in near.into_iter().flatten() {
            found.answered += 1;
            found.answers = found.answers.wrapping_add(mix(number << 2 | u64::from(distance)));
        }
    }
    let mut alone = Vec::new();
    for query in 0..1001 {
        let query = [row(mix(query) % documents)];
        let began = Instant::now();
        assert!(contender.near(&query)?[0].is_some(), "it or what it repeats is there");
        alone.push(began.elapsed());
    }
    alone.sort_unstable();

    println!(
        "| {name} | {:.2} | {:.1} | {:.2} | {:.1} |",
        adding.as_secs_f64(),
        bytes as f64 / found.added as f64,
        asking.as_secs_f64() * 1e6 / (100 * QUERIES) as f64,
        alone[500].as_secs_f64() * 1e6,
    );
    std::io::stdout().flush()?;
    Ok(Some(found))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let documents = arguments.next().map_or(Ok(1_000_000), |number| number.parse())?;
    let asked = Asked { documents, names: arguments.collect() };
    println!("{documents} documents in batches of {BATCH}, each committed\n");
    println!("| | add, s | bytes a document | query in {QUERIES}, µs | query alone, µs |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut all = Vec::new();
    all.extend(measure(&asked, "simtool", simtool_index::create)?);
    all.extend(measure(&asked, "LMDB", lmdb::open)?);
    all.extend(measure(&asked, "redb", redb::open)?);
    #[cfg(feature = "rocksdb")]
    all.extend(measure(&asked, "RocksDB", rocksdb::open)?);
    if all.len() < asked.names.len() {
        return Err(format!("one of {:?} is not there", asked.names).into());
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "they find different things: {all:?}");
    if let Some(found) = all.first() {
        let repeats = documents - found.added as u64;
        println!("\neach found {repeats} repeats, and {} of 200,000 queries", found.answered);
    }
    Ok(())
}
