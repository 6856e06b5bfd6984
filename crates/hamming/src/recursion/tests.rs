use super::*;
use crate::collect::KeepPairs;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::fingerprint_table::Wide;
use simtool_model::matches::ValuePair;

/// Checks a join whose buckets are split as often as their bits allow. Compares its pairs with the
/// pairs that a comparison of every two fingerprints finds.
fn check<W: Fingerprint>(values: &[W], shape: Shape, boundary: u32, max_distance: u32) {
    let reach = Reach { shape, max_distance };
    for large_records in [500, usize::MAX] {
        let context = Context::default();
        let work = JoinWork::new(reach, &context);
        let keep_pairs = KeepPairs::all();
        let mut join = Recursion::new(values, work, &keep_pairs).with_boundary(boundary);
        join.costs = SplitCosts::of_tests();
        join.large_records = large_records;
        let found = join.run(values, Share::silent()).unwrap().into_sorted();
        let mut expected = Vec::new();
        for (a, &first) in values.iter().enumerate() {
            let behind = values.iter().enumerate().skip((a + 1).max(boundary as usize));
            for (b, &second) in behind {
                if boundary > 0 && a >= boundary as usize {
                    break;
                }
                if let Some(distance) = reach.distance(first ^ second) {
                    expected.push(ValuePair { a: a as u32, b: b as u32, distance });
                }
            }
        }
        assert!(
            found == expected,
            "{shape}, boundary {boundary}, k = {max_distance}, {large_records}"
        );
    }
}

#[test]
fn deep_splits_find_every_pair_once() {
    let mut state = 1u64;
    // Twenty centres in 24 bits, with some flipped bits, so that there are many pairs at every
    // distance.
    let values: Vec<u64> = (0..1500)
        .map(|row| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let centre = (row % 20) * 0x0012_3457;
            centre ^ 1 << (state >> 59) ^ 1 << (state >> 54 & 31) ^ 1 << (state >> 49 & 31)
        })
        .collect();
    for max_distance in 0..5 {
        check(&values, Shape::bits(64), 0, max_distance);
        check(&values, Shape::bits(64), 700, max_distance);
    }
    // The same data in longer fingerprints, whose other bits are constant, and with distances that
    // count groups of bits.
    let spread = |&value: &u64| Wide([value & 0xFFF, 7, value >> 12, 0]);
    let wide: Vec<Wide<4>> = values.iter().map(spread).collect();
    for max_distance in [0, 2, 4] {
        check(&wide, Shape::bits(256), 0, max_distance);
        check(&wide, Shape::bits(200), 700, max_distance);
        check(&wide, Shape::lanes(16, 16), 0, max_distance);
        check(&values, Shape::lanes(16, 4), 700, max_distance);
    }
}

/// Checks that a bucket of similar fingerprints is not split again and again. No split divides such
/// a bucket, so without a bound, the recursion would visit more paths than there is memory for.
#[test]
fn a_bucket_that_does_not_shrink_is_compared_pair_by_pair() {
    let similar = |row: u64| {
        let bits = mix(row);
        mix(7) ^ 1 << (bits % 64) ^ 1 << (bits >> 8 & 63) ^ 1 << (bits >> 16 & 63)
    };
    let values: Vec<u64> = (0..500).map(similar).chain((1000..1500).map(mix)).collect();
    for max_distance in [8, 20, 28] {
        check(&values, Shape::bits(64), 0, max_distance);
        check(&values, Shape::bits(64), 300, max_distance);
    }
}
