//! A random sample of rows to judge, and the estimates that follow from the judgements.
//!
//! The sample is stratified: each band of similarities gets the same number of rows, so that the few rows near the
//! limit are judged, too. Within a band, each source gets its share. Estimates weigh the bands by their number of rows.

use super::index::ReviewIndex;
use super::labels::{Chosen, Judgement, Label};
use super::overview::Overview;
use super::row_value::{Scale, UNKNOWN};
use crate::evaluate::{Interval, share_interval};
use simtool_base::error::Result;
use simtool_base::stable_hash::{GAMMA, mix};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

/// Precisions, which are shares of right pairs, for which a limit is proposed.
const TARGETS: [f64; 3] = [0.9, 0.95, 0.99];

/// Returns the random number of an item, for example of a row number. It depends only on the seed and the item.
pub(in crate::run) fn random(seed: u64, item: u64) -> u64 {
    mix((seed ^ item.wrapping_mul(0xd134_2543_de82_ef95)).wrapping_add(GAMMA))
}

/// Rows of one band of similarities and one source. The sample has `wanted` of them: those with the smallest random
/// numbers.
struct Stratum {
    rows: u64,
    wanted: usize,
    chosen: BinaryHeap<[u64; 2]>,
}

/// Returns the numbers of at most `size` random rows, in the order in which they are judged: the first row of each band
/// of similarities, then the second row of each band, and so on.
pub(super) fn sample(index: &ReviewIndex, seed: u64, size: usize) -> Result<Vec<u32>> {
    let mut strata: BTreeMap<[u32; 2], Stratum> = BTreeMap::new();
    let place = |closeness, source: u16| [index.scale.band(closeness), source.into()];
    index.visit_rows(&mut |_, row| {
        let empty = || Stratum { rows: 0, wanted: 0, chosen: BinaryHeap::new() };
        strata.entry(place(row.closeness, row.source)).or_insert_with(empty).rows += 1;
        ControlFlow::Continue(())
    })?;
    allot(&mut strata, seed, size);
    index.visit_rows(&mut |row, indexed| {
        let place = place(indexed.closeness, indexed.source);
        if let Some(stratum) = strata.get_mut(&place).filter(|stratum| stratum.wanted > 0) {
            // The heap has the largest random number on top, which is dropped if there are too many.
            stratum.chosen.push([random(seed, row.into()), row.into()]);
            if stratum.chosen.len() > stratum.wanted {
                stratum.chosen.pop();
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut bands: BTreeMap<u32, Vec<[u64; 2]>> = BTreeMap::new();
    for ([band, _], stratum) in strata {
        bands.entry(band).or_default().extend(stratum.chosen);
    }
    // The order within a band is random, so that judging may end at any time.
    for rows in bands.values_mut() {
        rows.sort_unstable();
    }
    let longest = bands.values().map(Vec::len).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|turn| bands.values().filter_map(move |rows| rows.get(turn)));
    Ok(turns.map(|[_, row]| *row as u32).collect())
}

/// Sets how many rows of each stratum a sample of `size` rows has.
fn allot(strata: &mut BTreeMap<[u32; 2], Stratum>, seed: u64, size: usize) {
    let mut bands: BTreeMap<u32, u64> = BTreeMap::new();
    for ([band, _], stratum) in &*strata {
        *bands.entry(*band).or_default() += stratum.rows;
    }
    // Small bands are taken whole, and the others share what they leave.
    let mut smallest_first: Vec<[u64; 2]> =
        bands.iter().map(|(&band, &rows)| [rows, band.into()]).collect();
    smallest_first.sort_unstable();
    let (mut left, mut bands_left) = (size as u64, smallest_first.len() as u64);
    let mut wanted: BTreeMap<u32, u64> = BTreeMap::new();
    for [rows, band] in smallest_first {
        let share = left.div_ceil(bands_left).min(rows);
        wanted.insert(band as u32, share);
        (left, bands_left) = (left - share, bands_left - 1);
    }
    // Evenly spaced places in the rows of a band, sorted by source, give each source its share.
    let mut before: BTreeMap<u32, u64> = BTreeMap::new();
    for ([band, _], stratum) in strata {
        let (rows, wanted) = (bands[band], wanted[band]);
        let start = random(seed, (*band).into()) % rows.max(1);
        let before = before.entry(*band).or_default();
        // Place number i is at (i × rows + start) / wanted.
        // Rounding up counts the places below a row.
        let places = |to: u64| (to * wanted).saturating_sub(start).div_ceil(rows).min(wanted);
        let upto = places(*before + stratum.rows);
        stratum.wanted = (upto - places(*before)) as usize;
        *before += stratum.rows;
    }
}

/// Estimated share of right pairs, which are near-duplicates, among some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShareEstimate {
    /// Number of rows.
    pub(super) rows: u64,
    /// Number of rows that were judged with yes or no.
    pub(super) judged: u64,
    /// Number of rows that were judged with yes.
    pub(super) yes: u64,
    /// Estimated share. `None` if nothing was judged.
    pub(super) share: Option<f64>,
    /// Confidence interval of the share, with a confidence of 95 %.
    pub(super) interval: Interval,
}

/// Limit of the similarity or distance at which the estimated precision, the share of right pairs, reaches `target`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProposedLimit {
    pub(super) target: f64,
    /// The limit. `None` if no limit reaches the target.
    pub(super) limit: Option<f64>,
    /// Estimate for the rows within the limit.
    pub(super) estimate: ShareEstimate,
}

/// Judged random pairs, and the number of all rows with each similarity or distance.
pub(super) struct Estimator<'e> {
    scale: Scale,
    counts: &'e BTreeMap<u32, u64>,
    /// Similarity or distance of each judged pair, as the index stores it, and whether its documents are
    /// near-duplicates.
    judged: Vec<(u32, bool)>,
}

impl<'e> Estimator<'e> {
    pub(super) fn new(scale: Scale, overview: &'e Overview, judgements: &[Judgement]) -> Self {
        let counted = |judgement: &Judgement| {
            let closeness = scale.value(judgement.closeness?);
            let counts = judgement.chosen == Chosen::Sample && judgement.label != Label::Unsure;
            counts.then_some((closeness, judgement.label == Label::Yes))
        };
        let judged = judgements.iter().filter_map(counted).collect();
        Self { scale, counts: &overview.counts, judged }
    }

    /// Returns the estimate of each band of similarities or distances, with the first value of the band.
    pub(super) fn bands(&self) -> Vec<(u32, ShareEstimate)> {
        let mut bands: Vec<u32> = self.counts.keys().map(|&step| self.scale.band(step)).collect();
        bands.dedup();
        let estimate = |band| self.estimate(&|closeness| self.scale.band(closeness) == band);
        bands.into_iter().map(|band| (band, estimate(band))).collect()
    }

    /// Returns the estimate for all rows that were compared.
    pub(super) fn whole(&self) -> ShareEstimate {
        self.estimate(&|closeness| closeness != UNKNOWN)
    }

    /// Proposes a limit for each of the target precisions [`TARGETS`].
    pub(super) fn limits(&self) -> Vec<ProposedLimit> {
        let mut limits: Vec<u32> = self.counts.keys().copied().collect();
        // A larger distance removes more documents, and a larger similarity fewer.
        if self.scale == Scale::Distance {
            limits.reverse();
        }
        let estimates: Vec<(u32, ShareEstimate)> =
            limits.into_iter().map(|limit| (limit, self.within(limit))).collect();
        let proposed = |target| {
            let reaches = |(_, estimate): &&(u32, ShareEstimate)| {
                estimate.share.is_some_and(|share| share >= target)
            };
            // The limit that keeps most rows is first.
            let found = estimates.iter().find(reaches);
            ProposedLimit {
                target,
                limit: found.and_then(|(limit, _)| self.scale.shown(*limit)),
                estimate: found
                    .map_or_else(|| self.estimate(&|_| false), |(_, estimate)| *estimate),
            }
        };
        TARGETS.into_iter().map(proposed).collect()
    }

    /// Returns the estimate for the rows with at least the similarity `limit`, or at most the distance `limit`.
    fn within(&self, limit: u32) -> ShareEstimate {
        match self.scale {
            Scale::Similarity => {
                self.estimate(&|closeness| closeness >= limit && closeness != UNKNOWN)
            }
            Scale::Distance | Scale::Count => self.estimate(&|closeness| closeness <= limit),
        }
    }

    /// Returns the estimate for the rows whose similarity or distance `is_in` selects.
    fn estimate(&self, is_in: &dyn Fn(u32) -> bool) -> ShareEstimate {
        /// Numbers of all rows, of judged rows, and of rows judged with yes in one band.
        #[derive(Default)]
        struct Band {
            rows: u64,
            judged: u64,
            yes: u64,
        }
        let mut bands: BTreeMap<u32, Band> = BTreeMap::new();
        for (&step, &rows) in self.counts.iter().filter(|(step, _)| is_in(**step)) {
            bands.entry(self.scale.band(step)).or_default().rows += rows;
        }
        for &(closeness, is_right) in self.judged.iter().filter(|(closeness, _)| is_in(*closeness))
        {
            if let Some(band) = bands.get_mut(&self.scale.band(closeness)) {
                band.judged += 1;
                band.yes += u64::from(is_right);
            }
        }
        let rows: u64 = bands.values().map(|band| band.rows).sum();
        // Bands without a judged row give no information. They are assumed to have the share of the other bands.
        let judged_bands = || bands.values().filter(|band| band.judged > 0);
        let known: u64 = judged_bands().map(|band| band.rows).sum();
        let (judged, yes) = judged_bands().fold((0, 0), |sum, b| (sum.0 + b.judged, sum.1 + b.yes));
        let (mut share, mut variance) = (0.0, 0.0);
        for band in judged_bands() {
            let (weight, of_band) =
                (band.rows as f64 / known as f64, band.yes as f64 / band.judged as f64);
            share += weight * of_band;
            variance += weight.powi(2) * of_band * (1.0 - of_band) / band.judged as f64;
        }
        // A sample of this size of all rows would have the same variance.
        let equal_size = share * (1.0 - share) / variance;
        let size =
            if equal_size.is_finite() { equal_size.min(judged as f64) } else { judged as f64 };
        // Without a judgement, any share is possible.
        if judged == 0 {
            let interval = Interval { low: 0.0, high: 1.0 };
            return ShareEstimate { rows, judged, yes, share: None, interval };
        }
        let interval = share_interval(share.clamp(0.0, 1.0), size.max(1.0));
        ShareEstimate { rows, judged, yes, share: Some(share.clamp(0.0, 1.0)), interval }
    }
}

/// Returns the estimate for the pairs below the limit: the share of them that are near-duplicates, and thus missed.
pub(super) fn estimate_below(pairs: u64, judgements: &[Judgement]) -> ShareEstimate {
    let of_below = judgements.iter().filter(|judgement| judgement.chosen == Chosen::Below);
    let labels: Vec<Label> =
        of_below.map(|judgement| judgement.label).filter(|label| *label != Label::Unsure).collect();
    let judged = labels.len() as u64;
    let yes = labels.iter().filter(|label| **label == Label::Yes).count() as u64;
    let share = (judged > 0).then(|| yes as f64 / judged as f64);
    let unknown = Interval { low: 0.0, high: 1.0 };
    let interval = share.map_or(unknown, |share| share_interval(share, judged as f64));
    ShareEstimate { rows: pairs, judged, yes, share, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(closeness: f64, label: Label) -> Judgement {
        Judgement {
            removed: String::new(),
            kept: String::new(),
            label,
            chosen: Chosen::Sample,
            closeness: Some(closeness),
            note: String::new(),
        }
    }

    #[test]
    fn bands_count_by_their_rows() {
        let counts = BTreeMap::from([(810_000, 100), (860_000, 300), (1_000_000, 600)]);
        let overview = Overview { counts, ..Overview::default() };
        let mut judgements = vec![judged(0.81, Label::Yes), judged(0.815, Label::No)];
        judgements.extend([
            judged(0.86, Label::Yes),
            judged(1.0, Label::Yes),
            judged(1.0, Label::Unsure),
        ]);
        let estimator = Estimator::new(Scale::Similarity, &overview, &judgements);
        let whole = estimator.whole();
        assert_eq!((whole.rows, whole.judged, whole.yes, whole.share), (1000, 4, 3, Some(0.95)));
        assert!(whole.interval.low < 0.95 && whole.interval.high > 0.95, "{whole:?}");
        let limits = estimator.limits();
        assert_eq!((limits[1].limit, limits[1].estimate.rows), (Some(0.81), 1000));
        assert_eq!((limits[2].limit, limits[2].estimate.rows), (Some(0.86), 900));
        let bands: Vec<Option<f64>> = estimator.bands().iter().map(|(_, e)| e.share).collect();
        assert_eq!(bands, [Some(0.5), Some(1.0), Some(1.0)]);
        assert_eq!(Estimator::new(Scale::Similarity, &overview, &[]).whole().share, None);
    }

    #[test]
    fn each_source_gets_its_share_of_a_band() {
        let stratum = |rows| Stratum { rows, wanted: 0, chosen: BinaryHeap::new() };
        for seed in 0..50 {
            let mut strata = BTreeMap::from([
                ([800_000, 0], stratum(700)),
                ([800_000, 1], stratum(300)),
                ([900_000, 0], stratum(3)),
            ]);
            allot(&mut strata, seed, 23);
            let wanted: Vec<usize> = strata.values().map(|stratum| stratum.wanted).collect();
            assert_eq!(wanted, [14, 6, 3], "{seed}");
        }
    }
}
