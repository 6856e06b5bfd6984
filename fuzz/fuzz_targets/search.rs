//! Reads any bytes as a file of fingerprints. There must be no panic, and rows must survive a round
//! trip through every format that can hold them. With any rows, every index and join must find the
//! pairs of the linear scan.
//!
//! The first byte selects the kind of the rows, and the second is the largest distance:
//!
//! | bits of the first byte | what |
//! | --- | --- |
//! | 5 to 7 | 0: the rest is a file of fingerprints; 1 to 4: it is rows; else a row for every two bytes |
//! | 1 to 4 | the shape of these rows, among [`SHAPES`] |
//! | all but 5 to 7 | 0: temporary files are written, too, which takes longer than all the rest |
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::progress::NoProgress;
use simtool::stages::context::Context;
use simtool::stages::document_name::DocumentName;
use simtool::stages::fingerprint_file::{self, FileFormat};
use simtool::stages::fingerprint_rows::{FingerprintRows, Metric, RowsBuilder, Shape};
use simtool::stages::groups::Groups;
use simtool::stages::hamming::door;
use simtool::stages::hamming::partners::collect;
use simtool::stages::hamming::planner::JoinPlan;
use simtool::stages::hamming::workload::{JoinTask, Workload};
use simtool::stages::kernels::Isa;
use simtool::stages::matches::ValuePair;
use simtool::stages::resources::Resources;
use simtool::stages::sides::Sides;
use simtool::stages::threads::Threads;
use std::borrow::Cow;
use std::path::Path;

/// Maximum number of rows to join: a comparison of everything takes the square of it.
const MOST_ROWS: usize = 1500;

/// Two rows and their distance.
type RowPair = (u32, u32, u32);

/// Numbered shapes of rows: bits, and the bits of a lane if lanes are compared.
const SHAPES: [(u32, Option<u32>); 16] = [
    (64, None),
    (16, None),
    (32, None),
    (100, None),
    (128, None),
    (192, None),
    (256, None),
    (512, None),
    (520, None),
    (1024, None),
    (64, Some(4)),
    (60, Some(4)),
    (128, Some(1)),
    (128, Some(64)),
    (512, Some(32)),
    (640, Some(16)),
];

fuzz_target!(|input: &[u8]| {
    let Some((&[form, distance], bytes)) = input.split_first_chunk::<2>() else { return };
    let shape = match SHAPES[usize::from(form >> 1 & 15)] {
        (bits, None) => Shape::bits(bits),
        (bits, Some(lane_bits)) => Shape::lanes(bits / lane_bits, lane_bits),
    };
    let rows = match form >> 5 {
        0 => {
            // Most of a Parquet file is read by another crate.
            if bytes.starts_with(b"PAR1") {
                return;
            }
            let Ok(rows) = fingerprint_file::read(bytes, Path::new("file")) else { return };
            rows
        }
        1..=4 => of_bytes(bytes, shape),
        _ => clusters(bytes, shape),
    };
    comes_back(&rows);
    check(&rows, u32::from(distance) % (rows.shape.units() + 6), form & 31 == 0);
});

/// Clears the bits of a row that are beyond its shape.
fn cut(mut words: Vec<u64>, shape: Shape) -> Vec<u64> {
    let used = shape.row_bits() % 64;
    if let Some(last) = words.last_mut().filter(|_| used > 0) {
        *last &= (1 << used) - 1;
    }
    words
}

/// Builds rows from bytes. A row whose bytes are all 0x77 has no fingerprint.
fn of_bytes(bytes: &[u8], shape: Shape) -> FingerprintRows<'static> {
    let mut rows = RowsBuilder::new(shape);
    for row in bytes.chunks_exact(shape.row_bits().div_ceil(8) as usize) {
        let word = |bytes: &[u8]| bytes.iter().rfold(0, |word, &byte| word << 8 | u64::from(byte));
        let words = cut(row.chunks(8).map(word).collect(), shape);
        rows.push(row.iter().any(|&byte| byte != 0x77).then_some(&words));
    }
    rows.finish()
}

/// Builds a row for every two bytes: one of eight centres with one bit flipped.
fn clusters(bytes: &[u8], shape: Shape) -> FingerprintRows<'static> {
    let (centres, flips) = bytes.split_at(bytes.len().min(16));
    let mut rows = RowsBuilder::new(shape);
    for pair in flips.chunks_exact(2) {
        let seed = centres.get(usize::from(pair[0] % 8) * 2..).unwrap_or_default();
        let seed = seed.iter().take(2).fold(1, |seed, &byte| seed << 8 | u64::from(byte));
        let word = |word| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(word * 11);
        let mut words: Vec<u64> = (0..shape.words() as u32).map(word).collect();
        let bit = u32::from(pair[1]) * 5 % shape.row_bits();
        words[bit as usize / 64] ^= 1 << (bit % 64);
        rows.push(Some(&cut(words, shape)));
    }
    rows.finish()
}

/// Checks that the rows are the same after a round trip through every format that can hold them.
fn comes_back(rows: &FingerprintRows<'_>) {
    let path = Path::new("again");
    let name = |row: u32| DocumentName {
        id: Cow::Borrowed(b"id"),
        is_number: false,
        file: path,
        record: row.into(),
    };
    let again = |output: &str, compare: &dyn Fn(&FingerprintRows<'_>)| {
        let mut bytes = Vec::new();
        let format = FileFormat::for_output(Path::new(output)).expect("a known extension");
        format.write(rows, &name, path, &mut bytes).expect("memory does not fail");
        compare(&fingerprint_file::read(&bytes, path).expect("it was just written"));
    };
    let is_same = |again: &FingerprintRows<'_>| {
        assert_eq!(again.len(), rows.len());
        assert!((0..rows.len()).all(|row| again.row(row) == rows.row(row)));
    };
    let is_whole = |again: &FingerprintRows<'_>| {
        is_same(again);
        assert_eq!((again.shape, &again.recipe), (rows.shape, &rows.recipe));
    };
    again("again.f", &is_whole);
    again("again.parquet", &is_whole);
    // Text has whole hexadecimal digits, and a file without any fingerprint does not say how many.
    let all = (0..rows.len()).all(|row| rows.has_fingerprint(row));
    let some = (0..rows.len()).any(|row| rows.has_fingerprint(row));
    if rows.shape.row_bits().is_multiple_of(4) && some {
        again("again.txt", &is_same);
        again("again.jsonl", &is_same);
    }
    // An array has whole words, and no rows without fingerprint.
    if rows.shape.row_bits().is_multiple_of(64) && all {
        again("again.npy", &is_same);
    }
}

fn check(rows: &FingerprintRows<'_>, max_distance: u32, spills: bool) {
    // If the distance is not below the number of units, all rows are near, and nothing is planned.
    if rows.len() > MOST_ROWS || max_distance >= rows.shape.units() {
        return;
    }
    // Memory that a spilled join always keeps, and a bucket so small that there are several.
    let memory = (16 << 20) + rows.len() as u64 * 8 + 2000;
    let resources = Resources { memory, threads: 1, ..Resources::default() };
    let context = Context::of_threads(Threads::CALLER, &resources, &NoProgress);
    let portable = context.with_isa(Isa::PORTABLE);
    check_self_joins(rows, max_distance, spills, [&context, &portable]);
    // The queries are the first third of the rows.
    let mut queries = RowsBuilder::new(rows.shape);
    (0..rows.len() / 3).for_each(|row| queries.push(rows.row(row)));
    check_searches(&queries.finish(), rows, max_distance, [&context, &portable]);
}

/// Returns the pair of two rows, if both have a fingerprint and they are near.
fn near(
    a: (&FingerprintRows<'_>, usize),
    b: (&FingerprintRows<'_>, usize),
    max_distance: u32,
) -> Option<RowPair> {
    let distance = a.0.shape.distance(a.0.row(a.1)?, b.0.row(b.1)?);
    (distance <= max_distance).then_some((a.1 as u32, b.1 as u32, distance))
}

fn tuples(pairs: &[ValuePair]) -> Vec<RowPair> {
    pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect()
}

fn check_self_joins(
    rows: &FingerprintRows<'_>,
    max_distance: u32,
    spills: bool,
    contexts: [&Context<'_>; 2],
) {
    let pairs = (0..rows.len()).flat_map(|a| (a + 1..rows.len()).map(move |b| (a, b)));
    let expected: Vec<RowPair> =
        pairs.filter_map(|(a, b)| near((rows, a), (rows, b), max_distance)).collect();
    let plan = JoinPlan::new(Workload::of(JoinTask::SelfJoin, rows, max_distance, u64::MAX));
    let plan = plan.expect("there is more than that");
    for join in plan.costs.iter().map(|cost| cost.join) {
        if join.name() == "spilled-join" && !spills {
            continue;
        }
        let plan = JoinPlan { join, ..plan.clone() };
        for context in contexts {
            let found = door::join(Sides::One(rows), &plan, context).expect("there is room");
            assert!(expanded(found.groups.first(), &found.pairs) == expected, "{join}");
            let partners = door::partners(Sides::One(rows), &plan, context).expect("there is room");
            assert!(tuples(&collect(&*partners)) == expected, "partners: {join}");
            let counted = door::count_self_join(rows, &plan, context).expect("there is room");
            assert!(counted == expected.len() as u64, "count: {join}");
        }
    }
}

fn check_searches(
    queries: &FingerprintRows<'_>,
    rows: &FingerprintRows<'_>,
    max_distance: u32,
    contexts: [&Context<'_>; 2],
) {
    let pairs = (0..queries.len()).flat_map(|a| (0..rows.len()).map(move |b| (a, b)));
    let expected: Vec<RowPair> =
        pairs.filter_map(|(a, b)| near((queries, a), (rows, b), max_distance)).collect();
    let task = JoinTask::Search { queries: queries.len() };
    let plan = JoinPlan::new(Workload::of(task, rows, max_distance, u64::MAX));
    let plan = plan.expect("there is more than that");
    let sides = Sides::Two(queries, rows);
    for join in plan.costs.iter().map(|cost| cost.join) {
        let is_short = rows.shape.metric() == Metric::Bits && rows.shape.row_bits() <= 16;
        // Trying all flips of many bits takes too long.
        let is_endless = match join.name() {
            "bit-probing" => max_distance > if is_short { 3 } else { 1 },
            "expanded-set" => max_distance > u32::from(rows.len() < 200),
            _ => false,
        };
        if is_endless {
            continue;
        }
        let plan = JoinPlan { join, ..plan.clone() };
        for context in contexts {
            let found = door::partners(sides, &plan, context);
            let found = tuples(&collect(&*found.expect("there is room")));
            assert!(found == expected, "{join}");
        }
        let joined = door::join(sides, &plan, contexts[0]).expect("there is room");
        let mut found = Vec::new();
        for pair in &joined.pairs {
            for &a in joined.groups.first().rows(pair.a) {
                let rows = joined.groups.second().rows(pair.b).iter();
                found.extend(rows.map(|&b| (a, b, pair.distance)));
            }
        }
        found.sort_unstable();
        assert!(found == expected, "join: {join}");
    }
}

/// Expands groups and pairs of groups into pairs of rows, in ascending order.
fn expanded(groups: &Groups, value_pairs: &[ValuePair]) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    for group in groups.repeated() {
        let members = groups.rows(group);
        for (at, &a) in members.iter().enumerate() {
            pairs.extend(members[at + 1..].iter().map(|&b| (a, b, 0)));
        }
    }
    for pair in value_pairs {
        for &a in groups.rows(pair.a) {
            let members = groups.rows(pair.b).iter();
            pairs.extend(members.map(|&b| (a.min(b), a.max(b), pair.distance)));
        }
    }
    pairs.sort_unstable();
    pairs
}
