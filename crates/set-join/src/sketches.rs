//! Sketches of sets, sorted by size. A sketch has the number of terms, and a row of bits that is compared with the rows of
//! other sets.

use super::prune::MOST_TERMS;
use super::sketch_rows::{SKETCHES, words_of};
use super::sketching::Sketching;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::context::Context;
use simtool_kernels::hamming_groups::GROUP;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Sketches of documents, sorted by size and then by row number. The index of a sketch in this
/// order is called its place.
#[derive(Debug)]
pub(super) struct Sketches {
    /// Row number of each document.
    pub(super) documents: Vec<u32>,
    /// Number of distinct terms of each document.
    pub(super) sizes: Vec<u32>,
    /// For each document, the number of its terms that no other document has. Its row of bits does not have them.
    /// Empty if they were not counted.
    unmatched: Vec<u32>,
    /// The rows of bits, divided by their length. A level has all rows with the same number of 64-bit
    /// words. Longer rows are in later levels.
    pub(super) levels: Vec<SketchLevel>,
}

/// The rows of all sketches whose rows have the same number of 64-bit words.
#[derive(Debug)]
pub(super) struct SketchLevel {
    pub(super) words: usize,
    /// Range of the places of these sketches among all sketches.
    pub(super) sets: Range<usize>,
    /// The rows of bits in groups of [`GROUP`] rows. A group has first word 0 of all its rows, then
    /// word 1 of all its rows, and so on.
    pub(super) groups: LargeBuffer<u64>,
    /// For each group of rows, the largest share of one of its sets in the difference of similar sketches. Two sketches
    /// can be similar only if the number of bits in which their rows differ is at most the sum of the shares of both
    /// sets.
    pub(super) limits: Vec<u32>,
}

impl SketchLevel {
    /// Returns the number of 64-bit words in a group of rows.
    pub(super) fn group_words(&self) -> usize {
        self.words * GROUP
    }

    /// Returns a 64-bit word of the row of a sketch. `place` is the index of the sketch among all sketches.
    #[inline]
    fn word(&self, place: usize, word: usize) -> u64 {
        let at = place - self.sets.start;
        self.groups[at / GROUP * self.group_words() + word * GROUP + at % GROUP]
    }
}

impl Sketches {
    /// Sorts the sketches that several worker threads have made. A document is included only if
    /// `of_side` is true for its row number.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn new(
        parts: &[Sketching],
        of_side: impl Fn(u32) -> bool,
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Self> {
        let mut order: Vec<(u32, u32, (u32, u32))> = Vec::new();
        for (number, part) in (0..).zip(parts) {
            let sets = (0..).zip(&part.sets).filter(|(_, set)| of_side(set.document));
            order.extend(sets.map(|(at, set)| (set.size, set.document, (number, at))));
        }
        // With ascending sizes, the candidates of a set are one window of neighbours.
        order.sort_unstable();
        let mut unmatched = Vec::new();
        if parts.iter().any(|part| !part.unmatched.is_empty()) {
            let of_set = |(part, at): (u32, u32)| parts[part as usize].unmatched[at as usize];
            unmatched.extend(order.iter().map(|&(.., place)| of_set(place)));
        }
        let bits = |(part, at): (u32, u32), word| {
            let part = &parts[part as usize];
            part.bits[part.sets[at as usize].start + word]
        };
        Self::arranged(&order, unmatched, bits, threshold, context)
    }

    /// Copies the sketches at `places`, which ascend.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn only(
        &self,
        places: &[u32],
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Self> {
        // Sets ascend with their places, so a selection is already in order.
        let sized = |&place: &u32| {
            let place = place as usize;
            (self.sizes[place], self.documents[place], (self.level_of(place), place))
        };
        let order: Vec<_> = places.iter().map(sized).collect();
        let unmatched = places.iter().filter_map(|&place| self.unmatched.get(place as usize));
        let bits = |(level, place): (usize, usize), word| self.levels[level].word(place, word);
        Self::arranged(&order, unmatched.copied().collect(), bits, threshold, context)
    }

    /// Returns the part of the set with index `place` in the largest number of bits in which its row and the row of a
    /// similar set differ.
    pub(super) fn own_limit(&self, place: usize, threshold: Threshold) -> u32 {
        (threshold.difference_share(self.sizes[place]) + 1).saturating_sub(self.unmatched(place))
    }

    /// Returns whether the set with index `place` can be similar to a set of its size or a larger one.
    pub(super) fn has_larger(&self, place: usize, threshold: Threshold) -> bool {
        let size = self.sizes[place];
        threshold.min_shared(size, size) <= size - self.unmatched(place)
    }

    /// Returns the places of the sets that can be similar to a set of their size or a larger one.
    pub(super) fn with_larger(&self, places: &[u32], threshold: Threshold) -> Vec<u32> {
        let has_larger = |&place: &u32| self.has_larger(place as usize, threshold);
        places.iter().copied().filter(has_larger).collect()
    }

    /// Returns the row of bits of the sketch with index `place`.
    pub(super) fn row(&self, place: usize) -> Vec<u64> {
        let level = &self.levels[self.level_of(place)];
        (0..level.words).map(|word| level.word(place, word)).collect()
    }

    /// Returns the size of the largest set that can be similar to the set with index `place`. It is smaller than the set
    /// itself if many of its terms are unmatched.
    pub(super) fn most_size(&self, place: usize, threshold: Threshold) -> u32 {
        let size = self.sizes[place];
        let matched = size - self.unmatched(place);
        // The similar sets have sizes from the first to the last number. Larger sets must share more terms.
        let [mut least, mut most] = [threshold.min_size(size), MOST_TERMS as u32];
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if threshold.min_shared(size, middle) <= matched {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }

    /// Returns the number of terms of a document that no other document has, or 0 if they were not counted. The row of
    /// bits of the document does not have these terms. `place` is the index of its sketch.
    #[inline]
    pub(super) fn unmatched(&self, place: usize) -> u32 {
        self.unmatched.get(place).copied().unwrap_or(0)
    }

    /// Stores the rows of sketches in levels and groups. `order` has the size, the row number and a position for each
    /// sketch, sorted by size and row number. `bits` is called with such a position and the index of a 64-bit word, and
    /// returns this word of the sketch's row. `unmatched` has the number of terms of each sketch that are in no row, or
    /// is empty.
    fn arranged<P: Copy + Sync>(
        order: &[(u32, u32, P)],
        unmatched: Vec<u32>,
        bits: impl Fn(P, usize) -> u64 + Sync + Send,
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Self> {
        let words: Vec<usize> = order.iter().map(|&(size, ..)| words_of(size, threshold)).collect();
        let mut levels = Vec::new();
        let mut start = 0;
        // The number of words never falls with the size, so sets with equally many are neighbours.
        for level in words.chunk_by(|a, b| a == b) {
            let words = level[0];
            let sets = start..start + level.len();
            start = sets.end;
            let of_level = &order[sets.clone()];
            let group_words = words * GROUP;
            let count = of_level.len().div_ceil(GROUP);
            let mut groups = LargeBuffer::try_zeroed(count * group_words, SKETCHES)?;
            groups = groups.entered_in(context.memory());
            let unmatched = unmatched.get(sets.clone()).unwrap_or_default();
            let mut unmatched = unmatched.chunks(GROUP);
            let with_unmatched =
                |(group, sets)| (group, sets, unmatched.next().unwrap_or_default());
            let work = groups.chunks_mut(group_words).zip(of_level.chunks(GROUP));
            let work = work.map(with_unmatched).collect();
            let limits = context.threads().map(work, |work: (&mut [u64], &[_], &[u32])| {
                let (group, sets, unmatched) = work;
                let mut limit = 0;
                for (lane, &(size, _, place)) in sets.iter().enumerate() {
                    for word in 0..words {
                        // The same word of all rows of a group lies together, so one vector
                        // instruction compares several rows.
                        group[word * GROUP + lane] = bits(place, word);
                    }
                    let unmatched = unmatched.get(lane).copied().unwrap_or(0);
                    limit = limit.max(threshold.difference_share(size).saturating_sub(unmatched));
                }
                limit
            });
            levels.push(SketchLevel { words, sets, groups, limits });
        }
        Ok(Self {
            documents: order.iter().map(|&(_, document, _)| document).collect(),
            sizes: order.iter().map(|&(size, ..)| size).collect(),
            unmatched,
            levels,
        })
    }

    /// Returns the size in bytes of the rows of all sketches. Document numbers and set sizes are not
    /// included.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| size_of_val(&level.groups[..]) as u64).sum()
    }

    /// Whether the terms that no other document has were counted when the sketches were made.
    pub(super) fn are_counted(&self) -> bool {
        !self.unmatched.is_empty()
    }

    /// Returns the indices of all sketches.
    pub(super) fn places(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }

    /// Returns the number of sketches.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the index in `levels` of the level that contains the sketch with index `place`.
    pub(super) fn level_of(&self, place: usize) -> usize {
        self.levels.partition_point(|level| level.sets.end <= place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketching::SketchScratch;
    use simtool_base::stable_hash::mix;

    #[test]
    fn no_set_is_similar_to_a_larger_one_than_its_matched_terms_allow() {
        let context = Context::default();
        let terms: Vec<u64> = (0..40).map(mix).collect();
        for threshold in ["0.7", "0.5", "1", "dice:0.8", "cosine:0.6", "containment:0.9"] {
            let threshold: Threshold = threshold.parse().unwrap();
            for unmatched in 0..=threshold.max_unshared(40) {
                let mut sketching = Sketching::new(threshold, true, context.memory());
                let is_matched = |term| terms[unmatched as usize..].contains(&term);
                let mut scratch = SketchScratch::default();
                sketching.push_counted(0, &terms, is_matched, &mut scratch).unwrap();
                let sketches = Sketches::new(&[sketching], |_| true, threshold, &context).unwrap();
                let matched = 40 - unmatched;
                let can_be_similar = |size: &u32| {
                    let shared = u64::from(matched.min(*size));
                    threshold.reached(shared, 40, u64::from(*size)).is_some()
                };
                let largest = (1..1000).filter(can_be_similar).max().unwrap();
                let most = sketches.most_size(0, threshold);
                assert_eq!(most.min(999), largest, "{threshold:?}, {unmatched} unmatched");
                let has_larger = sketches.with_larger(&[0], threshold);
                assert_eq!(has_larger.len(), usize::from(largest >= 40));
            }
        }
    }
}
