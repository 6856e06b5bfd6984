//! The memory that kept terms may take, and their estimated cost.

use simtool_base::work_cost::WorkCost;

/// Cost of a kept term: the seconds to store it in new memory and to visit it once more, and the bytes of
/// its hash and of room to grow.
///
/// The seconds are the difference between compressed pages and the same pages as plain text, with both
/// threads of a 2-core AMD EPYC in November 2026.
const TERM_COST: WorkCost = WorkCost { seconds: 10e-9, bytes: 9.0 };
/// Kept terms get one of this many parts of the free memory, because the join itself needs most of it.
const MEMORY_PARTS: u64 = 3;

/// Returns the bytes that kept terms may take of `free` bytes of memory.
pub(in crate::pipeline) fn memory_share(free: u64) -> u64 {
    free / MEMORY_PARTS
}

/// Estimates the cost of keeping `terms` terms with `memory` bytes of memory. Terms that do not fit go to
/// temporary files.
pub(crate) fn kept_terms_cost(terms: f64, memory: f64) -> WorkCost {
    let cost = TERM_COST.times(terms);
    WorkCost { bytes: cost.bytes.min(memory / MEMORY_PARTS as f64), ..cost }
}
