//! Reads any bytes as a file. Reading must end without a panic, soon and in little memory, and its result
//! must not depend on the shards.

use crate::folder::with_folder;
use simtool::stages::document::{Content, Record};
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::read::walk::InputFile;
use simtool::stages::read::{Collection, Corpus, Event, ReadOptions};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time that reading an input twice may take, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest record. Longer ones are bad records, which are tested, too.
const LONGEST: usize = 64 << 10;
/// Number of different lengths of shards.
const SHARD_LENGTHS: u64 = 8;

/// Everything that reading a file has found.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Texts of the documents.
    texts: Vec<Vec<u8>>,
    /// Codes of the bad records.
    bad: Vec<&'static str>,
    /// Bytes of all records, in reading order.
    bytes: Vec<u8>,
    /// Number of records.
    records: u64,
    /// Whether the file has faults, for example lost bytes.
    has_faults: bool,
}

/// Reads `data` as a file with this name.
pub(super) fn read(name: &str, data: &[u8]) {
    let started = Instant::now();
    let [whole, parts] = with_folder(|folder| {
        let path = folder.join(name);
        fs::write(&path, data).expect("the file is written");
        // Shards of single records take the most time, so only some inputs are read in such shards.
        let shard_bytes = 1 + data.len() as u64 % SHARD_LENGTHS * 64;
        [seen(&path, 1 << 20), seen(&path, shard_bytes)]
    });
    assert_eq!(whole, parts, "the shards change the result");
    let texts: usize = whole.texts.iter().map(Vec::len).sum();
    assert!(texts <= LONGEST * whole.records.max(1) as usize, "a text is too long");
    assert!(started.elapsed() < PATIENCE, "reading took {:?}", started.elapsed());
}

/// Reads a file in shards of about `shard_bytes`.
fn seen(path: &Path, shard_bytes: u64) -> Seen {
    let options = ReadOptions {
        max_record_bytes: LONGEST,
        // The limit counts only after a GiB, which no input reaches here.
        zstd_window_log: 20,
        shard_bytes,
        access: FileAccess::READ,
        ..ReadOptions::default()
    };
    let collection = Collection::open(vec![InputFile::new(path)], options);
    let mut seen = Seen::default();
    for shard in 0..collection.shard_count() {
        let records = collection.read_shard(shard, &mut |event| {
            match event {
                Event::Record(Record { bytes, content, .. }) => {
                    seen.bytes.extend_from_slice(bytes);
                    match content {
                        Content::Document(document) => seen.texts.push(document.text.to_vec()),
                        Content::Bad(bad) => seen.bad.push(bad.code),
                        _ => {}
                    }
                }
                Event::Piece(bytes) => seen.bytes.extend_from_slice(bytes),
                Event::Fault(_) => seen.has_faults = true,
                Event::Reached(_) => {}
            }
            Ok(ControlFlow::Continue(()))
        });
        seen.records += records.expect("the visitor returns no error");
    }
    drop(collection.field_names());
    seen
}
