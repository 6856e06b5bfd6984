//! The settings of a join of sets, and the pairs that a join has found.

use super::close::ClosePairs;
use super::kept_pairs::DecidingRule;
use super::pair_filter::PairFilter;
use simtool_base::error::Error;
use simtool_compute::context::Context;
use simtool_model::similarity::Threshold;
use std::fmt;

/// A join of sets: finds all pairs of sets whose similarity reaches a threshold. Create one with
/// [`SetJoin::new`].
#[derive(Clone, Copy, Debug)]
pub struct SetJoin<'a> {
    /// Minimum similarity of a pair, and the measure of similarity.
    pub(super) threshold: Threshold,
    /// Approximate number of bytes that the join may take. This includes the pairs that it finds,
    /// and the data that the source keeps of the documents. It does not include about 20 bytes of
    /// bookkeeping per document. Less memory means more readings, but never other pairs.
    pub(super) memory_bytes: u64,
    /// Condition for the pairs. `None` if the join takes all pairs.
    pub(super) filter: Option<&'a dyn PairFilter>,
    /// Threads, instruction set and the receiver of progress reports.
    pub(super) context: &'a Context<'a>,
}

/// Rule for choosing the kept documents, and the order in which documents are preferred.
#[derive(Clone, Copy)]
pub struct KeptChoice<'o> {
    /// Rule by which similar pairs decide.
    pub rule: DecidingRule,
    /// Function that returns all row numbers in the order of preference. It is called at most once, after all documents
    /// were read.
    pub order: &'o dyn Fn() -> Vec<u32>,
}

impl fmt::Debug for KeptChoice<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeptChoice").field("rule", &self.rule).finish_non_exhaustive()
    }
}

/// Bytes of memory for each term while documents are joined by prefixes. The term is stored once and
/// recorded twice, and it has counters.
pub(super) const BYTES_PER_TERM: u64 = 48;

/// Number of bytes that pairs may always take, even if less memory is left.
pub(super) const BYTES_OF_FEW_PAIRS: u64 = 16 << 20;

/// Maximum number of terms that are joined at once, because term numbers and positions in the index
/// have 32 bits. More terms are joined in blocks.
const MOST_TERMS: u64 = u32::MAX as u64;

impl<'a> SetJoin<'a> {
    /// Creates a join that may take the memory that is free now according to `context`.
    #[must_use]
    pub fn new(threshold: Threshold, context: &'a Context<'a>) -> Self {
        Self { threshold, memory_bytes: context.memory().free(), filter: None, context }
    }

    /// Returns the same join, but only for pairs that `filter` lets pass. With `None`, all pairs pass.
    #[must_use]
    pub fn with_filter(self, filter: Option<&'a dyn PairFilter>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the same join with `bytes` less memory, because the sources take that memory. At least a quarter of the
    /// memory remains.
    pub(super) fn with_held(self, bytes: u64) -> Self {
        // At least a quarter remains, so a source that keeps much makes the join slower and not
        // impossible.
        let left = self.memory_bytes.saturating_sub(bytes);
        Self { memory_bytes: left.max(self.memory_bytes / 4), ..self }
    }

    /// Returns the error for a number of pairs that does not fit in memory.
    pub(super) fn too_many_pairs(&self, pairs: u64) -> Error {
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little, and there may be more. `pairs` and \
             matches need all of them; a higher `similarity` leaves fewer; the method simhash needs less memory",
            self.memory_bytes
        );
        Error::limit(format!("{pairs} pairs of near-duplicates"), rule)
    }

    /// Returns the maximum number of terms that fit in memory in a join by prefixes.
    pub(super) fn fitting(&self) -> u64 {
        (self.memory_bytes / BYTES_PER_TERM).min(MOST_TERMS)
    }
}

/// The pairs that a join has found.
pub(super) struct FoundPairs {
    pub(super) pairs: ClosePairs,
    /// Whether these are all pairs. If not, they are the pairs that decide which documents are
    /// kept.
    pub(super) are_all: bool,
}
