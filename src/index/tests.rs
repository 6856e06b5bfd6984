//! Tests that compare a whole index with a plain list of documents, which is scanned for each query.

use super::*;
use crate::method::Method;
use proptest::prelude::*;
use simtool_base::durable::{Disk, Durability, Step};
use simtool_base::mapped_file::FileAccess;
use simtool_base::stable_hash::mix;
use simtool_compute::resources::Resources;
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A document of the plain list that the index is compared with.
#[derive(Clone)]
struct Listed {
    id: String,
    words: Vec<u64>,
    is_removed: bool,
    sources: Vec<u32>,
    repeats: u64,
    times: [u64; 2],
}

/// Slow twin of [`Index`]: a plain list of all documents, which is scanned for each query.
#[derive(Default)]
struct List(Vec<Listed>);

impl List {
    fn add(
        &mut self,
        shape: Shape,
        most: u32,
        row: Option<&[u64]>,
        id: &str,
        at: (u32, u64),
    ) -> Added {
        let Some(words) = row else { return Added::WithoutWords };
        let (source, time) = at;
        let near = self.0.iter().zip(0..).filter(|(listed, _)| !listed.is_removed);
        let near = near
            .map(|(listed, number)| Near { distance: shape.distance(words, &listed.words), number })
            .filter(|near| near.distance <= most)
            .min();
        if let Some(near) = near {
            let listed = &mut self.0[near.number as usize];
            listed.repeats += 1;
            listed.times = [listed.times[0].min(time), listed.times[1].max(time)];
            if !listed.sources.contains(&source) {
                listed.sources.push(source);
                listed.sources[1..].sort_unstable();
            }
            return Added::Repeats(near);
        }
        self.0.push(Listed {
            id: id.to_owned(),
            words: words.to_vec(),
            is_removed: false,
            sources: vec![source],
            repeats: 0,
            times: [time; 2],
        });
        Added::New(self.0.len() as u64 - 1)
    }

    fn known(&self) -> Vec<(KnownDocument, Vec<u64>)> {
        let there = self.0.iter().zip(0..).filter(|(listed, _)| !listed.is_removed);
        let known = |(listed, number): (&Listed, u64)| {
            let known = KnownDocument {
                number,
                id: listed.id.clone().into_bytes(),
                repeats: listed.repeats,
                sources: listed.sources.clone(),
                first: listed.times[0],
                last: listed.times[1],
            };
            (known, listed.words.clone())
        };
        there.map(known).collect()
    }
}

pub(super) fn disk() -> Disk {
    Disk::new(Durability::Fast)
}

pub(super) fn resources(threads: usize) -> Resources {
    Resources { threads, ..Resources::default() }
}

pub(super) fn open(path: &Path, threads: usize) -> IndexAdder {
    IndexAdder::open(path, FileAccess::READ, disk(), "a test", &resources(threads)).unwrap()
}

pub(super) fn created(method: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    IndexAdder::create(folder.path(), method.parse().unwrap(), disk(), "a test").unwrap();
    folder
}

pub(super) fn export(path: &Path) -> Vec<(KnownDocument, Vec<u64>)> {
    let index = Index::open(path, FileAccess::READ, &resources(1)).unwrap();
    index.verify().unwrap();
    let mut found = Vec::new();
    index
        .visit(&mut |known, words| {
            found.push((known.clone(), words.to_vec()));
            Ok(())
        })
        .unwrap();
    for (known, _) in &found {
        assert_eq!(index.document(known.number).unwrap().as_ref(), Some(known));
    }
    assert_eq!(index.size().unwrap().documents, found.len() as u64);
    found
}

/// Returns a fingerprint that differs in a few bits from one of 60 fixed fingerprints, so that many
/// seeds give near fingerprints. Some seeds give no fingerprint.
fn row(shape: Shape, seed: u64) -> Option<Vec<u64>> {
    if seed.is_multiple_of(37) {
        return None;
    }
    let (base, change) = (mix(seed) % 60, mix(seed ^ 0xABCD));
    let mut words: Vec<u64> =
        (0..shape.words() as u64).map(|word| mix(base * 100 + word)).collect();
    for bit in 0..change % 6 {
        let bit = (change >> (8 * bit)) as usize % shape.row_bits() as usize;
        words[bit / 64] ^= 1 << (bit % 64);
    }
    Some(words)
}

fn rows(shape: Shape, seeds: &[u64]) -> FingerprintRows<'static> {
    let mut rows = RowsBuilder::new(shape);
    for &seed in seeds {
        rows.push(row(shape, seed).as_deref());
    }
    rows.finish()
}

#[derive(Clone, Debug)]
enum Operation {
    Add(Vec<u64>, u32),
    Remove(u64),
    Query(Vec<u64>),
    Compact,
    Reopen,
    /// Documents are added, but the process ends without a commit.
    Lost(Vec<u64>),
}

fn operation() -> impl Strategy<Value = Operation> {
    let seeds = || proptest::collection::vec(0..5000_u64, 0..40);
    prop_oneof![
        5 => (seeds(), 0..3_u32).prop_map(|(seeds, source)| Operation::Add(seeds, source)),
        1 => any::<u64>().prop_map(Operation::Remove),
        2 => seeds().prop_map(Operation::Query),
        1 => Just(Operation::Compact),
        2 => Just(Operation::Reopen),
        1 => seeds().prop_map(Operation::Lost),
    ]
}

const METHODS: [&str; 5] = [
    "simhash",
    "simhash:bits=128,max_distance=9",
    "simhash:bits=256,max_distance=40",
    "multi-lexicon",
    "minhash:lanes=12",
];

/// Runs operations on an index and on the plain list, and checks that both agree. Returns the documents at
/// the end.
fn run(method: &str, operations: &[Operation], threads: usize) -> Vec<(KnownDocument, Vec<u64>)> {
    let parsed: Method = method.parse().unwrap();
    let recipe = kept_recipe::KeptRecipe::new(parsed).unwrap();
    let (shape, most) = (recipe.reach.shape, recipe.reach.max_distance);
    let folder = created(method);
    let mut list = List::default();
    let mut adder = open(folder.path(), threads);
    for (time, operation) in (1..).zip(operations) {
        match operation {
            Operation::Add(seeds, source) => {
                let id = |row: usize| Cow::Owned(format!("{time}/{row}").into_bytes());
                let name = format!("source {source}");
                let arrival = Arrival { source: &name, time };
                let added = adder.add(&rows(shape, seeds), id, arrival).unwrap();
                let number = adder.source_number(&name).unwrap();
                let expected: Vec<_> = seeds
                    .iter()
                    .enumerate()
                    .map(|(at, &seed)| {
                        let row = row(shape, seed);
                        list.add(
                            shape,
                            most,
                            row.as_deref(),
                            &format!("{time}/{at}"),
                            (number, time),
                        )
                    })
                    .collect();
                assert_eq!(added, expected);
                for added in added {
                    if let Added::New(number) = added {
                        let id = adder.id(number).unwrap();
                        assert_eq!(id, list.0[number as usize].id.as_bytes());
                    }
                }
                adder.commit().unwrap();
            }
            Operation::Remove(which) => {
                let there = list.0.iter().filter(|listed| !listed.is_removed).count();
                if let Some(which) = (*which as usize).checked_rem(there) {
                    let mut there = list.0.iter_mut().filter(|listed| !listed.is_removed);
                    let listed = there.nth(which).unwrap();
                    listed.is_removed = true;
                    let id = listed.id.clone().into_bytes();
                    assert_eq!(adder.remove(&mut |other| other == id).unwrap(), 1);
                    adder.commit().unwrap();
                }
            }
            Operation::Query(seeds) => {
                let index =
                    Index::open(folder.path(), FileAccess::READ, &resources(threads)).unwrap();
                let found = index.near(&rows(shape, seeds), false).unwrap();
                for (near, &seed) in found.iter().zip(seeds) {
                    let mut expected: Vec<_> = list.known();
                    expected.retain(|(_, words)| {
                        row(shape, seed).is_some_and(|row| shape.distance(&row, words) <= most)
                    });
                    let mut numbers: Vec<_> = near.iter().map(|near| near.number).collect();
                    assert!(near.is_sorted());
                    numbers.sort_unstable();
                    let expected: Vec<_> = expected.iter().map(|(known, _)| known.number).collect();
                    assert_eq!(numbers, expected);
                }
            }
            Operation::Compact => adder.compact().unwrap(),
            Operation::Reopen => {
                drop(adder);
                adder = open(folder.path(), threads);
            }
            Operation::Lost(seeds) => {
                let id = |_| Cow::Borrowed(&b"lost"[..]);
                let arrival = Arrival { source: "lost", time };
                adder.add(&rows(shape, seeds), id, arrival).unwrap();
                drop(adder);
                adder = open(folder.path(), threads);
            }
        }
    }
    drop(adder);
    let exported = export(folder.path());
    assert_eq!(exported, list.known());
    exported
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn an_index_is_what_a_scanned_list_is(
        method in 0..METHODS.len(),
        threads in 1..3_usize,
        operations in proptest::collection::vec(operation(), 0..14),
    ) {
        run(METHODS[method], &operations, threads);
    }

    #[test]
    fn order_alone_decides(
        seeds in proptest::collection::vec(0..5000_u64, 1..200),
        cuts in proptest::collection::vec(0..200_usize, 0..6),
        method in 0..METHODS.len(),
    ) {
        let recipe = kept_recipe::KeptRecipe::new(METHODS[method].parse().unwrap()).unwrap();
        let shape = recipe.reach.shape;
        let add = |cuts: &[usize]| {
            let folder = created(METHODS[method]);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % seeds.len()).chain([0, seeds.len()]).collect();
            cuts.sort_unstable();
            for (at, range) in cuts.windows(2).enumerate() {
                let mut adder = open(folder.path(), 1 + at % 2);
                let id = |row: usize| Cow::Owned(format!("{}", range[0] + row).into_bytes());
                let arrival = Arrival { source: "a", time: 9 };
                adder.add(&rows(shape, &seeds[range[0]..range[1]]), id, arrival).unwrap();
                if at % 3 == 1 { adder.compact().unwrap() } else { adder.commit().unwrap() }
            }
            export(folder.path())
        };
        prop_assert_eq!(add(&cuts), add(&[]));
    }
}

#[test]
fn a_failing_step_leaves_the_old_index_or_the_new_one() {
    let shape = Shape::bits(64);
    let seeds: Vec<u64> = (1..30).collect();
    let add = |adder: &mut IndexAdder| {
        let id = |row: usize| Cow::Owned(row.to_string().into_bytes());
        adder.add(&rows(shape, &seeds), id, Arrival { source: "a", time: 1 })?;
        adder.commit()
    };
    let whole = created("simhash");
    add(&mut open(whole.path(), 1)).unwrap();
    let whole = export(whole.path());
    for failing in 0.. {
        let folder = created("simhash");
        let (steps, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, seen) = (Arc::clone(&steps), Arc::clone(&last));
        let disk = Disk::asking(move |step, _| {
            seen.store(usize::from(step == Step::SyncFolder), Ordering::Relaxed);
            if counted.fetch_add(1, Ordering::Relaxed) == failing {
                return Err(std::io::Error::other("disk on fire"));
            }
            Ok(())
        });
        let access = FileAccess::READ;
        let mut adder =
            IndexAdder::open(folder.path(), access, disk, "a test", &resources(1)).unwrap();
        let added = add(&mut adder);
        drop(adder);
        if added.is_ok() {
            assert_eq!(failing, 5, "file, folder, manifest, rename, folder");
            assert_eq!(export(folder.path()), whole);
            break;
        }
        let message = added.unwrap_err().to_string();
        assert!(message.starts_with("cannot "), "{message}");
        let after = export(folder.path());
        // The rename was done, and only the sync of the folder failed.
        let is_done = failing == 4;
        assert_eq!(after, if is_done { whole.clone() } else { Vec::new() }, "step {failing}");
        // The next writer is not blocked by leftovers, and adds the missing documents.
        add(&mut open(folder.path(), 1)).unwrap();
        assert_eq!(export(folder.path()).len(), whole.len());
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert!(files <= 4, "{files} files");
    }
}

#[test]
fn a_changed_byte_is_an_error_or_changes_nothing() {
    let folder = created("simhash");
    let seeds: Vec<u64> = (1..300).collect();
    let queries = rows(Shape::bits(64), &seeds);
    let mut adder = open(folder.path(), 1);
    let id = |row: usize| Cow::Owned(format!("document {row}").into_bytes());
    adder.add(&queries, id, Arrival { source: "a", time: 1 }).unwrap();
    adder.commit().unwrap();
    drop(adder);
    let ask = || -> crate::Result<_> {
        let index = Index::open(folder.path(), FileAccess::READ, &resources(1))?;
        let near = index.near(&queries, true)?;
        let documents: crate::Result<Vec<_>> = (0..70).map(|at| index.document(at)).collect();
        Ok((near, documents?))
    };
    let expected = ask().unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("LOCK") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len().div_ceil(150)) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, &changed).unwrap();
            if let Ok(found) = ask() {
                assert_eq!(found, expected, "{} byte {at}", path.display());
                let index = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
                assert!(index.verify().is_err(), "{} byte {at}", path.display());
            }
            fs::write(&path, &bytes[..at]).unwrap();
            assert!(ask().is_err());
        }
        fs::remove_file(&path).unwrap();
        assert!(ask().is_err());
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(ask().unwrap(), expected);
}

#[test]
fn there_is_one_writer_and_readers_see_what_they_opened() {
    let folder = created("simhash");
    let mut adder = open(folder.path(), 1);
    let again = IndexAdder::open(folder.path(), FileAccess::READ, disk(), "me", &resources(1));
    assert!(again.unwrap_err().to_string().contains("is being written by a test"));
    let before = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
    let rows = rows(Shape::bits(64), &[1, 2, 3]);
    let id = |_| Cow::Borrowed(&b"x"[..]);
    adder.add(&rows, id, Arrival { source: "a", time: 1 }).unwrap();
    assert_eq!(before.size().unwrap().documents, 0);
    adder.commit().unwrap();
    adder.compact().unwrap();
    assert_eq!(before.size().unwrap().documents, 0);
    let after = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
    assert!(after.size().unwrap().documents > 0);
    assert!(IndexAdder::create(folder.path(), Method::default(), disk(), "me").is_err());
    let simhash: Method = "simhash".parse().unwrap();
    let taken = IndexAdder::create(folder.path(), simhash, disk(), "me").unwrap_err();
    assert!(taken.to_string().contains("is not empty"), "{taken}");
}

#[test]
fn memory_bounds_what_is_merged() {
    let folder = created("simhash");
    let little = Resources { memory: 80_000, ..resources(2) };
    let open =
        |resources| IndexAdder::open(folder.path(), FileAccess::READ, disk(), "a test", &resources);
    let mut expected = Vec::new();
    for first in [0, 1500, 3000] {
        let mut adder = open(little.clone()).unwrap();
        let mut rows = RowsBuilder::new(Shape::bits(64));
        (first..first + 1500).for_each(|number| rows.push(Some(&[mix(number)])));
        let id = |row| Cow::Owned(format!("{}", first as usize + row).into_bytes());
        adder.add(&rows.finish(), id, Arrival { source: "a", time: 1 }).unwrap();
        adder.commit().unwrap();
        expected = export(folder.path());
    }
    let segments = || {
        let index = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
        index.size().unwrap().segments
    };
    assert_eq!(segments(), 3);
    let message = open(little).unwrap().compact().unwrap_err().to_string();
    assert!(message.contains("`max_memory` of 80000 bytes is too little"), "{message}");
    assert_eq!(segments(), 3);
    open(resources(2)).unwrap().compact().unwrap();
    assert_eq!(segments(), 1);
    assert!(export(folder.path()) == expected);
}

#[test]
fn rows_whose_pairs_do_not_fit_in_memory_are_added_in_parts() {
    // Any two of these rows differ in at most 6 bits, so they have half a million pairs.
    let mut rows = RowsBuilder::new(Shape::bits(64));
    for row in 0..1000_u64 {
        let flipped = (0..3).fold(0, |bits, flip| bits | 1 << (mix(row << 2 | flip) % 64));
        rows.push((row % 100 != 99).then_some(&[mix(1) ^ flipped]));
    }
    let rows = rows.finish();
    let added = |memory: u64| {
        let folder = created("simhash:max_distance=4");
        let resources = Resources { memory, ..resources(2) };
        let mut adder =
            IndexAdder::open(folder.path(), FileAccess::READ, disk(), "a test", &resources)
                .unwrap();
        let id = |row: usize| Cow::Owned(row.to_string().into_bytes());
        let added = adder.add(&rows, id, Arrival { source: "a", time: 1 }).unwrap();
        adder.commit().unwrap();
        (added, export(folder.path()))
    };
    assert!(added(1 << 16) == added(u64::MAX));
}

#[test]
fn segments_stay_few_also_where_little_or_nothing_is_new() {
    let rows = |seeds: &mut dyn Iterator<Item = u64>| {
        let mut rows = RowsBuilder::new(Shape::bits(64));
        seeds.for_each(|seed| rows.push(Some(&[mix(seed)])));
        rows.finish()
    };
    let folder = created("simhash");
    let segments = || {
        let index = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
        index.size().unwrap().segments
    };
    let mut adder = open(folder.path(), 1);
    let mut add = |seeds: &mut dyn Iterator<Item = u64>| {
        let arrival = Arrival { source: "a", time: 1 };
        let added = adder.add(&rows(seeds), |_| Cow::Borrowed(b"an id"), arrival).unwrap();
        adder.commit().unwrap();
        let new = added.iter().filter(|added| matches!(added, Added::New(_))).count();
        (new, segments())
    };
    assert_eq!(add(&mut (0..5000)), (5000, 1));
    for commit in 0..100 {
        let (new, segments) = add(&mut (0..5000).step_by(1 + commit % 3));
        assert!(new == 0 && segments <= 4, "only repeats: {segments}");
    }
    for commit in 0..100 {
        let (new, segments) = add(&mut std::iter::once(commit));
        assert!(new == 0 && segments <= 5, "a repeat: {segments}");
    }
    for commit in 0..100 {
        let (new, segments) = add(&mut std::iter::once(5000 + commit));
        assert!(new == 1 && segments <= 5, "a document: {segments}");
    }
    let index = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
    let repeats = 34 * 5000 + 33 * 2500 + 33 * 1667 + 100;
    assert_eq!(index.size().unwrap().repeats, repeats);
    index.verify().unwrap();
}
