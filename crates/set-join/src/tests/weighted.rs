//! Tests the joins of sets of weighted terms.

use super::*;

/// Documents whose terms have weights.
struct Weighted(ListedDocuments);

fn weight(term: u64) -> u32 {
    // Some weights are so large that their sums nearly fill 64 bits.
    (1 + term % 5) as u32 * if term.is_multiple_of(9) { 1 << 28 } else { 1 }
}

impl TermSource for Weighted {
    fn shard_count(&self) -> usize {
        self.0.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.0.term_count_hint()
    }

    fn is_weighted(&self) -> bool {
        true
    }

    fn weight(&self, term: u64) -> u32 {
        weight(term)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.0.visit_shard(shard, wanted, visit)
    }
}

/// Returns three sums of weights: of the terms that two documents share, of the terms of the first
/// document, and of the terms of the second.
fn weights(left: &[u64], right: &[u64]) -> [u64; 3] {
    let sum = |terms: &BTreeSet<u64>| terms.iter().map(|&term| u64::from(weight(term))).sum();
    let [left, right] = [left, right].map(|terms| terms.iter().copied().collect::<BTreeSet<_>>());
    [sum(&left.intersection(&right).copied().collect()), sum(&left), sum(&right)]
}

/// Finds all pairs of weighted documents by comparing every two of them with the definition of the
/// measure.
fn weighted_brute_force(
    left: &[Vec<u64>],
    right: &[Vec<u64>],
    threshold: Threshold,
    all: bool,
) -> Vec<ClosePair> {
    brute_force_by(weights, [left, right], threshold, all)
}

#[track_caller]
pub(super) fn check_weighted(documents: &[Vec<u64>], threshold: Threshold) {
    let expected = weighted_brute_force(documents, documents, threshold, false);
    let (left, right) = documents.split_at(documents.len() / 3);
    let expected_across = weighted_brute_force(left, right, threshold, true);
    let alone = &Context::default();
    let pooled = &three_threads();
    for (context, memory_bytes) in
        [(alone, u64::MAX), (pooled, u64::MAX), (alone, 1 << 10), (pooled, 48)]
    {
        let source = |documents: &[Vec<u64>]| Weighted(source_of(documents));
        let join = SetJoin { threshold, memory_bytes, filter: None, context };
        let close = join.self_join(&source(documents)).unwrap();
        assert_eq!(expanded(&close), expected, "threshold {threshold}");
        let across = join.query(&source(left), &source(right)).unwrap().pairs;
        assert_eq!(across, expected_across.clone().into(), "across, threshold {threshold}");
    }
}

proptest! {
    // Each case is eight joins.
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn weighted_joins_find_what_brute_force_finds(
        documents in collection(),
        measure in prop::sample::select(MEASURES.to_vec()),
        (numerator, denominator) in prop::sample::select(vec![
            (1, 50), (1, 10), (1, 3), (1, 2), (2, 3), (7, 10), (4, 5), (99, 100), (1, 1),
        ]),
        tied in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        check_weighted(&documents, threshold(numerator, denominator).of(measure));
        // A threshold that one pair reaches exactly.
        let [a, b] = [tied.0, tied.1].map(|tied| &documents[tied.index(documents.len())]);
        let [shared, left, right] = weights(a, b);
        let tie = match measure.formula {
            Formula::Ratio(ratio) => {
                let similarity = ratio.similarity(shared, left, right);
                [similarity.shared, similarity.union]
            }
            Formula::Cosine => [shared, left.min(right)],
        };
        if let [Ok(a @ 1..), Ok(c @ ..=1_000_000)] = tie.map(u32::try_from) {
            check_weighted(&documents, threshold(a, c).of(measure));
        }
    }
}

#[test]
fn weights_worked_by_hand() {
    // The terms 1, 2, 4 weigh 2, 3, 5, and 9 weighs 5 << 28.
    let documents = vec![vec![1, 2, 4], vec![2, 4, 4], vec![1, 9], vec![4, 2, 1]];
    let join = |threshold: &str| {
        let threshold = threshold.parse().unwrap();
        check_weighted(&documents, threshold);
        let context = &Context::default().with_isa(Isa::PORTABLE);
        let join = SetJoin::new(threshold, context);
        let similar = join.self_join(&Weighted(source_of(&documents))).unwrap();
        assert_eq!(*similar.groups.first(), Groups::from_iter([[0, 3]]));
        similar.pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>()
    };
    // (3 + 5) / 10, 8 / √(10 × 8) = 0.894 and 8 / 8.
    assert_eq!(join("0.8"), [(0, 1)]);
    assert_eq!(join("0.800000001"), []);
    assert_eq!(join("cosine:0.894"), [(0, 1)]);
    assert_eq!(join("cosine:0.895"), []);
    assert_eq!(join("containment:1"), [(0, 1)]);
    // The shared weight is 2 of 10, although it is hardly any part of the other document.
    assert_eq!(join("containment:0.2"), [(0, 1), (0, 2)]);
    assert_eq!(join("containment:0.201"), [(0, 1)]);
}
