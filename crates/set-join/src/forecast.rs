//! Forecasts the time and the results of comparing the sketches of all sets, from the sizes of a
//! sample of the sets.

use super::sketch_levels::estimated_nanoseconds;
use super::sketch_rows::words_of;
use simtool_kernels::Isa;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use std::f64::consts::{FRAC_2_PI, FRAC_2_SQRT_PI};

/// Maximum number of sampled sets of a collection that the forecast compares with each other.
const LOOKED_AT: usize = 512;

/// The sizes of some sets of a collection, which are a sample. The sets themselves are not needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampledSizes {
    /// Number of terms of each sampled set, in ascending order.
    pub sizes: Vec<u32>,
    /// Number of sets in the collection, divided by the number of sampled sets.
    pub times: f64,
}

/// Forecast for comparing the sketches of every two sets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScanForecast {
    /// Seconds that one core would take for the comparison.
    pub seconds: f64,
    /// Number of pairs with similar sketches whose sets share no term. These are false positives.
    pub pairs: f64,
    /// Fraction of all terms that are in the sets of false positives, which are pairs with similar
    /// sketches whose sets share no term.
    pub terms_share: f64,
}

/// Forecasts the time and the false positives of comparing the sketches of one or two collections. `sides` has the
/// sizes of a sample of the sets of each collection.
#[must_use]
pub(crate) fn scan_forecast(
    sides: &Sides<SampledSizes>,
    threshold: Threshold,
    isa: Isa,
) -> ScanForecast {
    let first = sides.first();
    let second = sides.second();
    let nanoseconds = |sets: &SampledSizes, others: &SampledSizes| {
        estimated_nanoseconds(&sets.sizes, &others.sizes, threshold, isa)
            * sets.times
            * others.times
    };
    let mut by_chance = near_by_chance(first, second, threshold);
    let mut all = nanoseconds(first, second);
    if sides.is_two() {
        let of_second = near_by_chance(second, first, threshold);
        by_chance.terms += of_second.terms;
        by_chance.near_terms += of_second.near_terms;
        // The estimate has only candidates that are not larger than the set. This adds the larger ones.
        all += nanoseconds(second, first);
    } else {
        // Each pair was counted twice, once for each of its sets.
        by_chance.pairs /= 2.0;
    }
    ScanForecast {
        seconds: all * 1e-9,
        pairs: by_chance.pairs,
        terms_share: by_chance.near_terms / by_chance.terms.max(1.0),
    }
}

/// Expected counts for pairs that are near by chance: their sketches are similar although the sets share no term.
/// `pairs` is the number of these pairs, and `near_terms` the number of terms of the sets in them. `terms` is the
/// number of terms of all sets.
struct NearByChance {
    pairs: f64,
    terms: f64,
    near_terms: f64,
}

fn near_by_chance(
    sets: &SampledSizes,
    others: &SampledSizes,
    threshold: Threshold,
) -> NearByChance {
    let [(sets, times), (others, other_times)] =
        [sets, others].map(|SampledSizes { sizes, times }| {
            // Sizes ascend, so sizes at equal distances are quantiles. The first one is in the middle
            // of a step.
            let step = sizes.len().div_ceil(LOOKED_AT).max(1);
            let few: Vec<u32> = sizes.iter().skip(step / 2).step_by(step).copied().collect();
            let times = times * sizes.len() as f64 / few.len().max(1) as f64;
            (few, times)
        });
    let mut found = NearByChance { pairs: 0.0, terms: 0.0, near_terms: 0.0 };
    for &size in &sets {
        let chances = others.iter().map(|&other| chance(size, other, threshold));
        let near = chances.sum::<f64>() * other_times;
        let terms = f64::from(size) * times;
        found.pairs += near * times;
        found.terms += terms;
        // Probability that a set has at least one such partner.
        found.near_terms += terms * (1.0 - (-near).exp());
    }
    found
}

/// Returns the probability that the sketches of two sets are similar although the sets share no term.
/// The sets have `left` and `right` terms. Each term flips one bit of the XOR of the two sketches, so
/// the number of set bits is about normally distributed.
fn chance(left: u32, right: u32, threshold: Threshold) -> f64 {
    let small = left.min(right);
    let large = left.max(right);
    if small < threshold.min_size(large) {
        return 0.0;
    }
    // The sketch of the larger set is folded to the length of the other sketch.
    let bits = words_of(small, threshold) as f64 * 64.0;
    let terms = f64::from(left) + f64::from(right);
    // A bit that a Poisson-distributed number of terms flips is set with this probability.
    let odd = (1.0 - (-2.0 * terms / bits).exp()) / 2.0;
    // The number of terms is fixed and not Poisson-distributed, which reduces the variance.
    let variance = bits * odd * (1.0 - odd) - terms * (1.0 - 2.0 * odd).powi(2);
    let deviation = variance.max(0.0).sqrt();
    // Half a bit more corrects for approximating a whole number by a normal value.
    let most = f64::from(threshold.max_difference(left, right)) + 0.5;
    normal_tail((bits * odd - most) / deviation.max(f64::MIN_POSITIVE))
}

/// Returns the probability that a normally distributed value is more than `deviations` standard
/// deviations above its mean. The relative error is at most 1/15.
fn normal_tail(deviations: f64) -> f64 {
    if deviations < 0.0 {
        return 1.0 - normal_tail(-deviations);
    }
    let square = deviations * deviations;
    let root = (square + 2.0 * FRAC_2_SQRT_PI * FRAC_2_SQRT_PI).sqrt();
    FRAC_2_PI.sqrt() * (-square / 2.0).exp() / (deviations + root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::Sketches;
    use crate::sketching::{SketchScratch, Sketching};
    use crate::window_scan::{ScanPlan, WindowScan};
    use simtool_base::stable_hash::mix;
    use simtool_compute::context::Context;

    /// Returns `count` sets of up to 300 terms. No two of these sets share a term.
    fn unlike_sets(count: u64) -> impl Iterator<Item = Vec<u64>> {
        let size = |set: u64| 5 + mix(set) % 296;
        (0..count).map(move |set| (0..size(set)).map(|term| mix(set << 32 | term)).collect())
    }

    #[test]
    fn as_many_sketches_are_near_by_chance_as_a_tenth_of_the_sets_foretells() {
        let threshold = Threshold::new(3, 10).unwrap();
        let context = &Context::default();
        let mut sketching = Sketching::new(threshold, true, context.memory());
        let mut scratch = SketchScratch::default();
        let mut sizes = Vec::new();
        for (document, set) in (0..).zip(unlike_sets(5000)) {
            sizes.push(set.len() as u32);
            sketching.push(document, &set, &mut scratch).unwrap();
        }
        let (all, _) = Sketches::sorted(vec![sketching], None, threshold);
        let scan = WindowScan::of_all(&all, ScanPlan::new(threshold, context)).unwrap();
        let mut found = 0;
        let mut has_near = vec![false; sizes.len()];
        scan.visit(u64::MAX, &mut |pairs| {
            for [a, b] in pairs.into_iter().flatten() {
                found += 1;
                (has_near[a as usize], has_near[b as usize]) = (true, true);
            }
            Ok(false)
        })
        .unwrap();
        let with_near = sizes.iter().zip(&has_near).filter(|&(_, &has)| has);
        let near_terms: u32 = with_near.map(|(size, _)| size).sum();
        let share = f64::from(near_terms) / f64::from(sizes.iter().sum::<u32>());

        let mut some: Vec<u32> = sizes.iter().copied().step_by(10).collect();
        some.sort_unstable();
        let sampled = SampledSizes { sizes: some, times: 10.0 };
        let forecast = scan_forecast(&Sides::One(sampled.clone()), threshold, Isa::detected());
        let found = f64::from(found);
        assert!(
            (found / 1.5..found * 1.5).contains(&forecast.pairs),
            "{found} pairs, {forecast:?}"
        );
        // Some sets are similar to many others, which the forecast cannot know.
        assert!((share - forecast.terms_share).abs() < 0.2, "{share} of the terms, {forecast:?}");
        // With the same sets on both sides, every pair occurs twice.
        let two = Sides::Two(sampled.clone(), sampled);
        let twice = scan_forecast(&two, threshold, Isa::detected());
        assert!((twice.pairs / forecast.pairs - 2.0).abs() < 1e-9);
        assert!((twice.seconds / forecast.seconds - 2.0).abs() < 1e-9);
        assert!((twice.terms_share / forecast.terms_share - 1.0).abs() < 1e-9);
    }

    #[test]
    fn tails_of_what_is_normal() {
        for (deviations, tail) in [(0.0, 0.5), (1.0, 0.1587), (-1.0, 0.8413), (3.0, 1.35e-3)] {
            assert!((normal_tail(deviations) / tail - 1.0).abs() < 1.0 / 15.0, "{deviations}");
        }
    }
}
