//! Sketches of sets. A sketch has the number of terms, a signature that only equal sets share, and
//! a row of bits that is compared with the rows of other sets.
//!
//! Each term is hashed to one bit of the row. The bit is 1 if the number of terms with this bit is
//! odd. Terms that two sets share cancel out in the XOR of the rows. So the number of different
//! bits is at most the number of terms that only one of the sets has. Rows have at least six bits
//! for each term by which similar sets may differ, so the rows of other sets usually differ in more
//! bits. The XOR of the two halves of a row is the row of half the length, so rows of different
//! lengths can be compared, too.
//!
//! # References
//! E. Sandes, G. Teodoro, A. Melo. Bitmap filter: speeding up exact set similarity joins with
//! bitwise operations. Information Systems 88, 2020.

use super::large_vec::LargeVec;
use super::pair_filter::PairFilter;
use super::prune::{JoinShard, shard_of};
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_base::memory_ledger::Ledger;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_kernels::hamming_groups::GROUP;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::groups::Groups;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Description of the memory for sketches. Out-of-memory messages contain it.
const SKETCHES: &str = "the sketches of the documents";
/// Number of bits of a sketch's row for each term by which similar sets may differ. With half as many
/// bits, sketches would often be similar although the sets are just below the threshold. Pages of one
/// template are an example. Such documents would be read again for nothing.
const BITS_A_DIFFERENCE: u64 = 6;
/// Maximum number of 64-bit words in the row of bits of a sketch. Such a row has 2³² bits, and the
/// upper 32 bits of a term choose the term's bit.
const MOST_WORDS: u64 = 1 << 26;

/// Returns the number of 64-bit words in the row of bits of a set with `size` terms. It is a power of
/// two. A larger set never has a shorter row.
pub(super) fn words_of(size: u32, threshold: Threshold) -> usize {
    let difference = u64::from(threshold.difference_share(size)) * 2;
    let words = (difference * BITS_A_DIFFERENCE).div_ceil(64);
    // Folding halves a row, so only powers of two can be folded to every shorter length.
    words.clamp(1, MOST_WORDS).next_power_of_two() as usize
}

/// Estimates the bytes of the sketches of sets that have `terms` terms in total. The estimate is at
/// least one byte per term. It includes two copies of all rows, because they are copied when they are
/// sorted. It also allows for row lengths that are rounded up to powers of two.
pub(super) fn planned_bytes(terms: u64, threshold: Threshold) -> u64 {
    const TERMS: u32 = 1000;
    let difference = u64::from(threshold.difference_share(TERMS)) * 2;
    let bits = terms.saturating_mul(difference * BITS_A_DIFFERENCE * 3) / u64::from(TERMS);
    (bits / 8).max(terms)
}

/// Shortens the row of bits of a sketch to `words` 64-bit words. Replaces the row by the XOR of its
/// halves until it is short enough. `words` must be a power of two.
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

/// Buffers for making sketches, which a worker thread uses again for each document.
#[derive(Debug, Default)]
pub(super) struct SketchScratch {
    distinct: DistinctTerms,
    row: Vec<u64>,
}

/// Sketches that a worker thread has made, in the order of its documents.
#[derive(Debug)]
pub(super) struct Sketching {
    threshold: Threshold,
    /// Whether sketches have rows of bits in addition to sizes and signatures.
    with_bits: bool,
    /// The sketches without their rows of bits.
    sets: Vec<Set>,
    /// The rows of bits of all sets.
    bits: LargeVec<u64>,
}

/// The sketch of a set without its row of bits.
#[derive(Clone, Copy, Debug)]
struct Set {
    document: u32,
    size: u32,
    /// Two 64-bit sums of different functions of the terms. Equal sets have the same signature. Unequal
    /// sets have the same signature far less often than two unequal terms have the same 64-bit hash.
    signature: u128,
    /// Index in [`Sketching::bits`] of the first word of the set's row.
    start: usize,
}

impl Sketching {
    /// Creates an empty list of sketches. If `with_bits` is false, the sketches have no rows of
    /// bits, and can only be used to find equal sets. `ledger` counts the memory of the rows.
    pub(super) fn new(threshold: Threshold, with_bits: bool, ledger: &Ledger) -> Self {
        let bits = LargeVec::with_capacity(0, SKETCHES, ledger);
        Self { threshold, with_bits, sets: Vec::new(), bits }
    }

    /// Adds the sketch of a document. A document without terms gets no sketch, because it is
    /// similar to no other.
    ///
    /// # Errors
    /// Not enough memory.
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
        let terms = distinct.distinct(terms)?;
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
        distinct.release();
        self.sets.push(Set { document, size, signature, start: self.bits.len() });
        self.bits.extend_from_slice(if self.with_bits { row } else { &[] })
    }

    /// Adds `first` to the number of every document. Before, documents are numbered from 0 in their
    /// shard. Afterwards, their numbers are row numbers.
    pub(super) fn number_from(&mut self, first: u32) {
        for set in &mut self.sets {
            set.document += first;
        }
    }
}

/// Sketches of documents, sorted by size and then by row number. The index of a sketch in this
/// order is called its place.
#[derive(Debug)]
pub(super) struct Sketches {
    /// Row number of each document.
    pub(super) documents: Vec<u32>,
    /// Number of distinct terms of each document.
    pub(super) sizes: Vec<u32>,
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
    /// For each group of rows, the share of its largest set in the maximum difference of similar
    /// sketches. Two sketches are similar only if their rows differ in at most as many bits as the
    /// shares of both sets add up to.
    pub(super) limits: Vec<u32>,
}

impl SketchLevel {
    /// Returns the number of 64-bit words in a group of rows.
    pub(super) fn group_words(&self) -> usize {
        self.words * GROUP
    }

    /// Copies the row of a sketch to `row`. `place` is the index of the sketch among all sketches.
    pub(super) fn copy_row(&self, place: usize, row: &mut Vec<u64>) {
        let at = place - self.sets.start;
        let group = &self.groups[at / GROUP * self.group_words()..][..self.group_words()];
        row.clear();
        row.extend(group.iter().skip(at % GROUP).step_by(GROUP));
    }
}

/// Returns the groups of documents with equal sets. Each group has at least two documents, in ascending
/// order. Groups are sorted by their first document. With a filter, the documents of a group are also in
/// the same class.
pub(super) fn equal_sets(parts: &[Sketching], filter: Option<&dyn PairFilter>) -> Groups {
    let class = |document| filter.and_then(|filter| filter.class(document)).unwrap_or(0);
    let mut all: Vec<(u128, u32, u64, u32)> = (parts.iter().flat_map(|part| &part.sets))
        .map(|set| (set.signature, set.size, class(set.document), set.document))
        .collect();
    // Equal sets become neighbours, and the documents of each group ascend.
    all.sort_unstable();
    let same =
        all.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)).filter(|group| group.len() > 1);
    let documents = same.map(|group| group.iter().map(|&(.., document)| document));
    let groups: Groups = documents.map(Iterator::collect::<Vec<u32>>).collect();
    groups.several()
}

/// Writes the number of distinct terms of each sketched document to `sizes`, by row number.
pub(super) fn write_sizes(parts: &[Sketching], sizes: &mut [u32]) {
    for set in parts.iter().flat_map(|part| &part.sets) {
        sizes[set.document as usize] = set.size;
    }
}

/// Removes the sketches of documents that cannot have a similar document. `shards` marks the other
/// documents.
pub(super) fn retain_living(parts: &mut [Sketching], shards: &[JoinShard]) {
    for part in parts {
        part.sets.retain(|set| {
            let shard = &shards[shard_of(shards, set.document)];
            shard.alive[(set.document - shard.first_row) as usize]
        });
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

    /// Copies the sketches of some documents. A document is included if `is_one` is true for its row
    /// number.
    ///
    /// # Errors
    /// Not enough memory.
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

    /// Stores the rows of sketches in levels and groups. `order` has the size, the row number and a
    /// position for each sketch, sorted by size and row number. The arguments of `bits` are such a
    /// position and the index of a word. It returns this word of the sketch's row.
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
            levels.push(SketchLevel { words, sets, groups, limits });
        }
        Ok(Self {
            documents: order.iter().map(|&(_, document, _)| document).collect(),
            sizes: order.iter().map(|&(size, ..)| size).collect(),
            levels,
        })
    }

    /// Returns the size in bytes of the rows of all sketches. Document numbers and set sizes are not
    /// included.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| size_of_val(&level.groups[..]) as u64).sum()
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
