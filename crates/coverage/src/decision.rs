//! Decides which documents are removed, from the numbers of their runs.

use crate::lose_limit::LostWords;
use crate::loss::LossRule;
use crate::numbered_runs::AHEAD;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;

/// Removes documents one after the other, and keeps count of the documents that are left.
#[derive(Debug)]
pub(crate) struct Removing {
    rule: LossRule,
    /// For each run, the number of documents with it that are not removed.
    left: LargeBuffer<u32>,
    /// For each run, 1 if an earlier removal relies on it, and otherwise 0.
    pins: LargeBuffer<u8>,
    /// Buffer for the runs of a document, each once.
    distinct: Vec<u32>,
    /// Buffer for whether each run of a document is kept.
    is_kept: Vec<bool>,
}

impl Removing {
    /// Begins with all documents. `documents` has, for each run, the number of documents with it. `pins` has a zero for
    /// each run.
    pub(crate) fn new(rule: LossRule, documents: LargeBuffer<u32>, pins: LargeBuffer<u8>) -> Self {
        let (distinct, is_kept) = (Vec::new(), Vec::new());
        Self { rule, left: documents, pins, distinct, is_kept }
    }

    /// Removes a document if the rule allows it, and returns the words that it loses. Documents must be passed from the
    /// last to the first in the order of preference. `runs` are the numbers of its runs in reading order.
    pub(crate) fn remove(&mut self, runs: &[u32]) -> Option<LostWords> {
        let Self { rule, left, pins, distinct, is_kept } = self;
        is_kept.clear();
        let left = &mut left[..];
        // The document itself is one of those that are left.
        is_kept.extend(runs.iter().enumerate().map(|(at, &run)| {
            if let Some(&ahead) = runs.get(at + AHEAD) {
                prefetch(left, ahead as usize);
            }
            left[run as usize] > 1
        }));
        // Most documents end here, before any list is sorted.
        let loss = rule.loss(is_kept)?;
        // Such a run was kept when an earlier removal relied on it, and all other documents with it went since.
        let mut disappearing = runs.iter().filter(|&&run| left[run as usize] == 1);
        if disappearing.any(|&run| pins[run as usize] == 1) {
            return None;
        }
        // A run that is in the document twice counts once.
        distinct.clear();
        distinct.extend_from_slice(runs);
        distinct.sort_unstable();
        distinct.dedup();
        for &run in &*distinct {
            let left = &mut left[run as usize];
            pins[run as usize] |= u8::from(*left > 1);
            *left -= 1;
        }
        Some(loss)
    }
}
