//! Decides which documents are removed, from the numbers of their runs.

use crate::lose_limit::LostWords;
use crate::loss::LossRule;

/// Removes documents one after the other, and keeps count of the documents that are left.
#[derive(Debug)]
pub(crate) struct Removing {
    rule: LossRule,
    /// For each run, the number of documents with it that are not removed.
    left: Vec<u32>,
    /// For each run, whether an earlier removal relies on it.
    is_pinned: Vec<bool>,
    /// Buffer for the runs of a document, each once.
    distinct: Vec<u32>,
    /// Buffer for whether each run of a document is kept.
    is_kept: Vec<bool>,
}

impl Removing {
    /// Begins with all documents. `documents` has, for each run, the number of documents with it.
    pub(crate) fn new(rule: LossRule, documents: Vec<u32>) -> Self {
        let is_pinned = vec![false; documents.len()];
        let (distinct, is_kept) = (Vec::new(), Vec::new());
        Self { rule, left: documents, is_pinned, distinct, is_kept }
    }

    /// Removes a document if the rule allows it, and returns the words that it loses. Documents must be passed from the
    /// last to the first in the order of preference. `runs` are the numbers of its runs in reading order.
    pub(crate) fn remove(&mut self, runs: &[u32]) -> Option<LostWords> {
        let Self { rule, left, is_pinned, distinct, is_kept } = self;
        is_kept.clear();
        // The document itself is one of those that are left.
        is_kept.extend(runs.iter().map(|&run| left[run as usize] > 1));
        // Most documents end here, before any list is sorted.
        let loss = rule.loss(is_kept)?;
        // Such a run was kept when an earlier removal relied on it, and all other documents with it went since.
        let mut disappearing = runs.iter().filter(|&&run| left[run as usize] == 1);
        if disappearing.any(|&run| is_pinned[run as usize]) {
            return None;
        }
        // A run that is in the document twice counts once.
        distinct.clear();
        distinct.extend_from_slice(runs);
        distinct.sort_unstable();
        distinct.dedup();
        for &run in &*distinct {
            let left = &mut left[run as usize];
            is_pinned[run as usize] |= *left > 1;
            *left -= 1;
        }
        Some(loss)
    }
}
