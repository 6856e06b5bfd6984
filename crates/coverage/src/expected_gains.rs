//! Estimates how many words of a removed document each kept document has, before the runs of the two are compared.

use std::cmp::Reverse;

/// Expected numbers of words of a removed document that its partners have. Partners are kept documents that have some of
/// its runs.
pub(crate) struct ExpectedGains {
    /// For each partner, at least the number of words that it has.
    pub(crate) most: Vec<usize>,
    /// Indexes of the partners. Those that are the first document with many runs come first.
    pub(crate) likely: Vec<usize>,
}

impl ExpectedGains {
    /// Estimates the words from `firsts`, which has for each run the rank of the first kept document with it, or a higher
    /// number than all ranks.
    /// `partners` are ranks in ascending order. The document has `words` words.
    pub(crate) fn new(firsts: &[u32], partners: &[u32], words: u32, run_length: u32) -> Self {
        let (words, run_length) = (words as usize, run_length as usize);
        // For each word, the index of the first partner that may have it. A run is in no document before its first one.
        let mut first_partners = vec![partners.len(); words];
        // For each partner, the number of runs of which it is the first document.
        let mut runs = vec![0_usize; partners.len()];
        let mut start = 0;
        // Consecutive runs often have the same first document.
        for equal in firsts.chunk_by(|a, b| a == b) {
            let partner = partners.partition_point(|&partner| partner < equal[0]);
            let end = words.min(start + equal.len() + run_length - 1);
            // Most words are in several runs, and one of these may be in an earlier document.
            for first in &mut first_partners[start..end] {
                *first = partner.min(*first);
            }
            if partners.get(partner) == Some(&equal[0]) {
                runs[partner] += equal.len();
            }
            start += equal.len();
        }
        let mut most = vec![0; partners.len() + 1];
        for partner in first_partners {
            most[partner] += 1;
        }
        // The words that no partner has were counted last.
        most.pop();
        for partner in 1..most.len() {
            most[partner] += most[partner - 1];
        }
        let mut likely: Vec<usize> = (0..partners.len()).collect();
        likely.sort_by_key(|&partner| Reverse(runs[partner]));
        Self { most, likely }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbered_runs::NONE;

    #[test]
    fn partners_have_no_run_of_a_later_first_document() {
        // Runs of two words: the document has seven words, and the third one is in no kept document.
        let firsts = [4, NONE, NONE, 9, 4, 7];
        let gains = ExpectedGains::new(&firsts, &[4, 7, 9], 7, 2);
        assert_eq!(gains.most, [4, 5, 6]);
        assert_eq!(gains.likely, [0, 1, 2]);
        // A run whose first document is no partner may be in a later partner, too.
        let gains = ExpectedGains::new(&[5, 9, 9], &[9], 4, 2);
        assert_eq!((gains.most, gains.likely), (vec![4], vec![0]));
        let gains = ExpectedGains::new(&[3], &[3], 1, 8);
        assert_eq!(gains.most, [1]);
    }
}
