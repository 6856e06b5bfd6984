//! Counts of all rows, for the first page and for estimates.

use super::index::ReviewIndex;
use super::row_value::UNKNOWN;
use crate::output::finished_rows::RowKind;
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Smallest number of lost words of each bar of their histogram.
const LOST: [u32; 7] = [0, 1, 3, 10, 30, 100, 1000];
/// Smallest number of documents of each bar of the histogram of clusters.
const SIZES: [u64; 7] = [2, 3, 5, 10, 100, 1000, 10_000];
/// Maximum number of pairs of sources that the page lists.
const PAIRS: usize = 100;

/// A bar of a histogram: the rows, or clusters, with values from `from` to below `below`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Smallest value. `None` for rows whose value is not known.
    pub(super) from: Option<f64>,
    /// Upper limit, which the values of the bar do not reach. `None` if there is no limit.
    pub(super) below: Option<f64>,
    /// Number of rows, or of clusters.
    pub(super) count: u64,
}

/// Number of documents from one source, for example a host, that are removed for documents from another source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourcePair {
    /// Number of the source of the removed documents.
    pub(super) source: u16,
    /// Number of the source of the kept documents.
    pub(super) kept_source: u16,
    /// Number of removed documents.
    pub(super) count: u64,
}

/// Statistics of all rows of a run: histograms, and the pairs of sources with most removed documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Overview {
    /// Histogram of the rows by similarity, or by distance if the method computes no similarity.
    pub(super) closeness: Vec<Bar>,
    /// Histogram of the rows by the number of words that the removal loses.
    pub(super) lost: Vec<Bar>,
    /// Histogram of the clusters by their number of documents.
    pub(super) sizes: Vec<Bar>,
    /// The pairs of sources with most removed documents.
    pub(super) sources: Vec<SourcePair>,
    /// Number of rows with each similarity, rounded down to two digits, or with each distance. Estimates use these
    /// numbers.
    pub(super) counts: BTreeMap<u32, u64>,
}

impl Overview {
    pub(super) fn new(index: &ReviewIndex) -> Result<Self> {
        let scale = index.scale;
        let (mut counts, mut unknown) = (BTreeMap::new(), 0);
        let mut lost = [0_u64; LOST.len() + 1];
        let mut pairs: UnorderedMap<u32, u64> = UnorderedMap::default();
        // Consecutive rows often have the same similarity, so the tree is rarely accessed.
        let (mut last, mut last_count) = (0, 0);
        index.visit_rows(&mut |_, row| {
            let step = scale.step(row.closeness);
            if row.closeness == UNKNOWN {
                unknown += 1;
            } else if step == last {
                last_count += 1;
            } else {
                *counts.entry(last).or_default() += last_count;
                (last, last_count) = (step, 1);
            }
            // The last bar counts the rows whose lost words were not counted.
            let bar = if row.lost == UNKNOWN {
                LOST.len()
            } else {
                LOST.partition_point(|&first| first <= row.lost) - 1
            };
            lost[bar] += 1;
            *pairs.entry(u32::from(row.source) << 16 | u32::from(row.kept_source)).or_default() +=
                1;
            ControlFlow::Continue(())
        })?;
        *counts.entry(last).or_default() += last_count;
        counts.retain(|_, count: &mut u64| *count > 0);
        // Estimates need steps of 0.01, and the page shows wider bands.
        let mut bands: BTreeMap<u32, u64> = BTreeMap::new();
        for (&step, count) in &counts {
            *bands.entry(scale.band(step)).or_default() += count;
        }
        let mut closeness: Vec<Bar> = bands
            .iter()
            .map(|(&band, &count)| Bar {
                from: scale.shown(band),
                below: scale.shown(scale.band_end(band)),
                count,
            })
            .collect();
        let unknown_bar = |count| Bar { from: None, below: None, count };
        closeness.extend((unknown > 0).then(|| unknown_bar(unknown)));
        let bars = LOST.iter().zip(LOST[1..].iter().map(Some).chain([None])).zip(&lost);
        let bars = bars.map(|((&from, below), &count)| Bar {
            from: Some(from.into()),
            below: below.map(|&below| below.into()),
            count,
        });
        let lost_unknown = lost[LOST.len()];
        let lost = bars.chain((lost_unknown > 0).then(|| unknown_bar(lost_unknown))).collect();
        let mut sources: Vec<SourcePair> = pairs
            .into_iter()
            .map(|(pair, count)| SourcePair {
                source: (pair >> 16) as u16,
                kept_source: pair as u16,
                count,
            })
            .collect();
        // The map has no order, so the pairs are sorted.
        sources.sort_unstable_by_key(|pair| (Reverse(pair.count), pair.source, pair.kept_source));
        sources.truncate(PAIRS);
        Ok(Self { closeness, lost, sizes: size_bars(index)?, sources, counts })
    }
}

/// Counts the clusters by their number of documents.
fn size_bars(index: &ReviewIndex) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for (at, &from) in SIZES.iter().enumerate() {
        // A document with one passage counts, but there is no cluster of one document.
        let from = if at == 0 && index.kind() != RowKind::Removed { 1 } else { from };
        let below = SIZES.get(at + 1).copied();
        let larger = below.map_or(Ok(0), |below| index.clusters_from(below))?;
        let count = index.clusters_from(from)? - larger;
        bars.push(Bar { from: Some(from as f64), below: below.map(|below| below as f64), count });
    }
    Ok(bars)
}
