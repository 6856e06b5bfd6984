//! Makes sketches of sets while documents are read, and finds the sets that are equal by their signatures.
//!
//! If terms were counted, a sketch may have the set's *prefix*, too: so many of its first terms that two similar sets have
//! one of these in common (`prefix_postings`). Terms that no other set has come first in the order of terms, so they are
//! only counted. The others follow in the order of their tokens (`term_sample`), which puts common terms last.

use super::known_rows::{KnownRows, RowPlace};
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
use std::sync::Arc;

/// Buffers for making sketches, which a worker thread uses again for each document.
#[derive(Debug, Default)]
pub(super) struct SketchScratch {
    distinct: DistinctTerms,
    row: Vec<u64>,
    /// Whether each term is in the row of bits.
    matched: Vec<bool>,
    tokens: Vec<u32>,
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
    /// The rows of bits of the sets, one after the other.
    pub(super) bits: LargeVec<u64>,
    /// The prefixes of the sets, one after the other. `None` if the sketches have none.
    pub(super) prefixes: Option<LargeVec<u32>>,
    /// For each row of bits, the indices of its first word in `bits`, and of the first token of its prefix in
    /// `prefixes`.
    pub(super) starts: LargeVec<[u64; 2]>,
    /// Whether equal sets of this list and others share their rows.
    shares_rows: bool,
    /// Places of the rows that several lists share, and the number of this list. `None` if the list shares no rows, and
    /// after [`Self::after_sharing`].
    known: Option<(Arc<KnownRows>, usize)>,
}

/// The sketch of a set without its row of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    pub(super) document: u32,
    pub(super) size: u32,
    /// Two 64-bit sums of different functions of the terms. Equal sets have the same signature. Unequal
    /// sets have the same signature far less often than two unequal terms have the same 64-bit hash.
    signature: u128,
    /// Place of the set's row in [`Sketching::starts`]. If equal sets share no rows, the number of the list is 0.
    row: RowPlace,
}

impl Sketching {
    /// Creates an empty list of sketches. If `with_bits` is false, the sketches have no rows of
    /// bits, and can only be used to find equal sets. `ledger` counts the memory of the rows.
    pub(super) fn new(threshold: Threshold, with_bits: bool, ledger: &Ledger) -> Self {
        let (sets, unmatched, held) = (Vec::new(), Vec::new(), ledger.hold(0));
        let bits = LargeVec::with_capacity(0, SKETCHES, ledger);
        let starts = LargeVec::with_capacity(0, SKETCHES, ledger);
        let (prefixes, shares_rows, known) = (None, false, None);
        Self {
            threshold,
            with_bits,
            sets,
            unmatched,
            held,
            bits,
            prefixes,
            starts,
            shares_rows,
            known,
        }
    }

    /// Returns the same list, whose sketches have prefixes if terms are counted.
    pub(super) fn with_prefixes(self, ledger: &Ledger) -> Self {
        Self { prefixes: Some(LargeVec::with_capacity(0, SKETCHES, ledger)), ..self }
    }

    /// Returns the same list, which shares the rows of equal sets with other lists.
    pub(super) fn sharing(self, rows: &Arc<KnownRows>) -> Self {
        Self { known: Some((Arc::clone(rows), rows.new_list())), shares_rows: true, ..self }
    }

    /// Ends the sharing of rows when all sketches are made. Sorts the lists by their numbers, so that the list number
    /// in each [`RowPlace`] is an index in the result. If a list has lost its prefixes, all lists lose them.
    pub(super) fn after_sharing(mut lists: Vec<Self>) -> Vec<Self> {
        lists.sort_by_key(|list| list.known.as_ref().map(|(_, number)| *number));
        let have_prefixes = have_prefixes(&lists);
        for list in &mut lists {
            list.known = None;
            list.prefixes.take_if(|_| !have_prefixes);
        }
        lists
    }

    /// Returns the bytes that the rows and prefixes take while the sketches are compared. With prefixes, the index for
    /// the comparison takes about half as many bytes as they do. Without prefixes, rows are copied instead.
    pub(super) fn compared_bytes(&self) -> u64 {
        let of_rows = size_of_val(&self.bits[..]) as u64;
        let of_prefixes = |prefixes: &LargeVec<u32>| size_of_val(&prefixes[..]) as u64;
        of_rows + self.prefixes.as_ref().map_or(of_rows, |all| of_prefixes(all) / 2 * 3)
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
        let all = |terms: &[u64], matched: &mut Vec<bool>| matched.resize(terms.len(), true);
        self.add(document, terms, all, |_| 0, scratch).map(drop)
    }

    /// Adds the sketch of a document. Its row of bits has only the matched terms, which other sets may contain, too. If
    /// too many terms are unmatched for a similar set, the document gets no sketch. `matched` appends to a list for
    /// each of some terms whether it is matched. `token` returns the token of a term, which must be the same for all
    /// documents.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push_counted(
        &mut self,
        document: u32,
        terms: &[u64],
        matched: impl Fn(&[u64], &mut Vec<bool>),
        token: impl Fn(u64) -> u32,
        scratch: &mut SketchScratch,
    ) -> Result<()> {
        let unmatched = self.add(document, terms, matched, token, scratch)?;
        self.unmatched.extend(unmatched);
        Ok(())
    }

    /// Adds the sketch of a document as [`Self::push_counted`] does. If an equal set has a row, the sketch gets that
    /// row. Returns the number of unmatched terms, or `None` if the document gets no sketch.
    fn add(
        &mut self,
        document: u32,
        terms: &[u64],
        matched: impl Fn(&[u64], &mut Vec<bool>),
        token: impl Fn(u64) -> u32,
        scratch: &mut SketchScratch,
    ) -> Result<Option<u32>> {
        if terms.is_empty() {
            return Ok(None);
        }
        let SketchScratch { distinct, row, matched: is_matched, tokens } = scratch;
        let terms = distinct.distinct(terms)?;
        let size = terms.len() as u32;
        let signature = signature(terms);
        let known = self.known.as_ref().and_then(|(rows, _)| rows.find(signature, size));
        let is_new = self.with_bits && known.is_none();
        let words = if is_new { words_of(size, self.threshold) } else { 1 };
        row.clear();
        is_matched.clear();
        matched(terms, is_matched);
        reserve(row, words, SKETCHES)?;
        row.resize(words, 0);
        // Words are a power of two, so a mask replaces the remainder of a division.
        let mask = words as u64 * 64 - 1;
        let mut unmatched = 0;
        for (&term, &is_matched) in terms.iter().zip(&*is_matched) {
            let bit = term >> 32 & mask;
            unmatched += u32::from(!is_matched);
            // Exclusive or records the parity, so shared terms cancel out when two rows are
            // compared.
            row[(bit / 64) as usize] ^= u64::from(is_matched) << (bit % 64);
        }
        tokens.clear();
        if is_new && self.prefixes.is_some() {
            // Whether a term is matched is hard to foretell, so no branch depends on it.
            tokens.resize(terms.len(), 0);
            let mut count = 0;
            for (&term, &is_matched) in terms.iter().zip(&*is_matched) {
                tokens[count] = token(term);
                count += usize::from(is_matched);
            }
            tokens.truncate(count);
        }
        distinct.release();
        if unmatched > self.threshold.max_unshared(size) {
            return Ok(None);
        }
        let mut set = Set { document, size, signature, row: RowPlace::new(0, self.starts.len()) };
        if let Some(known) = known {
            set.row = known;
        } else if self.with_bits {
            if let Some((rows, list)) = &self.known {
                set.row = RowPlace::new(*list, self.starts.len());
                rows.insert(signature, size, set.row);
            }
            self.store_row(prefix_length(size, unmatched, self.threshold), scratch)?;
        }
        let room = self.sets.capacity();
        self.sets.push(set);
        self.held.grow(((self.sets.capacity() - room) * size_of::<Set>()) as u64);
        Ok(Some(unmatched))
    }

    /// Appends the row of bits in `scratch` to the stored rows. If sketches have prefixes, also stores the `length`
    /// smallest tokens in `scratch`, in ascending order, as the prefix.
    fn store_row(&mut self, length: usize, scratch: &mut SketchScratch) -> Result<()> {
        let SketchScratch { tokens, row, .. } = scratch;
        let of_prefix = self.prefixes.as_ref().map_or(0, |prefixes| prefixes.len());
        self.starts.extend_from_slice(&[[self.bits.len() as u64, of_prefix as u64]])?;
        self.bits.extend_from_slice(row)?;
        let Some(prefixes) = &mut self.prefixes else { return Ok(()) };
        tokens.select_nth_unstable(length - 1);
        tokens.truncate(length);
        tokens.sort_unstable();
        prefixes.extend_from_slice(tokens)
    }

    /// Returns the number of the list that has the row of a set of this list, and the index of the row in it. `own` is
    /// the number of this list.
    pub(super) fn row_of(&self, set: &Set, own: usize) -> (usize, usize) {
        let (list, at) = set.row.list_and_index();
        (if self.shares_rows { list } else { own }, at)
    }

    /// Adds `first` to the number of every document. Before, documents are numbered from 0 in their
    /// shard. Afterwards, their numbers are row numbers.
    pub(super) fn number_from(&mut self, first: u32) {
        for set in &mut self.sets {
            set.document += first;
        }
    }
}

/// Whether all sketches of these lists have prefixes.
pub(super) fn have_prefixes(lists: &[Sketching]) -> bool {
    lists.iter().all(|list| list.prefixes.is_some())
}

/// Returns the signature of a set, see [`Set::signature`].
fn signature(terms: &[u64]) -> u128 {
    let mut plain = 0_u64;
    let mut mixed = 0_u64;
    for &term in terms {
        // Sums do not depend on the order of the terms, which may differ between equal sets.
        plain = plain.wrapping_add(term);
        mixed = mixed.wrapping_add(mix(term));
    }
    u128::from(plain) << 64 | u128::from(mixed)
}

/// Returns the number of tokens in the prefix of a set with `size` terms. The set has `unmatched` terms that no other
/// set has, and they are not in the prefix. A similar set has at least one term of the prefix.
pub(super) fn prefix_length(size: u32, unmatched: u32, threshold: Threshold) -> usize {
    (threshold.max_unshared(size) + 1 - unmatched) as usize
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
