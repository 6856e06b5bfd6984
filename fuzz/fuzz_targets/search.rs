//! Any bytes as a file of fingerprints: no panic, and what is read comes back as it was written.
//! Any rows: every index and join finds what comparing everything finds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::fingerprint_rows::{self, Lanes};
use simtool::kernels::Isa;
use simtool::matches::ValuePair;
use simtool::pipeline::join_fingerprints::read_fingerprints;
use simtool::resources::Resources;
use simtool::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool::search::door;
use simtool::search::grouping::Groups;
use simtool::search::partners::collect;
use simtool::search::planner::{IndexName, Plan, Task, Workload};
use simtool::store::format;
use simtool::validity::Validity;
use std::borrow::Cow;
use std::path::Path;

/// Rows that are joined, at most: comparing everything takes their square.
const MOST_ROWS: usize = 1500;

/// Two rows and their distance.
type RowPair = (u32, u32, u32);

fuzz_target!(|input: &[u8]| {
    let Some((&[form, distance], bytes)) = input.split_first_chunk::<2>() else { return };
    let rows = match form >> 5 {
        // A file, and nothing but.
        0 => {
            let Ok(rows) = fingerprint_file::read(bytes, Path::new("file")) else { return };
            comes_back(&rows);
            let Some(rows) = rows.into_lanes() else { return };
            rows
        }
        1 => of_bytes(bytes, 16),
        2 => of_bytes(bytes, 32),
        3 => of_bytes(bytes, 64),
        4 => of_bytes(bytes, 128),
        5 => clusters(bytes, 32),
        6 => clusters(bytes, 64),
        _ => clusters(bytes, 128),
    };
    // Temporary files take longer than all the rest.
    let spills = form & 0b1_1111 == 0;
    let rows = FingerprintRows::from(&rows);
    check(&rows, u32::from(distance) % (rows.shape.row_bits() + 6), spills);
    // The same words as lanes of four bits, where they are whole words.
    if rows.shape.row_bits() % 64 == 0 {
        let lanes = FingerprintRows { shape: Shape::lanes(rows.shape.row_bits() / 4, 4), ..rows };
        check(&lanes, u32::from(distance) % 20, false);
        // And as rows of eight words.
        let whole = lanes.words.len() / 8 * 8;
        let words = lanes.words[..whole].to_vec().into();
        let wide = FingerprintRows { shape: Shape::bits(512), words, validity: None, recipe: None };
        check(&wide, u32::from(distance), false);
    }
});

/// Rows of these bytes; every row whose bytes are all 0x77 has no fingerprint.
fn of_bytes(bytes: &[u8], bits: u32) -> fingerprint_rows::FingerprintRows<'_> {
    let whole = bytes.len() - bytes.len() % (bits as usize / 8);
    let lanes = Lanes::from_bytes(&bytes[..whole], bits).expect("whole lanes");
    let mut validity = Validity::all(lanes.len());
    for (row, lane) in bytes[..whole].chunks_exact(bits as usize / 8).enumerate() {
        if lane.iter().all(|&byte| byte == 0x77) {
            validity.clear(row);
        }
    }
    fingerprint_rows::FingerprintRows { lanes, bits, validity: Some(validity), recipe: None }
}

/// A row for every two bytes: one of eight centres, one bit flipped.
fn clusters(bytes: &[u8], bits: u32) -> fingerprint_rows::FingerprintRows<'static> {
    let (centres, flips) = bytes.split_at(bytes.len().min(16));
    let centre = |number: u8| {
        let seed = centres.get(usize::from(number % 8) * 2..).unwrap_or_default();
        let seed = seed.iter().take(2).fold(0u128, |seed, &byte| seed << 8 | u128::from(byte));
        seed.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
    };
    let flipped = |pair: &[u8]| centre(pair[0]) ^ 1 << (u32::from(pair[1]) % bits);
    let rows = flips.chunks_exact(2).map(flipped);
    let lanes = match bits {
        32 => Lanes::Bits32(rows.map(|row| row as u32).collect()),
        64 => Lanes::Bits64(rows.map(|row| row as u64).collect()),
        _ => Lanes::Bits128(rows.collect()),
    };
    fingerprint_rows::FingerprintRows { lanes, bits, validity: None, recipe: None }
}

/// What was read is the same when it is written and read again.
fn comes_back(rows: &fingerprint_rows::FingerprintRows<'_>) {
    let path = Path::new("again");
    let name = |row: u32| DocumentName { id: Cow::Borrowed(b"id"), file: path, record: row.into() };
    let written = |format| {
        let mut bytes = Vec::new();
        fingerprint_file::write(rows, &name, format, Missing::Zeros, path, &mut bytes)
            .expect("memory does not fail");
        bytes
    };
    let again = written(FileFormat::Packed);
    assert!(fingerprint_file::read(&again, path).expect("it was just written") == *rows);
    // Text has whole digits, and a file without any fingerprint does not say how many.
    let some = (0..rows.len()).any(|row| rows.has_fingerprint(row));
    if rows.shape.row_bits().is_multiple_of(4) && some {
        for format in [FileFormat::Hexadecimal, FileFormat::JsonLines] {
            let again = written(format);
            let again = fingerprint_file::read(&again, path).expect("it was just written");
            assert_eq!(again.len(), rows.len());
            for row in 0..rows.len() {
                assert_eq!(again.row(row), rows.row(row));
            }
        }
    }
}

fn check(rows: &FingerprintRows<'_>, max_distance: u32, spills: bool) {
    let count = rows.len();
    // Within more bits than there are, all rows are near, and nothing is planned.
    if count > MOST_ROWS || max_distance >= rows.shape.units() {
        return;
    }
    // A packed file may hold bits beyond its fingerprints' width, which no row may have.
    let rest = rows.shape.row_bits() % 64;
    let is_beyond = |row: &[u64]| rest != 0 && row.last().is_some_and(|word| word >> rest != 0);
    if (0..count).any(|row| rows.row(row).is_some_and(is_beyond)) {
        return;
    }
    let near = |a: usize, b: usize| {
        let distance = rows.shape.distance(rows.row(a)?, rows.row(b)?);
        (distance <= max_distance).then_some((a as u32, b as u32, distance))
    };
    let expected: Vec<RowPair> = (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .filter_map(|(a, b)| near(a, b))
        .collect();
    // What a spilled join keeps, and a bucket so small that there are several.
    let memory = (16 << 20) + count as u64 * 8 + 2000;
    let resources = Resources { memory, threads: 1, ..Resources::default() };
    let portable = Resources { isa: Isa::Portable, ..resources.clone() };

    let plan = Plan::new(Workload::of(Task::SelfJoin, rows, max_distance, u64::MAX));
    let plan = plan.expect("there are more bits than that");
    for index in plan.estimates.iter().map(|estimate| estimate.index) {
        if index == IndexName::SpilledJoin && !spills {
            continue;
        }
        let plan = Plan { index, ..plan.clone() };
        for resources in [&resources, &portable] {
            let join = door::self_join(rows, &plan, resources).expect("there is room");
            assert!(expanded(&join.groups, &join.pairs) == expected, "{index}");
        }
        let counted = door::count_self_join(rows, &plan, &resources).expect("there is room");
        assert!(counted == expected.len() as u64, "count: {index}");
    }

    // The first third of the rows against all of them.
    let mut queries = RowsBuilder::new(rows.shape);
    (0..count / 3).for_each(|row| queries.push(rows.row(row)));
    let queries = queries.finish();
    let expected: Vec<RowPair> = (0..queries.len())
        .flat_map(|a| (0..count).map(move |b| (a, b)))
        .filter_map(|(a, b)| near(a, b))
        .collect();
    let task = Task::Batch { queries: queries.len() };
    let plan = Plan::new(Workload::of(task, rows, max_distance, u64::MAX));
    let plan = plan.expect("there are more bits than that");
    for index in plan.estimates.iter().map(|estimate| estimate.index) {
        let few_bits = rows.shape.row_bits() <= 16;
        let is_endless = match index {
            IndexName::BitProbing => max_distance > if few_bits { 3 } else { 1 },
            IndexName::ExpandedSet => max_distance > u32::from(count < 200),
            _ => false,
        };
        if is_endless {
            continue;
        }
        let plan = Plan { index, ..plan.clone() };
        let found = door::partners(&queries, rows, &plan, &resources).expect("there is room");
        let found = collect(&*found);
        let found = found.iter().map(|pair| (pair.a, pair.b, pair.distance));
        assert!(found.eq(expected.iter().copied()), "{index}");
    }
}

/// The pairs of rows that groups and pairs of groups stand for, ascending.
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
