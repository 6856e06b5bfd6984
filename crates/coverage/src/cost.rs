//! Estimated cost of a search, before it runs.

use crate::candidates::BYTES_A_KEPT_RUN;
use simtool_base::work_cost::WorkCost;

/// Seconds of one core to count a run, which is a sequence of n words, and to look it up. Measured with both threads of
/// a 2-core AMD EPYC in November 2026.
const SECONDS_A_RUN: f64 = 8e-9;
/// Bytes of memory for each run of the collection: two-bit counters in the table that counts runs, and buffers of the
/// threads that fill the table.
const BYTES_A_RUN: f64 = 1.6;
/// Assumed share of the runs that are in documents that may be removed.
const CANDIDATE_SHARE: f64 = 0.05;

/// Estimates the time and memory of a search in documents with `runs` runs in all. Does not include the time to read
/// the texts and to make their runs.
#[must_use]
pub fn coverage_cost(runs: f64) -> WorkCost {
    let of_candidates = CANDIDATE_SHARE * BYTES_A_KEPT_RUN as f64;
    WorkCost { seconds: runs * SECONDS_A_RUN, bytes: runs * (BYTES_A_RUN + of_candidates) }
}
