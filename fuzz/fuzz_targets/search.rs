//! Any bytes as a file of fingerprints: no panic, and what is read comes back as it was written.
//! Any rows: every index and join finds what comparing everything finds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::document_name::DocumentName;
use simtool::fingerprint_file::{self, FileFormat, Missing};
use simtool::fingerprint_rows::{FingerprintRows, Lanes};
use simtool::kernels::Isa;
use simtool::matches::ValuePair;
use simtool::rows_of_words;
use simtool::search::bipartite_join::bipartite_join;
use simtool::search::bit_probing::BitProbing;
use simtool::search::block_index::BlockIndex;
use simtool::search::collect::KeepPairs;
use simtool::search::expanded_set::ExpandedSet;
use simtool::search::grouping::EqualGroups;
use simtool::search::linear_scan::LinearScan;
use simtool::search::partition_join::{count_pairs, self_join};
use simtool::search::permuted_tables::PermutedTables;
use simtool::search::spilled_join::SpilledGroups;
use simtool::search::streamed_queries::StreamedQueries;
use simtool::search::{FingerprintIndex, Rows, SearchLane};
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
    let distance = u32::from(distance);
    // Temporary files take longer than all the rest.
    let spills = form & 0b1_1111 == 0;
    match &rows.lanes {
        Lanes::Bits16(lanes) => check(lanes, &rows, distance % 20, spills),
        Lanes::Bits32(lanes) => check(lanes, &rows, distance % 40, spills),
        Lanes::Bits64(lanes) => check(lanes, &rows, distance % 70, spills),
        Lanes::Bits128(lanes) => check(lanes, &rows, distance % 140, spills),
    }
});

/// Rows of these bytes; every row whose bytes are all 0x77 has no fingerprint.
fn of_bytes(bytes: &[u8], bits: u32) -> FingerprintRows<'_> {
    let whole = bytes.len() - bytes.len() % (bits as usize / 8);
    let lanes = Lanes::from_bytes(&bytes[..whole], bits).expect("whole lanes");
    let mut validity = Validity::all(lanes.len());
    for (row, lane) in bytes[..whole].chunks_exact(bits as usize / 8).enumerate() {
        if lane.iter().all(|&byte| byte == 0x77) {
            validity.clear(row);
        }
    }
    FingerprintRows { lanes, bits, validity: Some(validity), recipe: None }
}

/// A row for every two bytes: one of eight centres, one bit flipped.
fn clusters(bytes: &[u8], bits: u32) -> FingerprintRows<'static> {
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
    FingerprintRows { lanes, bits, validity: None, recipe: None }
}

/// What was read is the same when it is written and read again.
fn comes_back(rows: &rows_of_words::FingerprintRows<'_>) {
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

fn check<L: SearchLane>(lanes: &[L], rows: &FingerprintRows<'_>, max_distance: u32, spills: bool) {
    if lanes.len() > MOST_ROWS {
        return;
    }
    let isa = Isa::detected();
    let all = Rows { lanes, validity: rows.validity.as_ref() };
    let near = |a: usize, b: usize| {
        let distance = (lanes[a] ^ lanes[b]).widen().count_ones();
        let valid = all.has_fingerprint(a) && all.has_fingerprint(b);
        (valid && distance <= max_distance).then_some((a as u32, b as u32, distance))
    };
    let count = lanes.len();
    let expected: Vec<RowPair> = (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .filter_map(|(a, b)| near(a, b))
        .collect();

    let join = self_join(all, max_distance, isa);
    assert!(expanded(&join.groups, &join.pairs) == expected, "partition join");
    let join = self_join(all, max_distance, Isa::Portable);
    assert!(expanded(&join.groups, &join.pairs) == expected, "portable partition join");
    assert!(count_pairs(all, max_distance, isa) == expected.len() as u64, "count");
    if spills {
        // What it keeps, and a bucket so small that there are several.
        let memory = (16 << 20) + count as u64 * 8 + 2000;
        let folder = std::env::temp_dir();
        let spilled = SpilledGroups::new(all, memory, &folder).expect("there is room");
        let pairs = spilled.collect_pairs(max_distance, isa, &KeepPairs).expect("there is room");
        assert!(expanded(&spilled.groups, &pairs.into_sorted()) == expected, "spilled join");
    }

    // The first third of the rows against all of them.
    let queries: Vec<u32> =
        (0..count as u32 / 3).filter(|&row| all.has_fingerprint(row as usize)).collect();
    let query_lanes: Vec<L> = queries.iter().map(|&row| lanes[row as usize]).collect();
    let corpus: Vec<u32> =
        (0..count as u32).filter(|&row| all.has_fingerprint(row as usize)).collect();
    let corpus_lanes: Vec<L> = corpus.iter().map(|&row| lanes[row as usize]).collect();
    let expected: Vec<RowPair> = queries
        .iter()
        .zip(0u32..)
        .flat_map(|(&row, query)| {
            let found = corpus.iter().zip(0u32..);
            found.filter_map(move |(&other, place)| {
                near(row as usize, other as usize).map(|(_, _, d)| (query, place, d))
            })
        })
        .collect();
    let (some, corpus) = (Rows::all(&query_lanes[..]), Rows::all(&corpus_lanes[..]));

    let join = bipartite_join(some, corpus, max_distance, isa);
    let mut found = Vec::new();
    for pair in &join.pairs {
        for &a in join.queries.rows(pair.a) {
            found.extend(join.corpus.rows(pair.b).iter().map(|&b| (a, b, pair.distance)));
        }
    }
    found.sort_unstable();
    assert!(found == expected, "bipartite join");
    let found = StreamedQueries::new(&query_lanes, max_distance, Isa::detected()).scan(corpus);
    let found: Vec<RowPair> = found.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect();
    assert!(found == expected, "streamed queries");

    let same = |index: &dyn FingerprintIndex<L>, name: &str| {
        let mut found = Vec::new();
        index.search_batch(&query_lanes, &mut |query, near| {
            found.extend(near.iter().map(|near| (query as u32, near.row, near.distance)));
        });
        assert!(found == expected, "{name}");
    };
    same(&LinearScan { corpus: &corpus_lanes, max_distance, isa }, "linear scan");
    same(&BlockIndex::new(&corpus_lanes, max_distance, isa), "block index");
    same(&PermutedTables::new(&corpus_lanes, max_distance), "permuted tables");
    if max_distance <= 1 || (L::BITS == 16 && max_distance <= 3) {
        same(&BitProbing::new(&corpus_lanes, max_distance), "bit probing");
    }
    if max_distance == 0 || (max_distance == 1 && corpus_lanes.len() < 200) {
        same(&ExpandedSet::new(&corpus_lanes, max_distance), "expanded set");
    }
}

/// The pairs of rows that groups and pairs of groups stand for, ascending.
fn expanded<W: simtool::fingerprint_table::Lane>(
    groups: &EqualGroups<W>,
    value_pairs: &[ValuePair],
) -> Vec<RowPair> {
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
