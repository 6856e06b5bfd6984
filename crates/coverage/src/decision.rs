//! Decides which documents are removed, by comparing the numbers of their runs.

use crate::lose_limit::LostWords;
use crate::loss::LossRule;
use crate::numbered_runs::AHEAD;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;

/// Mark in the count of a run: the current document was already counted for this run. Counts are less than this bit.
const IN_DOCUMENT: u32 = 1 << 31;

/// Calls `change` with each run of a document and the number of documents that have the run, and stores the result as
/// the new number. `counts` has this number for each run. A run that is twice in the document is changed once.
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

/// State of the decisions about the documents, which are made one after the other. It has, for each run, the number of
/// documents that have the run and are not removed.
#[derive(Debug)]
pub(crate) struct Removing {
    rule: LossRule,
    /// For each run, the number of documents that have it and are not removed.
    left: LargeBuffer<u32>,
    /// For each run, 1 if an earlier removal relies on it: a removed document had it, so it must stay in another
    /// document. Otherwise 0.
    pins: LargeBuffer<u8>,
    /// Buffer: for each run of a document, whether another document that is left has it.
    is_kept: Vec<bool>,
}

impl Removing {
    /// Creates the state before any removal. `documents` has for each run the number of documents that have it. `pins`
    /// has a zero for each run.
    pub(crate) fn new(rule: LossRule, documents: LargeBuffer<u32>, pins: LargeBuffer<u8>) -> Self {
        Self { rule, left: documents, pins, is_kept: Vec::new() }
    }

    /// Removes a document if the rule allows it. Returns the number of words that are lost, or `None` if the document
    /// stays. Documents must be passed in reverse order of preference, the last one first. `runs` are the numbers of
    /// its runs in reading order.
    pub(crate) fn remove(&mut self, runs: &[u32]) -> Option<LostWords> {
        let Self { rule, left, pins, is_kept } = self;
        is_kept.clear();
        let left = &mut left[..];
        // The document itself is included in the count.
        is_kept.extend(runs.iter().enumerate().map(|(at, &run)| {
            if let Some(&ahead) = runs.get(at + AHEAD) {
                prefetch(left, ahead as usize);
            }
            left[run as usize] > 1
        }));
        // Most documents end here.
        let loss = rule.loss(is_kept)?;
        // An earlier removal relies on such a run, and all other documents that had it were removed since.
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
