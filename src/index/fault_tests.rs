//! Tests of faults in the folder of an index: damage, links, and other processes.

use super::tests::{created, disk, export, open, resources};
use super::*;
use simtool_base::durable::Disk;
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use simtool_base::stable_hash::mix;
use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Adds documents with the fingerprints of `seeds` from `source`, and commits them. The ID of a document has the source
/// and the seed. Returns the number of documents that are new in the index.
fn add(adder: &mut IndexAdder, source: &str, seeds: impl IntoIterator<Item = u64>) -> u64 {
    let seeds: Vec<u64> = seeds.into_iter().collect();
    let mut rows = RowsBuilder::new(Shape::bits(64));
    for &seed in &seeds {
        rows.push(Some(&[mix(seed)]));
    }
    let id = |row: usize| Cow::Owned(format!("{source}{}", seeds[row]).into_bytes());
    let added = adder.add(&rows.finish(), id, Arrival { source, time: 1 }).unwrap();
    adder.commit().unwrap();
    added.iter().filter(|added| matches!(added, Added::New(_))).count() as u64
}

/// Creates an index of four segments with 100 to 12,000 documents. Some documents are repeated or removed.
fn segments() -> TempDir {
    let folder = created("simhash");
    let mut adder = open(folder.path(), 1);
    for seeds in [0..12_000, 12_000..17_000, 17_000..19_000, 19_000..19_100] {
        add(&mut adder, "first", seeds);
    }
    add(&mut adder, "second", 18_000..18_200);
    adder.remove(&mut |id| id.starts_with(b"first65")).unwrap();
    adder.commit().unwrap();
    folder
}

fn segment_files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_segment = |path: &PathBuf| path.to_str().unwrap().contains("segment-");
    let mut files: Vec<_> = files.filter(is_segment).collect();
    files.sort();
    files
}

fn saved(from: &Path, to: &Path, copies_intact: bool) -> Result<Salvaged> {
    let folders = SalvageFolders { from, to, copies_intact };
    salvage(folders, FileAccess::READ, disk(), "a test", &resources(1))
}

/// Checks that documents which are added to a salvaged index get unused numbers, and that a query finds them.
fn check_new_numbers(folder: &Path, used: Range<u64>) {
    let before = export(folder).len();
    let mut adder = open(folder, 1);
    assert_eq!(add(&mut adder, "third", 50_000..51_000), 1000);
    drop(adder);
    let documents = export(folder);
    assert_eq!(documents.len(), before + 1000);
    for (known, _) in documents.iter().filter(|(known, _)| known.id.starts_with(b"third")) {
        assert!(!used.contains(&known.number), "{}", known.number);
        assert_eq!(known.repeats, 0);
    }
}

#[test]
fn salvage_reports_what_is_lost_and_gives_no_number_twice() {
    let expected = export(segments().path());
    for lost in 0..segment_files(segments().path()).len() {
        for has_manifest in [true, false] {
            let (folder, to) = (segments(), tempfile::tempdir().unwrap());
            let file = &segment_files(folder.path())[lost];
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
            if !has_manifest {
                fs::remove_file(folder.path().join("MANIFEST")).unwrap();
            }
            let salvaged = saved(folder.path(), to.path(), false).unwrap();
            let found = export(to.path());
            assert_eq!(salvaged.documents as usize, found.len());
            let numbers: Vec<u64> = found.iter().map(|(known, _)| known.number).collect();
            let missing =
                expected.iter().filter(|(known, _)| numbers.binary_search(&known.number).is_err());
            let missing = missing.count() as u64;
            if has_manifest {
                assert!(missing <= salvaged.lost_documents.unwrap(), "{lost}: {salvaged:?}");
            }
            assert_eq!(salvaged.lost_documents.is_some(), has_manifest);
            assert!(salvaged.loses_removals && salvaged.loses_repeats);
            let damages = salvaged.damages.join("; ");
            assert!(damages.contains("segment-"), "{damages}");
            let index = Index::open(to.path(), FileAccess::READ, &resources(1)).unwrap();
            assert!(index.sources().iter().all(|name| !name.is_empty()), "{:?}", index.sources());
            drop(index);
            check_new_numbers(to.path(), 0..19_100);
        }
    }
}

/// Returns the IDs of the documents in an index, and the number of their repeats.
fn ids_and_repeats(folder: &Path) -> (Vec<Vec<u8>>, u64) {
    let documents = export(folder);
    let repeats = documents.iter().map(|(known, _)| known.repeats).sum();
    (documents.into_iter().map(|(known, _)| known.id).collect(), repeats)
}

#[test]
fn salvage_says_so_if_it_loses_removals_or_repeats() {
    let folder = created("simhash");
    let mut adder = open(folder.path(), 1);
    add(&mut adder, "a", 0..12_000);
    add(&mut adder, "b", 0..600);
    adder.remove(&mut |id| id.starts_with(b"a77")).unwrap();
    adder.commit().unwrap();
    drop(adder);
    let (mut expected, repeats) = ids_and_repeats(folder.path());
    expected.sort_unstable();
    let (mut revived, mut uncounted) = (0, 0);
    for file in segment_files(folder.path()) {
        let bytes = fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(4096) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&file, damaged).unwrap();
            let to = tempfile::tempdir().unwrap();
            // A byte between two sections belongs to none of them.
            let Ok(salvaged) = saved(folder.path(), to.path(), false) else { continue };
            let (ids, saved_repeats) = ids_and_repeats(to.path());
            let damages = salvaged.damages.join("; ");
            if ids.iter().any(|id| expected.binary_search(id).is_err()) {
                revived += 1;
                assert!(
                    salvaged.loses_removals && damages.contains("Remove them again"),
                    "{damages}"
                );
            }
            if saved_repeats < repeats && salvaged.lost_documents == Some(0) {
                uncounted += 1;
                assert!(salvaged.loses_repeats && damages.contains("fewer repeats"), "{damages}");
            }
        }
        fs::write(&file, bytes).unwrap();
    }
    assert!(revived > 0 && uncounted > 0, "{revived} {uncounted}");
}

#[test]
fn an_intact_index_is_copied_only_on_request() {
    let (folder, to) = (segments(), tempfile::tempdir().unwrap());
    let expected = export(folder.path());
    let error = saved(folder.path(), to.path(), false).unwrap_err();
    assert!(error.to_string().contains("has no damage"), "{error}");
    assert!(fs::read_dir(to.path()).unwrap().next().is_none());
    saved(folder.path(), to.path(), true).unwrap();
    assert_eq!(export(to.path()), expected);
}

#[test]
fn a_failed_salvage_leaves_no_index() {
    let folder = segments();
    let files = segment_files(folder.path());
    assert!(files.len() > 2, "{files:?}");
    fs::remove_file(&files[0]).unwrap();
    for failing in 0.. {
        let to = tempfile::tempdir().unwrap();
        let steps = std::sync::atomic::AtomicUsize::new(0);
        let disk = Disk::asking(move |_, _| {
            if steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == failing {
                return Err(std::io::Error::other("disk on fire"));
            }
            Ok(())
        });
        let folders = SalvageFolders { from: folder.path(), to: to.path(), copies_intact: false };
        let salvaged = salvage(folders, FileAccess::READ, disk, "a test", &resources(1));
        let is_there = to.path().join("MANIFEST").exists();
        match salvaged {
            Ok(salvaged) => {
                assert!(is_there && failing > 4);
                assert!(salvaged.damages[0].contains("No such file"), "{:?}", salvaged.damages);
                break;
            }
            // After the rename, only the sync of a folder can fail, and the index is complete.
            Err(_) if is_there => assert!(!export(to.path()).is_empty()),
            Err(_) => {}
        }
    }
}

#[test]
fn of_several_creations_at_once_one_makes_the_index() {
    for _ in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        let create = || {
            let method = "simhash".parse().unwrap();
            IndexAdder::create(folder.path(), method, disk(), "a test").is_ok()
        };
        let (one, other) = rayon::join(create, create);
        assert!(one != other, "{one} {other}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_the_folder_of_an_index_overwrite_and_delay_nothing() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let link = |name: &str, folder: &TempDir| {
        drop(fs::remove_file(folder.path().join(name)));
        std::os::unix::fs::symlink(&victim, folder.path().join(name)).unwrap();
    };
    let try_open = |folder: &TempDir| {
        IndexAdder::open(folder.path(), FileAccess::READ, disk(), "a test", &resources(1))
    };
    let folder = created("simhash");
    link("LOCK", &folder);
    assert!(try_open(&folder).unwrap_err().to_string().contains("LOCK"));
    fs::remove_file(folder.path().join("LOCK")).unwrap();
    link("MANIFEST.next", &folder);
    let mut adder = try_open(&folder).unwrap();
    adder.commit().unwrap();
    link("MANIFEST.next", &folder);
    adder.commit().unwrap();
    drop(adder);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    let manifest = folder.path().join("MANIFEST");
    assert!(!fs::symlink_metadata(&manifest).unwrap().is_symlink());
    fs::remove_file(&manifest).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    let error = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap_err();
    assert!(error.to_string().contains("MANIFEST"), "{error}");
}

#[test]
fn repeats_of_removed_documents_are_not_counted() {
    let folder = created("simhash");
    let mut adder = open(folder.path(), 1);
    add(&mut adder, "a", [1, 1, 1, 2, 2]);
    let repeats = || {
        let index = Index::open(folder.path(), FileAccess::READ, &resources(1)).unwrap();
        index.size().unwrap().repeats
    };
    assert_eq!(repeats(), 3);
    assert_eq!(adder.remove(&mut |id| id == b"a1").unwrap(), 1);
    adder.commit().unwrap();
    assert_eq!(repeats(), 1);
    adder.compact().unwrap();
    assert_eq!(repeats(), 1);
}

#[test]
fn the_methods_of_an_index_are_those_that_create_one() {
    let methods: Vec<_> = methods_of_indexes().into_iter().map(|(name, _)| name).collect();
    assert!(methods.contains(&"simhash") && !methods.contains(&"i-match"), "{methods:?}");
}
