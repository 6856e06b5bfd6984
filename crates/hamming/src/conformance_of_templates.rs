//! Tests every method with rows of documents that share a template, against a comparison of all rows.
//!
//! Rows of one template are equal in most bits, and the bits that differ depend on each other. No block
//! of bits divides them well. A recursion that treats the bits as independent visits far more paths
//! than there are rows. So the tests also limit the memory of all paths that exist at the same time.

use crate::conformance::fingerprint_sets::Random;
use crate::conformance::{RowPair, expanded};
use crate::door;
use crate::group_pairs::GroupPairs;
use crate::join::Join;
use crate::joins::{searches, self_joins};
use crate::partners::{Partners, collect};
use crate::planner::JoinPlan;
use crate::split::live_paths;
use crate::workload::{JoinTask, Workload};
use simtool_compute::context::Context;
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool_model::sides::Sides;

/// Number of rows of documents that share a template.
const SIMILAR: usize = 500;
/// Number of rows of unrelated documents.
const OTHERS: usize = 500;
/// Limit for the memory of the paths from the root of a recursion to its nodes. For each 64-bit word of the rows, the
/// paths that exist at the same time may have at most this number of 64-bit words.
const MOST_PATH_WORDS: usize = 4;

/// Returns shapes of fingerprints, each with a maximum distance. Some or all rows that share a template
/// are within this distance of each other.
fn kinds() -> [(Shape, u32); 8] {
    [
        (Shape::bits(64), 3),
        (Shape::bits(64), 20),
        (Shape::bits(256), 40),
        (Shape::bits(512), 60),
        (Shape::lanes(64, 8), 24),
        (Shape::lanes(128, 4), 60),
        (Shape::lanes(16, 32), 9),
        (Shape::votes(3, 2), 20),
    ]
}

/// Creates [`SIMILAR`] rows of one template and [`OTHERS`] unrelated rows.
fn template_rows(shape: Shape, random: &mut Random) -> FingerprintRows<'static> {
    let (units, unit_bits) = shape.parts();
    let unit_mask = u64::MAX >> (u64::BITS - unit_bits);
    let per_word = u64::BITS / unit_bits;
    let template: Vec<u64> = (0..units).map(|_| random.next() & unit_mask).collect();
    // Some units of a row (bits or hashes) change with nearly every edit of a document. Most hardly
    // ever change.
    let changes: Vec<u64> = (0..units).map(|_| random.below(40).min(random.below(40))).collect();
    let mut rows = RowsBuilder::new(shape);
    for row in 0..SIMILAR + OTHERS {
        let mut words = vec![0; shape.words()];
        for unit in 0..units {
            let is_own = row >= SIMILAR || random.below(100) < changes[unit as usize];
            let value = if is_own { random.next() & unit_mask } else { template[unit as usize] };
            words[(unit / per_word) as usize] |= value << (unit % per_word * unit_bits);
        }
        rows.push(Some(&words));
    }
    rows.finish()
}

/// Finds all pairs within `max_distance`. With one collection, compares every two of its rows. Otherwise compares each
/// query with each row of the corpus.
fn all_pairs(sides: Sides<&FingerprintRows<'_>>, max_distance: u32) -> Vec<RowPair> {
    let (queries, corpus) = (sides.first(), sides.second());
    let mut pairs = Vec::new();
    for a in 0..queries.len() {
        let first = if sides.is_two() { 0 } else { a + 1 };
        for b in first..corpus.len() {
            let Some((one, other)) = queries.row(a).zip(corpus.row(b)) else { continue };
            let distance = corpus.shape.distance(one, other);
            if distance <= max_distance {
                pairs.push((a as u32, b as u32, distance));
            }
        }
    }
    pairs
}

/// Returns all pairs that `partners` finds.
fn listed(partners: &dyn Partners) -> Vec<RowPair> {
    let pairs = collect(partners);
    pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect()
}

/// Runs `work`, and checks the memory of the recursion's paths. All paths that exist at the same time
/// may have at most [`MOST_PATH_WORDS`] words for each of the `row_words` words of the rows.
fn with_bounded_paths<T>(row_words: usize, place: &str, work: impl FnOnce() -> T) -> T {
    live_paths::forget_peak();
    let result = work();
    let peak = live_paths::peak_words();
    assert!(peak <= row_words * MOST_PATH_WORDS, "{place}: paths of {peak} words");
    result
}

fn planned(
    join: &'static dyn Join,
    task: JoinTask,
    rows: &FingerprintRows<'_>,
    k: u32,
) -> JoinPlan {
    let plan = JoinPlan::new(Workload::of(task, rows, k, u64::MAX)).unwrap();
    JoinPlan { join, ..plan }
}

#[test]
fn every_self_join_takes_documents_of_a_template_in_bounded_memory() {
    let context = Context::default();
    let little = Context::default().with_memory(1);
    for (shape, max_distance) in kinds() {
        let rows = template_rows(shape, &mut Random(7));
        let side = Sides::One(&rows);
        let expected = all_pairs(side, max_distance);
        assert!(!expected.is_empty(), "{shape}, k = {max_distance}");
        for join in self_joins().filter(|join| join.limits().counts(shape.metric())) {
            let place = format!("{join}, {shape}, k = {max_distance}");
            let plan = planned(join, JoinTask::SelfJoin, &rows, max_distance);
            let found = with_bounded_paths(rows.words.len(), &place, || {
                door::join(side, &plan, &context).unwrap()
            });
            let found = expanded(found.groups.first(), &found.pairs);
            assert!(found == expected, "{place}");
            // Without memory for the pairs, the partners of each row are searched when they are listed.
            let partners = door::partners(side, &plan, &little).unwrap();
            assert!(listed(&*partners) == expected, "{place}");
            // A join that must keep all pairs finds all of them or none.
            let fitting = door::join_if_fits(side, &plan, u64::MAX, &little).unwrap();
            let is_all =
                |found: GroupPairs| expanded(found.groups.first(), &found.pairs) == expected;
            assert!(fitting.is_none_or(is_all), "{place}");
        }
    }
}

#[test]
fn every_search_takes_documents_of_a_template_in_bounded_memory() {
    let context = Context::default();
    let little = Context::default().with_memory(1);
    for (shape, max_distance) in kinds() {
        let corpus = template_rows(shape, &mut Random(7));
        let mut queries = RowsBuilder::new(shape);
        (0..corpus.len()).step_by(9).for_each(|row| queries.push(corpus.row(row)));
        let queries = queries.finish();
        let sides = Sides::Two(&queries, &corpus);
        let expected = all_pairs(sides, max_distance);
        let task = JoinTask::Search { queries: queries.len() };
        for join in searches().filter(|join| join.limits().counts(shape.metric())) {
            // These methods visit every row within the distance of a query, and large distances have too
            // many of them.
            if ["bit-probing", "expanded-set"].contains(&join.name()) {
                continue;
            }
            let place = format!("{join}, {shape}, k = {max_distance}");
            let plan = planned(join, task, &corpus, max_distance);
            let row_words = queries.words.len() + corpus.words.len();
            let found = with_bounded_paths(row_words, &place, || {
                listed(&*door::partners(sides, &plan, &context).unwrap())
            });
            assert!(found == expected, "{place}");
            let partners = door::partners(sides, &plan, &little).unwrap();
            assert!(listed(&*partners) == expected, "{place}");
            let fitting = door::join_if_fits(sides, &plan, u64::MAX, &little).unwrap();
            assert!(fitting.is_none_or(|found| found.pairs.len() <= expected.len()), "{place}");
        }
    }
}
