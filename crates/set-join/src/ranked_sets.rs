//! Renumbers the terms of sets by frequency, rarest first. Each set becomes a sorted list of
//! numbers.
//!
//! A term that only one set has (or the sets of only one collection of two) is unmatched. It counts
//! in the size of its set, but gets no number. Any order of the terms gives the same pairs, but
//! this order gives the fewest candidates.

use super::cells::Cells;
use super::large_vec::LargeVec;
use super::memory_texts::INDEX;
use super::prune::Stored;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled, reserved};
use simtool_compute::context::Context;
use simtool_kernels::partition::counts_to_starts;

/// Nanoseconds of a core for each term in the join by prefixes. They include ranking the term and joining its set. If
/// documents are divided into blocks to save memory, a term takes this time once for each pair of blocks that contains
/// it.
pub(super) const NANOSECONDS_A_RANKED_TERM: f64 = 150.0;

/// Approximate number of records in a partition. A record is a term with a document that contains it. A
/// partition has all terms with the same highest bits. Its records and their hash table fit into the
/// second-level cache.
const PARTITION_RECORDS: usize = 1 << 14;
/// Number of frequency classes. Terms are ordered by their class, which depends on the number of
/// documents that contain the term.
const CLASSES: usize = 96;
/// Value in place of a term number for a term that gets none. The document has the term already, or the
/// term is unmatched, because no possible partner has it.
const REPEATED: u32 = u32::MAX;

/// Sets of term numbers, sorted by size and then by row number. Element i of most lists belongs to
/// set i.
#[derive(Debug)]
pub(super) struct RankedSets {
    /// Row number of each set's document.
    pub(super) rows: Vec<u32>,
    /// Number of distinct terms of each set.
    pub(super) sizes: Vec<u32>,
    /// Number of unmatched terms of each set. No other set contains these terms (in a join of two
    /// collections, no set of the other collection). They count as the first terms of the set, but are
    /// not stored.
    pub(super) unmatched: Vec<u32>,
    /// Whether each set belongs to the second collection of a join of two.
    pub(super) second: Vec<bool>,
    /// Start of each set's term numbers in `ranks`, followed by the length of `ranks` as last
    /// element.
    pub(super) offsets: Vec<usize>,
    /// The numbers of the matched terms of all sets, one set after the other. Within a set, they are in
    /// ascending order.
    pub(super) ranks: LargeBuffer<u32>,
    /// Number of different term numbers. Each term number is below it.
    pub(super) rank_count: u32,
    /// Weight of each term, by term number. Empty if terms have no weights.
    pub(super) weights: Vec<u32>,
}

impl RankedSets {
    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the term numbers of set `set`, in ascending order.
    #[inline]
    pub(super) fn ranks_of(&self, set: usize) -> &[u32] {
        &self.ranks[self.offsets[set]..self.offsets[set + 1]]
    }
}

/// A term, and the index of a document that contains it.
type TermRecord = [u64; 2];

/// Pairs of a term and a document that contains it. The documents are from one of the lists of stored
/// documents. The pairs are divided into partitions by the highest bits of the terms. Within a
/// partition, documents are in ascending order.
struct TermRecords {
    /// For each partition, the index in `records` behind its last record.
    ends: Vec<usize>,
    records: LargeVec<TermRecord>,
}

impl TermRecords {
    fn of_partition(&self, partition: usize) -> &[TermRecord] {
        let start = partition.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.records[start..self.ends[partition]]
    }
}

/// The matched terms of one partition, sorted by frequency class. A matched term is in another document, too. A
/// partition has all terms with the same highest bits.
struct Partition {
    /// For each frequency class, the index behind its last term in the list of matched terms, which is sorted by class.
    class_ends: Vec<u32>,
    /// For each matched term, the index in `documents` at which its documents end.
    posting_ends: Vec<u32>,
    documents: Vec<u32>,
    /// For each unmatched term, the document that contains it.
    unmatched: Vec<u32>,
    /// Weight of each matched term. Empty if terms have no weights.
    weights: Vec<u32>,
}

impl Partition {
    fn terms_of(&self, class: usize) -> std::ops::Range<usize> {
        let start = if class == 0 { 0 } else { self.class_ends[class - 1] as usize };
        start..self.class_ends[class] as usize
    }

    fn documents_of(&self, term: usize) -> &[u32] {
        let start = if term == 0 { 0 } else { self.posting_ends[term - 1] as usize };
        &self.documents[start..self.posting_ends[term] as usize]
    }
}

/// A term of a partition, while its documents are counted.
struct FoundTerm {
    hash: u64,
    /// Number of documents that have the term.
    documents: u32,
    /// Index of the last of these documents.
    last: u32,
    /// Bit 0 if a document of the first collection has the term, bit 1 if one of the second has it.
    sides: u8,
}

/// The different terms of a partition, in the order in which they first occur in the records.
struct FoundTerms {
    terms: Vec<FoundTerm>,
    /// For each record of the partition, the index of its term, or [`REPEATED`] if an earlier
    /// record has the same term and document.
    of_record: Vec<u32>,
}

/// The input for renumbering the terms of documents by frequency. There are fewer than 2³² terms, so
/// numbers and positions have 32 bits.
pub(super) struct Ranking<'a> {
    /// The documents with their terms, in several lists.
    pub(super) stored: &'a [Stored],
    /// The table of two-bit counters in which all terms of these documents were counted.
    pub(super) cells: &'a Cells,
    /// First row number of the second collection, or `None` if there is only one collection.
    pub(super) second_from: Option<u32>,
    /// Function that returns the weight of a term, or `None` if terms have no weights.
    pub(super) weight: Option<&'a (dyn Fn(u64) -> u32 + Sync)>,
    pub(super) context: &'a Context<'a>,
}

impl Ranking<'_> {
    /// Renumbers the terms, and returns the sets for which `may_match` is true. The arguments of
    /// `may_match` are the number of distinct terms and the number of unmatched terms of a set.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn rank(&self, may_match: impl Fn(u32, u32) -> bool) -> Result<RankedSets> {
        let rows: Vec<u32> = self.stored.iter().flat_map(|part| &part.rows).copied().collect();
        let bits = self.partition_bits();
        let (records, unmatched) = self.records(bits)?;
        let partitions = self.context.threads().try_map(
            1 << bits,
            || Ok(()),
            |(), partition| {
                let parts: Vec<&[TermRecord]> =
                    records.iter().map(|part| part.of_partition(partition)).collect();
                self.group(&parts, &rows)
            },
        )?;
        // Records take the most memory of all, and the steps below need room of their own.
        drop(records);
        let (sizes, unmatched) = sizes(&partitions, unmatched);

        let mut order: Vec<u32> = (0..rows.len() as u32)
            .filter(|&d| may_match(sizes[d as usize], unmatched[d as usize]))
            .collect();
        // The joins take sets by ascending size. Rows make the order of equally large sets
        // definite.
        order.sort_unstable_by_key(|&d| (sizes[d as usize], rows[d as usize]));
        let mut sets = RankedSets {
            rows: Vec::with_capacity(order.len()),
            sizes: Vec::with_capacity(order.len()),
            unmatched: Vec::with_capacity(order.len()),
            second: Vec::with_capacity(order.len()),
            offsets: vec![0],
            ranks: LargeBuffer::zeroed(0),
            rank_count: 0,
            weights: Vec::new(),
        };
        // A document that is not joined keeps an index behind all sets, so no worker's range
        // contains it.
        let mut place = vec![u32::MAX; rows.len()];
        let mut offset = 0;
        for (at, &document) in order.iter().enumerate() {
            let document = document as usize;
            place[document] = at as u32;
            offset += (sizes[document] - unmatched[document]) as usize;
            sets.rows.push(rows[document]);
            sets.sizes.push(sizes[document]);
            sets.unmatched.push(unmatched[document]);
            sets.second.push(self.is_second(rows[document]));
            sets.offsets.push(offset);
        }
        self.transpose(&partitions, &place, &mut sets)?;
        if self.weight.is_some() {
            sets.weights = reserved(sets.rank_count as usize, INDEX)?;
            // This must be the order in which `transpose` numbers the terms.
            for class in 0..CLASSES {
                for partition in &partitions {
                    sets.weights.extend_from_slice(&partition.weights[partition.terms_of(class)]);
                }
            }
        }
        Ok(sets)
    }

    fn is_second(&self, row: u32) -> bool {
        self.second_from.is_some_and(|first| row >= first)
    }

    /// Returns the number of bits at the upper end of a term that determine the term's partition.
    fn partition_bits(&self) -> u32 {
        let terms: usize = self.stored.iter().map(|part| part.terms.len()).sum();
        // At least one bit is needed, because a shift by all 64 bits of a term would overflow.
        (terms / PARTITION_RECORDS).max(2).ilog2().min(14)
    }

    /// Divides the terms of all documents into two kinds. Terms that may be in another document, too, are returned as
    /// pairs of a term and a document. The other terms are only counted, and their number is returned for each
    /// document. `bits` is the number of highest bits of a term that determine its partition.
    fn records(&self, bits: u32) -> Result<(Vec<TermRecords>, Vec<u32>)> {
        let mut first_documents = Vec::new();
        let mut documents = 0;
        for part in self.stored {
            first_documents.push(documents);
            documents += part.rows.len() as u64;
        }
        let of_parts = self.context.threads().try_map(
            self.stored.len(),
            || Ok(()),
            |(), part| self.records_of(&self.stored[part], first_documents[part], bits),
        )?;
        let (records, unmatched): (Vec<TermRecords>, Vec<Vec<u32>>) = of_parts.into_iter().unzip();
        Ok((records, unmatched.concat()))
    }

    /// Divides the terms of one list of documents into two kinds. Terms that may be in another document, too, are
    /// returned as pairs of a term and a document index. For each document, the number of its other terms is returned.
    /// The first document of the list has index `first_document`. `bits` is the number of highest bits of a term that
    /// determine its partition.
    fn records_of(
        &self,
        part: &Stored,
        first_document: u64,
        bits: u32,
    ) -> Result<(TermRecords, Vec<u32>)> {
        let ledger = self.context.memory();
        let partition_of = |term: u64| (term >> (64 - bits)) as usize;
        let mut matched = LargeVec::with_capacity(part.terms.len(), INDEX, ledger);
        let mut unmatched = Vec::with_capacity(part.rows.len());
        let mut counts = vec![0_usize; 1 << bits];
        for (document, (_, terms)) in (first_document..).zip(part.documents()) {
            let room: &mut [TermRecord] = matched.spare(terms.len())?;
            let mut here = 0;
            for &term in terms {
                let is_matched = usize::from(self.cells.may_match(term));
                // The record is kept only if `here` advances. A branch on random cells would be
                // slower.
                room[here] = [term, document];
                here += is_matched;
                counts[partition_of(term)] += is_matched;
            }
            matched.extend_by(here);
            unmatched.push((terms.len() - here) as u32);
        }
        let mut records = LargeVec::with_capacity(matched.len(), INDEX, ledger);
        let room = records.spare(matched.len())?;
        // Documents stay in ascending order within each partition, which `group` relies on.
        counts_to_starts(&mut counts, 0);
        for &record in &*matched {
            let at = &mut counts[partition_of(record[0])];
            room[*at] = record;
            *at += 1;
        }
        records.extend_by(matched.len());
        // Each partition's next place has become its end.
        Ok((TermRecords { ends: counts, records }, unmatched))
    }

    /// Groups the pairs of one partition by term. `lists` has the pairs of a term and a document index,
    /// and `rows` has the row number of each document.
    fn group(&self, lists: &[&[TermRecord]], rows: &[u32]) -> Result<Partition> {
        let FoundTerms { terms, of_record } = self.found_terms(lists, rows)?;
        let is_matched = |term: &FoundTerm| match self.second_from {
            None => term.documents > 1,
            Some(_) => term.sides == 3,
        };
        // Terms sorted by class, and within a class by their first document.
        let mut class_ends = vec![0_u32; CLASSES];
        let matched = || terms.iter().enumerate().filter(|(_, term)| is_matched(term));
        matched().for_each(|(_, term)| class_ends[class_of(term.documents)] += 1);
        let mut next: Vec<u32> = running_sum(&mut class_ends);
        // Terms that keep this value are unmatched and get no number.
        let mut place = vec![REPEATED; terms.len()];
        let matched_terms = class_ends[CLASSES - 1] as usize;
        let mut posting_ends = vec![0_u32; matched_terms];
        for (number, term) in matched() {
            let at = &mut next[class_of(term.documents)];
            place[number] = *at;
            posting_ends[*at as usize] = term.documents;
            *at += 1;
        }
        let mut weights = Vec::new();
        if let Some(weight) = self.weight {
            weights = filled(0, matched_terms, INDEX)?;
            for (term, &place) in terms.iter().zip(&place).filter(|&(_, &place)| place != REPEATED)
            {
                weights[place as usize] = weight(term.hash);
            }
        }
        let mut next = running_sum(&mut posting_ends);
        let mut documents = filled(0, posting_ends.last().map_or(0, |&end| end as usize), INDEX)?;
        let mut unmatched = Vec::new();
        for (&[_, document], &number) in lists.iter().copied().flatten().zip(&of_record) {
            if number == REPEATED {
                continue;
            }
            match place[number as usize] {
                REPEATED => unmatched.push(document as u32),
                place => {
                    let at = &mut next[place as usize];
                    documents[*at as usize] = document as u32;
                    *at += 1;
                }
            }
        }
        Ok(Partition { class_ends, posting_ends, documents, unmatched, weights })
    }

    /// Finds the different terms of a partition with a hash table, and counts their documents.
    fn found_terms(&self, lists: &[&[TermRecord]], rows: &[u32]) -> Result<FoundTerms> {
        let count: usize = lists.iter().map(|list| list.len()).sum();
        // At most half of the slots are taken, so the search for a free one always ends, and soon.
        let mask = (count * 2).next_power_of_two() - 1;
        // Number of the term in `terms`, plus 1.
        let mut slots = filled(0_u32, mask + 1, INDEX)?;
        let mut terms: Vec<FoundTerm> = Vec::new();
        let mut of_record = reserved(count, INDEX)?;
        for &[hash, document] in lists.iter().copied().flatten() {
            let document = document as u32;
            // The highest bits are equal in the whole partition, so the lowest bits choose the
            // slot.
            let mut slot = hash as usize & mask;
            let number = loop {
                match slots[slot] {
                    0 => {
                        terms.push(FoundTerm { hash, documents: 0, last: u32::MAX, sides: 0 });
                        slots[slot] = terms.len() as u32;
                        break terms.len() - 1;
                    }
                    number if terms[number as usize - 1].hash == hash => break number as usize - 1,
                    _ => slot = (slot + 1) & mask,
                }
            };
            let found = &mut terms[number];
            // Documents ascend, so the last one shows whether this document had the term before.
            if found.last == document {
                of_record.push(REPEATED);
                continue;
            }
            found.last = document;
            found.documents += 1;
            found.sides |= 1 << u8::from(self.is_second(rows[document as usize]));
            of_record.push(number as u32);
        }
        Ok(FoundTerms { terms, of_record })
    }

    /// Fills in the term numbers of each set. `place` has the index in `sets` of each document's set.
    /// Terms are visited in the order of their numbers, so the term numbers of each set are in
    /// ascending order. Every worker thread visits all terms, but fills in only a range of the sets.
    fn transpose(
        &self,
        partitions: &[Partition],
        place: &[u32],
        sets: &mut RankedSets,
    ) -> Result<()> {
        let total = *sets.offsets.last().unwrap_or(&0);
        let mut ranks = LargeBuffer::try_zeroed(total, INDEX)?.entered_in(self.context.memory());
        let mut ranges = Vec::new();
        let mut rest = &mut ranks[..];
        let mut first = 0;
        let mut taken = 0;
        for worker in 1..=self.context.threads().count() {
            // Ranges have equally many numbers rather than equally many sets, because large sets
            // take longer.
            let target = total * worker / self.context.threads().count();
            let last = sets.offsets.partition_point(|&offset| offset < target).min(sets.len());
            let last =
                if worker == self.context.threads().count() { sets.len() } else { last.max(first) };
            let (own, others) = rest.split_at_mut(sets.offsets[last] - taken);
            ranges.push((first..last, own));
            (rest, first, taken) = (others, last, sets.offsets[last]);
        }
        let offsets = &sets.offsets;
        let counts = self.context.threads().map(ranges, |(range, own)| {
            let base = offsets[range.start];
            let mut next: Vec<usize> = offsets[range.clone()].iter().map(|&at| at - base).collect();
            let mut rank = 0;
            for class in 0..CLASSES {
                for partition in partitions {
                    for term in partition.terms_of(class) {
                        for &document in partition.documents_of(term) {
                            // A set before the range wraps around to a huge number, so one check of
                            // bounds rejects sets on both sides of the range.
                            let set = (place[document as usize] as usize).wrapping_sub(range.start);
                            if let Some(at) = next.get_mut(set) {
                                own[*at] = rank;
                                *at += 1;
                            }
                        }
                        rank += 1;
                    }
                }
            }
            rank
        });
        // Every worker numbers all terms, so all counts are equal.
        sets.rank_count = counts.first().copied().unwrap_or(0);
        sets.ranks = ranks;
        Ok(())
    }
}

/// Returns the frequency class of a term that occurs in `documents` documents. Up to 32 documents, each
/// number is a class of its own. Above, there are four classes between a number and its double.
fn class_of(documents: u32) -> usize {
    if documents <= 32 {
        return documents as usize;
    }
    let doublings = documents.ilog2();
    // The two bits below the highest one choose the quarter of a doubling.
    let quarter = documents >> (doublings - 2) & 3;
    (33 + (doublings - 5) * 4 + quarter).min(CLASSES as u32 - 1) as usize
}

/// Replaces the lengths of consecutive ranges by the ends of these ranges. Returns the starts of the ranges. For
/// example, the lengths 2 and 3 become the ends 2 and 5, and the starts are 0 and 2.
fn running_sum(counts: &mut [u32]) -> Vec<u32> {
    let mut sum = 0;
    let starts = counts.iter_mut().map(|count| {
        let start = sum;
        sum += *count;
        *count = sum;
        start
    });
    starts.collect()
}

/// Returns two lists that are indexed by document: the number of distinct terms, and the number of unmatched terms,
/// which no other document has. The argument `unmatched` has for each document the number of its unmatched terms that
/// are in no partition.
fn sizes(partitions: &[Partition], mut unmatched: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    for &document in partitions.iter().flat_map(|partition| &partition.unmatched) {
        unmatched[document as usize] += 1;
    }
    let mut sizes = unmatched.clone();
    for &document in partitions.iter().flat_map(|partition| &partition.documents) {
        sizes[document as usize] += 1;
    }
    (sizes, unmatched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_with_frequency() {
        let classes: Vec<usize> = (1..100_000).map(class_of).collect();
        assert!(classes.is_sorted());
        assert!(class_of(u32::MAX) < CLASSES);
        assert!(class_of(u32::MAX / 2) >= class_of(1 << 20));
    }
}
