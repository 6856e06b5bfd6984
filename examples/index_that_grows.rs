//! Adds two batches of texts to an index on disk, and looks up a third.
//!
//! `cargo run --example index_that_grows`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use simtool::index::{Added, Arrival, Index, IndexAdder};
use simtool::stages::durable::{Disk, Durability};
use simtool::stages::mapped_file::FileAccess;
use simtool::{Config, Method, Resources, Texts, fingerprint};
use std::path::Path;

const OCTOBER: [&str; 2] = [
    "The quick brown fox jumps over the lazy dog near the old river bank today",
    "Something else entirely was written here by somebody who likes long words",
];
const NOVEMBER: [&str; 2] = [
    "The quick brown fox jumps over the lazy dog near the old river bank, today!",
    "A page about rivers and their banks that nobody has ever fetched before now",
];

fn main() -> simtool::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("seen.idx");
    let method: Method = "simhash:max_distance=6".parse()?;
    let holder = "the example index_that_grows";
    IndexAdder::create(&path, method.clone(), Disk::new(Durability::Synced), holder)?;

    add(&path, &method, &OCTOBER, "2026-10")?;
    let added = add(&path, &method, &NOVEMBER, "2026-11")?;
    // The first text of November repeats document 0 of the index; the second one becomes document 2.
    assert!(matches!(added[0], Added::Repeats(near) if near.number == 0));
    assert_eq!(added[1], Added::New(2));

    // Any number of processes may read the index, also while one adds to it.
    let index = Index::open(&path, FileAccess::READ, &Resources::default())?;
    let config = Config { method, ..Config::default() };
    let query = fingerprint(&Texts::of(&["The quick brown fox jumps over another dog"]), &config)?;
    let near = index.near(&query.rows, true)?;
    println!(
        "{} documents are in the index, {} near the query",
        index.size()?.documents,
        near[0].len()
    );
    Ok(())
}

/// Adds `texts` to the index at `path`, and returns for each text whether it is new.
fn add(path: &Path, method: &Method, texts: &[&str], source: &str) -> simtool::Result<Vec<Added>> {
    let config = Config { method: method.clone(), ..Config::default() };
    let made = fingerprint(&Texts::of(texts), &config)?;

    let disk = Disk::new(Durability::Synced);
    let holder = "the example index_that_grows";
    let mut adder = IndexAdder::open(path, FileAccess::READ, disk, holder, &Resources::default())?;
    let id = |row: usize| format!("{source}/{row}").into_bytes().into();
    let added = adder.add(&made.rows, id, Arrival { source, time: 0 })?;
    // Documents are in the index, and survive a power cut, from the commit on.
    adder.commit()?;
    Ok(added)
}

#[test]
fn example_runs() {
    main().unwrap();
}
