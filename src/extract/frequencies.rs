//! In how many documents of a collection each term is, learned in parallel.
//!
//! Every worker counts the documents of each term; the workers' counts are merged by ranges of terms.
//! A term that is in one document only is not kept: any that is not known counts as one of these,
//! also in documents that come later.
//!
//! What the counts may take is limited: where it is not enough, the terms of the lower half are
//! counted alone, or of the lowest quarter and so on, and the others in further readings.

use super::term_table::TermTable;
use std::ops::RangeInclusive;

/// In how many documents a term is that is not known.
const UNKNOWN: u32 = 1;

/// Bytes of a term that is stored.
const STORED_BYTES: usize = 16;

/// Terms for which there is room in any case.
const LEAST_ROOM: usize = 1 << 12;

/// Terms that a look at the table is ahead of the one that needs it.
pub(super) const AHEAD: usize = 16;

/// Terms that are counted in one reading: those with the same highest bits.
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

    /// The lower half.
    fn halved(self) -> Self {
        Self { shared_bits: self.shared_bits + 1, ..self }
    }

    /// As many terms, behind these, if there are more.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        let size = 1_u64.checked_shl(u64::BITS - self.shared_bits)?;
        Some(Self { start: self.start.checked_add(size)?, ..self })
    }

    /// How many ranges of this size there are.
    #[must_use]
    pub fn count(self) -> u64 {
        1_u64.checked_shl(self.shared_bits).unwrap_or(u64::MAX)
    }

    /// How many of them are before this one.
    #[must_use]
    pub fn done(self) -> u64 {
        self.start.checked_shr(u64::BITS - self.shared_bits).unwrap_or(0)
    }

    /// Part `part` of `parts`.
    fn part(self, part: usize, parts: usize) -> RangeInclusive<u64> {
        let bound = |part: usize| {
            let size = 1_u128 << (u64::BITS - self.shared_bits);
            u128::from(self.start) + size * part as u128 / parts as u128
        };
        // No bound is above 2^64, and each is above the one before.
        bound(part) as u64..=(bound(part + 1) - 1) as u64
    }
}

/// Counts the documents of each term for one worker.
#[derive(Debug)]
pub struct FrequencyCounter {
    documents: u64,
    counted: TermTable,
    range: TermRange,
    /// Bytes that the counts may take.
    memory: u64,
}

impl FrequencyCounter {
    /// A counter of the terms of a range, or of the first of them, as many as `memory` bytes hold.
    #[must_use]
    pub fn new(range: TermRange, memory: u64) -> Self {
        let counted = TermTable::new(LEAST_ROOM, range.shared_bits);
        Self { documents: 0, counted, range, memory }
    }

    /// Counts a document with these distinct terms.
    pub fn add(&mut self, distinct: &[u64]) {
        self.documents += 1;
        for (at, &term) in distinct.iter().enumerate() {
            if let Some(&ahead) = distinct.get(at + AHEAD) {
                self.counted.prefetch(ahead);
            }
            while self.range.contains(term) && !self.counted.increment(term) {
                self.make_room();
            }
        }
    }

    /// Makes the table twice as large; where there is no memory, counts half of the terms.
    fn make_room(&mut self) {
        let mut room = self.counted.len().max(LEAST_ROOM / 2);
        // The old one and the new one.
        if TermTable::bytes(3 * room as u64) <= self.memory {
            room *= 2;
        } else {
            self.range = self.range.halved();
        }
        let range = self.range;
        let kept = self.counted.iter().filter(|&(term, _)| range.contains(term));
        self.counted = TermTable::of_ascending(room, range.shared_bits, kept);
    }

    /// Documents that were counted.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The terms that were counted, ascending, each with the number of documents that it is in.
    pub fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counted.iter().map(|(term, [documents, _])| (term, documents))
    }

    /// How many terms were counted.
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

/// The terms that all counters counted.
#[must_use]
pub fn common_range(counters: &[FrequencyCounter]) -> TermRange {
    // All ranges begin with the same term.
    let ranges = counters.iter().map(|counter| counter.range);
    ranges.max_by_key(|range| range.shared_bits).unwrap_or_default()
}

/// The terms of two documents or more that belong to part `part` of `parts` of those that all
/// counters counted, with their numbers of documents over all workers; ascending, also from part to
/// part.
#[must_use]
pub fn merged(counters: &[FrequencyCounter], part: usize, parts: usize) -> Vec<(u64, u32)> {
    let range = common_range(counters).part(part, parts);
    let mut all = Vec::new();
    for FrequencyCounter { counted, .. } in counters {
        all.extend(counted.range(&range).map(|(term, [documents, _])| (term, documents)));
    }
    // As many ascending runs as there are workers.
    all.sort_by_key(|&(term, _)| term);
    let runs = all.chunk_by(|one, other| one.0 == other.0);
    let sums = runs.map(|run| (run[0].0, run.iter().map(|&(_, documents)| documents).sum()));
    sums.filter(|&(_, documents)| documents > UNKNOWN).collect()
}

/// The inverse document frequency of a term in `df` of `documents`, an integer:
/// 1024 × ln((n + 1) / (df + 1)), rounded half up, and 1.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
pub fn idf(documents: u64, df: u32) -> u32 {
    let ratio = (documents as f64 + 1.0) / (f64::from(df) + 1.0);
    (1024.0 * ratio.ln() + 0.5).floor().max(0.0) as u32 + 1
}

/// In how many documents of a collection each term is, and what it weighs for that.
///
/// The weights are computed once and then stored with the rest: a logarithm differs in the last bit
/// between platforms.
#[derive(Debug)]
pub struct Frequencies {
    documents: u64,
    unknown_idf: u32,
    /// The terms of two documents or more, with these and with their weights.
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
    /// Of no document.
    fn default() -> Self {
        Self::new(0, Vec::new())
    }
}

impl Frequencies {
    /// Those of a number of documents, in two or more of which are the terms that `merged` holds in
    /// its [parts](merged) in order.
    #[must_use]
    pub fn new(documents: u64, merged: Vec<Vec<(u64, u32)>>) -> Self {
        // Few numbers of documents come often.
        let mut known = vec![None; 1 << 12];
        let mut of_df = |df: u32| match known.get_mut(df as usize) {
            Some(known) => *known.get_or_insert_with(|| idf(documents, df)),
            None => idf(documents, df),
        };
        let len = merged.iter().map(Vec::len).sum();
        let terms = merged.into_iter().flatten().map(|(term, df)| (term, [df, of_df(df)]));
        Self::of_terms(documents, idf(documents, UNKNOWN), len, terms)
    }

    /// Those of a number of documents, and of all terms that are in two or more of these, each with how
    /// many, in any order; others are not kept.
    #[must_use]
    pub fn of_counts(documents: u64, terms: Vec<(u64, u64)>) -> Self {
        let numbered = terms.into_iter();
        let numbered = numbered.map(|(term, df)| (term, u32::try_from(df).unwrap_or(u32::MAX)));
        let mut known: Vec<(u64, u32)> = numbered.filter(|&(_, df)| df > UNKNOWN).collect();
        known.sort_unstable();
        Self::new(documents, vec![known])
    }

    /// Those of `len` ascending terms.
    fn of_terms(
        documents: u64,
        unknown_idf: u32,
        len: usize,
        terms: impl Iterator<Item = (u64, [u32; 2])>,
    ) -> Self {
        Self { documents, unknown_idf, table: TermTable::of_ascending(len, 0, terms) }
    }

    /// Bytes of those of so many terms of two documents or more, while they are made.
    #[must_use]
    pub fn bytes(terms: u64) -> u64 {
        TermTable::bytes(terms).saturating_add(terms.saturating_mul(size_of::<(u64, u32)>() as u64))
    }

    /// Number of documents of the collection.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of terms of two documents or more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether no term is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In how many documents a term is, and its [idf](idf()); of an unknown one as if it were in one.
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

    /// Fetches what [`Self::get`] reads into the caches.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        self.table.prefetch(term);
    }

    /// What a store keeps, as numbers with the lowest byte first: of documents, of terms, and the
    /// weight of an unknown term; the terms, their numbers of documents, and their weights.
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

    /// What [`Self::write`] wrote, if it is that.
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
        let is_valid = known.clone().all(|(_, [df, _])| df > 0)
            && known.clone().is_sorted_by(|one, other| one.0 < other.0);
        is_valid.then(|| Self::of_terms(documents, unknown_idf, length, known))
    }

    /// Those of ascending terms with their numbers of documents and weights.
    #[cfg(test)]
    pub(super) fn of_known(documents: u64, known: &[(u64, u32, u32)]) -> Self {
        let terms = known.iter().map(|&(term, df, idf)| (term, [df, idf]));
        Self::of_terms(documents, idf(documents, UNKNOWN), known.len(), terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn learned(
        documents: &[BTreeSet<u64>],
        workers: usize,
        parts: usize,
        memory: u64,
    ) -> (Frequencies, u64) {
        let (mut range, mut all, mut readings) = (Some(TermRange::default()), Vec::new(), 0);
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
