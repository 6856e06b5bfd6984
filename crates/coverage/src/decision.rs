//! Decides which documents are removed, from the numbers of their runs.

use crate::lose_limit::LostWords;
use crate::loss::LossRule;
use crate::numbered_runs::AHEAD;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;

/// Mark of the number of documents with a run while a document with it is counted. There are not so many candidates.
const IN_DOCUMENT: u32 = 1 << 31;

/// Replaces the number of documents with each run of a document by what `change` makes of the run and the number. A run
/// that is in the document twice counts once.
pub(crate) fn change_counts(
    counts: &mut [u32],
    runs: &[u32],
    mut change: impl FnMut(u32, u32) -> u32,
) {
    for (at, &run) in runs.iter().enumerate() {
        if let Some(&ahead) = runs.get(at + AHEAD) {
            prefetch(counts, ahead as usize);
        }
        let count = &mut counts[run as usize];
        if *count & IN_DOCUMENT == 0 {
            *count = change(run, *count) | IN_DOCUMENT;
        }
    }
    for &run in runs {
        counts[run as usize] &= !IN_DOCUMENT;
    }
}

/// Removes documents one after the other, and keeps count of the documents that are left.
#[derive(Debug)]
pub(crate) struct Removing {
    rule: LossRule,
    /// For each run, the number of documents with it that are not removed.
    left: LargeBuffer<u32>,
    /// For each run, 1 if an earlier removal relies on it, and otherwise 0.
    pins: LargeBuffer<u8>,
    /// Buffer for whether each run of a document is kept.
    is_kept: Vec<bool>,
}

impl Removing {
    /// Begins with all documents. `documents` has, for each run, the number of documents with it. `pins` has a zero for
    /// each run.
    pub(crate) fn new(rule: LossRule, documents: LargeBuffer<u32>, pins: LargeBuffer<u8>) -> Self {
        Self { rule, left: documents, pins, is_kept: Vec::new() }
    }

    /// Removes a document if the rule allows it, and returns the words that it loses. Documents must be passed from the
    /// last to the first in the order of preference. `runs` are the numbers of its runs in reading order.
    pub(crate) fn remove(&mut self, runs: &[u32]) -> Option<LostWords> {
        let Self { rule, left, pins, is_kept } = self;
        is_kept.clear();
        let left = &mut left[..];
        // The document itself is one of those that are left.
        is_kept.extend(runs.iter().enumerate().map(|(at, &run)| {
            if let Some(&ahead) = runs.get(at + AHEAD) {
                prefetch(left, ahead as usize);
            }
            left[run as usize] > 1
        }));
        // Most documents end here.
        let loss = rule.loss(is_kept)?;
        // Such a run was kept when an earlier removal relied on it, and all other documents with it went since.
        let mut disappearing = runs.iter().filter(|&&run| left[run as usize] == 1);
        if disappearing.any(|&run| pins[run as usize] == 1) {
            return None;
        }
        let pins = &mut pins[..];
        change_counts(left, runs, |run, left| {
            pins[run as usize] |= u8::from(left > 1);
            left - 1
        });
        Some(loss)
    }
}
