//! Tests the comparison of candidates, term by term, with comparisons of every two documents.

use super::*;
use crate::compare_terms::TermComparison;
use crate::pair_order::in_order;
use crate::window_scan::near_pairs;

/// Finds the similar pairs of documents by their sketches, and checks them against a comparison of every two documents.
/// About `fitting` terms fit into memory. Returns the numbers of candidates and of readings of a shard.
#[track_caller]
fn check_comparison(documents: &[Vec<u64>], fitting: u64) -> [usize; 2] {
    let source = CountedReadings::new(source_of(documents), u64::MAX);
    let sources = TermSources { first: &source, second: None };
    let context = Context::default();
    let threshold = threshold(7, 10);
    let join = SetJoin::new(threshold, &context);
    let (shards, sketches) = all_sketched(&sources, threshold, &context);
    let by_sketches = SketchJoin::new(&join, &sources, &shards, sketches, None);
    let all = by_sketches.all().unwrap();
    let mut candidates = LargeBuffer::zeroed(0);
    let visited = near_pairs(&all.scans, u64::MAX, &mut |found| {
        candidates = in_order(&found, &context)?;
        Ok(())
    });
    visited.unwrap();
    let count = candidates.len();
    let comparison = TermComparison {
        sources: &sources,
        shards: &shards,
        threshold,
        fitting,
        context: &Context::default().with_isa(Isa::PORTABLE),
    };
    let mut sizes = vec![0; documents.len()];
    let before = source.readings.load(Ordering::Relaxed);
    let similar = comparison.similar(candidates, &mut sizes).unwrap();
    let similar = ClosePairs::of_sets(similar, sizes, 0, threshold);
    assert_eq!(similar, brute_force(documents, documents, threshold, false).into());
    [count, source.readings.load(Ordering::Relaxed) - before]
}

#[test]
fn templates_are_compared_by_blocks_of_terms() {
    let documents = templates(90);
    // Ten documents' terms fit into memory, so the documents are read many times.
    for fitting in [u64::MAX, 700] {
        assert!(check_comparison(&documents, fitting)[0] > 1000);
    }
}

#[test]
fn copies_are_compared_while_they_are_read() {
    // 50 documents of 60 terms, each with three copies in which some terms are others.
    let document = |number: u64| {
        let (original, copy) = (number % 50, number / 50);
        let own = |term: u64| mix(1 << 63 | number << 16 | term);
        let term = |term: u64| if term < copy * 4 { own(term) } else { mix(original << 16 | term) };
        (0..60).map(term).collect()
    };
    let documents: Vec<Vec<u64>> = (0..200).map(document).collect();
    let shards = source_of(&documents).shard_count();
    let [candidates, at_once] = check_comparison(&documents, u64::MAX);
    assert!((100..600).contains(&candidates), "{candidates}");
    assert_eq!(at_once, shards);
    // The stored documents fit into memory and the others do not. Shards without the latter are not read again.
    let [_, stored] = check_comparison(&documents, 5000);
    assert!((shards + 1..=2 * shards).contains(&stored), "{stored}");
    let [_, in_batches] = check_comparison(&documents, 900);
    assert!((2 * shards + 1..20 * shards).contains(&in_batches), "{in_batches}");
    // A document may be larger than the memory.
    check_comparison(&documents, 1);
}
