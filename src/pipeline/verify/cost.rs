//! The estimated cost of comparing the texts of close fingerprints.

use simtool_base::work_cost::WorkCost;

/// Seconds of one core for each term of a text that is compared with another text, measured with both
/// threads of a 2-core AMD EPYC in November 2026.
const SECONDS_A_COMPARED_TERM: f64 = 2e-9;
/// Bytes for each different term of the texts that are compared.
const BYTES_A_TERM: f64 = 8.0;

/// Estimates the cost of comparing texts, without the time for reading them again.
///
/// `compared` counts the terms of all comparisons, and `terms` the terms of the compared texts. Sets of
/// terms take at most half of `memory`.
pub(crate) fn verify_cost(compared: f64, terms: f64, memory: f64) -> WorkCost {
    WorkCost {
        seconds: compared * SECONDS_A_COMPARED_TERM,
        bytes: (terms * BYTES_A_TERM).min(memory / 2.0),
    }
}
