//! Tests every index and join against a comparison of all rows.

use crate::bipartite_join::bipartite_join;
use crate::block_index::BlockIndex;
use crate::bucket_table::TableKeys;
use crate::classic::bit_probing::BitProbing;
use crate::classic::expanded_set::ExpandedSet;
use crate::classic::permuted_tables::PermutedTables;
use crate::collect::KeepPairs;
use crate::layout::Layout;
use crate::multi_index_join;
use crate::partition_join::{count_pairs, self_join};
use crate::spilled_join::SpilledGroups;
use crate::streamed_queries::StreamedQueries;
use crate::work::JoinWork;
use crate::{FingerprintIndex, Rows, linear_scan};
use fingerprint_sets::{Random, ball, mix, pages, wide_mix};
use simtool_base::memory_ledger::Ledger;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::{Metric, Shape};
use simtool_model::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::validity::Validity;

#[path = "../../../benches/fingerprint_sets.rs"]
pub(super) mod fingerprint_sets;

/// All maximum distances from 0 to 12, for tests that join with each of them.
const TO_12: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A pair of row numbers, and their distance.
pub(super) type RowPair = (u32, u32, u32);

/// Returns a fingerprint whose lowest bits are `number`.
fn of_number<L: Fingerprint>(number: u128) -> L {
    L::from_words(&[number as u64, (number >> 64) as u64])
}

/// Returns sets of fingerprints for the tests, each with a name. The fingerprints have the number of bits of `shape`.
/// `rows` is the number of fingerprints in a large set, and some sets have fewer.
fn sets<L: Fingerprint>(shape: Shape, rows: usize) -> Vec<(&'static str, Vec<L>)> {
    let bits = shape.row_bits();
    let mask = L::lowest_bits(bits);
    let narrow = |set: Vec<u128>| set.into_iter().map(|row| of_number::<L>(row) & mask).collect();
    let mut random = Random(5);
    let sparse = (0..rows).map(|_| random.wide() & random.wide() & random.wide()).collect();
    let few_bits = bits.min(128);
    let mut sets: Vec<(_, Vec<L>)> = vec![
        ("mix", narrow(mix(rows, few_bits, 1))),
        ("pages", narrow(pages(rows, few_bits, 2))),
        ("ball", narrow(ball(rows, 13, 3))),
        ("sparse", narrow(sparse)),
        ("equal", narrow(vec![12_345; rows.min(300)])),
        ("two", narrow((0..rows.min(200)).map(|row| (row as u128 % 2) * 7).collect())),
        ("none", Vec::new()),
        ("one", narrow(vec![1])),
    ];
    if shape.row_bits() > 128 {
        let words = wide_mix(rows, shape.words(), 8);
        let wide = words.chunks_exact(shape.words()).map(|row| L::from_words(row) & mask);
        // The narrow sets fill one word, so some of them are not needed for rows of many words.
        sets.retain(|set| !["pages", "sparse"].contains(&set.0));
        sets.push(("wide mix", wide.collect()));
    }
    sets
}

/// Finds all pairs within the maximum distance of `reach`, by comparing every two rows.
fn oracle<L: Fingerprint>(rows: Rows<'_, L>, reach: Reach) -> Vec<RowPair> {
    let valid = |row: usize| rows.has_fingerprint(row);
    let mut pairs = Vec::new();
    let mut found = Vec::new();
    for (a, &fingerprint) in rows.fingerprints.iter().enumerate().filter(|(a, _)| valid(*a)) {
        found.clear();
        let behind = &rows.fingerprints[a + 1..];
        linear_scan::scan(behind, fingerprint, reach, Isa::PORTABLE, &mut found);
        for found in &found {
            let b = a + 1 + found.row as usize;
            if valid(b) {
                pairs.push((a as u32, b as u32, found.distance));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns a context that uses the instruction set `isa`.
fn context_of(isa: Isa) -> Context<'static> {
    Context::default().with_isa(isa)
}

/// Returns the pairs of rows that the self-join finds.
fn joined<L: Fingerprint>(rows: Rows<'_, L>, reach: Reach, isa: Isa) -> Vec<RowPair> {
    let join = self_join(rows, JoinWork::new(reach, &context_of(isa))).unwrap();
    expanded(join.groups.first(), &join.pairs)
}

/// Expands groups of equal rows and pairs of groups to pairs of rows.
pub(super) fn expanded(groups: &Groups, value_pairs: &[ValuePair]) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    for group in groups.repeated() {
        let members = groups.rows(group);
        for (at, &a) in members.iter().enumerate() {
            pairs.extend(members[at + 1..].iter().map(|&b| (a, b, 0)));
        }
    }
    for pair in value_pairs {
        assert!(pair.a < pair.b);
        for &a in groups.rows(pair.a) {
            let members = groups.rows(pair.b);
            pairs.extend(members.iter().map(|&b| (a.min(b), a.max(b), pair.distance)));
        }
    }
    pairs.sort_unstable();
    pairs
}

fn check_self_join<L: Fingerprint>(shape: Shape, rows: usize, distances: &[u32]) {
    for (name, fingerprints) in sets::<L>(shape, rows) {
        for max_distance in distances.iter().copied() {
            let (all, reach) = (Rows::all(&fingerprints), Reach { shape, max_distance });
            let expected = oracle(all, reach);
            for &isa in Isa::available() {
                let found = joined(all, reach, isa);
                let place = format!("{name}, {shape}, k = {max_distance}, {isa}");
                assert_eq!(found.len(), expected.len(), "{place}");
                assert_eq!(found, expected, "{place}");
                let context = context_of(isa);
                let work = JoinWork::new(reach, &context);
                let counted = count_pairs(all, work).unwrap();
                assert_eq!(counted, expected.len() as u64, "{place}");
                if shape.metric() == Metric::Bits {
                    let join = multi_index_join::self_join(all, work).unwrap();
                    assert!(expanded(join.groups.first(), &join.pairs) == expected, "{place}");
                    let counted = multi_index_join::count_pairs(all, work).unwrap();
                    assert_eq!(counted, expected.len() as u64, "{place}");
                }
            }
        }
    }
}

#[test]
fn self_join_of_16_and_32_bits() {
    check_self_join::<u64>(Shape::bits(16), 600, &[0, 1, 2, 3, 5, 15, 16, 99]);
    check_self_join::<u64>(Shape::bits(32), 1000, &TO_12);
}

#[test]
fn self_join_of_64_bits() {
    check_self_join::<u64>(Shape::bits(64), 1100, &TO_12);
    check_self_join::<u64>(Shape::bits(64), 300, &[40, 63, 64, 65, u32::MAX]);
}

#[test]
fn self_join_of_128_bits() {
    check_self_join::<Wide<2>>(Shape::bits(128), 1000, &TO_12);
    check_self_join::<Wide<2>>(Shape::bits(128), 200, &[100, 128, 200]);
}

#[test]
fn self_join_of_many_words() {
    check_self_join::<Wide<4>>(Shape::bits(256), 500, &[0, 1, 3, 6, 12, 24]);
    check_self_join::<Wide<4>>(Shape::bits(192), 400, &[0, 3, 9]);
    check_self_join::<Wide<8>>(Shape::bits(512), 500, &[0, 3, 12, 24, 60]);
    check_self_join::<Wide<8>>(Shape::bits(512), 100, &[250, 512]);
}

#[test]
fn self_join_of_lanes_of_bits() {
    check_self_join::<u64>(Shape::lanes(16, 4), 700, &[0, 1, 2, 3, 7, 15, 16, 99]);
    check_self_join::<Wide<2>>(Shape::lanes(128, 1), 300, &[3]);
    check_self_join::<Wide<2>>(Shape::lanes(2, 64), 300, &[0, 1, 2]);
    check_self_join::<Wide<8>>(Shape::lanes(16, 32), 500, &[0, 1, 4, 9]);
    check_self_join::<Wide<8>>(Shape::lanes(128, 4), 500, &[0, 3, 24]);
}

#[test]
fn rows_without_a_fingerprint_match_nothing_and_keep_their_number() {
    for (name, fingerprints) in sets::<u64>(Shape::bits(64), 700) {
        let mut validity = Validity::all(fingerprints.len());
        (0..fingerprints.len()).step_by(3).for_each(|row| validity.clear(row));
        let rows = Rows { fingerprints: &fingerprints, validity: Some(&validity) };
        let reach = Reach::bits(64, 3);
        assert_eq!(joined(rows, reach, Isa::detected()), oracle(rows, reach), "{name}");
    }
}

fn check_spilled<L: Fingerprint>(shape: Shape, memory: u64, distances: &[u32]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, fingerprints) in sets::<L>(shape, 1500) {
        let mut validity = Validity::all(fingerprints.len());
        (0..fingerprints.len()).step_by(9).for_each(|row| validity.clear(row));
        let rows = Rows { fingerprints: &fingerprints, validity: Some(&validity) };
        for max_distance in distances.iter().copied() {
            let reach = Reach { shape, max_distance };
            let spilled = SpilledGroups::new(rows, &Ledger::new(memory), folder.path()).unwrap();
            let (groups, isa) = (&spilled.groups, Isa::detected());
            let layout = Layout::even(shape, max_distance);
            let pairs = spilled
                .collect_pairs(&layout, JoinWork::new(reach, &context_of(isa)), &KeepPairs::all())
                .unwrap();
            let found = expanded(groups, &pairs.into_sorted());
            assert!(found == oracle(rows, reach), "{name}, {shape}, k = {max_distance}");
        }
    }
}

#[test]
fn the_spilled_join_finds_the_same_pairs() {
    // Less memory than the join needs, so every bucket is as small as possible.
    check_spilled::<u64>(Shape::bits(64), 0, &[0, 3, 7, 64]);
    check_spilled::<Wide<4>>(Shape::bits(256), 20 << 20, &[3]);
    check_spilled::<Wide<2>>(Shape::lanes(32, 4), 20 << 20, &[2]);
}

/// Returns the pairs of rows that the bipartite join finds.
fn bipartite<L: Fingerprint>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    reach: Reach,
    isa: Isa,
) -> Vec<RowPair> {
    let join = bipartite_join(queries, corpus, JoinWork::new(reach, &context_of(isa))).unwrap();
    let mut pairs = Vec::new();
    for pair in &join.pairs {
        for &a in join.groups.first().rows(pair.a) {
            pairs.extend(join.groups.second().rows(pair.b).iter().map(|&b| (a, b, pair.distance)));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Finds all pairs of a query and a row of the corpus within the maximum distance of `reach`, by
/// comparing each query with each row.
fn bipartite_oracle<L: Fingerprint>(
    queries: &[L],
    corpus: Rows<'_, L>,
    reach: Reach,
) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    let mut found = Vec::new();
    for (a, &query) in queries.iter().enumerate() {
        found.clear();
        linear_scan::scan(corpus.fingerprints, query, reach, Isa::PORTABLE, &mut found);
        let valid = |row: u32| corpus.validity.is_none_or(|v| v.has_value(row as usize));
        let near = found.iter().filter(|found| valid(found.row));
        pairs.extend(near.map(|found| (a as u32, found.row, found.distance)));
    }
    pairs
}

/// Returns the matches that `index` finds. Checks that single queries find the same matches as a batch.
fn searched<L: Fingerprint>(index: &dyn FingerprintIndex<L>, queries: &[L]) -> Vec<RowPair> {
    let (mut one_by_one, mut batch, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (a, &query) in queries.iter().enumerate() {
        index.search(query, &mut found);
        one_by_one.extend(found.iter().map(|found| (a as u32, found.row, found.distance)));
    }
    index.search_batch(queries, &mut |a, found| {
        batch.extend(found.iter().map(|found| (a as u32, found.row, found.distance)));
    });
    assert!(one_by_one == batch);
    one_by_one
}

/// Returns queries: some are equal to `fingerprints`, some differ from them in two bits, and some are
/// unrelated.
fn queries_of<L: Fingerprint>(fingerprints: &[L], shape: Shape) -> Vec<L> {
    let mask = L::lowest_bits(shape.row_bits());
    let mut queries: Vec<L> = fingerprints.iter().copied().step_by(7).collect();
    queries.extend(
        fingerprints.iter().step_by(31).map(|&fingerprint| fingerprint ^ of_number(0b1001)),
    );
    queries.extend(mix(20, shape.row_bits().min(128), 77).into_iter().map(of_number::<L>));
    queries.into_iter().map(|query| query & mask).collect()
}

/// Checks every method that answers queries.
fn check_queries<L: Fingerprint>(shape: Shape, rows: usize, distances: &[u32]) {
    let few_bits = shape.row_bits() <= 16;
    for (name, fingerprints) in sets::<L>(shape, rows) {
        let queries = queries_of(&fingerprints, shape);
        let mut validity = Validity::all(fingerprints.len());
        (0..fingerprints.len()).step_by(5).for_each(|row| validity.clear(row));
        let some = Rows { fingerprints: &fingerprints, validity: Some(&validity) };
        for max_distance in distances.iter().copied() {
            let reach = Reach { shape, max_distance };
            let expected = bipartite_oracle(&queries, Rows::all(&fingerprints), reach);
            let expected_some = bipartite_oracle(&queries, some, reach);
            let layout = Layout::of_fingerprints(&fingerprints, shape, max_distance);
            for &isa in Isa::available() {
                let place = format!("{name}, {shape}, k = {max_distance}, {isa}");
                let all = Rows::all(&queries[..]);
                let found = bipartite(all, Rows::all(&fingerprints), reach, isa);
                assert!(found == expected, "bipartite join: {place}");
                assert!(bipartite(all, some, reach, isa) == expected_some, "{place}");
                let index =
                    BlockIndex::new(&fingerprints[..], TableKeys::new(layout.clone(), reach), isa)
                        .unwrap();
                assert!(searched(&index, &queries) == expected, "block index: {place}");
            }
            let place = format!("{name}, {shape}, k = {max_distance}");
            let streamed = StreamedQueries::new(&queries, &layout, reach, Isa::detected());
            let rows = |pairs: Vec<ValuePair>| -> Vec<RowPair> {
                pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect()
            };
            assert!(rows(streamed.scan(Rows::all(&fingerprints))) == expected, "streamed: {place}");
            assert!(rows(streamed.scan(some)) == expected_some, "streamed: {place}");
            if shape.metric() != Metric::Bits {
                continue;
            }
            let index = PermutedTables::new(&fingerprints, reach);
            assert!(searched(&index, &queries) == expected, "permuted tables: {place}");
            if max_distance <= 1
                || (L::WORDS <= 2 && max_distance <= 2)
                || (few_bits && max_distance <= 4)
            {
                let index = BitProbing::new(&fingerprints, max_distance);
                assert!(searched(&index, &queries) == expected, "bit probing: {place}");
            }
            if max_distance == 0
                || (L::WORDS <= 2 && max_distance <= 1)
                || (few_bits && max_distance <= 2)
            {
                let index = ExpandedSet::new(&fingerprints, shape.row_bits(), max_distance);
                assert!(searched(&index, &queries) == expected, "expanded set: {place}");
            }
        }
    }
}

#[test]
fn queries_of_16_and_32_bits() {
    check_queries::<u64>(Shape::bits(16), 300, &[0, 1, 2, 3, 4, 15, 16, 99]);
    check_queries::<u64>(Shape::bits(32), 400, &[0, 1, 2, 3, 6, 12]);
}

#[test]
fn queries_of_64_bits() {
    check_queries::<u64>(Shape::bits(64), 700, &TO_12);
    check_queries::<u64>(Shape::bits(64), 100, &[63, 64, u32::MAX]);
}

#[test]
fn queries_of_128_bits() {
    check_queries::<Wide<2>>(Shape::bits(128), 500, &[0, 1, 2, 3, 6, 12]);
    check_queries::<Wide<2>>(Shape::bits(128), 100, &[127, 128]);
}

#[test]
fn queries_of_many_words_and_of_lanes_of_bits() {
    check_queries::<Wide<4>>(Shape::bits(256), 300, &[0, 1, 3, 12]);
    check_queries::<Wide<4>>(Shape::bits(192), 200, &[3]);
    check_queries::<Wide<8>>(Shape::bits(512), 300, &[0, 3, 24]);
    check_queries::<u64>(Shape::lanes(16, 4), 300, &[0, 1, 3, 15]);
    check_queries::<Wide<8>>(Shape::lanes(16, 32), 300, &[0, 2, 8]);
}
