//! Sketches of sets in few bits: the number of terms, a signature that only equal sets share, and
//! the parities of the terms.
//!
//! Each term chooses one bit of the row of its set. The bit records whether the number of terms
//! that chose it is odd or even. Terms that two sets share cancel out in the difference of their
//! rows, so the rows differ in at most as many bits as the sets differ in terms. Rows are at least
//! six times as long as the largest difference of similar sets, so the rows of other sets differ by
//! more. Adding one half of a row to the other half gives the row of half the length, so rows of
//! different lengths can be compared, too.
//!
//! # References
//! E. Sandes, G. Teodoro, A. Melo. Bitmap filter: speeding up exact set similarity joins with
//! bitwise operations. Information Systems 88, 2020.

use super::large_vec::LargeVec;
use super::prune::{Shard, shard_of};
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_kernels::hamming_groups::GROUP;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::groups::Groups;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Name of the memory in error messages.
const SKETCHES: &str = "the sketches of the documents";
/// Bits of a row for each term by which similar sets may differ. With half as many bits, most near
/// sketches belong to pairs just below the threshold, for example pages of a template, and these
/// documents must be read again for nothing.
const BITS_A_DIFFERENCE: u64 = 6;
/// The longest row, in words: 32 bits of a term choose its bit.
const MOST_WORDS: u64 = 1 << 26;

/// Words of the row of a set of `size` terms: a power of two that does not fall with the size.
pub(super) fn words_of(size: u32, threshold: Threshold) -> usize {
    let difference = u64::from(threshold.difference_share(size)) * 2;
    let words = (difference * BITS_A_DIFFERENCE).div_ceil(64);
    // Folding halves a row, so only powers of two can be folded to every shorter length.
    words.clamp(1, MOST_WORDS).next_power_of_two() as usize
}

/// Bytes that sketches of sets of so many terms take, about, at least one a term: a row is a power of two
/// of words, half as many again as it needs, and all are there twice until they are in order.
pub(super) fn planned_bytes(terms: u64, threshold: Threshold) -> u64 {
    const TERMS: u32 = 1000;
    let difference = u64::from(threshold.difference_share(TERMS)) * 2;
    let bits = terms.saturating_mul(difference * BITS_A_DIFFERENCE * 3) / u64::from(TERMS);
    (bits / 8).max(terms)
}

/// Halves the row until it has as many words.
pub(super) fn fold(row: &mut Vec<u64>, words: usize) {
    while row.len() > words {
        let half = row.len() / 2;
        // A term's bit in the shorter row is its bit in the longer row modulo the length, so the
        // sum of the halves is exactly the row that the set would have at that length.
        let (first, second) = row.split_at_mut(half);
        for (word, other) in first.iter_mut().zip(second) {
            *word ^= *other;
        }
        row.truncate(half);
    }
}

/// A worker's memory.
#[derive(Debug, Default)]
pub(super) struct SketchScratch {
    distinct: DistinctTerms,
    row: Vec<u64>,
}

/// Sketches as they are made, one document after the other.
#[derive(Debug)]
pub(super) struct Sketching {
    threshold: Threshold,
    /// Whether rows of bits are made in addition to sizes and signatures.
    with_bits: bool,
    /// The row of each document, its number of terms, and its signature.
    sets: Vec<Set>,
    /// The bits of all of them.
    bits: LargeVec<u64>,
}

/// The size and the signature of a set, and the place of its bits.
#[derive(Clone, Copy, Debug)]
struct Set {
    document: u32,
    size: u32,
    /// Sums of two functions of its terms: equal for equal sets. Terms are hashes of half as many
    /// bits, so that it is far likelier that unequal terms are taken for equal ones than that
    /// unequal sets are.
    signature: u128,
    /// Where its bits begin.
    start: usize,
}

impl Sketching {
    /// No sketch yet; without bits only equal sets can be found.
    pub(super) fn new(threshold: Threshold, with_bits: bool) -> Self {
        Self { threshold, with_bits, sets: Vec::new(), bits: LargeVec::with_capacity(0, SKETCHES) }
    }

    /// Adds the sketch of a document; one without terms is like nothing, and has none.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn push(
        &mut self,
        document: u32,
        terms: &[u64],
        scratch: &mut SketchScratch,
    ) -> Result<()> {
        if terms.is_empty() {
            return Ok(());
        }
        let SketchScratch { distinct, row } = scratch;
        let terms = distinct.replace(terms)?;
        let size = terms.len() as u32;
        let words = if self.with_bits { words_of(size, self.threshold) } else { 1 };
        row.clear();
        reserve(row, words, SKETCHES)?;
        row.resize(words, 0);
        // Words are a power of two, so a mask replaces the remainder of a division.
        let mask = words as u64 * 64 - 1;
        let mut plain = 0_u64;
        let mut mixed = 0_u64;
        for &term in terms {
            // Sums do not depend on the order of the terms, which may differ between equal sets.
            plain = plain.wrapping_add(term);
            mixed = mixed.wrapping_add(mix(term));
            let bit = term >> 32 & mask;
            // Exclusive or records the parity, so shared terms cancel out when two rows are
            // compared.
            row[(bit / 64) as usize] ^= 1 << (bit % 64);
        }
        let signature = u128::from(plain) << 64 | u128::from(mixed);
        self.sets.push(Set { document, size, signature, start: self.bits.len() });
        self.bits.extend_from_slice(if self.with_bits { row } else { &[] })
    }

    /// Counts the documents from `first`, where they were counted from 0.
    pub(super) fn number_from(&mut self, first: u32) {
        for set in &mut self.sets {
            set.document += first;
        }
    }
}

/// The sketches of documents, in ascending (size, document).
#[derive(Debug)]
pub(super) struct Sketches {
    /// The row of each document.
    pub(super) documents: Vec<u32>,
    /// The number of distinct terms of each set.
    pub(super) sizes: Vec<u32>,
    /// Sets whose rows have equally many words, these ascending.
    pub(super) levels: Vec<Level>,
}

/// Sets whose rows have equally many words.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) words: usize,
    /// Their places among all.
    pub(super) sets: Range<usize>,
    /// Their rows, in groups of [`GROUP`]: word by word, each of all rows of the group.
    pub(super) groups: LargeBuffer<u64>,
    /// For each group, the share of its largest set in the allowed difference of two similar sets.
    pub(super) limits: Vec<u32>,
}

impl Level {
    /// Words of a group.
    pub(super) fn group_words(&self) -> usize {
        self.words * GROUP
    }

    /// Replaces `row` by the row of the set at `place` among all.
    pub(super) fn copy_row(&self, place: usize, row: &mut Vec<u64>) {
        let at = place - self.sets.start;
        let group = &self.groups[at / GROUP * self.group_words()..][..self.group_words()];
        row.clear();
        row.extend(group.iter().skip(at % GROUP).step_by(GROUP));
    }
}

/// Groups the documents with equal sets: at least two documents each, ascending, in the order of their
/// first documents.
pub(super) fn equal_sets(parts: &[Sketching]) -> Groups {
    let mut all: Vec<(u128, u32, u32)> = (parts.iter().flat_map(|part| &part.sets))
        .map(|set| (set.signature, set.size, set.document))
        .collect();
    // Equal sets become neighbours, and the documents of each group ascend.
    all.sort_unstable();
    let same = all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1);
    let mut groups: Vec<Vec<u32>> =
        same.map(|group| group.iter().map(|&(.., document)| document).collect()).collect();
    groups.sort_unstable_by_key(|group| group[0]);
    groups.into_iter().collect()
}

/// Takes out documents that are no longer alive.
pub(super) fn retain_living(parts: &mut [Sketching], shards: &[Shard]) {
    for part in parts {
        part.sets.retain(|set| {
            let shard = &shards[shard_of(shards, set.document)];
            shard.alive[(set.document - shard.first_row) as usize]
        });
    }
}

impl Sketches {
    /// Puts the sketches of several workers in order, those of documents for which `of_side` holds.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn new(
        parts: &[Sketching],
        of_side: impl Fn(u32) -> bool,
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Self> {
        let mut order: Vec<(u32, u32, (u32, usize))> = Vec::new();
        for (number, part) in (0..).zip(parts) {
            let sets = part.sets.iter().filter(|set| of_side(set.document));
            order.extend(sets.map(|set| (set.size, set.document, (number, set.start))));
        }
        // With ascending sizes, the candidates of a set are one window of neighbours.
        order.sort_unstable();
        let bits = |(part, start): (u32, usize), word| parts[part as usize].bits[start + word];
        Self::arranged(&order, bits, threshold, context)
    }

    /// Copies the sketches of the documents for which `is_one` holds.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn only(
        &self,
        is_one: impl Fn(u32) -> bool,
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Self> {
        // Sets ascend within a level and from level to level, so a selection is already in order.
        let mut order = Vec::new();
        for (number, level) in (0_u32..).zip(&self.levels) {
            for (at, place) in (0_u32..).zip(level.sets.clone()) {
                let document = self.documents[place];
                if is_one(document) {
                    order.push((self.sizes[place], document, (number, at)));
                }
            }
        }
        let bits = |(level, at): (u32, u32), word| {
            let level = &self.levels[level as usize];
            let at = at as usize;
            level.groups[at / GROUP * level.group_words() + word * GROUP + at % GROUP]
        };
        Self::arranged(&order, bits, threshold, context)
    }

    /// The sketches of sizes and documents in ascending order, with the words that `bits` gives of the
    /// rows at their places.
    fn arranged<P: Copy + Sync>(
        order: &[(u32, u32, P)],
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
            let work = groups.chunks_mut(group_words).zip(of_level.chunks(GROUP)).collect();
            let limits = context.threads().map(work, |(group, sets): (&mut [u64], &[_])| {
                let mut largest = 0;
                for (lane, &(size, _, place)) in sets.iter().enumerate() {
                    for word in 0..words {
                        // The same word of all rows of a group lies together, so one vector
                        // instruction compares several rows.
                        group[word * GROUP + lane] = bits(place, word);
                    }
                    // Sizes ascend, so the last one is the largest.
                    largest = size;
                }
                threshold.difference_share(largest)
            });
            levels.push(Level { words, sets, groups, limits });
        }
        Ok(Self {
            documents: order.iter().map(|&(_, document, _)| document).collect(),
            sizes: order.iter().map(|&(size, ..)| size).collect(),
            levels,
        })
    }

    /// Bytes of their rows.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| size_of_val(&level.groups[..]) as u64).sum()
    }

    /// Returns the number of sketches.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The number of the level of the set at `place`.
    pub(super) fn level_of(&self, place: usize) -> usize {
        self.levels.partition_point(|level| level.sets.end <= place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_take_about_as_many_bytes_as_are_planned_with() {
        for tenths in [1, 3, 5, 6, 7, 9] {
            let threshold = Threshold::new(tenths, 10).unwrap();
            let sizes = 100_u32..10_000;
            let taken: usize = sizes.clone().map(|size| words_of(size, threshold) * 8 * 2).sum();
            let terms = u64::from(sizes.sum::<u32>());
            let planned = planned_bytes(terms, threshold);
            let times = planned as f64 / taken as f64;
            let is_least = planned == terms;
            assert!(times > 0.8 && (is_least || times < 1.25), "{threshold:?}: {times}");
        }
    }
}
