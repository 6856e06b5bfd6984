//! Tests the joins of sets against comparisons of every two sets.

mod comparison;
mod memory;
mod prefixes;
mod vanishing;
mod weighted;

use super::*;
use crate::block_join::MOST_BLOCKS;
use crate::close::{Close, ClosePair, ClosePairs, SetPair};
use crate::kept_pairs::{DecidingRule, Turns, deciding_pairs};
use crate::prune::{self, JoinShard};
use crate::sketch_join::SketchJoin;
use crate::sketch_pairs::SketchPairs;
use crate::sketch_parts::SketchParts;
use crate::sketching::Sketching;
use crate::survivors::{Survivors, sketch_all, sketch_counted};
use crate::term_source::TermSources;
use proptest::prelude::*;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_kernels::Isa;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Formula, MEASURES, Similarity, Threshold};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Documents in memory. Each shard has `shard_documents` of them.
struct ListedDocuments {
    documents: Vec<Vec<u64>>,
    shard_documents: usize,
}

impl TermSource for ListedDocuments {
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

/// A source of documents that counts how often its shards are read. It reports `term_count_hint` as its number of
/// terms, even if it has another number.
struct CountedReadings {
    documents: ListedDocuments,
    term_count_hint: u64,
    held_bytes: u64,
    readings: AtomicUsize,
}

impl CountedReadings {
    fn new(documents: ListedDocuments, term_count_hint: u64) -> Self {
        Self { documents, term_count_hint, held_bytes: 0, readings: AtomicUsize::new(0) }
    }
}

impl TermSource for CountedReadings {
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
    brute_force_by(sizes, [left, right], threshold, all)
}

/// Finds all similar pairs by comparing every two documents with the definition of the measure. `sums`
/// returns three numbers for two documents: what they share, what the first has, and what the second
/// has. If `all` is false, only pairs with the first document before the second are compared.
fn brute_force_by(
    sums: fn(&[u64], &[u64]) -> [u64; 3],
    [left, right]: [&[Vec<u64>]; 2],
    threshold: Threshold,
    all: bool,
) -> Vec<ClosePair> {
    let mut pairs = Vec::new();
    for (a, left) in (0..).zip(left) {
        for (b, right) in (0..).zip(right).filter(|&(b, _)| all || b > a) {
            let [shared, left, right] = sums(left, right);
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
        let source = |documents: &[Vec<u64>]| ListedDocuments {
            documents: documents.to_vec(),
            shard_documents,
        };
        let join = SetJoin { threshold, memory_bytes, filter: None, context };
        let close = join.self_join(&source(documents)).unwrap();
        assert_eq!(expanded(&close), expected, "threshold {threshold}");
        assert_eq!(close.pair_count(), expected.len() as u64);
        let across = join.query(&source(left), &source(right)).unwrap().pairs;
        assert_eq!(across, expected_across.clone().into(), "across, threshold {threshold}");
    }
    // Joins by prefixes, as for collections that are too large for comparing sketches. With little
    // memory, joins block by block.
    for memory_bytes in [u64::MAX, 1 << 10, 48] {
        let join = SetJoin {
            threshold,
            memory_bytes,
            filter: None,
            context: &pooled.with_isa(Isa::PORTABLE),
        };
        let documents = source_of(documents);
        let left = source_of(left);
        let right = source_of(right);
        let sources = TermSources { first: &documents, second: None };
        let mut survivors = join.survivors(&sources).unwrap();
        let groups = survivors.remove_equal(None);
        survivors.is_scanned = false;
        let pairs = join.join(&sources, survivors, None).unwrap().pairs;
        let close = Close::sets(Sides::One(groups), pairs);
        assert_eq!(expanded(&close), expected, "by prefixes, threshold {threshold}");
        let sources = TermSources { first: &left, second: Some(&right) };
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

/// Returns all shards, and the sketches of all documents.
fn all_sketched(
    sources: &TermSources<'_>,
    threshold: Threshold,
    context: &Context<'_>,
) -> (Vec<JoinShard>, Vec<Sketching>) {
    let first = sketch_all(sources, threshold, context).unwrap().unwrap();
    (first.shards, first.sketches.unwrap())
}

fn source_of(documents: &[Vec<u64>]) -> ListedDocuments {
    ListedDocuments { documents: documents.to_vec(), shard_documents: 9 }
}

/// Checks that a join in parts finds the same pairs as comparing every two documents. The sketches of a part may take
/// at most `most` bytes.
#[track_caller]
pub(super) fn check_in_parts(documents: &[Vec<u64>], threshold: Threshold, most: u64) {
    let context = &three_threads();
    let join = SetJoin { threshold, memory_bytes: 1 << 20, filter: None, context };
    let (left, right) = documents.split_at(documents.len() / 3);
    let (all, left_source, right_source) =
        (source_of(documents), source_of(left), source_of(right));
    let alone = TermSources { first: &all, second: None };
    let two = TermSources { first: &left_source, second: Some(&right_source) };
    for (sources, second_from) in [(alone, None), (two, Some(left.len() as u32))] {
        let (shards, sketched) = all_sketched(&sources, threshold, context);
        let mut sizes = vec![0; documents.len()];
        sketching::write_sizes(&sketched, &mut sizes);
        let parts = SketchParts::new(sizes, most, threshold);
        let found = join.join_in_parts(&sources, &shards, &parts, second_from).unwrap();
        let expected = match second_from {
            None => brute_force(documents, documents, threshold, false),
            Some(_) => brute_force(left, right, threshold, true),
        };
        assert_eq!(found.pairs, expected.into(), "{most} bytes, threshold {threshold}");
    }
}

pub(super) fn threshold(numerator: u32, denominator: u32) -> Threshold {
    Threshold::new(numerator, denominator).unwrap()
}

/// Generates a document of up to `max_terms` terms. Some of the 1000 possible terms are far more
/// frequent than others.
fn document(max_terms: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((0..1000_u64).prop_map(|draw| mix(draw * draw / 20_000)), 0..max_terms)
}

/// Generates documents and edited copies of them. There are at most [`MOST_BLOCKS`] documents. So the
/// join works even with the least memory, when each document is a block of its own.
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
        let threshold = threshold(numerator, denominator).of(measure);
        check(&documents, threshold);
        check_in_parts(&documents, threshold, 3000);
    }
}

/// Returns the row numbers in an order of preference that depends on `seed`. For seed 0 they are
/// ascending.
fn order_of(documents: &[Vec<u64>], seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..documents.len() as u32).collect();
    if seed > 0 {
        rows.sort_by_key(|&row| mix(seed << 32 | u64::from(row)));
    }
    rows
}

/// Returns the rows that `rule` removes. Each comes with the kept row that causes its removal, and with the closeness
/// of the two rows. The closeness is `None` if only a chain of other rows links them.
fn removals(
    close: &Close,
    order: &[u32],
    rule: DecidingRule,
) -> Vec<(u32, u32, Option<Closeness>)> {
    match rule {
        DecidingRule::ClosestKept => removals_by_closest(close, order),
        DecidingRule::Component => removals_by_component(close, order),
    }
}

/// Returns the result of [`removals`] for the rule `Component`. Merges components until every pair is inside one.
fn removals_by_component(close: &Close, order: &[u32]) -> Vec<(u32, u32, Option<Closeness>)> {
    let pairs = expanded(close);
    let mut kept: Vec<u32> = (0..order.len() as u32).collect();
    let turn = |row: u32| order.iter().position(|&other| other == row);
    while let Some(pair) = pairs.iter().find(|pair| kept[pair.a as usize] != kept[pair.b as usize])
    {
        let of_two = [pair.a, pair.b].map(|row| kept[row as usize]);
        let preferred = of_two.into_iter().min_by_key(|&row| turn(row)).unwrap();
        kept.iter_mut().filter(|row| of_two.contains(row)).for_each(|row| *row = preferred);
    }
    let closeness = |a: u32, b: u32| {
        let pair = pairs.iter().find(|pair| [pair.a, pair.b] == [a.min(b), a.max(b)]);
        pair.map(|pair| pair.closeness)
    };
    (0..)
        .zip(kept)
        .filter(|(row, kept)| row != kept)
        .map(|(a, b)| (a, b, closeness(a, b)))
        .collect()
}

/// Returns the result of [`removals`] for the rule `ClosestKept`. The rows are decided in the order of `order`.
fn removals_by_closest(close: &Close, order: &[u32]) -> Vec<(u32, u32, Option<Closeness>)> {
    let pairs = expanded(close).into_iter().map(|pair| ((pair.a, pair.b), pair.closeness));
    let pairs: BTreeMap<(u32, u32), Closeness> = pairs.collect();
    let mut kept = Vec::new();
    let mut removed = Vec::new();
    for &row in order {
        let close_to = |&other: &u32| Some((*pairs.get(&(row.min(other), row.max(other)))?, other));
        let closest = kept.iter().filter_map(close_to);
        match closest.max_by(|(to_a, a), (to_b, b)| to_a.compare(*to_b).then(b.cmp(a))) {
            Some((closeness, other)) => removed.push((row, other, Some(closeness))),
            None => kept.push(row),
        }
    }
    removed
}

/// All rules that choose kept documents from pairs.
const RULES: [DecidingRule; 2] = [DecidingRule::ClosestKept, DecidingRule::Component];

/// Checks that the pairs of [`SetJoin::self_join_to_keep`] remove the same documents as all pairs.
/// Returns the number of all pairs and the number of pairs that were enough.
#[track_caller]
fn check_kept(
    documents: &[Vec<u64>],
    threshold: Threshold,
    rule: DecidingRule,
    order: &[u32],
) -> [usize; 2] {
    let alone = &Context::default();
    let pooled = &three_threads();
    let memory_bytes = u64::MAX;
    let source = source_of(documents);
    let sources = TermSources { first: &source, second: None };
    let mut most = u64::MAX;
    let mut deciding = 0;
    let join = SetJoin { threshold, memory_bytes, filter: None, context: pooled };
    let all = join.self_join(&source).unwrap();
    // After the first time, allow only as much memory as the pairs need.
    for (context, is_counted) in [(alone, false), (pooled, false), (pooled, true)] {
        let join = SetJoin { context, ..join };
        let (shards, mut parts) = all_sketched(&sources, threshold, context);
        let equal = sketching::equal_sets(&parts, None);
        let mut survivors = Survivors { shards, sketches: parts, is_scanned: true };
        assert_eq!(survivors.remove_equal(None), equal);
        Survivors { sketches: parts, .. } = survivors;
        if is_counted {
            // The sketches have only the terms that another document may have.
            let cells = join.rereading(&sources).counted(&survivors.shards).unwrap();
            parts = sketch_counted(&sources, &survivors.shards, &cells, &join).unwrap();
        }
        let by_sketches = SketchJoin::new(&join, &sources, &survivors.shards, parts, None);
        let turns = Turns::new(order.to_vec(), &equal);
        let mut sizes = vec![0; documents.len()];
        let mut search = SketchPairs { join: &by_sketches, sizes: &mut sizes };
        let found = deciding_pairs(&mut search, turns, rule, most, context).unwrap();
        (most, deciding) = (found.len() as u64, found.len());
        let pairs = ClosePairs::of_sets(found, sizes, 0, threshold);
        assert!(pairs.iter().all(|pair| all.pairs.iter().any(|other| pair == other)));
        let close = Close::sets(Sides::One(equal), pairs);
        assert_eq!(removals(&close, order, rule), removals(&all, order, rule));
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
        let order = order_of(&documents, seed);
        for rule in RULES {
            check_kept(&documents, threshold(numerator, denominator), rule, &order);
        }
    }
}

#[test]
fn of_templates_few_pairs_decide() {
    let documents = templates(600);
    for seed in [0, 1, 2] {
        let order = order_of(&documents, seed);
        for rule in RULES {
            let [all, deciding] = check_kept(&documents, threshold(7, 10), rule, &order);
            // The first batch has more pairs than decide in total, so batches are cut in halves.
            assert!(all > 20_000 && deciding < 1_000, "{rule:?}: {all} {deciding}");
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
        weighted::check_weighted(&documents, threshold(1, 2));
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
    let source = ListedDocuments { documents, shard_documents: 999 };
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

/// Returns documents that are made from two templates. The documents have different lengths, and most
/// of them also have terms of their own.
pub(super) fn templates(documents: u64) -> Vec<Vec<u64>> {
    let document = |number: u64| -> Vec<u64> {
        let template = number % 7 / 5;
        let common = (0..60).map(|term| mix(term << 8 | template));
        let own = (0..number % 13 * 2).map(|term| mix(number << 32 | term));
        common.skip((number % 4) as usize).chain(own).collect()
    };
    (0..documents).map(document).collect()
}
