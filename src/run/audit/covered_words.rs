//! Finds the words of a removed document that no kept document has, by the words themselves.
//!
//! The search for covered documents compares runs of words by one hash for each run. Here, the words of two runs are
//! compared one after the other, so a run with the hash of another one does not count as the same.

use simtool_coverage::visit_lost;
use std::collections::BTreeSet;

/// Returns the number of words that are in no run that one of the `kept` documents has, too. `removed` and `kept` have the
/// hash of each word. A run has `run_length` words, and a document with fewer is one run and counts as one word.
pub(super) fn lost_words(removed: &[u64], kept: &[Vec<u64>], run_length: usize) -> u32 {
    let runs = |words| runs(words, run_length);
    let kept: BTreeSet<&[u64]> = kept.iter().flat_map(|words| runs(words)).collect();
    let is_kept = runs(removed).map(|run| kept.contains(run));
    let words = if removed.len() > run_length { removed.len() as u32 } else { 1 };
    let mut lost = 0;
    visit_lost(words, run_length as u32, is_kept, |from, to| lost += to - from);
    lost
}

/// Returns the runs of a document in reading order.
fn runs(words: &[u64], run_length: usize) -> impl Iterator<Item = &[u64]> {
    // Windows of no words do not exist.
    words.windows(run_length.min(words.len()).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lost_if_no_kept_document_has_a_run_around_them() {
        let kept = [vec![1, 2, 3, 4, 5], vec![8, 6, 7], vec![9]];
        for (removed, lost) in [
            (vec![1, 2, 3], 0),
            (vec![1, 2, 3, 4, 5, 8, 6, 7], 0),
            (vec![0, 1, 2, 3, 0, 0, 8, 6, 7], 3),
            (vec![1, 2, 4, 5], 4),
            // Documents of few words are one run.
            (vec![9], 0),
            (vec![1, 2], 1),
        ] {
            assert_eq!(lost_words(&removed, &kept, 3), lost, "{removed:?}");
        }
    }
}
