use super::*;

#[test]
fn distances_count_bits_or_lanes() {
    let (a, b) = ([0b1111_0000, 1 << 63], [0b0000_0001, 0]);
    assert_eq!(Shape::bits(128).distance(&a, &b), 6);
    assert_eq!(Shape::lanes(32, 4).distance(&a, &b), 3);
    assert_eq!(Shape::lanes(2, 64).distance(&a, &b), 2);
    assert_eq!(Shape::lanes(128, 1).distance(&a, &b), 6);
    for lane_bits in [1, 2, 4, 8, 16, 32, 64] {
        for bit in 0..64 {
            let lowest = bit / lane_bits * lane_bits;
            assert_eq!(differing_lanes(1 << bit, lane_bits), 1 << lowest);
        }
    }
    assert_eq!(Shape::bits(100).words(), 2);
    assert_eq!((Shape::lanes(32, 4).units(), Shape::bits(100).units()), (32, 100));
    assert_eq!(Shape::lanes(128, 4).to_string(), "128 lanes of 4 bits");
}

#[test]
fn what_is_null_differs_from_everything() {
    let shape = Shape::lanes_or_null(3);
    let value = 1 << 63;
    assert_eq!(shape.distance(&[value, value | 7, 0], &[value, value | 7, 0]), 1);
    assert_eq!(shape.distance(&[value, 5, 0], &[value | 1, 5, value]), 3);
    assert_eq!((shape.units(), shape.words()), (3, 3));
    assert_eq!(shape.to_string(), "3 lanes of 64 bits or null");
}

#[test]
fn cosines_are_estimated_from_lanes_and_sizes() {
    let shape = Shape::cosine(2, 4);
    assert_eq!((shape.parts(), shape.units(), shape.words()), ((28, 4), 1000, 2));
    let row = |low: u64, high: u64, size: u64| [low, high | size_code(size) << 48];
    let all = u64::MAX >> 16;
    let distance = |a: [u64; 2], b: [u64; 2]| shape.distance(&a, &b);
    assert_eq!(distance(row(5, 7, 100), row(5, 7, 100)), 0);
    // All lanes agree: the smaller set is in the larger, which has 4 times as many terms.
    assert_eq!(distance(row(5, 7, 100), row(5, 7, 400)), 500);
    // None agrees.
    assert_eq!(distance(row(0, 0, 100), row(u64::MAX, all, 100)), 1000);
    // 16 of 28 agree: J = (16/28 - 1/16) / (15/16), and for equal sizes the cosine is 2J / (1 + J).
    // That is 0.7037.
    assert_eq!(distance(row(0, 0, 9), row(0, all, 9)), 297);
    assert_eq!(shape.to_string(), "28 lanes of 4 bits and a size");
}

#[test]
fn sizes_keep_eleven_digits() {
    for size in [0, 1, 2047, 2048, 2050, 1 << 20, 1_000_001, 1 << 40] {
        let kept = size_of_code(size_code(size));
        assert!(kept <= size && size - kept <= size >> 10, "{size}: {kept}");
        assert!(size_code(size) < 1 << SIZE_BITS);
    }
    assert_eq!(size_of_code(size_code(2047)), 2047);
}

#[test]
fn votes_are_those_of_the_nearest_lanes() {
    let a = [0b1, 0b111, u64::MAX, 0];
    let b = [0; 4];
    let distance = |needed| Shape::votes(4, needed).distance(&a, &b);
    assert_eq!([1, 2, 3, 4].map(distance), [0, 1, 3, 64]);
    assert_eq!(Shape::votes(4, 2).units(), 64);
    assert_eq!(Shape::votes(8, 4).to_string(), "4 votes of 8 lanes of 64 bits");
}

#[test]
fn rows_come_back_and_some_have_no_fingerprint() {
    let mut rows = RowsBuilder::new(Shape::bits(128));
    rows.push(Some(&[1, 2]));
    rows.push(None);
    rows.push(Some(&[3, 4]));
    let rows = rows.finish();
    assert_eq!(rows.len(), 3);
    assert_eq!([0, 1, 2].map(|row| rows.row(row)), [Some(&[1, 2][..]), None, Some(&[3, 4])]);
}

#[test]
fn recipes_tell_where_they_differ() {
    assert_eq!(recipe_difference("a/b=1/c", "a/b=1/c"), None);
    let difference = recipe_difference("a/b=1/c", "a/b=2/c/d").unwrap();
    assert_eq!(difference, "b=1 and b=2, nothing and d");
}

#[test]
fn a_part_has_the_rows_of_its_range() {
    let mut rows = RowsBuilder::new(Shape::bits(128));
    for row in 0..200_u64 {
        rows.push((row % 3 != 0).then_some(&[row, row + 1]));
    }
    let rows = rows.finish();
    let part = rows.part(70..170);
    assert_eq!(part.len(), 100);
    assert!((0..100).all(|row| part.row(row) == rows.row(row + 70)));
    assert!(rows.part(200..200).is_empty());
}

#[test]
fn no_pair_within_a_cosine_differs_in_more_hash_lanes_than_the_bound() {
    for (words, bits) in [(1, 16), (1, 4), (2, 8), (8, 4)] {
        let shape = Shape::cosine(words, bits);
        let (lanes, _) = shape.parts();
        // Sizes of equal sets, of sets in sets, and of sets of very different sizes.
        let sizes: Vec<[u64; 2]> = (1..40).flat_map(|b| (1..=b).map(move |a| [a, b])).collect();
        let sizes =
            || sizes.iter().copied().chain([[819, 1000], [2047, 1 << 40], [90_000, 91_000]]);
        let mut nearest = 1000;
        for differing in (0..=lanes).rev() {
            let distances = sizes().map(|sizes| cosine_distance(lanes, bits, differing, sizes));
            nearest = distances.fold(nearest, u32::min);
            // The bound for this distance counts so many lanes, and the one for a shorter distance counts fewer.
            let most = |distance| shape.hash_lanes(distance).map_or(lanes, |(_, most)| most);
            assert!(most(nearest) >= differing, "{shape}: {differing} lanes at {nearest}");
        }
        assert_eq!(shape.hash_lanes(1000), None, "{shape}");
        assert!(shape.hash_lanes(50).is_some_and(|(_, most)| most <= lanes / 6 + 1), "{shape}");
    }
    assert_eq!(Shape::lanes(16, 4).hash_lanes(3), None);
}
