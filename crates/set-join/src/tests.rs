//! Tests the joins of sets against comparisons of every two sets.

use super::cells::Cells;
use super::compare_terms::TermComparison;
use super::kept_pairs::KeptPairs;
use super::pair_order::in_order;
use super::sketch_join::Scan;
use super::*;
use crate::close::{Close, SetPair};
use proptest::prelude::*;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::resources::Resources;
use simtool_kernels::Isa;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::similarity::{Formula, MEASURES, Similarity};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Documents in memory. Each shard has `shard_documents` of them.
struct Documents {
    documents: Vec<Vec<u64>>,
    shard_documents: usize,
}

impl TermSource for Documents {
    fn shard_count(&self) -> usize {
        self.documents.len().div_ceil(self.shard_documents)
    }

    fn term_count_hint(&self) -> u64 {
        self.documents.iter().map(|terms| terms.len() as u64).sum()
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let documents = self.documents.chunks(self.shard_documents).nth(shard).unwrap();
        for (index, terms) in (0..).zip(documents) {
            if wanted.has(index) {
                visit(index, terms);
            }
        }
        Ok(())
    }
}

/// Documents that count how often they are read. The number of terms that they report is given.
struct Counted {
    documents: Documents,
    term_count_hint: u64,
    held_bytes: u64,
    readings: AtomicUsize,
}

impl Counted {
    fn new(documents: Documents, term_count_hint: u64) -> Self {
        Self { documents, term_count_hint, held_bytes: 0, readings: AtomicUsize::new(0) }
    }
}

impl TermSource for Counted {
    fn shard_count(&self) -> usize {
        self.documents.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.term_count_hint
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.readings.fetch_add(1, Ordering::Relaxed);
        self.documents.visit_shard(shard, wanted, visit)
    }
}

/// Returns whether two sets are similar by the definition of the measure, in whole numbers. The array
/// has the number of shared terms and the sizes of the two sets.
fn is_similar(threshold: Threshold, [shared, left, right]: [u64; 3]) -> bool {
    let [least, most] = <[u32; 2]>::from(threshold.fraction()).map(u128::from);
    let [x, p, q] = [shared, left, right].map(u128::from);
    let is_reached = match threshold.measure().name {
        "jaccard" => most * x >= least * (p + q - x),
        "containment" => most * x >= least * p.min(q),
        "cosine" => (most * x).pow(2) >= least * least * p * q,
        "tversky" => most * x * 10 >= least * (9 * p.min(q) + p.max(q)),
        "dice" => most * x * 2 >= least * (p + q),
        other => panic!("write the definition of {other} here"),
    };
    x > 0 && is_reached
}

/// Returns the number of shared terms and the number of terms of each document.
fn sizes(left: &[u64], right: &[u64]) -> [u64; 3] {
    let left: BTreeSet<u64> = left.iter().copied().collect();
    let right: BTreeSet<u64> = right.iter().copied().collect();
    [left.intersection(&right).count(), left.len(), right.len()].map(|count| count as u64)
}

fn brute_force(
    left: &[Vec<u64>],
    right: &[Vec<u64>],
    threshold: Threshold,
    all: bool,
) -> Vec<ClosePair> {
    let mut pairs = Vec::new();
    for (a, left) in (0..).zip(left) {
        for (b, right) in (0..).zip(right).filter(|&(b, _)| all || b > a) {
            let [shared, left, right] = sizes(left, right);
            if is_similar(threshold, [shared, left, right]) {
                let similarity = threshold.similarity(shared, left, right);
                pairs.push(ClosePair::similar(a, b, similarity));
            }
        }
    }
    pairs
}

fn expanded(close: &Close) -> Vec<ClosePair> {
    let mut pairs = Vec::new();
    let visited = close.for_each_pair(|pair| {
        pairs.push(pair);
        Ok::<_, ()>(())
    });
    assert_eq!(visited, Ok(()));
    pairs
}

fn three_threads() -> Context<'static> {
    let resources = Resources { threads: 3, ..Resources::default() };
    Context::new(&resources, &NoProgress).unwrap()
}

#[track_caller]
fn check(documents: &[Vec<u64>], threshold: Threshold) {
    let expected = brute_force(documents, documents, threshold, false);
    let middle = documents.len() / 3;
    let (left, right) = documents.split_at(middle);
    let expected_across = brute_force(left, right, threshold, true);
    let alone = &Context::default();
    let pooled = &three_threads();
    // With 4 KiB, candidates are compared in batches. With 1 byte, each document is a block.
    for (context, shard_documents, memory_bytes) in [
        (alone, 1000, u64::MAX),
        (pooled, 7, u64::MAX),
        (alone, 1, 4 << 10),
        (pooled, 9, 1 << 10),
        (pooled, 9, 1),
    ] {
        let source =
            |documents: &[Vec<u64>]| Documents { documents: documents.to_vec(), shard_documents };
        let join = SetJoin { threshold, memory_bytes, context };
        let close = join.self_join(&source(documents)).unwrap();
        assert_eq!(expanded(&close), expected, "threshold {threshold}");
        assert_eq!(close.pair_count(), expected.len() as u64);
        let across = join.query(&source(left), &source(right)).unwrap().pairs;
        assert_eq!(across, expected_across.clone().into(), "across, threshold {threshold}");
    }
    // Join by prefixes, as for collections that are too large for comparing sketches. With little
    // memory, block by block.
    for memory_bytes in [u64::MAX, 1 << 10, 48] {
        let join = SetJoin { threshold, memory_bytes, context: &pooled.with_isa(Isa::PORTABLE) };
        let documents = source_of(documents);
        let left = source_of(left);
        let right = source_of(right);
        let sources = Sources { first: &documents, second: None };
        let mut survivors = join.survivors(&sources).unwrap();
        let groups = survivors.remove_equal();
        survivors.is_scanned = false;
        let pairs = join.join(&sources, survivors, None).unwrap().pairs;
        let close = Close::sets(Sides::One(groups), pairs);
        assert_eq!(expanded(&close), expected, "by prefixes, threshold {threshold}");
        let sources = Sources { first: &left, second: Some(&right) };
        let mut survivors = join.survivors(&sources).unwrap();
        survivors.is_scanned = false;
        let across = join.join(&sources, survivors, None).unwrap().pairs;
        assert_eq!(
            across,
            expected_across.clone().into(),
            "across by prefixes, threshold {threshold}"
        );
    }
}

fn source_of(documents: &[Vec<u64>]) -> Documents {
    Documents { documents: documents.to_vec(), shard_documents: 9 }
}

fn threshold(numerator: u32, denominator: u32) -> Threshold {
    Threshold::new(numerator, denominator).unwrap()
}

/// Generates a document of up to `max_terms` terms. Some of the 1000 possible terms are far more
/// frequent than others.
fn document(max_terms: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((0..1000_u64).prop_map(|draw| mix(draw * draw / 20_000)), 0..max_terms)
}

/// Generates documents and edited copies of them. They are so few that the join works with the least
/// memory, when each document is a block.
fn collection() -> impl Strategy<Value = Vec<Vec<u64>>> {
    const MOST_ORIGINALS: usize = 29;
    let copies = prop::collection::vec(
        (any::<prop::sample::Index>(), 0..4_u64, any::<bool>()),
        0..=MOST_BLOCKS - MOST_ORIGINALS,
    );
    (prop::collection::vec(document(30), 1..=MOST_ORIGINALS), copies).prop_map(
        |(mut documents, copies)| {
            for (original, edits, reversed) in copies {
                let mut copy = documents[original.index(documents.len())].clone();
                for edit in 0..edits.min(copy.len() as u64) {
                    let at = (mix(edit) % copy.len() as u64) as usize;
                    copy[at] = mix(edit ^ copy[at].rotate_left(7));
                }
                if reversed {
                    copy.reverse();
                }
                documents.push(copy);
            }
            documents
        },
    )
}

proptest! {
    // Each case is eight joins.
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn finds_what_brute_force_finds(
        documents in collection(),
        measure in prop::sample::select(MEASURES.to_vec()),
        (numerator, denominator) in prop::sample::select(vec![
            (1, 5), (1, 3), (1, 2), (2, 3), (7, 10), (3, 4), (4, 5), (9, 10), (99, 100), (1, 1),
        ]),
    ) {
        check(&documents, threshold(numerator, denominator).of(measure));
    }
}

/// Returns the row numbers in an order of preference that depends on `seed`. With 0 they are ascending.
fn order_of(documents: &[Vec<u64>], seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..documents.len() as u32).collect();
    if seed > 0 {
        rows.sort_by_key(|&row| mix(seed << 32 | u64::from(row)));
    }
    rows
}

/// Returns the removed rows, each with the kept row that it is most similar to. Each row of `order` is
/// kept unless it is similar to one that was kept before it.
fn removals(close: &Close, order: &[u32]) -> Vec<(u32, u32, Closeness)> {
    let pairs = expanded(close).into_iter().map(|pair| ((pair.a, pair.b), pair.closeness));
    let pairs: BTreeMap<(u32, u32), Closeness> = pairs.collect();
    let mut kept = Vec::new();
    let mut removed = Vec::new();
    for &row in order {
        let close_to = |&other: &u32| Some((*pairs.get(&(row.min(other), row.max(other)))?, other));
        let closest = kept.iter().filter_map(close_to);
        match closest.max_by(|(to_a, a), (to_b, b)| to_a.compare(*to_b).then(b.cmp(a))) {
            Some((closeness, other)) => removed.push((row, other, closeness)),
            None => kept.push(row),
        }
    }
    removed
}

/// Checks that the pairs that decide remove the same documents as all pairs. Returns the number of all
/// pairs and the number of pairs that decide.
#[track_caller]
fn check_kept(documents: &[Vec<u64>], threshold: Threshold, order: &[u32]) -> [usize; 2] {
    let alone = &Context::default();
    let pooled = &three_threads();
    let memory_bytes = u64::MAX;
    let source = source_of(documents);
    let sources = Sources { first: &source, second: None };
    let mut most = u64::MAX;
    let mut deciding = 0;
    let join = SetJoin { threshold, memory_bytes, context: pooled };
    let all = join.self_join(&source).unwrap();
    // The second time, allow only as much memory as the pairs need.
    for context in [alone, pooled] {
        let join = SetJoin { context, ..join };
        let (shards, mut parts) = sketch_all(&sources, threshold, context).unwrap();
        let equal = sketches::equal_sets(&parts);
        let mut survivors = Survivors { shards, sketches: parts, is_scanned: true };
        assert_eq!(survivors.remove_equal(), equal);
        Survivors { sketches: parts, .. } = survivors;
        let by_sketches = SketchJoin::new(&join, &sources, &survivors.shards, parts, None).unwrap();
        let turns = Turns::new(order.to_vec(), &equal);
        let mut sizes = vec![0; documents.len()];
        let found = KeptPairs::new(&by_sketches, turns, most).find(&mut sizes).unwrap();
        (most, deciding) = (found.len() as u64, found.len());
        let pairs = ClosePairs::of_sets(found, sizes, 0, threshold);
        assert!(pairs.iter().all(|pair| all.pairs.iter().any(|other| pair == other)));
        let close = Close::sets(Sides::One(equal), pairs);
        assert_eq!(removals(&close, order), removals(&all, order));
    }
    [all.pairs.len(), deciding]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn pairs_that_decide_keep_what_all_pairs_keep(
        documents in collection(),
        (numerator, denominator) in prop::sample::select(vec![
            (1, 5), (1, 3), (1, 2), (2, 3), (7, 10), (4, 5), (9, 10), (1, 1),
        ]),
        seed in 0..1000_u64,
    ) {
        check_kept(&documents, threshold(numerator, denominator), &order_of(&documents, seed));
    }
}

#[test]
fn of_templates_few_pairs_decide() {
    let documents = templates(600);
    for seed in [0, 1, 2] {
        let order = order_of(&documents, seed);
        let [all, deciding] = check_kept(&documents, threshold(7, 10), &order);
        // A batch of an eighth of the documents has more pairs than decide in total, so batches are cut
        // in halves.
        assert!(all > 20_000 && deciding < 1_000, "{all} {deciding}");
    }
}

/// Documents whose terms have weights.
struct Weighted(Documents);

fn weight(term: u64) -> u32 {
    // Some weights are so large that their sums nearly fill 64 bits.
    (1 + term % 5) as u32 * if term.is_multiple_of(9) { 1 << 28 } else { 1 }
}

impl TermSource for Weighted {
    fn shard_count(&self) -> usize {
        self.0.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.0.term_count_hint()
    }

    fn is_weighted(&self) -> bool {
        true
    }

    fn weight(&self, term: u64) -> u32 {
        weight(term)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.0.visit_shard(shard, wanted, visit)
    }
}

/// Returns the weight that two documents share, and the weight of each.
fn weights(left: &[u64], right: &[u64]) -> [u64; 3] {
    let sum = |terms: &BTreeSet<u64>| terms.iter().map(|&term| u64::from(weight(term))).sum();
    let [left, right] = [left, right].map(|terms| terms.iter().copied().collect::<BTreeSet<_>>());
    [sum(&left.intersection(&right).copied().collect()), sum(&left), sum(&right)]
}

/// Finds all pairs of weighted documents directly from the definition of the measure.
fn weighted_brute_force(
    left: &[Vec<u64>],
    right: &[Vec<u64>],
    threshold: Threshold,
    all: bool,
) -> Vec<ClosePair> {
    let mut pairs = Vec::new();
    for (a, left) in (0..).zip(left) {
        for (b, right) in (0..).zip(right).filter(|&(b, _)| all || b > a) {
            let [shared, left, right] = weights(left, right);
            if is_similar(threshold, [shared, left, right]) {
                let similarity = threshold.similarity(shared, left, right);
                pairs.push(ClosePair::similar(a, b, similarity));
            }
        }
    }
    pairs
}

#[track_caller]
fn check_weighted(documents: &[Vec<u64>], threshold: Threshold) {
    let expected = weighted_brute_force(documents, documents, threshold, false);
    let (left, right) = documents.split_at(documents.len() / 3);
    let expected_across = weighted_brute_force(left, right, threshold, true);
    let alone = &Context::default();
    let pooled = &three_threads();
    for (context, memory_bytes) in
        [(alone, u64::MAX), (pooled, u64::MAX), (alone, 1 << 10), (pooled, 48)]
    {
        let source = |documents: &[Vec<u64>]| Weighted(source_of(documents));
        let join = SetJoin { threshold, memory_bytes, context };
        let close = join.self_join(&source(documents)).unwrap();
        assert_eq!(expanded(&close), expected, "threshold {threshold}");
        let across = join.query(&source(left), &source(right)).unwrap().pairs;
        assert_eq!(across, expected_across.clone().into(), "across, threshold {threshold}");
    }
}

proptest! {
    // Each case is eight joins.
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn weighted_joins_find_what_brute_force_finds(
        documents in collection(),
        measure in prop::sample::select(MEASURES.to_vec()),
        (numerator, denominator) in prop::sample::select(vec![
            (1, 50), (1, 10), (1, 3), (1, 2), (2, 3), (7, 10), (4, 5), (99, 100), (1, 1),
        ]),
        tied in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        check_weighted(&documents, threshold(numerator, denominator).of(measure));
        // A threshold that one pair reaches exactly.
        let [a, b] = [tied.0, tied.1].map(|tied| &documents[tied.index(documents.len())]);
        let [shared, left, right] = weights(a, b);
        let tie = match measure.formula {
            Formula::Ratio(ratio) => {
                let similarity = ratio.similarity(shared, left, right);
                [similarity.shared, similarity.union]
            }
            Formula::Cosine => [shared, left.min(right)],
        };
        if let [Ok(a @ 1..), Ok(c @ ..=1_000_000)] = tie.map(u32::try_from) {
            check_weighted(&documents, threshold(a, c).of(measure));
        }
    }
}

#[test]
fn dice_worked_by_hand() {
    // 2 · 3 / (4 + 5) is 2/3, which the Jaccard similarity 3/6 does not reach.
    let documents = vec![vec![1, 2, 3, 4], vec![2, 3, 4, 5, 6], vec![6, 7]];
    let found = |threshold: &str| {
        let context = Context::default();
        let join = SetJoin::new(threshold.parse().unwrap(), &context);
        let close = join.self_join(&source_of(&documents)).unwrap();
        close.pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>()
    };
    assert_eq!(found("dice:2/3"), [(0, 1)]);
    assert_eq!(found("dice:0.667"), []);
    assert_eq!(found("2/3"), []);
    assert_eq!(found("dice:2/7"), [(0, 1), (1, 2)]);
}

#[test]
fn weights_worked_by_hand() {
    // The terms 1, 2, 4 weigh 2, 3, 5, and 9 weighs 5 << 28.
    let documents = vec![vec![1, 2, 4], vec![2, 4, 4], vec![1, 9], vec![4, 2, 1]];
    let join = |threshold: &str| {
        let threshold = threshold.parse().unwrap();
        check_weighted(&documents, threshold);
        let context = &Context::default().with_isa(Isa::PORTABLE);
        let join = SetJoin::new(threshold, context);
        let similar = join.self_join(&Weighted(source_of(&documents))).unwrap();
        assert_eq!(*similar.groups.first(), Groups::from_iter([[0, 3]]));
        similar.pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>()
    };
    // (3 + 5) / 10, 8 / √(10 × 8) = 0.894 and 8 / 8.
    assert_eq!(join("0.8"), [(0, 1)]);
    assert_eq!(join("0.800000001"), []);
    assert_eq!(join("cosine:0.894"), [(0, 1)]);
    assert_eq!(join("cosine:0.895"), []);
    assert_eq!(join("containment:1"), [(0, 1)]);
    // The shared weight is 2 of 10, although it is hardly any part of the other document.
    assert_eq!(join("containment:0.2"), [(0, 1), (0, 2)]);
    assert_eq!(join("containment:0.201"), [(0, 1)]);
}

#[test]
fn empty_and_tiny_collections() {
    for documents in [
        vec![],
        vec![vec![]],
        vec![vec![], vec![]],
        vec![vec![1], vec![1], vec![], vec![1, 1]],
        vec![vec![0, u64::MAX], vec![u64::MAX, 0], vec![u64::MAX]],
    ] {
        check(&documents, threshold(4, 5));
        check(&documents, threshold(1, 2));
        check_weighted(&documents, threshold(1, 2));
    }
}

#[test]
fn thousands_of_equal_documents_are_one_group() {
    let terms: Vec<u64> = (0..50).map(mix).collect();
    let mut other = terms.clone();
    other.push(mix(77));
    let mut documents = vec![terms; 20_000];
    documents[3] = other;
    documents[5].reverse();
    let source = Documents { documents, shard_documents: 999 };
    let context = Context::default();
    let join = SetJoin::new(threshold(4, 5), &context);
    let similar = join.self_join(&source).unwrap();
    let groups = similar.groups.first();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups.size(0), 19_999);
    let similarity = Similarity { shared: 50, union: 51 };
    assert_eq!(similar.pairs, vec![ClosePair::similar(0, 3, similarity)].into());
    assert_eq!(similar.pair_count(), 19_999 * 20_000 / 2);
}

#[test]
fn too_little_memory_is_reported_as_soon_as_it_shows() {
    // Documents that share 20 of 21 terms.
    fn document(number: u64) -> Vec<u64> {
        (0..20).map(mix).chain([mix(1000 + number)]).collect()
    }
    let readings = |documents: u64, memory_bytes: u64, term_count_hint: u64| {
        let documents = (0..documents).map(document).collect();
        let documents = Documents { documents, shard_documents: 10_000 };
        let counted = Counted::new(documents, term_count_hint);
        let join =
            SetJoin { threshold: threshold(4, 5), memory_bytes, context: &Context::default() };
        let error = join.self_join(&counted).map(drop).unwrap_err();
        assert!(matches!(error.kind(), simtool_base::error::ErrorKind::Limit { .. }), "{error}");
        (counted.readings.into_inner(), error.to_string())
    };
    // If there are far too many terms for a table in this memory, nothing is read at all.
    let (read, message) = readings(10, 1 << 20, 1 << 32);
    assert_eq!(read, 0);
    assert!(
        message.starts_with("about 4294967296 shingles: `max_memory` leaves 1048576 bytes for")
    );
    assert!(
        message.ends_with(" 113M more is enough for that; the method simhash needs less"),
        "{message}"
    );
    // If only the first reading shows this, the error is the same.
    let (read, message) = readings(5000, 2, 1 << 10);
    assert_eq!(read, 1);
    assert!(
        message.starts_with("about 105000 shingles: `max_memory` leaves 2 bytes for them"),
        "{message}"
    );
    // The first round counts and prunes fifteen times. It shows that no further round can help.
    let (read, message) = readings(5000, 3000, 105_000);
    assert_eq!(read, 30);
    assert!(message.starts_with("105000 shingles that may match: `max_memory` leaves 3000 bytes"));
    // If further rounds may help, they are run.
    let (read, message) = readings(500, 1, 1 << 10);
    assert!(read > 2 && message.contains("more than 64 parts, each with each. 1M more is enough"));
}

#[test]
fn pairs_that_are_too_many_for_the_memory_are_refused() {
    // All documents are similar, but no two are equal. There are more than a million pairs, which take
    // 27 MB while they are sorted.
    let document = |number: u64| (0..20).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..1500).map(document).collect();
    let pairs = |memory_bytes, held_bytes| {
        let source = Counted { held_bytes, ..Counted::new(source_of(&documents), 1 << 10) };
        let threshold = threshold(4, 5);
        let join = SetJoin { threshold, memory_bytes, context: &Context::default() };
        let close = join.self_join(&source).map_err(|error| error.to_string())?;
        Ok::<_, String>(close.pairs.len())
    };
    assert_eq!(pairs(64 << 20, 0), Ok(1500 * 1499 / 2));
    let message = pairs(20 << 20, 0).unwrap_err();
    let expected = "1124250 pairs of near-duplicates: `max_memory` leaves 20971520 bytes for them";
    assert!(message.starts_with(expected), "{message}");
    // Few of these pairs decide which documents are kept.
    let source = Counted::new(source_of(&documents), 1 << 10);
    let memory_bytes = 20 << 20;
    let threshold = threshold(4, 5);
    let join = SetJoin { threshold, memory_bytes, context: &Context::default() };
    let order = || (0..1500).rev().collect();
    let close = join.self_join_to_keep(&source, &order).unwrap();
    assert!(!close.is_complete && close.pairs.len() == 1499);
    assert!(close.pairs.iter().all(|pair| pair.b == 1499));
    let join = SetJoin { memory_bytes: 64 << 20, ..join };
    let close = join.self_join_to_keep(&source, &order).unwrap();
    assert!(close.is_complete && close.pairs.len() == 1500 * 1499 / 2);
    // The data that the source keeps about the documents takes a part of the memory.
    let message = pairs(64 << 20, 44 << 20).unwrap_err();
    assert!(message.contains("`max_memory` leaves 20971520 bytes"), "{message}");
}

#[test]
fn large_buffers_are_entered_in_the_ledger_and_released() {
    let document = |number: u64| (0..200).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..600).map(document).collect();
    let source = source_of(&documents);
    let limit = 64 << 20;
    let context = Context::default().with_memory(limit);
    let join = SetJoin::new(threshold(4, 5), &context);
    let close = join.self_join(&source).unwrap();
    let pairs = close.pairs.len() as u64;
    assert_eq!(pairs, 600 * 599 / 2);
    // The pairs exist twice while they are sorted.
    let of_pairs = 2 * pairs * size_of::<SetPair>() as u64;
    let peak = context.memory().peak();
    assert!((of_pairs / 2..limit).contains(&peak), "{peak}");
    drop(close);
    assert_eq!(context.memory().used(), 0);
}

#[test]
fn terms_tables_and_sketches_are_entered_in_the_ledger() {
    let context = Context::default().with_memory(u64::MAX);
    let ledger = context.memory();
    let terms: Vec<u64> = (0..300_000).map(mix).collect();
    let table = Cells::new(1 << 20, 0, ledger).unwrap();
    assert_eq!(ledger.used(), (1 << 20) / Cells::A_BYTE);
    drop(table);
    // Room for terms costs nothing before it is used.
    let mut stored = Stored::with_capacity(1 << 20, ledger);
    assert_eq!(ledger.used(), 0);
    stored.push(0, &terms).unwrap();
    let bytes = size_of_val(&terms[..]) as u64;
    assert!((bytes..=bytes / 4 * 5).contains(&ledger.used()), "{}", ledger.used());
    drop(stored);
    let mut sketches = Sketching::new(Threshold::DEFAULT, true, ledger);
    sketches.push(0, &terms, &mut SketchScratch::default()).unwrap();
    // At least a bit for each term.
    assert!((300_000 / 8..300_000).contains(&ledger.used()), "{}", ledger.used());
    drop(sketches);
    assert_eq!(ledger.used(), 0);
}

#[test]
fn terms_that_are_joined_at_once_fit_into_32_bits() {
    let fitting = |memory_bytes| {
        SetJoin { threshold: threshold(4, 5), memory_bytes, context: &Context::default() }.fitting()
    };
    assert_eq!(fitting(u64::MAX), u64::from(u32::MAX));
    assert_eq!(fitting(48_000), 1000);
    // Two blocks are joined at a time. Each has one of the longest documents.
    let longest = prune::document_size((1 << 31) - 1).unwrap();
    let shard = Shard::new(5, vec![longest, 1, longest, longest]);
    assert_eq!(shard.living_terms(), 3 * u64::from(longest) + 1);
    let blocks = blocks(&[shard], fitting(u64::MAX) / 2);
    assert_eq!(blocks, [0..6, 6..7, 7..8, 8..u32::MAX]);
}

#[test]
fn repeated_terms_count_once() {
    let x = 6_238_072_747_940_578_789;
    let y = 15_839_785_061_582_574_730;
    let z = 2_185_194_620_014_831_856;
    let w = 17_809_428_220_771_004_405;
    let original = vec![x, x, 0, y, z, x];
    let documents = vec![
        original.clone(),
        vec![y],
        original.clone(),
        original.clone(),
        original,
        vec![x, z, y, 0, x, w],
        vec![w, z, y, 0, x, w],
    ];
    check(&documents, threshold(7, 10));
}

/// Returns documents from two templates. They have different lengths and some terms of their own.
fn templates(documents: u64) -> Vec<Vec<u64>> {
    let document = |number: u64| -> Vec<u64> {
        let template = number % 7 / 5;
        let common = (0..60).map(|term| mix(term << 8 | template));
        let own = (0..number % 13 * 2).map(|term| mix(number << 32 | term));
        common.skip((number % 4) as usize).chain(own).collect()
    };
    (0..documents).map(document).collect()
}

#[test]
fn templates_are_compared_by_blocks_of_terms() {
    let documents = templates(90);
    let source = source_of(&documents);
    let sources = Sources { first: &source, second: None };
    let context = Context::default();
    let join = SetJoin::new(threshold(7, 10), &context);
    let survivors = join.survivors(&sources).unwrap();
    let mut candidates = LargeBuffer::zeroed(0);
    let Survivors { shards, sketches, .. } = survivors;
    let by_sketches = SketchJoin::new(&join, &sources, &shards, sketches, None).unwrap();
    let scans = Scan::within(&by_sketches.sketches);
    let visited = by_sketches.near(&scans, u64::MAX, &mut |found| {
        candidates = in_order(&found, &context)?;
        Ok(())
    });
    visited.unwrap();
    assert!(candidates.len() > 1000);
    // Ten documents' terms fit into memory, so the documents are read many times.
    for fitting in [u64::MAX, 700] {
        let comparison = TermComparison {
            sources: &sources,
            shards: &shards,
            threshold: threshold(7, 10),
            fitting,
            context: &Context::default().with_isa(Isa::PORTABLE),
        };
        let mut sizes = vec![0; documents.len()];
        let similar = comparison.similar(candidates.clone(), &mut sizes).unwrap();
        let similar = ClosePairs::of_sets(similar, sizes, 0, threshold(7, 10));
        assert_eq!(similar, brute_force(&documents, &documents, threshold(7, 10), false).into());
    }
}

#[test]
fn candidates_are_handed_on_before_they_are_too_many() {
    // Two and two documents are equal, and no others are similar. There are enough documents for three
    // blocks.
    let document = |number: u64| (0..8).map(|term| mix((number / 2) << 8 | term)).collect();
    let documents: Vec<Vec<u64>> = (0..40_000).map(document).collect();
    let source = source_of(&documents);
    let sources = Sources { first: &source, second: None };
    let threshold = threshold(7, 10);
    let join = SetJoin { threshold, memory_bytes: u64::MAX, context: &Context::default() };
    let found = |most: u64| {
        let (shards, sketches) = sketch_all(&sources, threshold, &Context::default()).unwrap();
        let by_sketches = SketchJoin::new(&join, &sources, &shards, sketches, None).unwrap();
        let mut pairs = Vec::new();
        let mut calls = 0;
        let scans = Scan::within(&by_sketches.sketches);
        let visited = by_sketches.near(&scans, most, &mut |found| {
            pairs.extend(found.concat());
            calls += 1;
            Ok(())
        });
        visited.unwrap();
        pairs.sort_unstable();
        (pairs, calls)
    };
    let (all, calls) = found(u64::MAX);
    assert_eq!(calls, 1);
    assert!((0..20_000).all(|pair| all.binary_search(&[pair * 2, pair * 2 + 1]).is_ok()));
    assert_eq!(found(5000), (all, 3));
}

#[test]
fn many_terms_are_counted_before_documents_are_sketched() {
    let documents = Documents { documents: templates(90), shard_documents: 9 };
    let expected = brute_force(&documents.documents, &documents.documents, threshold(7, 10), false);
    // The source reports so many terms that the documents are pruned first: with cells that are kept in
    // memory, or with less memory by reading twice.
    for memory_bytes in [u64::MAX, 100 << 20] {
        let documents = Documents { documents: templates(90), shard_documents: 9 };
        let source = Counted::new(documents, 1 << 27);
        let threshold = threshold(7, 10);
        let join = SetJoin { threshold, memory_bytes, context: &Context::default() };
        let close = join.self_join(&source).unwrap();
        assert_eq!(expanded(&close), expected);
        let per_shard = source.readings.into_inner() / 10;
        assert_eq!(per_shard, if memory_bytes == u64::MAX { 3 } else { 4 });
    }
}

#[test]
fn terms_are_counted_in_slices_where_memory_is_scarce() {
    let single = |number: u64| (0..30).map(|term| mix(number << 32 | term | 1 << 20)).collect();
    let all: Vec<Vec<u64>> = templates(2).into_iter().chain((0..1000).map(single)).collect();
    let threshold = threshold(7, 10);
    let expected = brute_force(&all[..2], &all[..2], threshold, false);
    assert_eq!(expected.len(), 1);
    // All terms are counted in one table or in three. After each, documents are pruned. The rest is
    // sketched and compared. If the source reports few terms, they are counted again in four tables,
    // and the two candidates are compared one after the other.
    for (memory_bytes, term_count_hint, readings) in
        [(40_000, 50_000, 4), (10_000, 32_000, 8), (6000, 6001, 12)]
    {
        let documents = Documents { documents: all.clone(), shard_documents: 2000 };
        let source = Counted::new(documents, term_count_hint);
        let join = SetJoin { threshold, memory_bytes, context: &Context::default() };
        assert_eq!(join.self_join(&source).unwrap().pairs, expected.clone().into());
        assert_eq!(source.readings.into_inner(), readings);
    }
}

/// Documents that can no longer be read after a number of readings of shards.
struct Vanishing {
    documents: Documents,
    readings_left: AtomicUsize,
}

impl TermSource for Vanishing {
    fn shard_count(&self) -> usize {
        self.documents.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.documents.term_count_hint()
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let less = |left: usize| left.checked_sub(1);
        match self.readings_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => self.documents.visit_shard(shard, wanted, visit),
            Err(_) => Ok(()),
        }
    }
}

#[test]
fn documents_that_are_gone_are_like_nothing() {
    let similar_after = |readings: usize| {
        let documents = source_of(&templates(90));
        let source = Vanishing { documents, readings_left: AtomicUsize::new(readings) };
        let threshold = threshold(7, 10);
        let join = SetJoin { threshold, memory_bytes: u64::MAX, context: &Context::default() };
        join.self_join(&source).unwrap().pairs.len()
    };
    let all = similar_after(20);
    assert!(all > 1000);
    assert_eq!(similar_after(10), 0);
    assert!((1..all).contains(&similar_after(15)));
}
