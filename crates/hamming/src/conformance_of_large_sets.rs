//! Tests joins of large sets by several threads, with very large groups and buckets, against the linear
//! scan of some rows.

use crate::Rows;
use crate::bipartite_join::bipartite_join;
use crate::collect::KeepPairs;
use crate::conformance::expanded;
use crate::conformance::fingerprint_sets::{ball, mix, wide_mix};
use crate::grouping::group;
use crate::linear_scan;
use crate::multi_index_join;
use crate::partition_join::{collect_value_pairs, count_pairs, self_join};
use crate::work::JoinWork;
use simtool_base::memory_ledger::Ledger;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool_model::matches::ValuePair;

/// Runs `work` on `threads` threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn large_sets_of_many_words_are_joined_by_their_sketches() {
    let context = Context::default();
    let words = wide_mix(70_000, 8, 3);
    let fingerprints: &[Wide<8>] = bytemuck::cast_slice(&words);
    // In each half only few bits vary, so that keys leave big buckets.
    let narrow = |row: &Wide<8>| Wide([row.0[0] & 0xFFF, 9, 9, 9, row.0[4] & 0x1F, 0, 0, 0]);
    let few: Vec<Wide<8>> = fingerprints.iter().map(narrow).collect();
    let isa = Isa::detected();
    let distance = |a: &Wide<8>, b: &Wide<8>| (*a ^ *b).count_ones();
    for (fingerprints, max_distance) in [(fingerprints, 24), (fingerprints, 3), (&few[..], 2)] {
        let reach = Reach::bits(512, max_distance);
        let mut groups = group(Rows::all(fingerprints), &Ledger::new(0)).unwrap();
        let run = |groups: &mut _| {
            collect_value_pairs(groups, JoinWork::new(reach, &context), &KeepPairs::all()).unwrap()
        };
        let pairs = on_threads(1, || run(&mut groups));
        let values = groups.values().to_vec();
        for threads in [2, 3] {
            let other = on_threads(threads, || run(&mut groups));
            assert!(other.iter().eq(pairs.iter()), "{threads} threads, k = {max_distance}");
        }
        let mut sorted = pairs.into_sorted();
        assert!(sorted.len() > 1000);
        for pair in &sorted {
            let [a, b] = [pair.a, pair.b].map(|group| &values[group as usize]);
            assert_eq!(pair.distance, distance(a, b));
        }
        sorted.dedup_by_key(|pair| (pair.a, pair.b));
        let mut found = Vec::new();
        for a in (0..values.len()).step_by(499) {
            found.clear();
            linear_scan::scan(&values, values[a], reach, isa, &mut found);
            let partners = sorted.iter().filter(|p| p.a as usize == a || p.b as usize == a).count();
            assert_eq!(found.len(), partners + 1, "k = {max_distance}");
        }
        let (queries, corpus) = fingerprints.split_at(30_000);
        let join =
            bipartite_join(Rows::all(queries), Rows::all(corpus), JoinWork::new(reach, &context))
                .unwrap();
        for a in (0..join.groups.first().len() as u32).step_by(499) {
            found.clear();
            let query = queries[join.groups.first().rows(a)[0] as usize];
            linear_scan::scan(corpus, query, reach, isa, &mut found);
            let partners = join.pairs.iter().filter(|pair| pair.a == a);
            let rows: u32 = partners.map(|pair| join.groups.second().size(pair.b)).sum();
            assert_eq!(found.len(), rows as usize, "k = {max_distance}");
        }
    }
}

#[test]
fn large_sets_give_the_same_pairs_in_the_same_order_for_any_number_of_threads() {
    let context = Context::default();
    let mut set = mix(60_000, 64, 4);
    set.extend(ball(60_000, 22, 5));
    let fingerprints: Vec<u64> = set.into_iter().map(|row| row as u64).collect();
    let reach = |max_distance| Reach::bits(64, max_distance);
    let run = |max_distance| {
        let mut groups = group(Rows::all(&fingerprints), &Ledger::new(0)).unwrap();
        let pairs = collect_value_pairs(
            &mut groups,
            JoinWork::new(reach(max_distance), &context),
            &KeepPairs::all(),
        )
        .unwrap();
        let portable = collect_value_pairs(
            &mut groups,
            JoinWork::new(reach(max_distance), &context.with_isa(Isa::PORTABLE)),
            &KeepPairs::all(),
        )
        .unwrap();
        assert_eq!(portable.len(), pairs.len());
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
        // Compare some rows with all others.
        let mut found = Vec::new();
        for a in (0..values.len()).step_by(5_003) {
            found.clear();
            linear_scan::scan(&values, values[a], reach(max_distance), Isa::detected(), &mut found);
            let partners = sorted.iter().filter(|p| p.a as usize == a || p.b as usize == a).count();
            assert_eq!(found.len(), partners + 1);
        }
    }
}

#[test]
fn giant_groups_stay_folded() {
    let context = Context::default();
    let rows = 300_000;
    let fingerprints = vec![42u64; rows];
    for max_distance in [0, 3, 64] {
        let reach = Reach::bits(64, max_distance);
        let join = self_join(Rows::all(&fingerprints), JoinWork::new(reach, &context)).unwrap();
        assert_eq!((join.groups.first().len(), join.pairs.len()), (1, 0));
        assert_eq!(join.groups.first().rows(0).len(), rows);
        let pairs = (rows as u64) * (rows as u64 - 1) / 2;
        assert_eq!(
            count_pairs(Rows::all(&fingerprints), JoinWork::new(reach, &context)).unwrap(),
            pairs
        );
    }
    // A few values that are near one another, each many times.
    let fingerprints: Vec<u64> = (0..rows as u64).map(|row| 1 << (row % 8)).collect();
    let reach = Reach::bits(64, 2);
    let join = self_join(Rows::all(&fingerprints), JoinWork::new(reach, &context)).unwrap();
    assert_eq!((join.groups.first().len(), join.pairs.len()), (8, 28));
    let (queries, corpus) = fingerprints.split_at(rows / 3);
    let join =
        bipartite_join(Rows::all(queries), Rows::all(corpus), JoinWork::new(reach, &context))
            .unwrap();
    assert_eq!(
        (join.groups.first().len(), join.groups.second().len(), join.pairs.len()),
        (8, 8, 64)
    );
}

#[test]
fn a_giant_bucket_of_one_block_is_split_by_the_others() {
    let context = Context::default();
    let mask = (1 << 48) - 1;
    let narrow: Vec<u64> = mix(100_000, 64, 6).iter().map(|&row| row as u64 & mask).collect();
    let (isa, reach) = (Isa::detected(), Reach::bits(64, 3));
    // The position of the constant bits changes no distance.
    let shifted = |by: u32| narrow.iter().map(|row| row << by | 0x5A5A & !(mask << by)).collect();
    let sets: [Vec<u64>; 3] = [narrow.clone(), shifted(16), shifted(7)];
    let counts = sets
        .each_ref()
        .map(|set| count_pairs(Rows::all(set), JoinWork::new(reach, &context)).unwrap());
    let wide = |&row: &u64| Wide::from(u128::from(row) << 40 | 7);
    let wide: Vec<Wide<2>> = narrow.iter().map(wide).collect();
    assert_eq!(
        counts,
        [count_pairs(Rows::all(&wide), JoinWork::new(Reach::bits(128, 3), &context)).unwrap(); 3]
    );
    let join = self_join(Rows::all(&narrow), JoinWork::new(reach, &context)).unwrap();
    let pairs = expanded(join.groups.first(), &join.pairs);
    assert_eq!(pairs.len() as u64, counts[0]);
    let mut found = Vec::new();
    for a in (0..narrow.len()).step_by(2_003) {
        found.clear();
        linear_scan::scan(&narrow, narrow[a], reach, isa, &mut found);
        let partners = pairs.iter().filter(|p| p.0 as usize == a || p.1 as usize == a).count();
        assert_eq!(found.len(), partners + 1);
    }
}

#[test]
fn buffers_and_pairs_are_entered_in_the_ledger_and_released() {
    // Any two of these fingerprints are within eight bits.
    let fingerprints: Vec<u64> = (0..256).collect();
    let rows = Rows::all(&fingerprints);
    let pair_count = 256 * 255 / 2;
    let context = Context::default();
    let work = JoinWork::new(Reach::bits(64, 8), &context);
    for found in [self_join(rows, work), multi_index_join::self_join(rows, work)] {
        let found = found.unwrap();
        assert_eq!(found.pairs.len(), pair_count);
        let peak = context.memory().peak();
        // The last pairs of each list are not counted, because they are few.
        let of_pairs = (pair_count * size_of::<ValuePair>()) as u64;
        assert!(peak >= of_pairs / 2, "{peak} bytes for {of_pairs}");
    }
    assert_eq!(context.memory().used(), 0);
}
