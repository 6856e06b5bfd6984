use super::*;
use proptest::prelude::*;
use simtool_base::stable_hash::hash;
use std::collections::BTreeSet;

/// Returns the MinHash that `options` describe. Unlike in the program, the default measure is
/// Jaccard.
fn sketch(options: &str) -> MinHash {
    let mut options = Options::parse(options).unwrap();
    options.complete(&[("measure", "jaccard")]);
    MinHash::parse(&mut options).unwrap()
}

fn made(options: &str, terms: &[u64]) -> Option<Vec<u64>> {
    let sketch = sketch(options);
    let made = |isa| {
        let mut row = vec![0; sketch.shape().words()];
        let features = Features::occurrences(terms);
        let has_row = sketch.sketcher(isa).make(&features, &mut row, &mut Scratch::default());
        has_row.then_some(row)
    };
    let expected = made(Isa::PORTABLE);
    for &isa in Isa::available() {
        assert_eq!(made(isa), expected, "{isa}");
    }
    expected
}

fn values(row: &[u64]) -> Vec<u32> {
    row.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect()
}

fn rose() -> [u64; 3] {
    ["a", "rose", "is"].map(|word| hash(word.as_bytes()))
}

#[test]
fn fingerprints_have_their_frozen_values() {
    let classical = made("lanes=4,bits=32,hashing=classical", &rose()).unwrap();
    assert_eq!(values(&classical), [0x7268_ae5b, 0x63ef_839d, 0x09c0_374d, 0x25fc_67ac]);
    let bins = made("lanes=8,bits=32", &rose()).unwrap();
    let [in_7, in_6, in_4] = [0x1e96_4e1f, 0x8a72_aca7, 0x2909_4daa];
    assert_eq!(values(&bins), [in_4, in_6, in_7, in_4, in_4, in_6, in_6, in_7]);
    // Bits of lanes are the lowest ones.
    assert_eq!(made("lanes=16,bits=4,hashing=classical", &rose()).unwrap()[0] & 0xffff, 0xcddb);
}

#[test]
fn repeats_change_nothing_and_nothing_has_no_fingerprint() {
    let [a, rose, is] = rose();
    for hashing in ["one-permutation", "classical"] {
        let options = format!("hashing={hashing}");
        let repeated = made(&options, &[a, rose, is, a, rose, is, a, rose]);
        assert_eq!(repeated, made(&options, &[is, a, rose]));
        assert_eq!(made(&options, &[]), None);
    }
}

#[test]
fn terms_of_no_weight_are_none() {
    let [a, rose, is] = rose();
    let sketcher = sketch("").sketcher(Isa::PORTABLE);
    let made = |weights: [u32; 3]| {
        let mut row = vec![0; 8];
        let features = Features { terms: &[a, rose, is], weights: Some(&weights) };
        sketcher.make(&features, &mut row, &mut Scratch::default()).then_some(row)
    };
    assert_eq!(made([1, 0, 7]), tests::made("", &[a, is]));
    assert_eq!(made([0; 3]), None);
}

#[test]
fn a_similarity_is_a_number_of_equal_lanes() {
    let distance = |options: &str, similarity: &str| {
        sketch(options).distance_at(Threshold::parse("similarity", similarity).unwrap()).unwrap()
    };
    // 80 of 128 equal bits are a similarity of a quarter.
    assert_eq!(distance("bits=1,lanes=128", "0.25"), 128 - 80);
    assert_eq!(distance("bits=1,lanes=128", "1"), 0);
    // By chance, lanes of 32 bits agree hardly ever, but more often than never.
    assert_eq!(distance("bits=32,lanes=128", "0.5"), 63);
    // 128 × (1/16 + 15/16 × 0.8) = 104.
    assert_eq!(distance("", "0.8"), 24);
    assert_eq!(distance("", "0.801"), 23);
    let meaning = sketch("").meaning(24, "");
    assert!(meaning.contains("a Jaccard similarity of 0.800"), "{meaning}");
    assert_eq!(sketch("").distance_of_strangers(), 120);
    assert_eq!(distance("measure=cosine", "0.8"), 200);
    assert_eq!(distance("measure=cosine", "2/3"), 333);
    let meaning = MinHash::default().meaning(200, "");
    assert!(meaning.contains("a cosine of 0.800"), "{meaning}");
}

#[test]
fn cosines_of_sets_of_unlike_size_are_near_the_estimate() {
    let term = |number: u64| mix(number.wrapping_mul(GAMMA) ^ 9);
    let large: Vec<u64> = (0..4000).map(term).collect();
    for (part, options) in [(1000, "measure=cosine"), (2000, "measure=cosine,hashing=classical")] {
        let small = &large[..part];
        let [a, b] = [&large, small].map(|terms| made(options, terms).unwrap());
        let expected = 1000.0 - (part as f64 / 4000.0).sqrt() * 1000.0;
        let distance = f64::from(MinHash::default().shape().distance(&a, &b));
        assert!((distance - expected).abs() < 120.0, "{part}: {distance}, {expected}");
        // However often terms occur.
        assert_eq!(made(options, &[small, small].concat()).unwrap()[..7], b[..7]);
    }
    let repeated: Vec<u64> = (0..9000).map(|number| term(number % 3000)).collect();
    let counted = distinct(&repeated, &mut Vec::new());
    assert!((2900..=3000).contains(&counted), "{counted}");
}

#[test]
fn sets_agree_in_as_many_lanes_as_they_are_similar() {
    // Two of three terms of each are common: a similarity of a half.
    let term = |number: u64| mix(number.wrapping_mul(GAMMA) ^ 7);
    for options in ["lanes=1024,bits=32", "lanes=1024,bits=32,hashing=classical"] {
        for size in [30_u64, 3000] {
            let a: Vec<u64> = (0..size).map(term).collect();
            let b: Vec<u64> = (size / 3..size + size / 3).map(term).collect();
            let [a, b] = [a, b].map(|terms| made(options, &terms).unwrap());
            let equal = 1024 - Shape::lanes(1024, 32).distance(&a, &b);
            assert!((400..624).contains(&equal), "{options}, {size} terms: {equal}");
        }
    }
}

#[test]
fn lanes_that_fill_no_words_are_refused() {
    let refused = |options: &str| {
        MinHash::parse(&mut Options::parse(options).unwrap()).unwrap_err().to_string()
    };
    assert!(refused("bits=3").starts_with("bits 3: must be 1, 2, 4"));
    assert!(refused("bits=32,measure=cosine").starts_with("bits 32: must be"));
    for (options, rule) in [
        ("lanes=100", "lanes 100: must be 92, 108 or another number up to 4096"),
        ("lanes=0", "lanes 0: must be 16, 32 or another"),
        ("lanes=8188", "lanes 8188: must be 4076, 4092 or another"),
        ("lanes=4294967295", "lanes 4294967295: must be 4076, 4092 or another"),
        ("measure=jaccard,lanes=100", "lanes 100: must be 96, 112 or another"),
        ("measure=jaccard,lanes=4097", "lanes 4097: must be 4080, 4096 or another"),
        ("bits=1,lanes=3", "lanes 3: must be 48, 112 or another"),
    ] {
        let refusal = refused(options);
        assert!(refusal.starts_with(rule), "{refusal}");
    }
    let rule = "lanes 128: must be 124, 140 or another number up to 4096 whose rows fill whole 64-bit words";
    assert_eq!(refused("lanes=128,measure=cosine"), rule);
    assert_eq!(refused("measure=dice"), "measure dice: must be jaccard or cosine");
    assert_eq!(refused("hashing=two"), "hashing two: must be one-permutation or classical");
}

#[test]
fn the_measure_is_the_one_that_allows_the_lanes() {
    use EstimatedMeasure::{Cosine, Jaccard};
    for (options, measure) in [
        ("", Cosine),
        ("lanes=124", Cosine),
        ("lanes=16", Jaccard),
        ("bits=32", Jaccard),
        ("lanes=4,bits=16", Jaccard),
    ] {
        let made = MinHash::parse(&mut Options::parse(options).unwrap()).unwrap();
        assert_eq!(made.measure, measure, "{options}");
    }
}

proptest! {
    #[test]
    fn bins_are_those_of_the_definition(
        terms in proptest::collection::vec(any::<u64>(), 2..40), lanes in 1..20_u32,
    ) {
        prop_assume!(terms.iter().any(|term| *term != terms[0]));
        let count = u64::from(lanes) * 2;
        let row = made(&format!("lanes={count},bits=32"), &terms).unwrap();
        let bin = |term: u64| ((u128::from(term) * u128::from(count)) >> 64) as u64;
        let original = |wanted: u64| {
            let terms = terms.iter().filter(|&&term| bin(term) == wanted);
            terms.map(|&term| (term & 0xFFFF_FFFF).min(0xFFFF_FFFE) as u32).min()
        };
        let filled: BTreeSet<u64> = terms.iter().map(|&term| bin(term)).collect();
        for (lane, value) in (0..).zip(values(&row)) {
            let donor = |attempt: u64| {
                let start = GAMMA.wrapping_mul(lane).wrapping_add(DONOR_START);
                bin(mix(start.wrapping_add(DONOR_STEP.wrapping_mul(attempt))))
            };
            let donor = if filled.contains(&lane) { lane } else {
                (1..10_000).map(donor).find(|donor| filled.contains(donor)).unwrap()
            };
            prop_assert_eq!(Some(value), original(donor));
        }
    }
}

/// A single term fills all lanes. If all lanes had the same 4 bits, one in sixteen pairs of unequal
/// terms would agree in every lane.
#[test]
fn sets_of_one_term_differ_in_most_lanes() {
    let rows: Vec<_> = (0..100).map(|term| made("", &[mix(term)]).unwrap()).collect();
    let shape = sketch("").shape();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(made("", &[mix(at as u64); 3]).unwrap(), *row);
        for other in &rows[..at] {
            assert!(shape.distance(row, other) > shape.units() / 2, "{at}");
        }
    }
}
