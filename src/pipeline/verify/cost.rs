//! The estimated cost of comparing the texts of close fingerprints.

use simtool_base::work_cost::WorkCost;

/// Seconds of one core for comparing a pair of texts, divided by the mean number of terms of a text. The
/// value was measured with both threads of a 2-core AMD EPYC in November 2026.
const SECONDS_A_COMPARED_TERM: f64 = 2e-9;
/// Bytes of memory for each term of a set of terms.
const BYTES_A_TERM: f64 = 8.0;

/// Estimates the cost of comparing texts, without the time for reading them again.
///
/// `compared` is the number of pairs of texts times the mean number of terms of a text. `terms` is the number of terms
/// of all texts in these pairs together. `memory` is the memory of the run in bytes. Sets of terms take at most half of
/// this memory.
pub(crate) fn verify_cost(compared: f64, terms: f64, memory: f64) -> WorkCost {
    WorkCost {
        seconds: compared * SECONDS_A_COMPARED_TERM,
        bytes: (terms * BYTES_A_TERM).min(memory / 2.0),
    }
}
