//! Time and memory of a join, estimated from a sample of its sets.
//!
//! The constants were measured with both threads of a 2-core AMD EPYC in November 2026.

use crate::forecast::{SampledSizes, ScanForecast, scan_forecast};
use crate::prune::sample_eighths;
use crate::{FEW_TERMS, NANOSECONDS_A_RANKED_TERM, NANOSECONDS_A_ROUND, SAMPLE_BYTES};
use simtool_kernels::Isa;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;

/// Seconds of one core for each term that is sketched, without reading it.
const SECONDS_A_SKETCHED_TERM: f64 = 5e-9;
/// Seconds of one core for each term that is counted before sketching, without reading it.
const SECONDS_A_COUNTED_TERM: f64 = 15e-9;
/// Seconds of one core for each term of the documents that are compared term by term.
const SECONDS_A_COMPARED_TERM: f64 = 25e-9;
/// Bytes for the cells of each term that the first round samples.
const BYTES_A_CELL: f64 = 1.25;
/// Bytes for the number of each term that the first round samples.
const BYTES_A_NUMBER: f64 = 4.0;
/// Bytes for each term that is sketched.
const BYTES_A_SKETCHED_TERM: f64 = 0.5;
/// Bytes for each set that is sketched: its size, signature and place, twice while they are sorted.
const BYTES_A_SKETCHED_SET: f64 = 72.0;
/// Bytes for each term of the documents that are compared term by term, with their pairs.
const BYTES_A_COMPARED_TERM: f64 = 14.0;
/// Bytes for each pair of near sketches: once as found, and once in order.
const BYTES_A_CANDIDATE: f64 = 32.0;

/// Amounts of one side of a join, with the sizes of some of its sets.
#[derive(Clone, Debug, Default)]
pub struct SampledSets {
    /// Number of sets on this side.
    pub sets: f64,
    /// Number of terms in all sets of this side.
    pub terms: f64,
    /// Number of terms of each sampled set, ascending.
    pub sizes: Vec<u32>,
}

/// Estimated cost of a join, without reading the terms.
#[derive(Clone, Copy, Debug)]
pub struct SetJoinCost {
    /// Share of the terms in documents that are compared term by term.
    pub compared_share: f64,
    /// Seconds of one core.
    pub seconds: f64,
    /// Bytes while texts are read.
    pub reading_bytes: f64,
    /// Bytes while documents are compared.
    pub comparing_bytes: f64,
}

/// Shares of the terms, as a sample shows them.
#[derive(Clone, Copy, Debug)]
pub struct TermShares {
    /// Terms in the documents that remain after terms are counted.
    pub living: f64,
    /// Terms in the documents that have a partner.
    pub alike: f64,
}

impl SetJoinCost {
    /// Estimates the cost of joining `sides`.
    #[must_use]
    pub fn estimate(
        sides: &Sides<SampledSets>,
        shares: TermShares,
        threshold: Threshold,
        isa: Isa,
    ) -> Self {
        let terms: f64 = sides.iter().map(|side| side.terms).sum();
        let sets: f64 = sides.iter().map(|side| side.sets).sum();
        let is_counted = terms > FEW_TERMS as f64;
        let sketched = if is_counted { shares.living } else { 1.0 };
        let scan = scan(sides, terms, shares.living, threshold, isa);
        let compared = 1.0 - (1.0 - shares.alike) * (1.0 - scan.terms_share);
        let counted = if is_counted { terms } else { 0.0 };
        let seconds = counted * SECONDS_A_COUNTED_TERM
            + terms * sketched * SECONDS_A_SKETCHED_TERM
            + scan.seconds
            + terms * compared * SECONDS_A_COMPARED_TERM;
        let (reading, kept) = if is_counted {
            // The cells are freed before documents are compared.
            (first_round_bytes(terms, threshold), 0.0)
        } else {
            let bytes = terms * BYTES_A_SKETCHED_TERM + sets * BYTES_A_SKETCHED_SET;
            (bytes, bytes)
        };
        let compared_bytes =
            terms * compared * BYTES_A_COMPARED_TERM + scan.pairs * BYTES_A_CANDIDATE;
        Self {
            compared_share: compared,
            seconds,
            reading_bytes: reading,
            comparing_bytes: kept + compared_bytes,
        }
    }
}

/// Returns the bytes of the first round, which looks at a share of the terms only. Their numbers are
/// kept only if they fit in [`SAMPLE_BYTES`].
fn first_round_bytes(terms: f64, threshold: Threshold) -> f64 {
    let sampled = terms * sample_eighths(threshold) as f64 / 8.0;
    let cells = sampled * BYTES_A_CELL;
    let numbers = sampled * BYTES_A_NUMBER;
    let is_kept = cells + numbers <= SAMPLE_BYTES as f64;
    cells + if is_kept { numbers } else { 0.0 }
}

/// Forecasts the comparison of sketches. If it would take too long, the join ranks the terms
/// instead, and compares the documents that remain.
fn scan(
    sides: &Sides<SampledSets>,
    terms: f64,
    living: f64,
    threshold: Threshold,
    isa: Isa,
) -> ScanForecast {
    let is_counted = terms > FEW_TERMS as f64;
    let sketched = if is_counted { living } else { 1.0 };
    let sampled = sides.as_ref().map(|side| SampledSizes {
        times: side.sets * sketched / side.sizes.len().max(1) as f64,
        sizes: side.sizes.clone(),
    });
    let scan = scan_forecast(&sampled, threshold, isa);
    let nanoseconds = terms * (NANOSECONDS_A_ROUND + living * NANOSECONDS_A_RANKED_TERM);
    if scan.seconds > nanoseconds * 1e-9 {
        return ScanForecast { seconds: nanoseconds * 1e-9, pairs: 0.0, terms_share: living };
    }
    // Documents that counting dropped have no sketch that could be near by chance.
    ScanForecast { terms_share: if is_counted { 0.0 } else { scan.terms_share }, ..scan }
}
