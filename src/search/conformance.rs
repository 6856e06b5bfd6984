//! Every index and join against the linear scan.

use crate::fingerprint_table::Lane;
use crate::kernels::Isa;
use crate::matches::ValuePair;
use crate::search::bipartite_join::bipartite_join;
use crate::search::bit_probing::BitProbing;
use crate::search::block_index::BlockIndex;
use crate::search::collect::{CountValues, KeepPairs};
use crate::search::expanded_set::ExpandedSet;
use crate::search::grouping::{EqualGroups, group};
use crate::search::linear_scan::LinearScan;
use crate::search::partition_join::{collect_value_pairs, count_pairs, self_join};
use crate::search::permuted_tables::PermutedTables;
use crate::search::spilled_join::SpilledGroups;
use crate::search::streamed_queries::StreamedQueries;
use crate::search::{FingerprintIndex, Rows, SearchLane, linear_scan};
use crate::validity::Validity;
use fingerprint_sets::{Random, ball, mix, pages};

#[path = "../../benches/fingerprint_sets.rs"]
mod fingerprint_sets;

/// Every distance up to 12.
const TO_12: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A pair of rows with its distance.
type RowPair = (u32, u32, u32);

/// The sets that everything is tried on, cut to the lane's bits.
fn sets<L: SearchLane>(rows: usize) -> Vec<(&'static str, Vec<L>)> {
    let narrow = |set: Vec<u128>| set.into_iter().map(L::narrow).collect::<Vec<L>>();
    let mut random = Random(5);
    let sparse = (0..rows).map(|_| random.wide() & random.wide() & random.wide()).collect();
    vec![
        ("mix", narrow(mix(rows, L::BITS, 1))),
        ("pages", narrow(pages(rows, L::BITS, 2))),
        ("ball", narrow(ball(rows, 13, 3))),
        ("sparse", narrow(sparse)),
        ("equal", narrow(vec![12_345; rows.min(300)])),
        ("two", narrow((0..rows.min(200)).map(|row| (row as u128 % 2) * 7).collect())),
        ("none", Vec::new()),
        ("one", narrow(vec![1])),
    ]
}

/// All pairs within `max_distance`, by comparing everything.
fn oracle<L: SearchLane>(rows: Rows<'_, L>, max_distance: u32) -> Vec<RowPair> {
    let valid = |row: usize| rows.has_fingerprint(row);
    let mut pairs = Vec::new();
    let mut found = Vec::new();
    for (a, &lane) in rows.lanes.iter().enumerate().filter(|(a, _)| valid(*a)) {
        found.clear();
        let behind = &rows.lanes[a + 1..];
        linear_scan::scan(behind, lane, max_distance, Isa::Portable, &mut found);
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

/// The rows' pairs of a self-join, through groups.
fn joined<L: SearchLane>(rows: Rows<'_, L>, max_distance: u32, isa: Isa) -> Vec<RowPair> {
    let join = self_join(rows, max_distance, isa);
    expanded(&join.groups, &join.pairs)
}

/// The pairs of rows that groups and pairs of groups stand for.
fn expanded<W: Lane>(groups: &EqualGroups<W>, value_pairs: &[ValuePair]) -> Vec<RowPair> {
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

fn check_self_join<L: SearchLane>(rows: usize, distances: &[u32]) {
    for (name, lanes) in sets::<L>(rows) {
        for max_distance in distances.iter().copied() {
            let all = Rows::all(&lanes);
            let expected = oracle(all, max_distance);
            for &isa in Isa::available() {
                let found = joined(all, max_distance, isa);
                let place = format!("{name}, {} bits, k = {max_distance}, {isa}", L::BITS);
                assert_eq!(found.len(), expected.len(), "{place}");
                assert_eq!(found, expected, "{place}");
                let counted = count_pairs(all, max_distance, isa);
                assert_eq!(counted, expected.len() as u64, "{place}");
            }
        }
    }
}

#[test]
fn self_join_of_16_bits() {
    check_self_join::<u16>(600, &[0, 1, 2, 3, 5, 15, 16, 99]);
}

#[test]
fn self_join_of_32_bits() {
    check_self_join::<u32>(1500, &TO_12);
}

#[test]
fn self_join_of_64_bits() {
    check_self_join::<u64>(1500, &TO_12);
    check_self_join::<u64>(300, &[40, 63, 64, 65, u32::MAX]);
}

#[test]
fn self_join_of_128_bits() {
    check_self_join::<u128>(1500, &TO_12);
    check_self_join::<u128>(200, &[100, 128, 200]);
}

#[test]
fn rows_without_a_fingerprint_match_nothing_and_keep_their_number() {
    for (name, lanes) in sets::<u64>(700) {
        let mut validity = Validity::all(lanes.len());
        (0..lanes.len()).step_by(3).for_each(|row| validity.clear(row));
        let rows = Rows { lanes: &lanes, validity: Some(&validity) };
        let expected = oracle(rows, 3);
        assert_eq!(joined(rows, 3, Isa::detected()), expected, "{name}");
    }
}

#[test]
fn the_spilled_join_finds_the_same_pairs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lanes) in sets::<u64>(2000) {
        let mut validity = Validity::all(lanes.len());
        (0..lanes.len()).step_by(9).for_each(|row| validity.clear(row));
        let rows = Rows { lanes: &lanes, validity: Some(&validity) };
        for max_distance in [0, 3, 7, 64] {
            // Less memory than anything needs: every partition has its most files.
            let spilled = SpilledGroups::new(rows, 0, folder.path()).unwrap();
            let groups = &spilled.groups;
            let isa = Isa::detected();
            let pairs = spilled.collect_pairs(max_distance, isa, &KeepPairs).unwrap();
            let found = expanded(groups, &pairs.into_sorted());
            assert!(found == oracle(rows, max_distance), "{name}, k = {max_distance}");
        }
    }
}

/// The pairs of a bipartite join, as rows.
fn bipartite<L: SearchLane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    max_distance: u32,
    isa: Isa,
) -> Vec<RowPair> {
    let join = bipartite_join(queries, corpus, max_distance, isa);
    let mut pairs = Vec::new();
    for pair in &join.pairs {
        for &a in join.queries.rows(pair.a) {
            pairs.extend(join.corpus.rows(pair.b).iter().map(|&b| (a, b, pair.distance)));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// All pairs of a query and a corpus row, by comparing everything.
fn bipartite_oracle<L: SearchLane>(
    queries: &[L],
    corpus: Rows<'_, L>,
    max_distance: u32,
) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    let mut found = Vec::new();
    for (a, &query) in queries.iter().enumerate() {
        found.clear();
        linear_scan::scan(corpus.lanes, query, max_distance, Isa::Portable, &mut found);
        let valid = |row: u32| corpus.validity.is_none_or(|v| v.has_value(row as usize));
        let near = found.iter().filter(|found| valid(found.row));
        pairs.extend(near.map(|found| (a as u32, found.row, found.distance)));
    }
    pairs
}

/// What `index` finds, one query at a time and in a batch.
fn searched<L: Lane>(index: &dyn FingerprintIndex<L>, queries: &[L]) -> Vec<RowPair> {
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

/// Everything that answers queries.
fn check_queries<L: SearchLane>(rows: usize, distances: &[u32]) {
    for (name, lanes) in sets::<L>(rows) {
        // Some queries that are in the corpus, some that are near, some that are not.
        let mut queries: Vec<L> = lanes.iter().copied().step_by(7).collect();
        queries.extend(lanes.iter().step_by(31).map(|&lane| lane ^ L::narrow(0b1001)));
        queries.extend(mix(20, L::BITS, 77).into_iter().map(L::narrow));
        let mut validity = Validity::all(lanes.len());
        (0..lanes.len()).step_by(5).for_each(|row| validity.clear(row));
        let some = Rows { lanes: &lanes, validity: Some(&validity) };
        for max_distance in distances.iter().copied() {
            let expected = bipartite_oracle(&queries, Rows::all(&lanes), max_distance);
            let expected_some = bipartite_oracle(&queries, some, max_distance);
            for &isa in Isa::available() {
                let place = format!("{name}, {} bits, k = {max_distance}, {isa}", L::BITS);
                let all = Rows::all(&queries[..]);
                let found = bipartite(all, Rows::all(&lanes), max_distance, isa);
                assert!(found == expected, "bipartite join: {place}");
                assert!(bipartite(all, some, max_distance, isa) == expected_some, "{place}");
                let index = BlockIndex::new(&lanes, max_distance, isa);
                assert!(searched(&index, &queries) == expected, "block index: {place}");
                let index = LinearScan { corpus: &lanes, max_distance, isa };
                assert!(searched(&index, &queries) == expected, "linear scan: {place}");
            }
            let place = format!("{name}, {} bits, k = {max_distance}", L::BITS);
            let streamed = StreamedQueries::new(&queries, max_distance, Isa::detected());
            let rows = |pairs: Vec<ValuePair>| -> Vec<RowPair> {
                pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect()
            };
            assert!(rows(streamed.scan(Rows::all(&lanes))) == expected, "streamed: {place}");
            assert!(rows(streamed.scan(some)) == expected_some, "streamed: {place}");
            let index = PermutedTables::new(&lanes, max_distance);
            assert!(searched(&index, &queries) == expected, "permuted tables: {place}");
            if max_distance <= 2 || (L::BITS == 16 && max_distance <= 4) {
                let index = BitProbing::new(&lanes, max_distance);
                assert!(searched(&index, &queries) == expected, "bit probing: {place}");
            }
            if max_distance <= 1 || (L::BITS == 16 && max_distance <= 2) {
                let index = ExpandedSet::new(&lanes, max_distance);
                assert!(searched(&index, &queries) == expected, "expanded set: {place}");
            }
        }
    }
}

#[test]
fn queries_of_16_bits() {
    check_queries::<u16>(300, &[0, 1, 2, 3, 4, 15, 16, 99]);
}

#[test]
fn queries_of_32_bits() {
    check_queries::<u32>(500, &[0, 1, 2, 3, 6, 12]);
}

#[test]
fn queries_of_64_bits() {
    check_queries::<u64>(700, &TO_12);
    check_queries::<u64>(100, &[63, 64, u32::MAX]);
}

#[test]
fn queries_of_128_bits() {
    check_queries::<u128>(500, &[0, 1, 2, 3, 6, 12]);
    check_queries::<u128>(100, &[127, 128]);
}

/// Runs `work` on `threads` threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn large_sets_give_the_same_pairs_in_the_same_order_for_any_number_of_threads() {
    let mut set = mix(60_000, 64, 4);
    set.extend(ball(60_000, 22, 5));
    let lanes: Vec<u64> = set.into_iter().map(|row| row as u64).collect();
    let run = |max_distance| {
        let mut groups = group(Rows::all(&lanes));
        let pairs = collect_value_pairs(&mut groups, max_distance, Isa::detected(), &KeepPairs);
        let counted = collect_value_pairs(&mut groups, max_distance, Isa::Portable, &CountValues);
        assert_eq!(counted, pairs.len() as u64);
        (groups.values().to_vec(), pairs.iter().copied().collect::<Vec<_>>())
    };
    for max_distance in [1, 3] {
        let (values, pairs) = on_threads(1, || run(max_distance));
        for threads in [2, 3, 7] {
            let other = on_threads(threads, || run(max_distance));
            assert!(other.0 == values && other.1 == pairs, "{threads} threads, k = {max_distance}");
        }
        let mut sorted = pairs.clone();
        sorted.sort_unstable();
        sorted.dedup_by_key(|pair| (pair.a, pair.b));
        assert_eq!(sorted.len(), pairs.len(), "a pair came twice");
        for pair in sorted.iter().step_by(97) {
            let distance = (values[pair.a as usize] ^ values[pair.b as usize]).count_ones();
            assert_eq!(pair.distance, distance);
        }
        // A sample of rows against everything.
        let mut found = Vec::new();
        for a in (0..values.len()).step_by(5_003) {
            found.clear();
            linear_scan::scan(&values, values[a], max_distance, Isa::detected(), &mut found);
            let partners = sorted.iter().filter(|p| p.a as usize == a || p.b as usize == a).count();
            assert_eq!(found.len(), partners + 1);
        }
    }
}

#[test]
fn giant_groups_stay_folded() {
    let rows = 300_000;
    let lanes = vec![42u64; rows];
    for max_distance in [0, 3, 64] {
        let join = self_join(Rows::all(&lanes), max_distance, Isa::detected());
        assert_eq!((join.groups.len(), join.pairs.len()), (1, 0));
        assert_eq!(join.groups.rows(0).len(), rows);
        let pairs = (rows as u64) * (rows as u64 - 1) / 2;
        assert_eq!(count_pairs(Rows::all(&lanes), max_distance, Isa::detected()), pairs);
    }
    // A few values, each many times, near one another.
    let lanes: Vec<u64> = (0..rows as u64).map(|row| 1 << (row % 8)).collect();
    let join = self_join(Rows::all(&lanes), 2, Isa::detected());
    assert_eq!((join.groups.len(), join.pairs.len()), (8, 28));
    let (queries, corpus) = lanes.split_at(rows / 3);
    let join = bipartite_join(Rows::all(queries), Rows::all(corpus), 2, Isa::detected());
    assert_eq!((join.queries.len(), join.corpus.len(), join.pairs.len()), (8, 8, 64));
}

#[test]
fn a_giant_bucket_of_one_block_is_split_by_the_others() {
    let mask = (1 << 48) - 1;
    let narrow: Vec<u64> = mix(100_000, 64, 6).iter().map(|&row| row as u64 & mask).collect();
    let isa = Isa::detected();
    // Where the constant bits stand changes no distance.
    let shifted = |by: u32| narrow.iter().map(|row| row << by | 0x5A5A & !(mask << by)).collect();
    let sets: [Vec<u64>; 3] = [narrow.clone(), shifted(16), shifted(7)];
    let counts = sets.each_ref().map(|set| count_pairs(Rows::all(set), 3, isa));
    let wide: Vec<u128> = narrow.iter().map(|&row| u128::from(row) << 40 | 7).collect();
    assert_eq!(counts, [count_pairs(Rows::all(&wide), 3, isa); 3]);
    let join = self_join(Rows::all(&narrow), 3, isa);
    let pairs = expanded(&join.groups, &join.pairs);
    assert_eq!(pairs.len() as u64, counts[0]);
    let mut found = Vec::new();
    for a in (0..narrow.len()).step_by(2_003) {
        found.clear();
        linear_scan::scan(&narrow, narrow[a], 3, isa, &mut found);
        let partners = pairs.iter().filter(|p| p.0 as usize == a || p.1 as usize == a).count();
        assert_eq!(found.len(), partners + 1);
    }
}
