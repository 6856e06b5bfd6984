use super::*;
use proptest::prelude::*;
use simtool_base::memory_ledger::Ledger;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::fingerprint_table::Wide;
use simtool_model::matches::ValuePair;

/// Checks the pairs that are found with given blocks, for every instruction set, against a
/// comparison of every two fingerprints.
fn check<L: Fingerprint>(values: &[L], reach: Reach, blocks: &[KeyBlock]) {
    let mut expected = Vec::new();
    for (a, &first) in values.iter().enumerate() {
        for (b, &second) in values.iter().enumerate().skip(a + 1) {
            if let Some(distance) = reach.distance(first ^ second) {
                expected.push(ValuePair { a: a as u32, b: b as u32, distance });
            }
        }
    }
    let blocks = blocks.to_vec();
    for &isa in Isa::available() {
        for short_words in [false, true] {
            let blocks = blocks.clone();
            let ledger = &Ledger::new(0);
            let join = KeyJoin {
                values,
                reach,
                isa,
                ledger,
                collect: &KeepPairs::all(),
                short_words,
                blocks,
            };
            let found = join.run(None, Share::silent()).unwrap().into_sorted();
            assert!(found == expected, "{isa}, {reach:?}, {:?}", join.blocks);
        }
    }
}

/// Returns `count` fingerprints, without the bits outside `mask`. About 4 in 5 differ in at most 8
/// bits from one of `centres` fixed values. The others are random.
fn rows(count: usize, centres: u64, mask: u64) -> Vec<u64> {
    let mut state = count as u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(11);
        state ^ state >> 29
    };
    let mut row = || match next() {
        other if other % 5 == 0 => other,
        near => {
            let centre = (near % centres).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (0..next() % 9).fold(centre, |row, _| row ^ 1 << (next() >> 58))
        }
    };
    (0..count).map(|_| row() & mask).collect()
}

#[test]
fn every_pair_is_found_in_one_block() {
    let sets = [rows(700, 40, u64::MAX), rows(700, 3, 0xFFFF_0000_00FF), vec![9; 60], vec![7]];
    for values in &sets {
        for max_distance in [0, 1, 4, 7, 10, 20] {
            let reach = Reach::bits(64, max_distance);
            for (blocks, key_bits) in [(1, 4), (1, 9), (2, 10), (3, 8), (4, 16), (11, 5)] {
                if blocks <= max_distance + 1 {
                    let weights = BitWeights::of(values, reach.shape);
                    let plan = KeyPlan::new(blocks, key_bits);
                    check(values, reach, &plan.cut(&weights, 64, max_distance));
                }
            }
        }
    }
}

#[test]
fn rows_of_two_words_and_buckets_of_many_rows() {
    let spread = |&row: &u64| Wide([row << 13, row >> 51 | row << 40]);
    let wide: Vec<Wide<2>> = rows(600, 20, u64::MAX).iter().map(spread).collect();
    let weights = BitWeights::of(&wide, Shape::bits(128));
    for max_distance in [3, 10] {
        let blocks = KeyPlan::new(3, 12).cut(&weights, 128, max_distance);
        check(&wide, Reach::bits(128, max_distance), &blocks);
    }
    // More rows near a bucket than are compared at once.
    let many = rows(3 * COLUMNS / 2, 60, u64::MAX);
    let blocks = KeyPlan::new(1, 4).cut(&BitWeights::of(&many, Shape::bits(64)), 64, 2);
    check(&many, Reach::bits(64, 2), &blocks);
}

proptest! {
    #[test]
    fn any_rows_are_joined(
        values in prop::collection::vec(0u64..1 << 14, 0..120),
        max_distance in 0u32..14,
        blocks in 1u32..5,
        key_bits in 4u32..12,
    ) {
        let reach = Reach::bits(20, max_distance);
        let weights = BitWeights::of(&values, reach.shape);
        let plan = KeyPlan::new(blocks.min(max_distance + 1), key_bits);
        check(&values, reach, &plan.cut(&weights, 20, max_distance));
    }
}
