//! The rule in the most obvious way: sets of runs, which are compared again for each document.

use crate::lose_limit::{LoseLimit, LostWords};
use std::collections::BTreeSet;

/// Words of a document.
pub(super) type Words = Vec<u8>;

/// Returns the runs of a document in reading order.
pub(super) fn runs(words: &[u8], length: usize) -> Vec<&[u8]> {
    if words.is_empty() {
        return Vec::new();
    }
    words.windows(length.min(words.len())).collect()
}

/// Returns the words of a document that are in none of the `kept` runs.
pub(super) fn lost_words(words: &[u8], length: usize, kept: &BTreeSet<&[u8]>) -> Vec<usize> {
    let numbered: Vec<_> = runs(words, length).into_iter().enumerate().collect();
    let is_kept = |at: usize| {
        let around = |&&(start, run): &&(usize, &[u8])| (start..start + run.len()).contains(&at);
        numbered.iter().filter(around).any(|(_, run)| kept.contains(run))
    };
    (0..words.len()).filter(|&at| !is_kept(at)).collect()
}

/// Returns all runs of the documents whose numbers are in `numbers`. A run is a sequence of `length` words.
pub(super) fn all_runs(
    documents: &[Words],
    length: usize,
    numbers: impl IntoIterator<Item = usize>,
) -> BTreeSet<&[u8]> {
    numbers.into_iter().flat_map(|number| runs(&documents[number], length)).collect()
}

/// Returns the number of each removed document with the number of words that it loses. `order` has the numbers of all
/// documents, with the preferred ones first. `length` is the number of words of a run. Documents with different groups
/// do not cover each other.
pub(super) fn removed(
    documents: &[Words],
    groups: &[u64],
    order: &[usize],
    length: usize,
    limit: LoseLimit,
) -> Vec<(usize, usize)> {
    let mut left: BTreeSet<usize> = (0..documents.len()).collect();
    let mut pinned: BTreeSet<(u64, &[u8])> = BTreeSet::new();
    let mut removed = Vec::new();
    for &number in order.iter().rev() {
        let group = groups[number];
        let others = left.iter().copied().filter(|&it| it != number && groups[it] == group);
        let others = all_runs(documents, length, others);
        let own: BTreeSet<&[u8]> = runs(&documents[number], length).into_iter().collect();
        let kept: BTreeSet<&[u8]> = own.intersection(&others).copied().collect();
        let mut gone = own.difference(&others);
        let lost = lost_words(&documents[number], length, &kept).len();
        let words = documents[number].len() as u32;
        let is_allowed = limit.allows(LostWords { words, lost: lost as u32 });
        let is_every_run_needed = limit.is_zero() && gone.clone().next().is_some();
        let breaks_a_promise = gone.any(|run| pinned.contains(&(group, *run)));
        if group == 0 || kept.is_empty() || !is_allowed || is_every_run_needed || breaks_a_promise {
            continue;
        }
        pinned.extend(kept.into_iter().map(|run| (group, run)));
        left.remove(&number);
        removed.push((number, lost));
    }
    removed.sort_unstable();
    removed
}
