//! Tests every method with fingerprints of every width and metric, through the functions of `door`,
//! against a comparison of all rows.

use crate::conformance::fingerprint_sets::wide_mix;
use crate::conformance::{RowPair, expanded};
use crate::door;
use crate::joins::find;
use crate::partners::collect;
use crate::planner::JoinPlan;
use crate::workload::{JoinTask, Workload};
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_compute::threads::Threads;
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool_model::fingerprint_table::set_lowest_bits;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Returns rows of this shape, many of them near each other. Every ninth row has no fingerprint.
fn rows_of(shape: Shape, rows: usize, seed: u64) -> FingerprintRows<'static> {
    let mut last = vec![0; shape.words()];
    set_lowest_bits(&mut last, shape.row_bits());
    let mut built = RowsBuilder::new(shape);
    for (number, row) in wide_mix(rows, shape.words(), seed).chunks_exact(shape.words()).enumerate()
    {
        let mut row: Vec<u64> = row.iter().zip(&last).map(|(row, last)| row & last).collect();
        if shape == Shape::lanes_or_null(shape.words() as u32) {
            // Each fifth row has a lane that is null.
            for lane in &mut row {
                *lane |= 1 << 63;
            }
            if number % 5 == 2 {
                row[number % shape.words()] = 0;
            }
        }
        built.push((number % 9 != 4).then_some(&row));
    }
    built.finish()
}

/// Finds all pairs within distance `k`. Without queries, compares every two rows of `corpus`. With
/// queries, compares each query with each row of `corpus`.
fn slow(
    queries: Option<&FingerprintRows<'_>>,
    corpus: &FingerprintRows<'_>,
    k: u32,
) -> Vec<RowPair> {
    let first = queries.unwrap_or(corpus);
    let mut pairs = Vec::new();
    for a in 0..first.len() {
        for b in if queries.is_none() { a + 1 } else { 0 }..corpus.len() {
            if let (Some(one), Some(other)) = (first.row(a), corpus.row(b)) {
                let distance = corpus.shape.distance(one, other);
                if distance <= k {
                    pairs.push((a as u32, b as u32, distance));
                }
            }
        }
    }
    pairs
}

#[test]
fn the_door_takes_rows_of_any_width_and_metric() {
    let folder = tempfile::tempdir().unwrap();
    let resources = Resources {
        temporary_folder: folder.path().to_owned(),
        memory: 20 << 20,
        ..Resources::default()
    };
    let context = Context::of_threads(Threads::CALLER, &resources, &NoProgress);
    for (shape, max_distance) in [
        (Shape::bits(16), 2),
        (Shape::bits(64), 3),
        (Shape::bits(100), 3),
        (Shape::bits(192), 5),
        (Shape::bits(256), 12),
        (Shape::bits(300), 9),
        (Shape::bits(512), 24),
        (Shape::bits(640), 9),
        (Shape::bits(1024), 40),
        (Shape::lanes(16, 4), 3),
        (Shape::lanes(16, 32), 3),
        (Shape::lanes(20, 64), 4),
        (Shape::lanes_or_null(1), 0),
        (Shape::lanes_or_null(4), 2),
        (Shape::lanes_or_null(8), 5),
        (Shape::lanes_or_null(20), 9),
        (Shape::cosine(1, 8), 300),
        (Shape::cosine(2, 4), 400),
        (Shape::cosine(4, 2), 999),
        (Shape::cosine(8, 4), 100),
        (Shape::cosine(9, 8), 600),
        (Shape::votes(1, 1), 3),
        (Shape::votes(3, 2), 3),
        (Shape::votes(8, 4), 5),
        (Shape::votes(20, 17), 9),
    ] {
        check_self_joins(shape, max_distance, &context);
        check_searches(shape, max_distance, &context);
    }
}

fn tuple(pair: &ValuePair) -> RowPair {
    (pair.a, pair.b, pair.distance)
}

/// Checks that every method for self-joins finds, counts and lists the expected pairs.
fn check_self_joins(shape: Shape, max_distance: u32, context: &Context<'_>) {
    let corpus = rows_of(shape, 300, 5);
    let rows = Sides::One(&corpus);
    let plan =
        JoinPlan::new(Workload::of(JoinTask::SelfJoin, &corpus, max_distance, u64::MAX)).unwrap();
    let expected = slow(None, &corpus, max_distance);
    for join in plan.costs.iter().map(|cost| cost.join) {
        let plan = JoinPlan { join, ..plan.clone() };
        let place = format!("{join}, {shape}");
        let found = door::join(rows, &plan, context).unwrap();
        assert!(expanded(found.groups.first(), &found.pairs) == expected, "{place}");
        let counted = door::count_self_join(&corpus, &plan, context).unwrap();
        assert_eq!(counted, expected.len() as u64, "{place}");
        let partners = door::partners(rows, &plan, context).unwrap();
        assert!(collect(&*partners).iter().map(tuple).eq(expected.iter().copied()), "{place}");
    }
}

/// Checks that every method for searches finds the expected partners of each query, and the expected
/// pairs of groups.
fn check_searches(shape: Shape, max_distance: u32, context: &Context<'_>) {
    let corpus = rows_of(shape, 300, 5);
    let queries = rows_of(shape, 120, 5);
    let sides = Sides::Two(&queries, &corpus);
    let task = JoinTask::Search { queries: queries.len() };
    let plan = JoinPlan::new(Workload::of(task, &corpus, max_distance, u64::MAX)).unwrap();
    let expected = slow(Some(&queries), &corpus, max_distance);
    assert!(expected.len() > 20, "{shape}");
    for join in plan.costs.iter().map(|cost| cost.join) {
        // These methods visit all values near a row, which are too many for long rows.
        let is_endless = ["bit-probing", "expanded-set"].contains(&join.name());
        if is_endless && (max_distance > 2 || shape.row_bits() > 16) {
            continue;
        }
        let plan = JoinPlan { join, ..plan.clone() };
        let place = format!("{join}, {shape}");
        let partners = door::partners(sides, &plan, context).unwrap();
        assert!(collect(&*partners).iter().map(tuple).eq(expected.iter().copied()), "{place}");
        let found = door::join(sides, &plan, context).unwrap();
        let mut rows = Vec::new();
        for pair in &found.pairs {
            for &a in found.groups.first().rows(pair.a) {
                let partners = found.groups.second().rows(pair.b).iter();
                rows.extend(partners.map(|&b| (a, b, pair.distance)));
            }
        }
        rows.sort_unstable();
        assert!(rows == expected, "{place}");
    }
}

#[test]
fn the_door_refuses_rows_that_do_not_compare_and_methods_of_other_tasks() {
    let context = Context::default();
    let of = |shape, recipe: Option<&str>| {
        let rows = rows_of(shape, 20, 1);
        FingerprintRows { recipe: recipe.map(str::to_owned), ..rows }
    };
    let corpus = of(Shape::bits(64), Some("simhash64/shingle=3"));
    let workload = Workload::of(JoinTask::Search { queries: 20 }, &corpus, 3, u64::MAX);
    let plan = JoinPlan::new(workload).unwrap();
    let refused = |queries: &FingerprintRows<'_>| {
        let joined = door::join(Sides::Two(queries, &corpus), &plan, &context).map(|_| ());
        let partners = door::partners(Sides::Two(queries, &corpus), &plan, &context).map(|_| ());
        let [joined, partners] = [joined, partners].map(|found| found.map_err(|e| e.to_string()));
        assert_eq!(joined, partners);
        joined.err().unwrap_or_default()
    };
    assert_eq!(refused(&corpus), "");
    assert_eq!(refused(&of(Shape::bits(64), None)), "");
    let message = refused(&of(Shape::bits(64), Some("simhash64/shingle=5")));
    let expected = "queries made by another recipe: must be made as the corpus was; they differ in \
                    shingle=5 and shingle=3";
    assert_eq!(message, expected);
    let message = refused(&of(Shape::bits(63), None));
    assert_eq!(message, "queries with 63 bits: must have the same as the corpus, 64 bits");
    assert!(refused(&of(Shape::lanes(16, 4), None)).contains("with 16 lanes of 4 bits"));
    let plan = JoinPlan { join: find("block-index").unwrap(), ..plan };
    let error = door::join(Sides::One(&corpus), &plan, &context).unwrap_err().to_string();
    assert_eq!(error, "index block-index: is no method for self-joins");
    let plan = JoinPlan { join: find("spilled-join").unwrap(), ..plan };
    assert!(door::join(Sides::Two(&corpus, &corpus), &plan, &context).is_err());
}

#[test]
fn pairs_are_kept_only_if_they_fit_in_memory_and_are_not_too_many() {
    // Any two of these fingerprints are within ten bits.
    let count = 1 << 10;
    let mut rows = RowsBuilder::new(Shape::bits(64));
    (0..count).for_each(|row| rows.push(Some(&[row])));
    let rows = rows.finish();
    let pairs = count * (count - 1) / 2;
    let workload = Workload::of(JoinTask::SelfJoin, &rows, 10, u64::MAX);
    let kept = |join: &str, most, context: &Context<'_>| {
        let plan = JoinPlan::named(workload, find(join).unwrap()).unwrap();
        let found = door::join_if_fits(Sides::One(&rows), &plan, most, context).unwrap();
        found.map(|found| found.pairs.len() as u64)
    };
    let much = Context::default();
    let little = much.with_memory(1);
    for join in ["linear-scan", "partition-join", "multi-index-join"] {
        assert_eq!(kept(join, u64::MAX, &much), Some(pairs), "{join}");
        assert_eq!(kept(join, pairs, &much), Some(pairs), "{join}");
        assert_eq!(kept(join, pairs - 1, &much), None, "{join}");
        assert_eq!(kept(join, u64::MAX, &little), None, "{join}");
    }
}
