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

use super::cells::Cells;
use super::large_vec::LargeVec;
use super::pair_filter::PairFilter;
use super::prune::{JoinShard, shard_of};
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_base::memory_ledger::{Ledger, Reservation};
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
    /// For each set, the number of its terms that no other set has. These terms are not in the row of bits.
    /// Empty if they were not counted.
    unmatched: Vec<u32>,
    /// Bytes of `sets` that the ledger counts.
    held: Reservation,
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
        let held = ledger.hold(0);
        Self { threshold, with_bits, sets: Vec::new(), unmatched: Vec::new(), held, bits }
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
        self.push_matched(document, terms, |_| true, scratch).map(drop)
    }

    /// Adds the sketch of a document. Its row of bits has only the terms that are matched in `cells`, which means that
    /// another set may contain them. If too many terms are unmatched for a similar set, the document gets no sketch.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push_counted(
        &mut self,
        document: u32,
        terms: &[u64],
        cells: &Cells,
        scratch: &mut SketchScratch,
    ) -> Result<()> {
        if terms.is_empty() {
            return Ok(());
        }
        let numbers = cells.numbers();
        let is_matched = |term| cells.is_matched(numbers.of(term));
        let unmatched = self.push_matched(document, terms, is_matched, scratch)?;
        let Some(set) = self.sets.last() else { return Ok(()) };
        if unmatched > self.threshold.max_unshared(set.size) {
            self.bits.truncate(set.start);
            self.sets.pop();
        } else {
            self.unmatched.push(unmatched);
        }
        Ok(())
    }

    /// Adds the sketch of a document, whose row of bits has only the terms for which `is_matched` is true.
    /// Returns the number of its other terms.
    fn push_matched(
        &mut self,
        document: u32,
        terms: &[u64],
        is_matched: impl Fn(u64) -> bool,
        scratch: &mut SketchScratch,
    ) -> Result<u32> {
        if terms.is_empty() {
            return Ok(0);
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
        let mut unmatched = 0;
        for &term in terms {
            // Sums do not depend on the order of the terms, which may differ between equal sets.
            plain = plain.wrapping_add(term);
            mixed = mixed.wrapping_add(mix(term));
            let bit = term >> 32 & mask;
            let is_matched = is_matched(term);
            unmatched += u32::from(!is_matched);
            // Exclusive or records the parity, so shared terms cancel out when two rows are
            // compared.
            row[(bit / 64) as usize] ^= u64::from(is_matched) << (bit % 64);
        }
        let signature = u128::from(plain) << 64 | u128::from(mixed);
        distinct.release();
        let room = self.sets.capacity();
        self.sets.push(Set { document, size, signature, start: self.bits.len() });
        self.held.grow(((self.sets.capacity() - room) * size_of::<Set>()) as u64);
        self.bits.extend_from_slice(if self.with_bits { row } else { &[] })?;
        Ok(unmatched)
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
    // There may be hundreds of millions of sets, so only 12 bytes of each are sorted: the upper bits of its
    // signature, which decide most comparisons, and its place.
    let mut all: Vec<SetPlace> = Vec::with_capacity(parts.iter().map(|part| part.sets.len()).sum());
    for (part, Sketching { sets, .. }) in (0..).zip(parts) {
        let places = (0..).zip(sets);
        all.extend(places.map(|(at, set)| SetPlace {
            bits: (set.signature >> 96) as u32,
            part,
            at,
        }));
    }
    let set = |place: &SetPlace| &parts[place.part as usize].sets[place.at as usize];
    let identity = |set: &Set| (set.signature, set.size, class(set.document));
    // Equal sets become neighbours, and the documents of each group ascend.
    all.sort_unstable_by(|a, b| {
        a.bits.cmp(&b.bits).then_with(|| {
            let [a, b] = [set(a), set(b)];
            identity(a).cmp(&identity(b)).then(a.document.cmp(&b.document))
        })
    });
    let same = all.chunk_by(|a, b| a.bits == b.bits && identity(set(a)) == identity(set(b)));
    let mut rows: Vec<u32> = Vec::new();
    let mut ranges = Vec::new();
    for group in same.filter(|group| group.len() > 1) {
        let start = rows.len();
        rows.extend(group.iter().map(|place| set(place).document));
        ranges.push(start..rows.len());
    }
    // The groups are copied once, so the places must not be in memory any more.
    drop(all);
    ranges.sort_unstable_by_key(|range| rows[range.start]);
    ranges.into_iter().map(|range| &rows[range]).collect()
}

/// The place of a set in a list of [`Sketching`]s, and a part of its signature.
#[derive(Clone, Copy)]
struct SetPlace {
    /// The upper bits of the signature.
    bits: u32,
    /// Index of the list in the sequence of lists.
    part: u32,
    /// Index of the set in this list.
    at: u32,
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
    let is_alive = |set: &Set| {
        let shard = &shards[shard_of(shards, set.document)];
        shard.alive[(set.document - shard.first_row) as usize]
    };
    for part in parts {
        let mut sets = part.sets.iter();
        part.unmatched.retain(|_| sets.next().is_some_and(is_alive));
        part.sets.retain(is_alive);
        part.sets.shrink_to_fit();
        part.held.shrink_to(size_of_val(&part.sets[..]) as u64);
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
        let mut unmatched = Vec::new();
        for (number, level) in (0_u32..).zip(&self.levels) {
            for (at, place) in (0_u32..).zip(level.sets.clone()) {
                let document = self.documents[place];
                if is_one(document) {
                    order.push((self.sizes[place], document, (number, at)));
                    unmatched.extend(self.unmatched.get(place));
                }
            }
        }
        let bits = |(level, at): (u32, u32), word| {
            let level = &self.levels[level as usize];
            let at = at as usize;
            level.groups[at / GROUP * level.group_words() + word * GROUP + at % GROUP]
        };
        Self::arranged(&order, unmatched, bits, threshold, context)
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
