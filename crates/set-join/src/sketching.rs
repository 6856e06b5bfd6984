//! Makes sketches of sets while documents are read, and finds the sets that are equal by their signatures.

use super::large_vec::LargeVec;
use super::pair_filter::PairFilter;
use super::prune::{JoinShard, shard_of};
use super::sketch_rows::{SKETCHES, words_of};
use simtool_base::error::Result;
use simtool_base::large_buffer::reserve;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::stable_hash::mix;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::groups::Groups;
use simtool_model::similarity::Threshold;

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
    pub(super) sets: Vec<Set>,
    /// For each set, the number of its terms that no other set has. These terms are not in the row of bits.
    /// Empty if they were not counted.
    pub(super) unmatched: Vec<u32>,
    /// Bytes of `sets` that the ledger counts.
    held: Reservation,
    /// The rows of bits of all sets.
    pub(super) bits: LargeVec<u64>,
}

/// The sketch of a set without its row of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    pub(super) document: u32,
    pub(super) size: u32,
    /// Two 64-bit sums of different functions of the terms. Equal sets have the same signature. Unequal
    /// sets have the same signature far less often than two unequal terms have the same 64-bit hash.
    signature: u128,
    /// Index in [`Sketching::bits`] of the first word of the set's row.
    pub(super) start: usize,
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

    /// Adds the sketch of a document. Its row of bits has only the terms for which `is_matched` is true, which means that
    /// another set may contain them. If too many terms are unmatched for a similar set, the document gets no sketch.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push_counted(
        &mut self,
        document: u32,
        terms: &[u64],
        is_matched: impl Fn(u64) -> bool,
        scratch: &mut SketchScratch,
    ) -> Result<()> {
        if terms.is_empty() {
            return Ok(());
        }
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
