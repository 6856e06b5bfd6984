//! Learns document frequencies in parallel: the number of documents of a collection that contain
//! each term.
//!
//! Every worker counts the documents of each term. The counts of all workers are then merged by
//! ranges of terms. Terms of only one document are not stored: every unknown term counts as one of
//! these, also in documents that come later.
//!
//! The memory of the counts is limited. If it is not enough, only the lower half of the terms is
//! counted, or only the lowest quarter and so on, and the other terms are counted in further
//! readings of the collection.

use super::term_table::TermTable;
use std::ops::RangeInclusive;

/// Document frequency of unknown terms.
const UNKNOWN: u32 = 1;

/// Number of bytes of a stored term with its numbers.
const STORED_BYTES: usize = 16;

/// Number of terms that a counter has room for, regardless of the memory limit.
const LEAST_ROOM: usize = 1 << 12;

/// Number of terms by which a prefetch is ahead of the look-up.
pub(super) const AHEAD: usize = 16;

/// Range of terms that are counted in one reading: terms with the same highest bits.
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

    /// Returns the lower half of the range.
    fn halved(self) -> Self {
        Self { shared_bits: self.shared_bits + 1, ..self }
    }

    /// Returns the range of the same size behind this one, if there is one.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        let size = 1_u64.checked_shl(u64::BITS - self.shared_bits)?;
        Some(Self { start: self.start.checked_add(size)?, ..self })
    }

    /// Returns the number of ranges of this size.
    #[must_use]
    pub fn count(self) -> u64 {
        1_u64.checked_shl(self.shared_bits).unwrap_or(u64::MAX)
    }

    /// Returns the number of ranges of this size before this one.
    #[must_use]
    pub fn done(self) -> u64 {
        self.start.checked_shr(u64::BITS - self.shared_bits).unwrap_or(0)
    }

    /// Returns part `part` of `parts` parts of the range.
    fn part(self, part: usize, parts: usize) -> RangeInclusive<u64> {
        let bound = |part: usize| {
            let size = 1_u128 << (u64::BITS - self.shared_bits);
            u128::from(self.start) + size * part as u128 / parts as u128
        };
        // No bound is above 2⁶⁴, and each bound is above the one before.
        bound(part) as u64..=(bound(part + 1) - 1) as u64
    }
}

/// Counts the documents of each term, for one worker.
#[derive(Debug)]
pub struct FrequencyCounter {
    documents: u64,
    counted: TermTable,
    range: TermRange,
    /// Number of bytes that the counts may use.
    memory: u64,
}

impl FrequencyCounter {
    /// Creates a counter of the terms in `range`. If `memory` bytes are not enough for all of them,
    /// it counts only the first ones.
    #[must_use]
    pub fn new(range: TermRange, memory: u64) -> Self {
        let counted = TermTable::new(LEAST_ROOM, range.shared_bits);
        Self { documents: 0, counted, range, memory }
    }

    /// Counts a document that consists of these distinct terms.
    pub fn add(&mut self, distinct: &[u64]) {
        self.documents += 1;
        for (at, &term) in distinct.iter().enumerate() {
            if let Some(&ahead) = distinct.get(at + AHEAD) {
                self.counted.prefetch(ahead);
            }
            // Making room may shrink the range, so the term is tested again.
            while self.range.contains(term) && !self.counted.increment(term) {
                self.make_room();
            }
        }
    }

    /// Doubles the table. If there is too little memory for that, drops the upper half of the range
    /// instead.
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

    /// Returns the number of documents that were counted.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the counted terms in ascending order, each with its number of documents.
    pub fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counted.iter().map(|(term, [documents, _])| (term, documents))
    }

    /// Returns the number of counted terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counted.len()
    }

    /// Whether no term was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the range of terms that every counter has counted.
#[must_use]
pub fn common_range(counters: &[FrequencyCounter]) -> TermRange {
    // All ranges begin with the same term, so the smallest one is part of the others.
    let ranges = counters.iter().map(|counter| counter.range);
    ranges.max_by_key(|range| range.shared_bits).unwrap_or_default()
}

/// Returns part `part` of `parts` of the terms that every counter has counted, in ascending order,
/// with their numbers of documents.
///
/// Only terms of two or more documents are returned. All terms of a part are below those of the
/// next part.
#[must_use]
pub fn merged(counters: &[FrequencyCounter], part: usize, parts: usize) -> Vec<(u64, u32)> {
    let range = common_range(counters).part(part, parts);
    let mut all = Vec::new();
    for FrequencyCounter { counted, .. } in counters {
        all.extend(counted.range(&range).map(|(term, [documents, _])| (term, documents)));
    }
    // The list consists of one ascending run per worker, which a stable sort merges fast.
    all.sort_by_key(|&(term, _)| term);
    let runs = all.chunk_by(|one, other| one.0 == other.0);
    let sums = runs.map(|run| (run[0].0, run.iter().map(|&(_, documents)| documents).sum()));
    sums.filter(|&(_, documents)| documents > UNKNOWN).collect()
}

/// Returns the inverse document frequency of a term in `df` of `documents`, as an integer: 1024 ×
/// ln((documents + 1) / (df + 1)), rounded half up, plus 1.
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

/// Document frequency of each term in a collection, and the idf that follows from it.
///
/// Each idf is computed once and then stored, because the last bit of a logarithm differs between
/// platforms.
#[derive(Debug)]
pub struct Frequencies {
    documents: u64,
    unknown_idf: u32,
    /// Terms of two or more documents, each with its df and its idf.
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
    /// Creates the frequencies of a collection of `documents` documents. `merged` holds the
    /// [parts](merged) of the terms in order.
    #[must_use]
    pub fn new(documents: u64, merged: Vec<Vec<(u64, u32)>>) -> Self {
        // Most terms have a low df, so the idf of each low df is computed only once.
        let mut known = vec![None; 1 << 12];
        let mut of_df = |df: u32| match known.get_mut(df as usize) {
            Some(known) => *known.get_or_insert_with(|| idf(documents, df)),
            None => idf(documents, df),
        };
        let len = merged.iter().map(Vec::len).sum();
        let terms = merged.into_iter().flatten().map(|(term, df)| (term, [df, of_df(df)]));
        Self::from_terms(documents, idf(documents, UNKNOWN), len, terms)
    }

    /// Creates the frequencies of a collection from the df of each term, in any order. Terms of
    /// only one document are not stored.
    #[must_use]
    pub fn from_counts(documents: u64, terms: Vec<(u64, u64)>) -> Self {
        let numbered = terms.into_iter();
        let numbered = numbered.map(|(term, df)| (term, u32::try_from(df).unwrap_or(u32::MAX)));
        let mut known: Vec<(u64, u32)> = numbered.filter(|&(_, df)| df > UNKNOWN).collect();
        known.sort_unstable();
        Self::new(documents, vec![known])
    }

    /// Creates the frequencies from `len` terms in ascending order, each with df and idf.
    fn from_terms(
        documents: u64,
        unknown_idf: u32,
        len: usize,
        terms: impl Iterator<Item = (u64, [u32; 2])>,
    ) -> Self {
        Self { documents, unknown_idf, table: TermTable::from_ascending(len, 0, terms) }
    }

    /// Returns the number of bytes that frequencies of `terms` terms need while they are created.
    #[must_use]
    pub fn bytes(terms: u64) -> u64 {
        TermTable::bytes(terms).saturating_add(terms.saturating_mul(size_of::<(u64, u32)>() as u64))
    }

    /// Returns the number of documents of the collection.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of terms of two or more documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether no term is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the df and the [idf](idf()) of a term. An unknown term has the values of a term in
    /// one document.
    ///
    /// # Complexity
    ///
    /// O(1) for terms that are hashes.
    #[inline]
    #[must_use]
    pub fn get(&self, term: u64) -> (u32, u32) {
        let [df, idf] = self.table.get(term);
        let is_unknown = u32::from(df == 0).wrapping_neg();
        (df | UNKNOWN & is_unknown, idf | self.unknown_idf & is_unknown)
    }

    /// Prefetches the memory that [`Self::get`] reads for `term`.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        self.table.prefetch(term);
    }

    /// Appends the bytes that a store keeps. All numbers are little-endian.
    ///
    /// 1. The number of documents, the number of terms, and the idf of an unknown term.
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

    /// Parses bytes that [`Self::write`] wrote. Returns `None` if they are not such bytes.
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

    /// Creates frequencies from ascending terms, each with df and idf.
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
                counters[at % workers].add(&terms);
            }
            all.extend((0..parts).map(|part| merged(&counters, part, parts)));
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
