//! The memory that kept terms may take, and the estimated cost of keeping terms. Terms of texts that are
//! expensive to read are kept, so that these texts are read only once.

use simtool_base::work_cost::WorkCost;

/// Number of bytes of a term in memory and in a file.
pub(crate) const TERM_BYTES: u64 = size_of::<u64>() as u64;

/// Cost of keeping a term: the seconds for storing it in new memory and for visiting it once more, and its bytes of
/// memory. The bytes include memory that is reserved for more terms but not used.
///
/// The seconds are the difference between the run times for compressed pages and for the same pages as plain
/// text. They were measured with both threads of a 2-core AMD EPYC in November 2026.
const TERM_COST: WorkCost = WorkCost { seconds: 10e-9, bytes: 9.0 };
/// Divisor of the free memory. Kept terms may take 1/`MEMORY_PARTS` of it, because the join itself needs most of the
/// memory.
const MEMORY_PARTS: u64 = 3;

/// Returns the number of bytes that kept terms may take if `free` bytes of memory are free.
pub(crate) fn memory_share(free: u64) -> u64 {
    free / MEMORY_PARTS
}

/// Returns whether the `terms` terms of a collection fit in memory, if `memory` bytes are free. Terms of texts that are
/// cheap to unpack, such as those of zstd files, are kept from the first reading only then.
pub(crate) fn are_unpacked_kept(terms: f64, memory: u64) -> bool {
    terms * TERM_BYTES as f64 <= memory_share(memory) as f64
}

/// Estimates the time and memory for keeping `terms` terms if `memory` bytes of memory are free. Terms that do not fit
/// in memory go to temporary files.
pub(crate) fn kept_terms_cost(terms: f64, memory: f64) -> WorkCost {
    let cost = TERM_COST.times(terms);
    WorkCost { bytes: cost.bytes.min(memory / MEMORY_PARTS as f64), ..cost }
}
