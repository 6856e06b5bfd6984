//! Tests of kept terms against a source that counts its readings.

use super::*;
use simtool_compute::context::Context;

use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::resources::Resources;
use simtool_model::similarity::Threshold;
use simtool_set_join::SetJoin;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Source of terms for tests. It counts how often each shard was read, and how often
/// [`TermSource::term_count_hint`] was called.
struct Counted {
    shards: Vec<Vec<Vec<u64>>>,
    readings: Vec<AtomicUsize>,
    asked: AtomicUsize,
}

impl TermSource for Counted {
    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn term_count_hint(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.shards.iter().flatten().map(|terms| terms.len() as u64).sum()
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.readings[shard].fetch_add(1, Ordering::Relaxed);
        for (index, terms) in (0..).zip(&self.shards[shard]) {
            if wanted.has(index) {
                visit(index, terms);
            }
        }
        Ok(())
    }
}

/// Returns shards of similar documents. One shard is empty, and one document has more terms than a block of
/// the spool.
fn counted() -> Counted {
    let document = |shard: u64, index: u64| -> Vec<u64> {
        let length = match (shard, index) {
            (2, 3) => BLOCK_TERMS as u64 + 1000,
            (_, 5) => 0,
            _ => 100 + mix(index) % 3000,
        };
        (0..length).map(|term| mix(if term % 50 == shard { shard } else { term })).collect()
    };
    let shard = |shard| (0..20 * shard).map(|index| document(shard, index)).collect();
    let shards: Vec<Vec<Vec<u64>>> = (0..6).map(shard).collect();
    let readings = shards.iter().map(|_| AtomicUsize::new(0)).collect();
    Counted { shards, readings, asked: AtomicUsize::new(0) }
}

#[test]
fn expensive_shards_are_read_once_and_give_the_same_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let resources = Resources { threads: 3, ..Resources::default() };
    let context = Context::new(&resources, &NoProgress).unwrap();
    let threshold = Threshold::new(3, 5).unwrap();
    let all_bytes = counted().term_count_hint() * TERM_BYTES;
    let mut expected = None;
    for memory in [0, 1, all_bytes / 3, all_bytes, u64::MAX] {
        for memory_bytes in [u64::MAX, 3 << 20] {
            let source = counted();
            let is_expensive = |shard: usize| shard % 3 != 1;
            let price = |shard| if is_expensive(shard) { Price::Expensive } else { Price::Cheap };
            let kept = KeptTerms::new(
                &source,
                &price,
                Ledger::new(memory),
                (folder.path(), u64::MAX),
                &NoProgress,
            );
            let context = context.with_memory(memory_bytes);
            let join = SetJoin::new(threshold, &context);
            let similar = join.self_join(&kept).unwrap();
            assert!(similar.pairs.len() > 100);
            // Adding up all shards once per shard would take hours for a million files.
            assert_eq!(source.asked.load(Ordering::Relaxed), 1);
            let plain = expected.get_or_insert_with(|| join.self_join(&source).unwrap());
            assert_eq!(&similar, plain);
            if memory_bytes < u64::MAX {
                let readings = |shard: &AtomicUsize| shard.load(Ordering::Relaxed);
                let readings: Vec<usize> = source.readings.iter().map(readings).collect();
                let expensive = (0..6).filter(|&shard| is_expensive(shard));
                assert!(expensive.clone().all(|shard| readings[shard] == 1), "{readings:?}");
                assert!(readings[4] > 2, "{readings:?}");
            }
            let spooled = kept.spooled_bytes();
            match memory {
                0 => assert!(spooled > all_bytes / 3),
                u64::MAX => assert_eq!(spooled, 0),
                _ => assert!(spooled < all_bytes),
            }
            let used = kept.memory.used();
            let in_memory = |shard: &KeptShard| match &shard.terms {
                Kept::InMemory(terms, _) => terms.len() as u64 * TERM_BYTES,
                Kept::Spooled { .. } => 0,
            };
            let held: u64 = kept.shards.iter().filter_map(OnceLock::get).map(in_memory).sum();
            assert_eq!(used, held);
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Reads all shards. Returns for each shard the numbers and terms of its wanted documents.
fn read(kept: &KeptTerms<'_>, wanted: Wanted<'_>) -> Vec<Vec<(u32, Vec<u64>)>> {
    let read = |shard| {
        let mut found = Vec::new();
        let visit = &mut |index, terms: &[u64]| found.push((index, terms.to_vec()));
        kept.visit_shard(shard, wanted, visit).unwrap();
        found
    };
    (0..kept.shard_count()).map(read).collect()
}

#[test]
fn only_wanted_documents_are_visited() {
    let folder = tempfile::tempdir().unwrap();
    let source = counted();
    let expected = |wanted: Wanted<'_>| -> Vec<Vec<(u32, Vec<u64>)>> {
        let wanted = |shard: &Vec<Vec<u64>>| {
            let all = (0..).zip(shard.iter().cloned());
            all.filter(|&(index, _)| wanted.has(index)).collect()
        };
        source.shards.iter().map(wanted).collect()
    };
    let few = |index: u32| index % 7 < 2;
    let fewer = |index: u32| index % 7 == 1;
    let terms =
        expected(Wanted::Some(&few)).concat().iter().map(|(_, terms)| terms.len() as u64).sum();
    let remaining = Wanted::Remaining { is_one: &few, terms };
    // Memory or files have room for all shards, for none, or only for the first ones.
    let two_shards = 2 * TERM_BYTES * source.shards[1].concat().len() as u64;
    for price in [Price::Unpacked, Price::Expensive] {
        for (memory, most) in [(0, u64::MAX), (u64::MAX, 0), (0, 0), (0, two_shards), (1 << 16, 1)]
        {
            let folder = (folder.path(), most);
            let price = &|_| price;
            let kept = KeptTerms::new(&source, price, Ledger::new(memory), folder, &NoProgress);
            for wanted in [Wanted::All, remaining, Wanted::Some(&fewer), Wanted::Some(&|_| false)] {
                assert_eq!(read(&kept, wanted), expected(wanted));
            }
            assert!(kept.spooled_bytes() <= most);
            let is_kept = |shard: &OnceLock<KeptShard>| shard.get().is_some();
            assert_eq!(kept.shards.iter().all(is_kept), memory == u64::MAX || most == u64::MAX);
        }
    }
}

#[test]
fn cheaply_unpacked_texts_go_to_files_once_few_documents_remain() {
    let folder = tempfile::tempdir().unwrap();
    let source = counted();
    let all = source.term_count_hint();
    for (remaining, is_kept) in [(all / 2, false), (all / 5, true)] {
        let folder = (folder.path(), u64::MAX);
        let kept =
            KeptTerms::new(&source, &|_| Price::Unpacked, Ledger::new(0), folder, &NoProgress);
        read(&kept, Wanted::All);
        read(&kept, Wanted::Some(&|index| index.is_multiple_of(5)));
        assert_eq!(kept.spooled_bytes(), 0);
        let is_one = &|index: u32| index.is_multiple_of(5);
        read(&kept, Wanted::Remaining { is_one, terms: remaining });
        assert_eq!(kept.spooled_bytes() > 0, is_kept);
        assert!(kept.spooled_bytes() < all * TERM_BYTES / 2);
    }
}

#[test]
fn a_folder_that_takes_no_files_is_named() {
    let source = counted();
    let folder = (Path::new("/nowhere/at/all"), u64::MAX);
    let kept = KeptTerms::new(&source, &|_| Price::Expensive, Ledger::new(0), folder, &NoProgress);
    let error = kept.visit_shard(3, Wanted::All, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.to_string(), "cannot create a temporary file in /nowhere/at/all");
}
