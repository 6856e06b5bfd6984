//! Finds near-duplicates in a folder with files of several formats.
//!
//! `cargo run --example folder_of_files [FOLDER]`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use simtool::stages::document::DocOrdinal;
use simtool::{
    Collection, Config, Keep, Method, NearDuplicates, ReadOptions, Resources, deduplicate,
};
use std::path::{Path, PathBuf};

#[cfg_attr(test, expect(dead_code, reason = "the test calls the functions of the example"))]
fn main() -> simtool::Result<()> {
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/crawl");
    let folder = std::env::args_os().nth(1).map_or(crawl, PathBuf::from);
    let found = near_duplicates(&folder)?;
    println!("{found} documents repeat another one");
    Ok(())
}

/// Prints the removed documents of `folder`, and returns how many there are.
fn near_duplicates(folder: &Path) -> simtool::Result<usize> {
    // Formats and compression are recognized by content. IDs come from the field `url`.
    let options = ReadOptions { id_field: "url".into(), ..ReadOptions::default() };
    let collection = Collection::of_paths(&[folder], options)?;

    // Fingerprints of 128 bits find the candidates; `verify` then compares the texts themselves.
    let method: Method = "simhash:bits=128,max_distance=32,verify=0.8".parse()?;
    let resources = Resources { threads: 2, ..Resources::default() };
    let config = Config { method, keep: Keep::Longest.into(), resources, ..Config::default() };
    let found = deduplicate(&collection, &config)?;

    for removal in &found.removals {
        println!("{} repeats {}", id(&found, removal.row), id(&found, removal.kept));
    }
    Ok(found.removals.len())
}

/// Returns the ID of a document, or nothing if its record has none.
fn id(found: &NearDuplicates, row: u32) -> String {
    let id = found.read.first().ids.id(DocOrdinal(row));
    String::from_utf8_lossy(id.map_or(&[], |id| id.bytes())).into_owned()
}

#[test]
fn example_finds_the_copies_of_the_crawl() {
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/crawl");
    assert_eq!(near_duplicates(&crawl).unwrap(), 7);
}
