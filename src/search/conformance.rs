//! Every index and join against the linear scan.

use crate::kernels::Isa;
use crate::search::collect::{CountValues, KeepPairs};
use crate::search::grouping::group;
use crate::search::partition_join::{collect_value_pairs, count_pairs, self_join};
use crate::search::{Rows, SearchLane, linear_scan};
use crate::validity::Validity;
use fingerprint_sets::{Random, ball, mix, pages};

#[path = "../../benches/fingerprint_sets.rs"]
mod fingerprint_sets;

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
    let valid = |row: usize| rows.validity.is_none_or(|validity| validity.has_value(row));
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
    let mut pairs = Vec::new();
    for group in join.groups.repeated() {
        let members = join.groups.rows(group);
        for (at, &a) in members.iter().enumerate() {
            pairs.extend(members[at + 1..].iter().map(|&b| (a, b, 0)));
        }
    }
    for pair in &join.pairs {
        assert!(pair.a < pair.b);
        for &a in join.groups.rows(pair.a) {
            let members = join.groups.rows(pair.b);
            pairs.extend(members.iter().map(|&b| (a.min(b), a.max(b), pair.distance)));
        }
    }
    pairs.sort_unstable();
    pairs
}

fn check_self_join<L: SearchLane>(rows: usize, distances: impl Iterator<Item = u32> + Clone) {
    for (name, lanes) in sets::<L>(rows) {
        for max_distance in distances.clone() {
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
    check_self_join::<u16>(600, [0, 1, 2, 3, 5, 15, 16, 99].into_iter());
}

#[test]
fn self_join_of_32_bits() {
    check_self_join::<u32>(1500, 0..=12);
}

#[test]
fn self_join_of_64_bits() {
    check_self_join::<u64>(1500, 0..=12);
    check_self_join::<u64>(300, [40, 63, 64, 65, u32::MAX].into_iter());
}

#[test]
fn self_join_of_128_bits() {
    check_self_join::<u128>(1500, 0..=12);
    check_self_join::<u128>(200, [100, 128, 200].into_iter());
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
