//! Tests the comparison by an index of prefixes against the comparison of all rows of bits.

use super::*;
use crate::known_rows::KnownRows;
use crate::pair_order::Candidate;
use crate::sketches::Sketches;
use crate::sketching::{SketchScratch, Sketching};
use crate::window_scan::{CandidateSets, ScanPlan, WindowScan};

/// Returns 20 copies of each of 40 documents. A copy lacks some terms, and has some that no other copy has. The last
/// two copies of each document are equal.
fn copies() -> Vec<Vec<u64>> {
    let document = |number: u64| -> Vec<u64> {
        let (original, copy) = (number % 40, (number / 40).min(18));
        let number = copy * 40 + original;
        let is_common = |&term: &u64| mix(number << 32 | term) % 20 >= copy % 5;
        let common = (0..50 + original % 7 * 20).filter(is_common);
        let own = (0..copy % 7).map(|term| mix(1 << 63 | number << 16 | term));
        common.map(|term| mix(original << 16 | term)).chain(own).collect()
    };
    (0..800).map(document).collect()
}

/// Returns the sketches of `documents` with prefixes. They are made in two lists: one for even and one for odd row
/// numbers. The lists share the rows of equal sets.
fn sketched(documents: &[Vec<u64>], threshold: Threshold) -> Sketches {
    let context = Context::default();
    let memory = context.memory();
    let mut counts = BTreeMap::new();
    for &term in documents.iter().flatten().collect::<BTreeSet<_>>() {
        let documents = documents.iter().filter(|terms| terms.contains(&term));
        counts.insert(term, documents.count());
    }
    let rows = KnownRows::new(memory);
    let new = |_| Sketching::new(threshold, true, memory).with_prefixes(memory).sharing(&rows);
    let mut lists = [0, 1].map(new);
    let mut scratch = SketchScratch::default();
    for (row, terms) in (0..).zip(documents) {
        let matched = |terms: &[u64], matched: &mut Vec<bool>| {
            matched.extend(terms.iter().map(|term| counts[term] > 1));
        };
        let list = &mut lists[row as usize % 2];
        list.push_counted(row, terms, matched, |term| term as u32, &mut scratch).unwrap();
    }
    lists.reverse();
    Sketches::sorted(Sketching::after_sharing(lists.into()), None, threshold).0
}

#[test]
fn prefixes_find_all_similar_sets() {
    let documents = copies();
    let context = Context::default();
    for threshold in
        ["0.7", "0.9", "0.5", "tversky:0.8", "dice:0.8", "cosine:0.8", "containment:0.9"]
    {
        let threshold: Threshold = threshold.parse().unwrap();
        let sketches = sketched(&documents, threshold);
        let plan = ScanPlan::new(threshold, &context);
        for which in [CandidateSets::Earlier, CandidateSets::NotLarger, CandidateSets::Smaller] {
            let pairs = |with_prefixes| {
                let scan = WindowScan::new(sketches.all(), sketches.all(), which, plan).unwrap();
                let mut pairs: Vec<Candidate> = Vec::new();
                let found = &mut |found: Vec<Vec<Candidate>>| {
                    pairs.extend(found.concat());
                    Ok(false)
                };
                scan.with_index(with_prefixes).unwrap().visit(u64::MAX, found).unwrap();
                pairs.sort_unstable();
                pairs
            };
            let [by_rows, by_prefixes] = [false, true].map(pairs);
            assert!(by_prefixes.iter().all(|pair| by_rows.binary_search(pair).is_ok()));
            let is_similar = |[a, b]: [u32; 2]| {
                let [a, b] = [a, b].map(|row| &documents[row as usize]);
                let shared = a.iter().filter(|term| b.contains(term)).count() as u64;
                threshold.reached(shared, a.len() as u64, b.len() as u64).is_some()
            };
            let mut similar = by_rows.iter().filter(|&&pair| is_similar(pair));
            assert!(similar.clone().count() > 100, "{threshold:?}, {which:?}");
            assert!(similar.all(|pair| by_prefixes.binary_search(pair).is_ok()));
        }
    }
}

#[test]
fn equal_sets_share_a_row() {
    let sketches = sketched(&copies(), threshold(7, 10));
    let rows: BTreeSet<_> = (0..sketches.len()).map(|place| sketches.row(place).as_ptr()).collect();
    assert!(sketches.len() > 500);
    assert_eq!(rows.len() + 40, sketches.len());
}
