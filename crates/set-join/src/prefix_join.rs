//! Finds pairs of similar sets by prefixes: similar sets must share one of their rarest terms.
//!
//! Sets are processed by ascending size. The terms of a set are numbers, rarest first. Each set
//! looks up its first few numbers among the first few numbers of all smaller sets. It is compared
//! in full with the sets that share enough of these numbers.
//!
//! # References
//! R. Bayardo, Y. Ma, R. Srikant. Scaling up all pairs similarity search. WWW 2007 (prefixes).
//! C. Xiao, W. Wang, X. Lin, J. X. Yu. Efficient similarity joins for near-duplicate detection.
//! WWW 2008 (positions).

use super::memory_texts::INDEX;
use super::ranked_sets::RankedSets;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::similarity::{Similarity, Threshold};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of sets for which a worker thread finds partners in one task.
const CHUNK: usize = 64;
/// Value of a set's count of shared terms if the set can no longer be similar enough.
const DROPPED: u32 = u32::MAX;

/// Two similar sets, by their indices in [`RankedSets`], and their similarity.
pub(super) type Found = (u32, u32, Similarity);

/// Occurrence of a term in the prefix of a set. The prefix of a set consists of its rarest terms.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct RankPosting {
    set: u32,
    /// Position of the term in the set, counted from 1. Terms without a number come first and are counted, too. These
    /// are the unmatched terms, which no other set has.
    position: u32,
}

/// The sets to join, and the conditions for a pair.
pub(super) struct PrefixJoin<'a> {
    pub(super) sets: &'a RankedSets,
    /// Whether a pair must have a set of the first and a set of the second collection. It is false
    /// in a self-join.
    pub(super) across: bool,
    pub(super) threshold: Threshold,
    /// Maximum number of pairs. If there are more, the join ends early and returns no pairs.
    pub(super) most: u64,
    /// Maximum number of postings to visit. A posting is an entry of the index. If there are more, the join does not
    /// begin and returns no pairs.
    pub(super) most_visits: u64,
    pub(super) context: &'a Context<'a>,
}

/// Inverted index of the prefixes, which are the rarest terms of each set. For each term number, it
/// lists the sets whose prefix has the term, in ascending order.
struct PrefixIndex<'a> {
    /// For each term number, the index of its first posting in `postings`. 32 bits are enough, because
    /// there are fewer postings than terms.
    offsets: &'a [u32],
    postings: &'a [RankPosting],
}

impl PrefixIndex<'_> {
    /// Returns the range in `postings` of the postings of the term with number `rank`.
    fn range(&self, rank: u32) -> Range<usize> {
        self.offsets[rank as usize] as usize..self.offsets[rank as usize + 1] as usize
    }
}

/// Scratch memory of a worker thread. It has a count for each set, which is the number of shared terms
/// found so far. It also lists the sets whose count is not 0.
struct Overlaps {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl PrefixJoin<'_> {
    /// Returns the similar pairs, or `None` if there are more than `most` pairs or more than `most_visits` postings to
    /// visit. The order of the pairs is arbitrary, but always the same.
    ///
    /// # Complexity
    /// O(postings visited). This number grows with the square of the number of sets that share a
    /// frequent term in their prefixes.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn pairs(&self) -> Result<Option<Vec<Found>>> {
        let (offsets, postings) = self.index()?;
        let index = PrefixIndex { offsets: &offsets, postings: &postings };
        if self.most_visits < u64::MAX && self.visits(&index) > self.most_visits {
            return Ok(None);
        }
        let chunks = self.sets.len().div_ceil(CHUNK);
        let count = AtomicU64::new(0);
        let is_exceeded = || count.load(Ordering::Relaxed) > self.most;
        self.context.progress().begin("join", Work::Steps(chunks as u64));
        let found = self.context.threads().try_map(
            chunks,
            || {
                let counts = filled(0, self.sets.len(), INDEX)?;
                Ok(Overlaps { counts, touched: Vec::new() })
            },
            |overlaps, chunk| {
                // The largest sets cost the most, so they come first.
                let chunk = chunks - 1 - chunk;
                self.context.check_cancelled()?;
                self.context.progress().advance(1);
                let mut found = Vec::new();
                for set in chunk * CHUNK..self.sets.len().min((chunk + 1) * CHUNK) {
                    // Whether there are too many pairs does not depend on the threads, because all
                    // chunks are counted until the limit is exceeded.
                    if is_exceeded() {
                        return Ok(Vec::new());
                    }
                    let before = found.len();
                    self.probe(&index, set, overlaps, &mut found);
                    count.fetch_add((found.len() - before) as u64, Ordering::Relaxed);
                }
                Ok(found)
            },
        )?;
        Ok(if is_exceeded() { None } else { Some(found.concat()) })
    }

    /// Estimates the number of postings (entries of the index) that the join visits. The estimate includes the postings
    /// of sets that are too small or too large to be similar, so it can be a few times too large.
    fn visits(&self, index: &PrefixIndex<'_>) -> u64 {
        let of_set = |set: usize| -> u64 {
            let prefix = self.probing_prefix(set);
            prefix.iter().map(|&rank| index.range(rank).len() as u64).sum()
        };
        // Each pair is visited from its larger set only, which is one of the two.
        (0..self.sets.len()).map(of_set).sum::<u64>() / 2
    }

    /// Returns the term numbers of set `set` that are looked up in the index to find smaller similar sets. They are its
    /// rarest terms.
    fn probing_prefix(&self, set: usize) -> &[u32] {
        self.prefix(set, self.threshold.max_unshared(self.sets.sizes[set]) + 1)
    }

    /// Returns the numbers of the matched terms among the first `length` terms of a set. Unmatched
    /// terms, which no possible partner has, come first and have no number.
    fn prefix(&self, set: usize, length: u32) -> &[u32] {
        let ranks = self.sets.ranks_of(set);
        let matched = length.saturating_sub(self.sets.unmatched[set]) as usize;
        &ranks[..matched.min(ranks.len())]
    }

    /// Builds the inverted index: the offsets and the postings of [`PrefixIndex`].
    fn index(&self) -> Result<(LargeBuffer<u32>, LargeBuffer<RankPosting>)> {
        let sets = self.sets;
        let indexed = |set: usize| {
            let size = sets.sizes[set];
            // Only sets of at least the same size look this set up, so its own prefix can be
            // shorter than theirs.
            let length = size - self.threshold.min_shared(size, size) + 1;
            self.prefix(set, length)
        };
        let mut buffer = LargeBuffer::<u32>::try_zeroed(sets.rank_count as usize + 2, INDEX)?
            .entered_in(self.context.memory());
        let offsets = &mut *buffer;
        for set in 0..sets.len() {
            for &rank in indexed(set) {
                offsets[rank as usize + 2] += 1;
            }
        }
        let mut sum = 0;
        for offset in &mut *offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut posting_buffer = LargeBuffer::<RankPosting>::try_zeroed(sum as usize, INDEX)?
            .entered_in(self.context.memory());
        let postings = &mut *posting_buffer;
        for set in 0..sets.len() {
            let first = sets.unmatched[set] + 1;
            for (position, &rank) in (first..).zip(indexed(set)) {
                // The offsets are shifted by one, so that each offset is first the start of its
                // postings and then their end.
                let next = &mut offsets[rank as usize + 1];
                postings[*next as usize] = RankPosting { set: set as u32, position };
                *next += 1;
            }
        }
        Ok((buffer, posting_buffer))
    }

    /// Finds the sets that come before `set` in the order of sizes and are similar enough to `set`. Appends these pairs
    /// to `found`.
    fn probe(
        &self,
        index: &PrefixIndex<'_>,
        set: usize,
        overlaps: &mut Overlaps,
        found: &mut Vec<Found>,
    ) {
        let sets = self.sets;
        let size = sets.sizes[set];
        let smallest = self.threshold.min_size(size);
        let first = sets.sizes.partition_point(|&size| size < smallest) as u32;
        for (position, &rank) in (sets.unmatched[set] + 1..).zip(self.probing_prefix(set)) {
            let postings = &index.postings[index.range(rank)];
            // Sets ascend by size, so the sets that are too small come first.
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
                // Behind these two positions, the sets can share at most this number of terms.
                let rest = (size - position).min(sets.sizes[other] - posting.position);
                let needed = self.threshold.min_shared(size, sets.sizes[other]);
                *count = if *count + 1 + rest >= needed { *count + 1 } else { DROPPED };
            }
        }
        for other in overlaps.touched.drain(..) {
            // All counts must be zeros again before the next set.
            let count = std::mem::take(&mut overlaps.counts[other as usize]);
            if count != DROPPED {
                let needed = self.threshold.min_shared(size, sets.sizes[other as usize]);
                let left = sets.ranks_of(set);
                let right = sets.ranks_of(other as usize);
                if let Some(shared) = shared_if_enough(left, right, needed as usize) {
                    let sizes = [size, sets.sizes[other as usize]].map(u64::from);
                    let similarity = self.threshold.similarity(shared as u64, sizes[0], sizes[1]);
                    found.push((set as u32, other, similarity));
                }
            }
        }
    }
}

/// Counts the elements that two ascending lists have in common. Returns `None` as soon as the count
/// cannot reach `needed` any more.
pub fn shared_if_enough<T: Copy + Ord>(left: &[T], right: &[T], needed: usize) -> Option<usize> {
    let mut at_left = 0;
    let mut at_right = 0;
    let mut shared = 0;
    while at_left < left.len() && at_right < right.len() {
        if shared + (left.len() - at_left).min(right.len() - at_right) < needed {
            return None;
        }
        // Checking the bound once in 64 steps keeps branches out of the inner loop.
        let end = (at_left + at_right + 64).min(left.len() + right.len());
        while at_left < left.len() && at_right < right.len() && at_left + at_right < end {
            let a = left[at_left];
            let b = right[at_right];
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
