//! Changes bytes of a segment of an index, and makes its checksums agree with them. Opening,
//! querying, exporting, salvaging and merging it must end in answers or errors, never in a panic.
//!
//! The input is a list of changes of four bytes each: the place (16 bits, scaled to the file), the
//! change (8 bits, XOR), and a byte whose lowest bit says whether the place is in the header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::index::store::IndexFolder;
use simtool::index::{Arrival, Index, IndexAdder, SalvageFolders, salvage};
use simtool::stages::durable::{Disk, Durability};
use simtool::stages::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::resources::Resources;
use simtool::stages::stable_hash::{hash, mix};
use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes of the header, and of a block with a checksum: see `store/sealed_file.rs`.
const HEADER: usize = 2560;
const BLOCK: usize = 16 << 10;

/// A folder with an index of one segment, and the bytes of the segment.
struct Base {
    folder: tempfile::TempDir,
    segment: PathBuf,
    bytes: Vec<u8>,
    manifest: Vec<u8>,
}

fn disk() -> Disk {
    Disk::new(Durability::Fast)
}

fn resources() -> Resources {
    Resources { threads: 1, ..Resources::default() }
}

/// Builds rows in which neighbours differ in one bit.
fn rows(numbers: Range<u64>) -> FingerprintRows<'static> {
    let mut rows = RowsBuilder::new(Shape::bits(64));
    numbers.for_each(|row| rows.push(Some(&[mix(row / 2) ^ row % 2])));
    rows.finish()
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        IndexAdder::create(&path, "simhash".parse().unwrap(), disk(), "a fuzzer").unwrap();
        let mut adder =
            IndexAdder::open(&path, FileAccess::READ, disk(), "a fuzzer", &resources()).unwrap();
        let id = |row: usize| Cow::Owned(format!("document {row}").into_bytes());
        adder.add(&rows(0..200), id, Arrival { source: "a", time: 1 }).unwrap();
        adder.commit().unwrap();
        let opened = IndexFolder::open(&path, FileAccess::READ).unwrap();
        let segment = opened.segments()[0].path().to_owned();
        let bytes = fs::read(&segment).unwrap();
        let manifest = fs::read(path.join("MANIFEST")).unwrap();
        Base { folder, segment, bytes, manifest }
    })
}

/// Makes all checksums agree with the bytes, and returns the checksum of the header.
fn seal(bytes: &mut [u8]) -> u64 {
    let number =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let start = usize::try_from(number(bytes, 24)).unwrap_or(usize::MAX);
    if (HEADER..bytes.len()).contains(&start) {
        let (content, sums) = bytes.split_at_mut(start);
        for (block, sum) in content[HEADER..].chunks(BLOCK).zip(sums.chunks_exact_mut(8)) {
            sum.copy_from_slice(&hash(block).to_le_bytes());
        }
        let sum = hash(sums).to_le_bytes();
        bytes[32..40].copy_from_slice(&sum);
    }
    let sum = hash(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    sum
}

fn ask(path: &Path) {
    let Ok(index) = Index::open(path, FileAccess::READ, &resources()) else { return };
    drop(index.near(&rows(0..200), false));
    drop(index.visit(&mut |_, _| Ok(())));
    drop(index.size());
    for number in 0..110 {
        drop(index.document(number));
    }
}

fuzz_target!(|data: &[u8]| {
    let base = base();
    let mut bytes = base.bytes.clone();
    for change in data.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let at = if change[3] & 1 == 1 { at % HEADER } else { at * bytes.len() >> 16 };
        bytes[at] ^= change[2];
    }
    let sum = seal(&mut bytes);
    fs::write(&base.segment, &bytes).unwrap();
    let path = base.folder.path().join("index");
    let text = String::from_utf8(base.manifest.clone()).unwrap();
    let line = text.lines().find(|line| line.starts_with("segment ")).unwrap();
    let (before, _) = line.rsplit_once(' ').unwrap();
    let body =
        text[..text.rfind("checksum ").unwrap()].replace(line, &format!("{before} {sum:016x}"));
    let manifest = format!("{body}checksum {:016x}\n", hash(body.as_bytes()));
    fs::write(path.join("MANIFEST"), manifest).unwrap();
    ask(&path);
    let saved = base.folder.path().join("saved");
    let folders = SalvageFolders { from: &path, to: &saved, copies_intact: true };
    if salvage(folders, FileAccess::READ, disk(), "a fuzzer", &resources()).is_ok() {
        ask(&saved);
    }
    drop(fs::remove_dir_all(&saved));
    // This comes last, because it replaces the segment.
    if let Ok(mut adder) =
        IndexAdder::open(&path, FileAccess::READ, disk(), "a fuzzer", &resources())
    {
        let id = |row: usize| Cow::Owned(format!("other {row}").into_bytes());
        drop(adder.add(&rows(1000..1100), id, Arrival { source: "a", time: 1 }));
        drop(adder.remove(&mut |id| id == b"document 90"));
        drop(adder.compact());
    }
});
