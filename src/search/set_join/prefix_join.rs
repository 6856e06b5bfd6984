//! All pairs of ranked sets that are alike enough.
//!
//! Sets are taken by ascending size; each looks up the first few of its numbers among the first
//! few of all smaller sets, and what it meets often enough, early enough, is merged with it.
//!
//! # References
//! R. Bayardo, Y. Ma, R. Srikant. Scaling up all pairs similarity search. WWW 2007 (prefixes).
//! C. Xiao, W. Wang, X. Lin, J. X. Yu. Efficient similarity joins for near-duplicate detection.
//! WWW 2008 (positions).

use super::ranked_sets::RankedSets;
use super::workers::Workers;
use crate::similarity::{Similarity, Threshold};

/// Sets that a worker takes at a time.
const CHUNK: usize = 64;
/// Mark of a set that cannot be alike enough any more.
const DROPPED: u32 = u32::MAX;

/// A pair of sets, by their places, and their similarity.
pub(super) type Found = (u32, u32, Similarity);

/// A number's occurrence in a set's prefix.
#[derive(Clone, Copy, Default)]
struct Posting {
    set: u32,
    /// Place of the number in the set, unmatched terms included, from 1.
    position: u32,
}

/// Which sets take part, and how alike they must be.
pub(super) struct PrefixJoin<'a> {
    pub(super) sets: &'a RankedSets,
    /// Sets to pass over: those that are equal to one that takes part.
    pub(super) skipped: &'a [bool],
    /// Whether only pairs of the two sides count.
    pub(super) across: bool,
    pub(super) threshold: Threshold,
    pub(super) workers: Workers<'a>,
}

/// For each number, the sets whose indexed prefix has it, ascending.
struct Index {
    offsets: Vec<u32>,
    postings: Vec<Posting>,
}

/// A worker's memory: for each set how many numbers it shares so far, and which are not 0.
struct Overlaps {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl PrefixJoin<'_> {
    /// The pairs, in no order that means anything but always in the same one.
    ///
    /// # Complexity
    /// O(postings met), which grows with the square of the sets that share a frequent number in
    /// their prefixes.
    pub(super) fn pairs(&self) -> Vec<Found> {
        let index = self.index();
        let chunks = self.sets.len().div_ceil(CHUNK);
        let found = self.workers.map(
            chunks,
            || Overlaps { counts: vec![0; self.sets.len()], touched: Vec::new() },
            |overlaps, chunk| {
                // The largest sets cost the most, so they come first.
                let chunk = chunks - 1 - chunk;
                let mut found = Vec::new();
                for set in chunk * CHUNK..self.sets.len().min((chunk + 1) * CHUNK) {
                    if !self.skipped[set] {
                        self.probe(&index, set, overlaps, &mut found);
                    }
                }
                found
            },
        );
        found.concat()
    }

    /// The numbers among the first `length` terms of a set.
    fn prefix(&self, set: usize, length: u32) -> &[u32] {
        let ranks = self.sets.ranks_of(set);
        let matched = length.saturating_sub(self.sets.unmatched[set]) as usize;
        &ranks[..matched.min(ranks.len())]
    }

    fn index(&self) -> Index {
        let sets = self.sets;
        let indexed = |set: usize| {
            let size = sets.sizes[set];
            let length = size - self.threshold.min_shared(size, size) + 1;
            self.prefix(set, if self.skipped[set] { 0 } else { length })
        };
        let mut offsets = vec![0_u32; sets.rank_count as usize + 2];
        for set in 0..sets.len() {
            indexed(set).iter().for_each(|&rank| offsets[rank as usize + 2] += 1);
        }
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut postings = vec![Posting::default(); sum as usize];
        for set in 0..sets.len() {
            let first = sets.unmatched[set] + 1;
            for (position, &rank) in (first..).zip(indexed(set)) {
                // One place further, each offset runs from its number's start to its end.
                let next = &mut offsets[rank as usize + 1];
                postings[*next as usize] = Posting { set: set as u32, position };
                *next += 1;
            }
        }
        Index { offsets, postings }
    }

    /// Finds the smaller sets that are alike enough to `set`.
    fn probe(&self, index: &Index, set: usize, overlaps: &mut Overlaps, found: &mut Vec<Found>) {
        let sets = self.sets;
        let size = sets.sizes[set];
        let smallest = self.threshold.min_size(size);
        let first = sets.sizes.partition_point(|&size| size < smallest) as u32;
        let prefix = self.prefix(set, self.threshold.max_unshared(size) + 1);
        for (position, &rank) in (sets.unmatched[set] + 1..).zip(prefix) {
            let range = index.offsets[rank as usize]..index.offsets[rank as usize + 1];
            let postings = &index.postings[range.start as usize..range.end as usize];
            let from = postings.partition_point(|posting| posting.set < first);
            for posting in &postings[from..] {
                let other = posting.set as usize;
                if other >= set {
                    break;
                }
                if self.across && sets.second[other] == sets.second[set] {
                    continue;
                }
                let count = &mut overlaps.counts[other];
                if *count == DROPPED {
                    continue;
                }
                if *count == 0 {
                    overlaps.touched.push(posting.set);
                }
                let rest = (size - position).min(sets.sizes[other] - posting.position);
                let needed = self.threshold.min_shared(size, sets.sizes[other]);
                *count = if *count + 1 + rest >= needed { *count + 1 } else { DROPPED };
            }
        }
        for other in overlaps.touched.drain(..) {
            let count = std::mem::take(&mut overlaps.counts[other as usize]);
            if count != DROPPED {
                let needed = self.threshold.min_shared(size, sets.sizes[other as usize]);
                let (left, right) = (sets.ranks_of(set), sets.ranks_of(other as usize));
                if let Some(shared) = shared_if_enough(left, right, needed as usize) {
                    let right_size = sets.sizes[other as usize];
                    let similarity = Similarity::of_sizes(shared as u32, size, right_size);
                    found.push((set as u32, other, similarity));
                }
            }
        }
    }
}

/// How many numbers the ascending lists share, or nothing as soon as it must be under `needed`.
fn shared_if_enough(left: &[u32], right: &[u32], needed: usize) -> Option<usize> {
    let (mut at_left, mut at_right, mut shared) = (0, 0, 0);
    while at_left < left.len() && at_right < right.len() {
        if shared + (left.len() - at_left).min(right.len() - at_right) < needed {
            return None;
        }
        let end = (at_left + at_right + 64).min(left.len() + right.len());
        while at_left < left.len() && at_right < right.len() && at_left + at_right < end {
            let (a, b) = (left[at_left], right[at_right]);
            shared += usize::from(a == b);
            at_left += usize::from(a <= b);
            at_right += usize::from(b <= a);
        }
    }
    (shared >= needed).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_what_they_share() {
        let left: Vec<u32> = (0..1000).step_by(2).collect();
        let right: Vec<u32> = (0..1000).step_by(3).collect();
        assert_eq!(shared_if_enough(&left, &right, 0), Some(167));
        assert_eq!(shared_if_enough(&left, &right, 167), Some(167));
        assert_eq!(shared_if_enough(&left, &right, 168), None);
        assert_eq!(shared_if_enough(&left, &[], 0), Some(0));
        assert_eq!(shared_if_enough(&left, &[], 1), None);
    }
}
