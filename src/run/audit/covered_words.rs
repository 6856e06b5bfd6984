//! Counts the words of a removed document that no kept document has, by comparing the words themselves.
//!
//! The search for covered documents compares runs of consecutive words by one hash for each run. Here, two runs are
//! compared word by word, so two different runs with the same hash count as different.

use simtool_coverage::visit_lost;
use std::collections::BTreeSet;

/// Returns the number of words of a removed document that no kept document has. `removed` and each entry of `kept` have
/// the hashes of the words of one document. A word counts as kept if a run of `run_length` consecutive words that
/// contains it is also in a kept document. A document with at most `run_length` words is one run and counts as one
/// word.
pub(super) fn lost_words(removed: &[u64], kept: &[Vec<u64>], run_length: usize) -> u32 {
    let runs = |words| runs(words, run_length);
    let kept: BTreeSet<&[u64]> = kept.iter().flat_map(|words| runs(words)).collect();
    let is_kept = runs(removed).map(|run| kept.contains(run));
    let words = if removed.len() > run_length { removed.len() as u32 } else { 1 };
    let mut lost = 0;
    visit_lost(words, run_length as u32, is_kept, |from, to| lost += to - from);
    lost
}

/// Returns all runs of `run_length` consecutive words of a document, in reading order. `words` has the hashes of its
/// words. A document with fewer words is one run.
fn runs(words: &[u64], run_length: usize) -> impl Iterator<Item = &[u64]> {
    // `windows` does not accept a length of 0, which an empty document would give.
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
