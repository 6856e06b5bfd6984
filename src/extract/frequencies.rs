//! In how many documents of a collection each term is, learned in parallel.
//!
//! Every worker gathers the distinct terms of its documents and merges them, sorted, with what it
//! counted before; the workers' counts are merged by ranges of terms. A term that is in one document
//! only is not kept: any that is not known counts as one of these, also in documents that come later.

use std::cmp::Ordering;

/// Gathered terms that are worth sorting.
const LEAST_GATHERED: usize = 1 << 20;

/// In how many documents a term is that is not known.
const UNKNOWN: u32 = 1;

/// Bytes of a term that is stored.
const STORED_BYTES: usize = 16;

/// Counts the documents of each term for one worker.
#[derive(Debug, Default)]
pub struct FrequencyCounter {
    documents: u64,
    gathered: Vec<u64>,
    /// Terms with their numbers of documents, ascending.
    counted: Vec<(u64, u32)>,
}

impl FrequencyCounter {
    /// Counts a document with these distinct terms.
    pub fn add(&mut self, distinct: &[u64]) {
        self.documents += 1;
        self.gathered.extend_from_slice(distinct);
        // As many as were counted, so that each is merged a few times only.
        if self.gathered.len() >= LEAST_GATHERED.max(self.counted.len()) {
            self.merge();
        }
    }

    /// The counter, with everything counted.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.merge();
        self.gathered = Vec::new();
        self
    }

    fn merge(&mut self) {
        self.gathered.sort_unstable();
        let counted = std::mem::take(&mut self.counted);
        let mut before = counted.into_iter().peekable();
        let mut merged = Vec::with_capacity(before.len() + self.gathered.len());
        for run in self.gathered.chunk_by(|one, other| one == other) {
            let (term, mut documents) = (run[0], run.len() as u32);
            while let Some(counted) = before.next_if(|counted| counted.0 <= term) {
                match counted.0.cmp(&term) {
                    Ordering::Equal => documents += counted.1,
                    _ => merged.push(counted),
                }
            }
            merged.push((term, documents));
        }
        merged.extend(before);
        self.counted = merged;
        self.gathered.clear();
    }
}

/// The terms of two documents or more that belong to part `part` of `parts`, with their numbers of
/// documents over all workers; ascending, also from part to part.
#[must_use]
pub fn merged(counters: &[FrequencyCounter], part: usize, parts: usize) -> Vec<(u64, u32)> {
    let bound = |part: usize| ((part as u128) << 64) / parts as u128;
    let mut all = Vec::new();
    for FrequencyCounter { counted, .. } in counters {
        let [start, end] = [part, part + 1]
            .map(|part| counted.partition_point(|&(term, _)| u128::from(term) < bound(part)));
        all.extend_from_slice(&counted[start..end]);
    }
    all.sort_unstable_by_key(|&(term, _)| term);
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequencies {
    documents: u64,
    unknown_idf: u32,
    /// The terms of two documents or more, ascending.
    terms: Vec<u64>,
    dfs: Vec<u32>,
    idfs: Vec<u32>,
    /// Where the terms with the same highest bits begin, and the end of all.
    starts: Vec<usize>,
    shift: u32,
}

impl Default for Frequencies {
    /// Of no document.
    fn default() -> Self {
        Self::new(&[], Vec::new())
    }
}

impl Frequencies {
    /// Those of what the counters counted, of which `merged` holds the
    /// [parts](merged) in order.
    #[must_use]
    pub fn new(counters: &[FrequencyCounter], merged: Vec<Vec<(u64, u32)>>) -> Self {
        let documents = counters.iter().map(|counter| counter.documents).sum();
        let (terms, dfs): (Vec<u64>, Vec<u32>) = merged.into_iter().flatten().unzip();
        // Few numbers of documents come often.
        let mut known = vec![None; 1 << 12];
        let mut of_df = |df: u32| match known.get_mut(df as usize) {
            Some(known) => *known.get_or_insert_with(|| idf(documents, df)),
            None => idf(documents, df),
        };
        let idfs = dfs.iter().map(|&df| of_df(df)).collect();
        Self::of_parts(documents, idf(documents, UNKNOWN), terms, dfs, idfs)
    }

    fn of_parts(
        documents: u64,
        unknown_idf: u32,
        terms: Vec<u64>,
        dfs: Vec<u32>,
        idfs: Vec<u32>,
    ) -> Self {
        // About four terms have the same highest bits.
        let bits = (terms.len() / 4).max(2).ilog2();
        let shift = u64::BITS - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        for term in &terms {
            starts[(term >> shift) as usize + 1] += 1;
        }
        let mut start = 0;
        for count in &mut starts {
            start += *count;
            *count = start;
        }
        Self { documents, unknown_idf, terms, dfs, idfs, starts, shift }
    }

    /// Number of documents of the collection.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of terms of two documents or more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// About how many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.terms.len() * STORED_BYTES + self.starts.len() * size_of::<usize>()) as u64
    }

    /// Whether no term is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// In how many documents a term is, and its [idf](idf()); of an unknown one as if it were in one.
    ///
    /// # Complexity
    ///
    /// O(1) for terms that are hashes.
    #[inline]
    #[must_use]
    pub fn of(&self, term: u64) -> (u32, u32) {
        let class = (term >> self.shift) as usize;
        let (start, end) = (self.starts[class], self.starts[class + 1]);
        match self.terms[start..end].binary_search(&term) {
            Ok(at) => (self.dfs[start + at], self.idfs[start + at]),
            Err(_) => (UNKNOWN, self.unknown_idf),
        }
    }

    /// What a store keeps, as numbers with the lowest byte first: of documents, of terms, and the
    /// weight of an unknown term; the terms, their numbers of documents, and their weights.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let Self { documents, unknown_idf, terms, dfs, idfs, .. } = self;
        bytes.reserve(20 + terms.len() * STORED_BYTES);
        bytes.extend(documents.to_le_bytes());
        bytes.extend((terms.len() as u64).to_le_bytes());
        bytes.extend(unknown_idf.to_le_bytes());
        bytes.extend(terms.iter().flat_map(|term| term.to_le_bytes()));
        bytes.extend(dfs.iter().chain(idfs).flat_map(|number| number.to_le_bytes()));
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
        let terms: Vec<u64> =
            terms.as_chunks().0.iter().map(|&term| u64::from_le_bytes(term)).collect();
        let mut numbers = numbers.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number));
        let dfs = numbers.by_ref().take(length).collect();
        let (documents, unknown_idf) =
            (u64::from_le_bytes(*documents), u32::from_le_bytes(*unknown_idf));
        let is_ascending = terms.is_sorted_by(|one, other| one < other);
        is_ascending.then(|| Self::of_parts(documents, unknown_idf, terms, dfs, numbers.collect()))
    }

    /// Those of ascending terms with their numbers of documents and weights.
    #[cfg(test)]
    pub(super) fn of_known(documents: u64, known: &[(u64, u32, u32)]) -> Self {
        let terms = known.iter().map(|&(term, ..)| term).collect();
        let dfs = known.iter().map(|&(_, df, _)| df).collect();
        let idfs = known.iter().map(|&(.., idf)| idf).collect();
        Self::of_parts(documents, idf(documents, UNKNOWN), terms, dfs, idfs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn learned(documents: &[BTreeSet<u64>], workers: usize, parts: usize) -> Frequencies {
        let mut counters: Vec<_> = (0..workers).map(|_| FrequencyCounter::default()).collect();
        for (at, document) in documents.iter().enumerate() {
            let terms: Vec<u64> = document.iter().copied().collect();
            let counter = &mut counters[at % workers];
            counter.add(&terms);
            if at % 3 == 0 {
                counter.merge();
            }
        }
        let counters: Vec<_> = counters.into_iter().map(FrequencyCounter::finished).collect();
        Frequencies::new(&counters, (0..parts).map(|part| merged(&counters, part, parts)).collect())
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
            let one = learned(&documents, 1, 1);
            let n = documents.len() as u64;
            prop_assert_eq!(one.documents(), n);
            prop_assert_eq!(one.len(), expected.values().filter(|&&df| df > 1).count());
            for term in (0..70).map(mix) {
                let df = expected.get(&term).copied().unwrap_or(1);
                prop_assert_eq!(one.of(term), (df, idf(n, df)));
            }
            let mut bytes = Vec::new();
            one.write(&mut bytes);
            prop_assert!(Frequencies::read(&bytes).is_some_and(|read| read == one));
            prop_assert_eq!(Frequencies::read(&bytes[..bytes.len() - 1]), None);
            for workers in 2..5 {
                prop_assert_eq!(&learned(&documents, workers, 7 - workers), &one);
            }
        }
    }
}
