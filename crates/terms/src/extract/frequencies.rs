//! Learns document frequencies in parallel. The document frequency of a term is the number of documents of a collection
//! that contain the term.
//!
//! Every worker thread counts, for each term, the documents that contain the term. The counts of all workers are then
//! merged, one range of terms after the other. Terms of only one document are not stored. So a term of a later document
//! that is not stored counts as a term of one document.
//!
//! The memory for the counts is limited. If the limit is too low for all terms, the collection is read several times.
//! The first reading counts only the terms in the lower half of all 64-bit values, or in the lowest quarter, and so on.
//! Further readings count the other terms.

use super::term_table::TermTable;
use std::ops::RangeInclusive;

/// Number of documents that are assumed to contain a term without a stored count.
const UNKNOWN: u32 = 1;

/// Number of bytes of one term in an index file: the term, its document frequency and its inverse document frequency.
const STORED_BYTES: usize = 16;

/// Number of terms for which a [`FrequencyCounter`] always has memory, even if its memory limit is lower.
const LEAST_ROOM: usize = 1 << 12;

/// Distance, in terms, between the term that is looked up and a later term whose memory is prefetched.
pub(super) const AHEAD: usize = 16;

/// Range of 64-bit terms that are counted in one reading of the collection. It has all terms whose highest
/// `shared_bits` bits are equal to those of `start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermRange {
    start: u64,
    shared_bits: u32,
}

impl TermRange {
    #[inline]
    fn contains(self, term: u64) -> bool {
        (term ^ self.start).checked_shr(u64::BITS - self.shared_bits).unwrap_or(0) == 0
    }

    /// Returns the lower half of this range.
    fn halved(self) -> Self {
        Self { shared_bits: self.shared_bits + 1, ..self }
    }

    /// Returns the next higher range of the same size, or `None` if this range ends at the highest term.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        let size = 1_u64.checked_shl(u64::BITS - self.shared_bits)?;
        Some(Self { start: self.start.checked_add(size)?, ..self })
    }

    /// Returns the number of ranges of this size that together have all 64-bit terms.
    #[must_use]
    pub fn count(self) -> u64 {
        1_u64.checked_shl(self.shared_bits).unwrap_or(u64::MAX)
    }

    /// Returns the number of ranges of this size below this range, whose terms earlier readings of the collection have
    /// counted.
    #[must_use]
    pub fn done(self) -> u64 {
        self.start.checked_shr(u64::BITS - self.shared_bits).unwrap_or(0)
    }

    /// Divides the range into `parts` parts of about the same size, and returns the part with index `part`.
    fn part(self, part: usize, parts: usize) -> RangeInclusive<u64> {
        let bound = |part: usize| {
            let size = 1_u128 << (u64::BITS - self.shared_bits);
            u128::from(self.start) + size * part as u128 / parts as u128
        };
        // No bound is above 2⁶⁴, and each bound is above the one before.
        bound(part) as u64..=(bound(part + 1) - 1) as u64
    }
}

/// A term with its counts in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedTerm {
    /// The term.
    pub term: u64,
    /// Number of documents that contain the term.
    pub documents: u32,
    /// Bits of all documents that contain the term, joined by OR. Each document has the bits that were passed to
    /// [`FrequencyCounter::add`].
    pub marks: u32,
}

/// Counts for each term the documents that contain it. Each worker thread has its own counter.
#[derive(Debug)]
pub struct FrequencyCounter {
    documents: u64,
    counted: TermTable,
    range: TermRange,
    /// Largest number of bytes that the counts may take.
    memory: u64,
}

impl FrequencyCounter {
    /// Creates a counter of the terms in `range`. When the counts would take more than `memory` bytes, the counter
    /// drops the upper half of its range, as often as necessary.
    #[must_use]
    pub fn new(range: TermRange, memory: u64) -> Self {
        let counted = TermTable::new(LEAST_ROOM, range.shared_bits);
        Self { documents: 0, counted, range, memory }
    }

    /// Counts a document. `distinct` has each term of the document once. `marks` are bits of the document, which are
    /// set in the marks of each of these terms (see [`CountedTerm::marks`]).
    pub fn add(&mut self, distinct: &[u64], marks: u32) {
        self.documents += 1;
        for (at, &term) in distinct.iter().enumerate() {
            if let Some(&ahead) = distinct.get(at + AHEAD) {
                self.counted.prefetch(ahead);
            }
            // Making room may shrink the range, so the term is tested again.
            while self.range.contains(term) && !self.counted.increment(term, marks) {
                self.make_room();
            }
        }
    }

    /// Makes room for more terms. Doubles the table, or drops the upper half of the range if a larger table would
    /// exceed the memory limit.
    fn make_room(&mut self) {
        let mut room = self.counted.len().max(LEAST_ROOM / 2);
        // The old and the new table exist at the same time.
        if TermTable::bytes(3 * room as u64) <= self.memory {
            room *= 2;
        } else {
            self.range = self.range.halved();
        }
        let range = self.range;
        let kept = self.counted.iter().filter(|&(term, _)| range.contains(term));
        self.counted = TermTable::from_ascending(room, range.shared_bits, kept);
    }

    /// Returns the number of documents that were added.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the counted terms in ascending order, each with the number of documents that contain
    /// the term.
    pub fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counted.iter().map(|(term, [documents, _])| (term, documents))
    }

    /// Returns the number of different terms that were counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counted.len()
    }

    /// Returns whether no term was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the largest range of terms that all `counters` have counted completely. A counter with too little memory
/// counts a smaller range.
#[must_use]
pub fn common_range(counters: &[FrequencyCounter]) -> TermRange {
    // All ranges begin with the same term, so the smallest one is part of the others.
    let ranges = counters.iter().map(|counter| counter.range);
    ranges.max_by_key(|range| range.shared_bits).unwrap_or_default()
}

/// Merges the counts of all workers for one part of the terms.
///
/// The range that all counters have counted is divided into `parts` parts. Returns those terms of the part with index
/// `part` for which `wanted` returns true, in ascending order. All terms of a part are lower than the terms of the next
/// part.
#[must_use]
pub fn merged(
    counters: &[FrequencyCounter],
    part: usize,
    parts: usize,
    wanted: impl Fn(&CountedTerm) -> bool,
) -> Vec<CountedTerm> {
    let range = common_range(counters).part(part, parts);
    let mut all = Vec::new();
    for FrequencyCounter { counted, .. } in counters {
        let terms = counted.range(&range);
        all.extend(terms.map(|(term, [documents, marks])| CountedTerm { term, documents, marks }));
    }
    // The list consists of one ascending run per worker, which a stable sort merges fast.
    all.sort_by_key(|counted| counted.term);
    all.dedup_by(|more, sum| {
        let is_same = more.term == sum.term;
        if is_same {
            sum.documents += more.documents;
            sum.marks |= more.marks;
        }
        is_same
    });
    all.retain(wanted);
    all
}

/// Returns the inverse document frequency of a term that `df` of `documents` documents contain. The
/// result is an integer: 1024 × ln((documents + 1) / (df + 1)), rounded half up, plus 1.
///
/// ```
/// use simtool_terms::extract::frequencies::idf;
///
/// assert_eq!(idf(4, 4), 1);
/// assert_eq!(idf(4, 2), 524);
/// ```
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
pub fn idf(documents: u64, df: u32) -> u32 {
    let ratio = (documents as f64 + 1.0) / (f64::from(df) + 1.0);
    (1024.0 * ratio.ln() + 0.5).floor().max(0.0) as u32 + 1
}

/// Document frequency (df) and inverse document frequency (idf) of each term of a collection.
///
/// The idf is computed once from the df and then stored, because the last bit of a logarithm differs between platforms.
#[derive(Debug)]
pub struct Frequencies {
    documents: u64,
    unknown_idf: u32,
    /// Terms of at least two documents, each with its df and its idf.
    table: TermTable,
}

impl PartialEq for Frequencies {
    fn eq(&self, other: &Self) -> bool {
        let fixed = |of: &Self| (of.documents, of.unknown_idf);
        fixed(self) == fixed(other) && self.table.iter().eq(other.table.iter())
    }
}

impl Eq for Frequencies {}

impl Default for Frequencies {
    /// Returns the frequencies of a collection without documents.
    fn default() -> Self {
        Self::new(0, Vec::new())
    }
}

impl Frequencies {
    /// Creates the frequencies of a collection of `documents` documents. `merged` has the results of [`merged`] for all
    /// parts, in order.
    #[must_use]
    pub fn new(documents: u64, merged: Vec<Vec<CountedTerm>>) -> Self {
        // Most terms have a low df, so the idf of each low df is computed only once.
        let mut known = vec![None; 1 << 12];
        let mut of_df = |df: u32| match known.get_mut(df as usize) {
            Some(known) => *known.get_or_insert_with(|| idf(documents, df)),
            None => idf(documents, df),
        };
        let len = merged.iter().map(Vec::len).sum();
        let terms = merged.into_iter().flatten();
        let terms =
            terms.map(|counted| (counted.term, [counted.documents, of_df(counted.documents)]));
        Self::from_terms(documents, idf(documents, UNKNOWN), len, terms)
    }

    /// Creates the frequencies of a collection of `documents` documents. `terms` has each term with its document
    /// frequency, in any order. Terms of only one document are not stored.
    #[must_use]
    pub fn from_counts(documents: u64, terms: Vec<(u64, u64)>) -> Self {
        let counted = terms.into_iter().map(|(term, documents)| {
            let documents = u32::try_from(documents).unwrap_or(u32::MAX);
            CountedTerm { term, documents, marks: 0 }
        });
        let mut known: Vec<_> = counted.filter(|counted| counted.documents > UNKNOWN).collect();
        known.sort_unstable_by_key(|counted| counted.term);
        Self::new(documents, vec![known])
    }

    /// Creates the frequencies from `len` terms in ascending order, each with its df and its idf.
    fn from_terms(
        documents: u64,
        unknown_idf: u32,
        len: usize,
        terms: impl Iterator<Item = (u64, [u32; 2])>,
    ) -> Self {
        Self { documents, unknown_idf, table: TermTable::from_ascending(len, 0, terms) }
    }

    /// Returns the number of bytes of memory that are needed to create the frequencies of `terms` terms.
    #[must_use]
    pub fn bytes(terms: u64) -> u64 {
        TermTable::bytes(terms)
            .saturating_add(terms.saturating_mul(size_of::<CountedTerm>() as u64))
    }

    /// Returns the number of documents in the collection.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of stored terms, that is, of terms that at least two documents contain.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether no term is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the stored terms in ascending order, each with the number of documents that contain it.
    pub fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        self.table.iter().map(|(term, [documents, _])| (term, documents))
    }

    /// Returns the document frequency and the [inverse document frequency](idf()) of a term. A term that is not stored
    /// gets the values of a term of one document.
    ///
    /// # Complexity
    ///
    /// O(1), because terms are hashes, which are spread evenly over the table.
    #[inline]
    #[must_use]
    pub fn get(&self, term: u64) -> (u32, u32) {
        let [df, idf] = self.table.get(term);
        let is_unknown = u32::from(df == 0).wrapping_neg();
        (df | UNKNOWN & is_unknown, idf | self.unknown_idf & is_unknown)
    }

    /// Loads into the cache the memory that [`Self::get`] reads for `term`.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        self.table.prefetch(term);
    }

    /// Appends the frequencies to `bytes` in the format of index files. All numbers are little-endian.
    ///
    /// 1. The number of documents, the number of terms, and the idf of a term that is not stored.
    /// 2. All terms, then all document frequencies, then all values of idf.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let Self { documents, unknown_idf, table } = self;
        bytes.reserve(20 + table.len() * STORED_BYTES);
        bytes.extend(documents.to_le_bytes());
        bytes.extend((table.len() as u64).to_le_bytes());
        bytes.extend(unknown_idf.to_le_bytes());
        bytes.extend(table.iter().flat_map(|(term, _)| term.to_le_bytes()));
        bytes.extend(table.iter().flat_map(|(_, [df, _])| df.to_le_bytes()));
        bytes.extend(table.iter().flat_map(|(_, [_, idf])| idf.to_le_bytes()));
    }

    /// Parses bytes that [`Self::write`] wrote. Returns `None` if the bytes do not have this format.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (documents, bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let (unknown_idf, bytes) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        if length.checked_mul(STORED_BYTES)? != bytes.len() {
            return None;
        }
        let (terms, numbers) = bytes.split_at(length * 8);
        let (dfs, idfs) = numbers.split_at(length * 4);
        let numbers = dfs.as_chunks().0.iter().zip(idfs.as_chunks().0);
        let known = terms.as_chunks().0.iter().zip(numbers).map(|(&term, (&df, &idf))| {
            (u64::from_le_bytes(term), [df, idf].map(u32::from_le_bytes))
        });
        let (documents, unknown_idf) =
            (u64::from_le_bytes(*documents), u32::from_le_bytes(*unknown_idf));
        // The table relies on ascending terms with a df above 0, so a damaged file must not get in.
        let is_valid = known.clone().all(|(_, [df, _])| df > 0)
            && known.clone().is_sorted_by(|one, other| one.0 < other.0);
        is_valid.then(|| Self::from_terms(documents, unknown_idf, length, known))
    }

    /// Creates the frequencies for a test from triples of a term, its df and its idf, in ascending
    /// order.
    #[cfg(test)]
    pub(super) fn from_known(documents: u64, known: &[(u64, u32, u32)]) -> Self {
        let terms = known.iter().map(|&(term, df, idf)| (term, [df, idf]));
        Self::from_terms(documents, idf(documents, UNKNOWN), known.len(), terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_base::stable_hash::mix;
    use std::collections::{BTreeMap, BTreeSet};

    fn learned(
        documents: &[BTreeSet<u64>],
        workers: usize,
        parts: usize,
        memory: u64,
    ) -> (Frequencies, u64) {
        let mut range = Some(TermRange::default());
        let mut all = Vec::new();
        let mut readings = 0;
        while let Some(of_reading) = range {
            readings += 1;
            let counter = || FrequencyCounter::new(of_reading, memory);
            let mut counters: Vec<_> = (0..workers).map(|_| counter()).collect();
            for (at, document) in documents.iter().enumerate() {
                let terms: Vec<u64> = document.iter().copied().collect();
                counters[at % workers].add(&terms, 1 << (at % 32));
            }
            let wanted = |counted: &CountedTerm| counted.documents > UNKNOWN;
            all.extend((0..parts).map(|part| merged(&counters, part, parts, wanted)));
            range = common_range(&counters).next();
        }
        (Frequencies::new(documents.len() as u64, all), readings)
    }

    #[test]
    fn little_memory_takes_more_readings_and_the_counts_are_the_same() {
        let document = |at: u64| (0..20_000).map(|term| mix(term * (at % 3 + 1))).collect();
        let documents: Vec<BTreeSet<u64>> = (0..6).map(document).collect();
        let (whole, readings) = learned(&documents, 2, 2, u64::MAX);
        assert_eq!(readings, 1);
        assert_eq!(whole.get(mix(0)).0, 6);
        let mut before = 1;
        for memory in [1_000_000, 400_000, 0] {
            let (found, readings) = learned(&documents, 2, 3, memory);
            assert!(found == whole && readings > before, "{memory} bytes, {readings} readings");
            before = readings;
        }
    }

    #[test]
    fn marks_of_all_documents_with_a_term_are_merged() {
        let mut counters = [0, 1].map(|_| FrequencyCounter::new(TermRange::default(), u64::MAX));
        counters[0].add(&[mix(1), mix(2)], 0b001);
        counters[0].add(&[mix(1)], 0b001);
        counters[1].add(&[mix(1)], 0b100);
        let mut found = merged(&counters, 0, 1, |_| true);
        found.sort_by_key(|counted| counted.documents);
        let counted = |of, documents, marks| CountedTerm { term: mix(of), documents, marks };
        assert_eq!(found, [counted(2, 1, 0b001), counted(1, 3, 0b101)]);
        assert_eq!(merged(&counters, 0, 1, |counted| counted.marks > 1).len(), 1);
    }

    #[test]
    fn idf_is_an_integer() {
        assert_eq!([(4, 4), (4, 2), (0, 1)].map(|(n, df)| idf(n, df)), [1, 524, 1]);
        assert_eq!(idf(1_000_000, 1), 13_438);
    }

    proptest! {
        #[test]
        fn any_division_among_workers_gives_the_same(
            documents in proptest::collection::vec(
                proptest::collection::btree_set((0..60_u64).prop_map(mix), 0..20), 0..40,
            ),
        ) {
            let mut expected = BTreeMap::new();
            for &term in documents.iter().flatten() {
                *expected.entry(term).or_insert(0) += 1;
            }
            let one = learned(&documents, 1, 1, u64::MAX).0;
            let n = documents.len() as u64;
            prop_assert_eq!(one.documents(), n);
            prop_assert_eq!(one.len(), expected.values().filter(|&&df| df > 1).count());
            for term in (0..70).map(mix) {
                let df = expected.get(&term).copied().unwrap_or(1);
                prop_assert_eq!(one.get(term), (df, idf(n, df)));
            }
            let mut bytes = Vec::new();
            one.write(&mut bytes);
            prop_assert!(Frequencies::read(&bytes).is_some_and(|read| read == one));
            prop_assert_eq!(Frequencies::read(&bytes[..bytes.len() - 1]), None);
            for workers in 2..5 {
                prop_assert_eq!(&learned(&documents, workers, 7 - workers, u64::MAX).0, &one);
            }
        }
    }
}
