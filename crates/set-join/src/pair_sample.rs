//! Estimates from a sample of the sets how many sketches are similar, before all are compared.

use super::window_scan::{BLOCK, ScanScratch, WindowScan};
use simtool_base::error::Result;
use simtool_base::stable_hash::mix;

/// Approximate number of sets in the sample.
const SAMPLED: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// Joins with fewer sets need no sample, because comparing the sketches of all sets takes only a few seconds.
const FEW_SETS: usize = if cfg!(test) { 256 } else { 1 << 18 };
/// The number of pairs is certainly greater than the estimate less this number of standard errors.
const STANDARD_ERRORS: f64 = 3.0;

/// Estimate of the pairs that a comparison of sketches will find, from a sample of the sets.
#[derive(Clone, Copy)]
pub(super) struct PairSample {
    /// Lower bound of the number of pairs with similar sketches.
    least_pairs: f64,
    /// Fraction of the pairs with similar sketches whose sets are probably similar, too.
    pub(super) similar_share: f64,
}

impl PairSample {
    /// Creates the estimate. Compares the sketches of some sets of `scan` with the sketches of all sets of suitable
    /// size. Returns `None` if the scan has few sets, because it then needs no estimate.
    ///
    /// # Errors
    /// The work is cancelled.
    pub(super) fn of(scan: &WindowScan<'_>) -> Result<Option<Self>> {
        if scan.sets.places.len() < FEW_SETS {
            return Ok(None);
        }
        let one_in = scan.sets.places.len().div_ceil(SAMPLED) as u64;
        // Neighbours may be similar, so the sample takes sets at irregular distances.
        let is_one = |place: &u32| mix(u64::from(*place)).is_multiple_of(one_in);
        let places: Vec<u32> = scan.sets.places.iter().copied().filter(is_one).collect();
        let counts = scan.plan.context.threads().try_map(
            places.len().div_ceil(BLOCK),
            || Ok(ScanScratch::default()),
            |scratch, block| {
                scan.plan.context.check_cancelled()?;
                let places = &places[block * BLOCK..places.len().min((block + 1) * BLOCK)];
                let mut counts = vec![[0_u32; 2]; places.len()];
                scan.near(places, scratch, &mut |number, pairs| {
                    let place = places[number] as usize;
                    for pair in pairs {
                        counts[number][0] += 1;
                        counts[number][1] += u32::from(scan.is_probably_similar(place, pair));
                    }
                    true
                });
                Ok(counts)
            },
        )?;
        let counts = counts.concat();
        let sampled = counts.len() as f64;
        let [near, similar] =
            [0, 1].map(|at| counts.iter().map(|of_set| f64::from(of_set[at])).sum::<f64>());
        let mean = near / sampled;
        let squares = counts.iter().map(|&[near, _]| (f64::from(near) - mean).powi(2));
        let standard_error = (squares.sum::<f64>() / sampled).sqrt() / sampled.sqrt();
        Ok(Some(Self {
            least_pairs: (mean - STANDARD_ERRORS * standard_error) * scan.sets.places.len() as f64,
            similar_share: similar / near.max(1.0),
        }))
    }

    /// Returns whether there are certainly more than `most` pairs with similar sketches.
    pub(super) fn has_more_than(&self, most: u64) -> bool {
        self.least_pairs > most as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::Sketches;
    use crate::sketching::{SketchScratch, Sketching};
    use crate::tests::{templates, threshold};
    use crate::window_scan::ScanPlan;
    use simtool_compute::context::Context;

    /// Returns the number of pairs of the first `count` pages with similar sketches, and the sample.
    fn sampled(count: usize) -> (u64, Option<PairSample>) {
        let context = Context::default();
        let threshold = threshold(7, 10);
        let mut sketching = Sketching::new(threshold, true, context.memory());
        let mut scratch = SketchScratch::default();
        for (row, page) in (0..).zip(templates(2000).iter().take(count)) {
            sketching.push(row, page, &mut scratch).unwrap();
        }
        let (all, _) = Sketches::sorted(vec![sketching], None, threshold);
        let scan = WindowScan::of_all(&all, ScanPlan::new(threshold, &context)).unwrap();
        let mut pairs = 0;
        let count = &mut |found: Vec<Vec<_>>| {
            pairs += found.concat().len() as u64;
            Ok(false)
        };
        scan.visit(u64::MAX, count).unwrap();
        (pairs, PairSample::of(&scan).unwrap())
    }

    #[test]
    fn a_sample_foretells_how_many_sketches_are_similar() {
        let (pairs, sample) = sampled(2000);
        let sample = sample.unwrap();
        assert!(sample.has_more_than(pairs / 2) && !sample.has_more_than(pairs), "{pairs}");
        // The sketches of pages that are just below the limit are similar, too.
        assert!((0.5..1.0).contains(&sample.similar_share), "{}", sample.similar_share);
        assert!(sampled(200).1.is_none());
    }
}
